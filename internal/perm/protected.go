package perm

import "strings"

// protectedDirs are the directories that programs take orders from, by folded
// name. A file of such a name counts too: a worktree's .git is one.
var protectedDirs = wordSet(`.git .vscode .idea .husky .cargo .devcontainer .yarn .mvn .claude .fsmcp`)

// protectedFiles are files of that kind, by folded name.
var protectedFiles = wordSet(`.gitconfig .gitmodules
	.bashrc .bash_profile .bash_login .bash_aliases .bash_logout .zshrc .zprofile .zshenv .zlogin .zlogout .profile .envrc
	.npmrc .yarnrc .yarnrc.yml .pnp.cjs .pnp.loader.mjs .pnpmfile.cjs bunfig.toml .bunfig.toml
	.bazelrc .bazelversion .bazeliskrc
	.pre-commit-config.yaml lefthook.yml lefthook.yaml .lefthook.yml .lefthook.yaml
	gradle-wrapper.properties maven-wrapper.properties
	.devcontainer.json .ripgreprc pyrightconfig.json .mcp.json .claude.json`)

func wordSet(list string) map[string]bool {
	set := map[string]bool{}
	for w := range strings.FieldsSeq(list) {
		set[w] = true
	}
	return set
}

// protected reports whether a write under this name is to be asked for. With
// mark it also says which segments make it so, by their number.
func (p *Policy) protected(n *name, exists func(string) bool, mark func(segment int)) bool {
	found := p.bareRepository(n, exists, mark)
	exact, folded := n.exact, n.folded
	before := "" // the folded segment before this one
	for i := 0; folded != ""; i++ {
		var e, f string
		e, exact = nextSegment(exact[1:])
		f, folded = nextSegment(folded[1:])
		two := f == "git" && before == ".config"
		if two || protectedSegment(f, e, exact, folded == "") {
			if mark == nil {
				return true
			}
			found = true
			mark(i)
			if two {
				mark(i - 1)
			}
		}
		before = f
	}
	return found
}

// protectedSegment judges one segment; rest is what follows it.
func protectedSegment(folded, exact, rest string, last bool) bool {
	if strings.HasPrefix(folded, ".") && protectedDirs[folded] {
		// Claude Code keeps whole checkouts there. Only the plain spelling is
		// excepted, with something below.
		return !(exact == ".claude" && strings.HasPrefix(rest, "/worktrees/"))
	}
	return last && protectedFiles[folded]
}

// bareRepository reports whether the name would be part of a bare repository
// that a workspace directory is, or is made to be: git obeys its config and
// hooks. HEAD makes it one; the others matter only beside it.
func (p *Policy) bareRepository(n *name, exists func(string) bool, mark func(segment int)) bool {
	found := false
	for i := range p.roots {
		r := &p.roots[i]
		rest, ok := below(n.folded, r.folded)
		if !ok || rest == "" {
			continue
		}
		first, _ := nextSegment(rest[1:])
		switch first {
		case "head":
		case "config", "hooks", "objects", "refs":
			if exists != nil && !exists(p.native(r.name+"/HEAD")) {
				continue
			}
		default:
			continue
		}
		found = true
		if mark != nil {
			mark(strings.Count(r.name, "/"))
		}
	}
	return found
}

// native gives a path the form in which callers know it.
func (p *Policy) native(path string) string {
	if p.windows && len(path) >= 3 && path[2] == ':' {
		return strings.ReplaceAll(path[1:], "/", `\`)
	}
	return path
}

// admitted reports whether one of the user's own allow rules spells out every
// protected segment of the name, and so reaches it.
func (q *question) admitted(n *name) bool {
	if q.p.admit.empty() {
		return false
	}
	guard := make([]bool, 1+strings.Count(n.exact, "/"))
	q.p.protected(n, q.exists, func(i int) { guard[i] = true })
	return q.p.admit.find(&q.walk, n.exact, n.same, n.dir, q.op, guard)[Allow] != none
}
