package conformance

import "strings"

// ProtectedDirs are the directories whose contents are asked for before a
// write, at any depth; a file of such a name counts, too.
func ProtectedDirs() []string {
	return strings.Fields(`.git .config/git .vscode .idea .husky .cargo .devcontainer .yarn .mvn .claude .fsmcp .config/fsmcp
		.cursor .gemini .codex .zed .windsurf .roo .kiro .continue .amazonq .opencode .junie .qwen`)
}

// ProtectedFiles lists the files that ask before a write, at any depth; the last one
// stands for its suffix.
func ProtectedFiles() []string {
	return strings.Fields(`.gitconfig .gitmodules .bashrc .bash_profile .bash_login .bash_aliases .bash_logout .zshrc .zprofile .zshenv .zlogin .zlogout .profile
		.envrc .npmrc .yarnrc .yarnrc.yml .pnp.cjs .pnp.loader.mjs .pnpmfile.cjs bunfig.toml .bunfig.toml .bazelrc .bazelversion .bazeliskrc
		.pre-commit-config.yaml lefthook.yml lefthook.yaml .lefthook.yml .lefthook.yaml gradle-wrapper.properties maven-wrapper.properties
		.devcontainer.json .ripgreprc pyrightconfig.json .mcp.json .claude.json opencode.json opencode.jsonc .aider.conf.yml
		.exrc .nvim.lua crush.json
		team.code-workspace`)
}
