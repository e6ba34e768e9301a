// Package settings turns flags, environment and settings files into one immutable value.
//
// It promises that a flag beats every file, that a project's file can only tighten, that a
// broken file is reported and never taken for an empty one, and that a change on disk
// which an agent could have made loosens nothing before a restart. It is pure: callers
// pass in the environment, the folders, and functions that read. It does not know the
// meaning of a permission rule, and never asks the user.
package settings

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/fsmcp/fsmcp/internal/perm"
	"github.com/fsmcp/fsmcp/internal/perm/notation"
)

// Flags are the command line of serve and call. Zero values were not given.
type Flags struct {
	Dirs             []string
	AddDirs          []string
	Deny, Ask, Allow []string
	PermissionMode   string
	TrustProject     *bool
	Settings         string
	NoClaudeSettings *bool
	PlanFile         string
	Durability       string
	Dedup            *bool
	Log              string
	Tools            string // names of tools, separated by commas
	ReadOnly         *bool  // only tools that change nothing
	EveryTool        bool   // without a list of tools all are published: for calls by hand
	TrustOwners      []int  // other users whose settings files count as the user's own
}

// System describes where the process was started. The functions may be nil if there are
// no files.
type System struct {
	Getenv  func(string) string
	WorkDir string // absolute
	Home    string // absolute, or empty
	OS      string // as runtime.GOOS
	// Roots are the client's directories, absolute. They count only if neither the command
	// line nor CLAUDE_PROJECT_DIR names one.
	Roots []string
	// UnusableRoots are the URIs of the client's roots that name no folder of this machine.
	UnusableRoots []string
	// Read returns a file's content.
	Read func(name string) FileContent
	// Owned reports whether a settings file is the user's own; others are the ids of users
	// that count as this one. nil: every file is.
	Owned func(f SettingsFile, others []int) Ownership
	// List returns the names in a folder, in any order.
	List func(dir string) []string
	// Real returns a name with links resolved, as far as it exists.
	Real func(name string) string
	// Folder returns the names that a directory had when Folder was first asked for
	// it: as given, one for each link on the way, resolved last. Later answers are
	// the same, so that no later link widens the workspace.
	Folder func(dir string) []string
	// FolderNow returns the names that the directory has now; nil: those of Folder.
	FolderNow func(dir string) []string
	// WSL reports whether this is a Linux system in Windows; nil: it is not.
	WSL func() bool
	// FileRule reports whether a permission rule is about files; nil: every one is.
	FileRule func(rule string) bool
	// RuleFault returns why a source with this rule counts as broken, as the rest of a
	// sentence about the source; "" if it does not. nil: no rule makes a source broken.
	RuleFault func(perm.RuleText) string
}

// Notation returns how people write patterns of files on this system.
func (s System) Notation() notation.Convention {
	return notation.Convention{Windows: s.OS == "windows", Home: s.Home, Getenv: s.Getenv, WSL: s.WSL}
}

// Config holds every setting. It never changes: a change on disk makes a new one.
type Config struct {
	// Workspace are absolute, cleaned directories; the first is where relative
	// arguments start. It may be empty.
	Workspace []string
	// RootsWanted says that no directory was named, so that the server should ask for the
	// client's roots (see WithRoots).
	RootsWanted bool
	Home        string

	// Rules of every source, list by list, those of the nearest source first. Allow rules of
	// a project's files are among them whether it is trusted or not.
	Rules            []perm.RuleText
	Mode             string // by its name in settings
	ModeUntilRestart bool   // a file names a looser mode, which waits for a restart
	PlanFile         string
	TrustProject     bool
	Broken           []perm.BrokenFile

	Durability         string // full, data or none
	KeepHardLinks      bool
	Dedup              bool
	Gate               string // shown or full
	WhenChanged        string // refuse or apply
	StripTrailingSpace bool
	Overlong           string // page or refuse
	AskTimeout         time.Duration
	TokensAPI          *TokensAPI // nil: tokens are estimated locally
	Log                string     // file; empty: standard error
	MaxTokens          int
	MaxFileBytes       int64
	StateDir           string
	History            History
	Hooks              Hooks
	Hints              bool
	Persist            bool // what a conversation was shown outlives the process
	Clipboard          bool // Read of "clipboard:" reads the clipboard
	LSP                LSP
	AuditFile          string   // absolute; empty: none
	Tools              []string // to publish, in their order
	ReadOnly           bool     // they change nothing, because the user said so
	AuditRequired      bool
	Images             Images
	PDF                PDF  // for clients without settings of their own (see PDFFor)
	PDFWarm            bool // PDFium is compiled before the first PDF

	clients, caps map[string]ClientLimit
	pdfClients    map[string]PDF
	pdfMode       string   // of the environment
	fault         error    // of a flag or a variable that cannot be served
	base          []string // the workspace without the directories that files add
	origin        origin
	entries       []entry
}

// origin holds the inputs of a Config besides files. The next Config is made from them, too.
type origin struct {
	flags    Flags
	system   System
	tokens   int // the default limit
	warnings []string
}

// durabilities lists the words for how far a write is pushed.
func durabilities() []string { return []string{"full", "data", "none"} }

