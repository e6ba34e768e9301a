package app

import (
	"os"
	"path/filepath"
	"runtime"
	"slices"

	"github.com/fsmcp/fsmcp/internal/audit"
	"github.com/fsmcp/fsmcp/internal/clients"
	"github.com/fsmcp/fsmcp/internal/fsys"
	"github.com/fsmcp/fsmcp/internal/owndir"
	"github.com/fsmcp/fsmcp/internal/perm"
	"github.com/fsmcp/fsmcp/internal/perm/places"
	"github.com/fsmcp/fsmcp/internal/settings"
	"github.com/fsmcp/fsmcp/internal/settings/disk"
)

// Policy compiles the rules that follow from cfg.
func Policy(cfg settings.Config) (policy *perm.Policy, warnings []string) {
	policy, faults := perm.Compile(policyConfig(cfg))
	for _, w := range append(faults, policy.MistakenAnchors(fsys.Exists)...) {
		warnings = append(warnings, w.String())
	}
	return policy, warnings
}

// policyConfig returns the input of perm.Compile.
func policyConfig(cfg settings.Config) perm.Config {
	mode, _ := perm.ParseMode(cfg.Mode) // settings.New warned about unknown modes
	c := perm.Config{
		Home:             cfg.Home,
		Own:              ownFolders(cfg),
		PlanFile:         cfg.PlanFile,
		Mode:             mode,
		ModeUntilRestart: cfg.ModeUntilRestart,
		TrustProject:     cfg.TrustProject,
		Broken:           cfg.Broken,
		CaseSensitive:    !foldsCase,
		Windows:          runtime.GOOS == "windows",
		Getenv:           cfg.System().Getenv,
		WSL:              cfg.System().WSL,
		UnusableRoots:    cfg.System().UnusableRoots,
		Guarded:          cfg.Guarded(),
		Rules:            cfg.Rules,
	}
	c.Places = func() []string {
		s := ClientSystem(cfg.System())
		return disk.Linked(append(places.HomePlaces(s.Home, s.ConfigHome), clients.Protected(s, cfg.Workspace)...))
	}
	if cfg.AuditFile != "" {
		c.Guarded = append(c.Guarded, audit.Names(cfg.AuditFile)...)
	}
	for _, dir := range cfg.Workspace {
		names := cfg.Folder(dir)
		c.Workspace = append(c.Workspace, perm.Dir{Name: dir, Real: names[len(names)-1]})
	}
	for _, dir := range slices.Concat(cfg.Workspace, perm.Anchors(c)) {
		now := cfg.FolderNow(dir) // before Folder, so that a start looks once
		names := cfg.Folder(dir)
		c.Aliases = append(c.Aliases, aliases(names)...)
		if !slices.Equal(now, names) {
			c.Moved = append(c.Moved, aliases(now)...)
		}
	}
	return c
}

// ownFolders returns fsmcp's own folders, in use or not: the state folder, its substitute
// in the temporary folder, the cache, and those that a server with another environment
// would use.
func ownFolders(cfg settings.Config) []string {
	all := []string{cfg.StateDir, owndir.InTemp(""), owndir.InTemp("/tmp"), owndir.Cache()}
	if cfg.Home != "" {
		all = append(all, filepath.Join(cfg.Home, ".local", "state", "fsmcp"), filepath.Join(cfg.Home, ".cache", "fsmcp"))
	}
	return slices.DeleteFunc(all, func(dir string) bool { return dir == "" })
}

// aliases returns the other names of a directory that links lead to.
func aliases(names []string) (out []perm.Dir) {
	for _, other := range names[1:] {
		out = append(out, perm.Dir{Name: names[0], Real: other})
	}
	return out
}

// ClientSystem collects what the places of the clients' files depend on.
func ClientSystem(s settings.System) clients.UserFolders {
	folder := func(name string) string {
		if v := s.Getenv(name); filepath.IsAbs(v) {
			return v
		}
		return ""
	}
	return clients.UserFolders{
		OS: s.OS, Home: s.Home, ConfigHome: folder("XDG_CONFIG_HOME"), AppData: folder("APPDATA"), LocalData: folder("LOCALAPPDATA"),
		CodexHome: folder("CODEX_HOME"), GeminiHome: folder("GEMINI_CLI_HOME"),
		ClaudeHome: folder("CLAUDE_CONFIG_DIR"),
		Exists:     func(name string) bool { _, err := os.Stat(name); return err == nil },
		Entries: func(folder string) (names []string) {
			entries, _ := os.ReadDir(folder) // no folder: no packages
			for _, e := range entries {
				names = append(names, e.Name())
			}
			return names
		},
	}
}
