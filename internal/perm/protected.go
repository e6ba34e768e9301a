package perm

import "strings"

// protectedDirs are the directories whose files make programs run commands, by
// folded name. A file of such a name counts too: a worktree's .git is one.
var protectedDirs = wordSet(`.git .vscode .idea .husky .cargo .devcontainer .yarn .mvn .claude .fsmcp
	.cursor .gemini .codex .zed .windsurf .roo .kiro .continue .amazonq .opencode .junie .qwen`)

// protectedPaths are files and directories that are protected in folders of these names, by
// folded name.
var protectedPaths = []string{".config/git", ".config/fsmcp", ".hg/hgrc", ".jj/repo/config.toml"}

// protectedAtHome are files and directories that are protected at their place below the home
// alone, so that a repository of dotfiles can be edited. Not among them: .dir-locals.el,
// before which Emacs asks.
var protectedAtHome = []string{
	".vimrc", ".gvimrc", ".emacs", ".emacs.d", ".xprofile", ".xinitrc", ".tcshrc", ".cshrc", ".kshrc", ".ssh", ".local/bin",
	".config/nvim", ".config/emacs", ".config/fish", ".config/autostart", ".config/systemd/user", ".config/environment.d", ".config/powershell",
	"Library/LaunchAgents", "Documents/PowerShell", "Documents/WindowsPowerShell", "OneDrive/Documents/PowerShell", "OneDrive/Documents/WindowsPowerShell",
	"AppData/Roaming/Microsoft/Windows/Start Menu/Programs/Startup",
}

// HomePlaces returns the absolute names of the files and directories that are protected at
// their place below the home. configHome is where .config lies if it is not there, else "".
func HomePlaces(home, configHome string) (names []string) {
	for _, place := range protectedAtHome {
		if home != "" {
			names = append(names, joined(home, "/"+place))
		}
		if rest, ok := strings.CutPrefix(place, ".config/"); ok && configHome != "" {
			names = append(names, joined(configHome, "/"+rest))
		}
	}
	return names
}

// protectedFiles are files of that kind, by folded name.
var protectedFiles = wordSet(`.gitconfig .gitmodules
	.bashrc .bash_profile .bash_login .bash_aliases .bash_logout .zshrc .zprofile .zshenv .zlogin .zlogout .profile .envrc
	.npmrc .yarnrc .yarnrc.yml .pnp.cjs .pnp.loader.mjs .pnpmfile.cjs bunfig.toml .bunfig.toml
	.bazelrc .bazelversion .bazeliskrc
	.pre-commit-config.yaml lefthook.yml lefthook.yaml .lefthook.yml .lefthook.yaml
	gradle-wrapper.properties maven-wrapper.properties
	.devcontainer.json .ripgreprc pyrightconfig.json .mcp.json .claude.json opencode.json opencode.jsonc .aider.conf.yml
	.exrc .nvim.lua crush.json`)

// protectedSuffix ends the names of further protected files.
const protectedSuffix = ".code-workspace"

func wordSet(list string) map[string]bool {
	set := map[string]bool{}
	for w := range strings.FieldsSeq(list) {
		set[w] = true
	}
	return set
}

// protected returns which segments of the name have a write under it asked for, and nil if
// none has.
func (p *Policy) protected(n *name, exists func(string) bool) (marked []bool) {
	mark := func(segment int) {
		if marked == nil {
			marked = make([]bool, strings.Count(n.exact, "/"))
		}
		marked[segment] = true
	}
	markNames(n, mark)
	// A rule that spells the protected directory reaches the settings in it.
	if marked == nil {
		p.markGuarded(n, mark)
	}
	p.markRepository(n, exists, mark)
	return marked
}

// markNames looks each segment up in the lists.
func markNames(n *name, mark func(segment int)) {
	exact, folded := n.exact, n.folded
	for i := 0; folded != ""; i++ {
		for segments := protectedStart(folded[1:]); segments > 0; segments-- {
			mark(i + segments - 1)
		}
		var e, f string
		e, exact = nextSegment(exact[1:])
		f, folded = nextSegment(folded[1:])
		if protectedSegment(f, e, exact, folded == "") {
			mark(i)
		}
	}
}

// protectedStart returns how many segments at the beginning of a folded path are one of
// protectedPaths, 0 if none is.
func protectedStart(path string) int {
	if path == "" || path[0] != '.' {
		return 0 // as nearly all
	}
	for _, w := range protectedPaths {
		if _, ok := below(path, w); ok {
			return strings.Count(w, "/") + 1
		}
	}
	return 0
}