// New returns the settings at the start. Warnings are whole sentences; an error means that
// the command line cannot be served.
func New(f Flags, s System, defaultTokens int) (c Config, warnings []string, err error) {
	if f.Durability != "" && !slices.Contains(durabilities(), f.Durability) {
		return c, nil, fmt.Errorf("--durability takes full, data or none, not %q", f.Durability)
	}
	if err := machineFault(f, s); err != nil {
		return c, nil, err
	}
	c = build(origin{flags: f, system: s, tokens: defaultTokens}, nil, nil)
	return c, c.origin.warnings, c.fault
}

// Reload returns the settings after the named files changed; nil names all of them. What a
// file inside a workspace directory loosens waits for a restart. Only new warnings are
// returned.
func (c Config) Reload(changed []string) (next Config, warnings []string) {
	next = build(c.origin, &c, changed)
	return next, next.newWarnings(c)
}

// WithRoots returns the settings with the client's directories, and the URIs of those that
// cannot be used.
func (c Config) WithRoots(roots []string, unusable ...string) (next Config, warnings []string) {
	o := c.origin
	o.system.Roots, o.system.UnusableRoots = slices.Clone(roots), slices.Clone(unusable)
	next = build(o, &c, []string{})
	return next, next.newWarnings(c)
}

// newWarnings returns the warnings that old did not have.
func (c Config) newWarnings(old Config) []string {
	return slices.DeleteFunc(slices.Clone(c.origin.warnings), func(w string) bool { return slices.Contains(old.origin.warnings, w) })
}

// ClientLimit returns the bound on one answer to a client; builtin is fsmcp's own bound. A
// setting's name matches the beginning of a client's name, and the longest match counts. A
// project's settings only lower a bound.
func (c Config) ClientLimit(client string, builtin ClientLimit) ClientLimit {
	client = clientName(client)
	limit := ofClient(c.clients, client).over(builtin)
	for name, cap := range c.caps {
		if covers(name, client) {
			limit = limit.lowest(cap)
		}
	}
	return limit
}

// OwnFile returns the name of the user's own settings file, "~/" for the home directory, and
// on Windows the variable of the folder.
func (c Config) OwnFile() string {
	s := c.origin.system
	dir, _ := s.ownFolders()
	name := filepath.Join(dir, "settings.json")
	rest, ok := strings.CutPrefix(name, s.Home+string(filepath.Separator))
	switch appData := s.Getenv("APPDATA"); {
	case s.OS == "windows" && appData != "" && below(name, appData):
		return "%APPDATA%" + name[len(appData):]
	case !ok || s.Home == "":
	case s.OS == "windows":
		return `%USERPROFILE%\` + rest
	default:
		return "~/" + filepath.ToSlash(rest)
	}
	return name
}

// System returns where the process was started, as New got it, with the client's roots.
func (c Config) System() System { return c.origin.system }

// Folder returns the names of a directory, those that hold until a restart: as
// given first, resolved last.
func (c Config) Folder(dir string) []string { return c.origin.system.names(dir) }

// FolderNow returns the names that a directory has now.
func (c Config) FolderNow(dir string) []string {
	if now := c.origin.system.FolderNow; now != nil {
		return now(dir)
	}
	return c.Folder(dir)
}

// Found is a settings file that is there and can be understood.
type Found struct {
	SettingsFile
	Ignored bool // it does not count, as a warning says
	Ownership
}

// Found lists the settings files that are there and can be understood, in order of
// precedence. Broken has the others.
func (c Config) Found() (out []Found) {
	for _, e := range c.entries {
		if e.layer.Found && e.layer.Broken == nil && !e.gone {
			out = append(out, Found{e.layer.File, e.ignored != "", e.layer.Ownership})
		}
	}
	return out
}

// Misplaced returns the warnings about known keys in the wrong case or place.
func (c Config) Misplaced() (out []string) {
	for _, e := range c.entries {
		out = append(out, e.layer.Misplaced...)
	}
	return out
}

// Distrusted returns a notice for each settings file that another user could have written.
func (c Config) Distrusted() (notices []string) {
	for _, e := range c.entries {
		if e.layer.Foreign != "" && e.layer.Found && !e.gone {
			notices = append(notices, fmt.Sprintf("The settings file %s only tightens; its allow rules, hooks, programs and looser modes do not count: %s. Tell the user: %s", e.layer.File.Name, e.layer.Foreign, e.layer.Remedy))
		}
	}
	return notices
}

// Guarded returns the absolute names of the files whose change would change what
// fsmcp, or the next fsmcp, does: every settings file that is read or would be in
// another environment, the folder of managed settings, and the log. AuditFile has
// the audit file.
func (c Config) Guarded() []string {
	f, s := c.origin.flags, c.origin.system
	files, folders := c.Watched()
	for _, file := range Files(s, c.Workspace, cmp.Or(f.Settings, s.Getenv("FSMCP_SETTINGS")), true) {
		files = append(files, file.Name)
	}
	if s.Home != "" {
		files = append(files, filepath.Join(s.Home, ".config", "fsmcp", "settings.json"), filepath.Join(s.Home, ".claude", "settings.json"))
	}
	if c.Log != "" {
		files = append(files, s.Absolute(c.Log, s.WorkDir))
	}
	files = append(files, folders...)
	slices.Sort(files)
	return slices.Compact(files)
}

// Watched returns the files whose changes matter, and the folders whose files all matter.
func (c Config) Watched() (files, folders []string) {
	for _, e := range c.entries {
		files = append(files, e.layer.File.Name)
	}
	return files, []string{dropIns(c.origin.system)}
}
