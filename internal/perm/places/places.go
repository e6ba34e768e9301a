// Package places has the tables of protected places: files and directories from which other
// programs take orders, so that a write is asked for. docs/permissions.md lists them. It does
// not know rules, the workspace or the disk.
package places

import "strings"

// dirs are the directories whose files make programs run commands, by
// folded name. A file of such a name counts too: a worktree's .git is one.
var dirs = wordSet(`.git .vscode .idea .husky .cargo .devcontainer .yarn .mvn .claude .fsmcp
	.cursor .gemini .codex .zed .windsurf .roo .kiro .continue .amazonq .opencode .junie .qwen`)

// paths are files and directories that are protected in folders of these names, by
// folded name.
var paths = []string{".config/git", ".config/fsmcp", ".hg/hgrc", ".jj/repo/config.toml"}

// atHome are files and directories that are protected at their place below the home
// alone, so that a repository of dotfiles can be edited. Not among them: .dir-locals.el,
// before which Emacs asks.
var atHome = []string{
	".vimrc", ".gvimrc", ".emacs", ".emacs.d", ".xprofile", ".xinitrc", ".tcshrc", ".cshrc", ".kshrc", ".ssh", ".local/bin",
	".config/nvim", ".config/emacs", ".config/fish", ".config/autostart", ".config/systemd/user", ".config/environment.d", ".config/powershell",
	"Library/LaunchAgents", "Documents/PowerShell", "Documents/WindowsPowerShell", "OneDrive/Documents/PowerShell", "OneDrive/Documents/WindowsPowerShell",
	"AppData/Roaming/Microsoft/Windows/Start Menu/Programs/Startup",
}

// HomePlaces returns the absolute names of the files and directories that are protected at
// their place below the home. configHome is where .config lies if it is not there, else "".
func HomePlaces(home, configHome string) (names []string) {
	for _, place := range atHome {
		if home != "" {
			names = append(names, strings.TrimSuffix(home, "/")+"/"+place)
		}
		if rest, ok := strings.CutPrefix(place, ".config/"); ok && configHome != "" {
			names = append(names, strings.TrimSuffix(configHome, "/")+"/"+rest)
		}
	}
	return names
}

// files are files of that kind, by folded name.
var files = wordSet(`.gitconfig .gitmodules
	.bashrc .bash_profile .bash_login .bash_aliases .bash_logout .zshrc .zprofile .zshenv .zlogin .zlogout .profile .envrc
	.npmrc .yarnrc .yarnrc.yml .pnp.cjs .pnp.loader.mjs .pnpmfile.cjs bunfig.toml .bunfig.toml
	.bazelrc .bazelversion .bazeliskrc
	.pre-commit-config.yaml lefthook.yml lefthook.yaml .lefthook.yml .lefthook.yaml
	gradle-wrapper.properties maven-wrapper.properties
	.devcontainer.json .ripgreprc pyrightconfig.json .mcp.json .claude.json opencode.json opencode.jsonc .aider.conf.yml
	.exrc .nvim.lua crush.json`)

// suffix ends the names of further protected files.
const suffix = ".code-workspace"

func wordSet(list string) map[string]bool {
	set := map[string]bool{}
	for w := range strings.FieldsSeq(list) {
		set[w] = true
	}
	return set
}

// Start returns how many segments at the beginning of a folded path are one of
// paths, 0 if none is.
func Start(path string) int {
	if path == "" || path[0] != '.' {
		return 0 // as nearly all
	}
	for _, w := range paths {
		if rest, ok := strings.CutPrefix(path, w); ok && (rest == "" || rest[0] == '/') {
			return strings.Count(w, "/") + 1
		}
	}
	return 0
}

// Segment reports whether one segment of a path is protected at any depth. rest is the path
// after it, last says that none is.
func Segment(folded, exact, rest string, last bool) bool {
	if strings.HasPrefix(folded, ".") && dirs[folded] {
		// Claude Code keeps whole checkouts there. Only the plain spelling is
		// excepted, with something below.
		return !(exact == ".claude" && strings.HasPrefix(rest, "/worktrees/"))
	}
	return last && (files[folded] || strings.HasSuffix(folded, suffix))
}