// markGuarded marks the last segment of the configured file (see Config.Guarded) that the
// name is, or would make a directory of.
func (p *Policy) markGuarded(n *name, mark func(segment int)) {
	for _, file := range p.guarded() {
		if _, ok := below(n.folded, file); ok {
			mark(strings.Count(file, "/") - 1)
			return
		}
	}
}

// protectedSegment judges one segment; rest is the path after it.
func protectedSegment(folded, exact, rest string, last bool) bool {
	if strings.HasPrefix(folded, ".") && protectedDirs[folded] {
		// Claude Code keeps whole checkouts there. Only the plain spelling is
		// excepted, with something below.
		return !(exact == ".claude" && strings.HasPrefix(rest, "/worktrees/"))
	}
	return last && (protectedFiles[folded] || strings.HasSuffix(folded, protectedSuffix))
}

// markRepository marks each segment that is a part of a bare repository, in any folder: git
// there runs what its config and hooks say.
//
// git takes a folder for a repository that has HEAD, objects and refs
// (gitrepository-layout). A write that makes the second of them is asked for, so
// no order of writes makes all three unasked. The segments of a workspace
// directory's own name do not count: the user chose it.
func (p *Policy) markRepository(n *name, exists func(string) bool, mark func(segment int)) {
	exact, folded := n.exact, n.folded
	for i := 0; folded != ""; i++ {
		folder := n.exact[:len(n.exact)-len(exact)]
		var f string
		_, exact = nextSegment(exact[1:])
		f, folded = nextSegment(folded[1:])
		if !inRepository(f) {
			continue
		}
		if inside, top := p.depth(n, i); inside && (top && f == "head" || p.nearRepository(folder, f, exists)) {
			mark(i)
		}
	}
}

// RepositoryParts reports whether one of the names is, or lies below, a part that
// makes a folder a repository: a decision on it depends on the other parts.
func (p *Policy) RepositoryParts(names []string) bool {
	for _, given := range names {
		n, ok := p.name(given, Write)
		for rest := n.folded; ok && rest != ""; {
			var segment string
			switch segment, rest = nextSegment(rest[1:]); segment {
			case "head", "objects", "refs", "commondir":
				return true
			}
		}
	}
	return false
}

// inRepository reports whether git needs or obeys a file or folder of this folded
// name in a bare repository. commondir names another folder that has the objects
// and refs, and config.worktree is read beside config.
func inRepository(folded string) bool {
	switch folded {
	case "head", "objects", "refs", "commondir", "config", "config.worktree", "hooks":
		return true
	}
	return false
}

// depth reports whether segment i of the name comes after the names of all
// workspace directories that it lies in, and whether it comes right after one.
func (p *Policy) depth(n *name, i int) (inside, top bool) {
	for k := range p.roots {
		r := &p.roots[k]
		if _, ok := below(n.folded, r.folded); !ok {
			continue
		}
		switch own := strings.Count(r.name, "/"); {
		case i < own:
			return false, false
		case i == own:
			top = true
		}
	}
	return true, top
}

// nearRepository reports whether a folder has two of the three parts that make
// it a repository, the one of the folded name made counted.
func (p *Policy) nearRepository(folder, made string, exists func(string) bool) bool {
	has := func(part string) bool { return exists == nil || exists(p.native(folder+"/"+part)) }
	if made == "commondir" || made == "head" && has("commondir") {
		return true // the objects and refs are where commondir leads
	}
	parts := [...]string{"HEAD", "objects", "refs"}
	count := 0
	for i, part := range parts {
		if made == strings.ToLower(part) || has(part) {
			count++
		}
		if left := len(parts) - 1 - i; count == 2 || count+left < 2 {
			break
		}
	}
	return count == 2
}

// native gives a path the form in which callers know it.
func (p *Policy) native(path string) string {
	if p.config.Windows && len(path) >= 3 && path[2] == ':' {
		return strings.ReplaceAll(path[1:], "/", `\`)
	}
	return path
}

// exceptionAllows reports whether one of the user's own allow rules spells out every marked
// segment of the name, and so reaches it.
func (q *question) exceptionAllows(n *name, marked []bool) bool {
	return q.p.exceptions.find(&q.walk, n.exact, n.same, n.dir, q.op, marked)[Allow] != none
}

// Own reports whether an absolute name lies in one of fsmcp's own folders, Config.Own. It
// returns true for what cannot be a name.
func (p *Policy) Own(name string) bool {
	if len(p.state) == 0 {
		return false
	}
	n, ok := p.name(name, Write) // folded, whatever rules there are
	return !ok || p.ownState(&n)
}
