// Package config turns what the user said, by flags, by the environment and in
// settings files, into one immutable value. It promises that a flag beats every
// file, that a project's file can only tighten, that a broken file is told and
// never taken as an empty one, and that a change on disk which an agent could
// have made itself loosens nothing before a restart.
//
// It is pure: callers hand it the environment, the folders, and functions that
// read. It does not know what a permission rule means, and it asks nobody.
package config

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/fsmcp/fsmcp/internal/perm"
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
}

// System are what the process was started in. The functions may be nil
// where there are no files.
type System struct {
	Getenv  func(string) string
	WorkDir string // absolute
	Home    string // absolute, or empty
	OS      string // as runtime.GOOS
	// Roots are the directories that the client works in, absolute; they count
	// where the command line and CLAUDE_PROJECT_DIR name none, and there are any.
	Roots []string
	// ManagedDir is the administrator's folder; empty: the one of the system.
	ManagedDir string
	// Read returns what stands in a file.
	Read func(name string) Content
	// List returns the names in a folder, in any order.
	List func(dir string) []string
	// Real returns a name with links resolved, as far as it exists.
	Real func(name string) string
	// Folder returns the names that a directory had when Folder was first asked for
	// it: as given, one for each link on the way, resolved last. Later answers are
	// the same, so that no later link widens the workspace.
	Folder func(dir string) []string
	// FileRule reports whether a permission rule is about files; nil: every one is.
	FileRule func(rule string) bool
}

// Config is everything that was decided before a call. It is never changed: a
// change on disk makes another one.
type Config struct {
	// Workspace are absolute, cleaned directories; the first is where relative
	// arguments start. It may be empty.
	Workspace []string
	// RootsWanted says that nobody named a directory, so that the client's
	// roots should be asked for (see WithRoots).
	RootsWanted bool
	Home        string

	// The rules of every source, those of the nearest first. Allow rules of a
	// project's files are among them whether it is trusted or not.
	Deny, Ask, Allow []Rule
	Mode             string // by its name in settings
	ModeUntilRestart bool   // a file names a looser mode by now, which waits for a restart
	PlanFile         string
	TrustProject     bool
	Broken           []perm.BrokenFile

	Durability         string // full, data or none
	KeepHardLinks      bool
	Dedup              bool
	Gate               string // shown or full
	WhenChanged        string // refuse or apply
	StripTrailingSpace bool
	AskTimeout         time.Duration
	TokensAPI          *TokensAPI // nil: tokens are counted here
	Log                string     // file; empty: standard error
	MaxTokens          int
	MaxFileBytes       int64
	StateDir           string
	History            History
	Hooks              Hooks
	Hints              bool
	AuditFile          string // absolute; empty: none
	AuditRequired      bool
	Images             Images
	PDF                PDF  // where nothing is said of a client (see PDFFor)
	PDFWarm            bool // what reads PDFs is readied before the first one

	clients, caps map[string]ClientLimit
	pdfClients    map[string]PDF
	origin        origin
	entries       []entry
}

// origin is what a Config was made of beside files; it is kept for the next one.
type origin struct {
	flags    Flags
	system   System
	tokens   int // the default limit
	warnings []string
}

// durabilities are the words for how far a write is pushed.
func durabilities() []string { return []string{"full", "data", "none"} }

// New decides. Warnings are whole sentences; an error is a command line that
// cannot be served.
func New(f Flags, s System, defaultTokens int) (c Config, warnings []string, err error) {
	if f.Durability != "" && !oneOf(f.Durability, durabilities()) {
		return c, nil, fmt.Errorf("--durability takes full, data or none, not %q", f.Durability)
	}
	c = build(origin{flags: f, system: s, tokens: defaultTokens}, nil, nil)
	return c, c.origin.warnings, nil
}

// Reload decides again after the named files changed, all of them where changed
// is nil. What a file inside a workspace directory loosens waits for a restart.
// Warnings are those that were not told before.
func (c Config) Reload(changed []string) (next Config, warnings []string) {
	next = build(c.origin, &c, changed)
	return next, next.newWarnings(c)
}

// WithRoots decides again with the directories that the client works in.
func (c Config) WithRoots(roots []string) (next Config, warnings []string) {
	o := c.origin
	o.system.Roots = slices.Clone(roots)
	next = build(o, &c, []string{})
	return next, next.newWarnings(c)
}

// newWarnings are the warnings that old did not have.
func (c Config) newWarnings(old Config) (out []string) {
	for _, w := range c.origin.warnings {
		if !oneOf(w, old.origin.warnings) {
			out = append(out, w)
		}
	}
	return out
}

// ClientLimit is the bound on one answer to a client, where builtin is what is
// known of it. Names count as beginnings, the longest one first; what a project
// set only lowers.
func (c Config) ClientLimit(client string, builtin ClientLimit) ClientLimit {
	client = clientName(client)
	limit, best := builtin, -1
	for name, own := range c.clients {
		if len(name) <= best || !covers(name, client) {
			continue
		}
		best, limit = len(name), builtin
		if own.Tokens > 0 {
			limit.Tokens = own.Tokens
		}
		if own.Chars > 0 {
			limit.Chars = own.Chars
		}
	}
	for name, cap := range c.caps {
		if covers(name, client) {
			limit = ClientLimit{lowest(limit.Tokens, cap.Tokens), lowest(limit.Chars, cap.Chars)}
		}
	}
	return limit
}

// OwnFile returns the name of the user's own settings file, "~/" for the home
// directory.
func (c Config) OwnFile() string {
	s := c.origin.system
	dir, _ := s.ownFolders()
	name := filepath.Join(dir, "settings.json")
	if rest, ok := strings.CutPrefix(name, s.Home+string(filepath.Separator)); ok && s.Home != "" {
		return "~/" + filepath.ToSlash(rest)
	}
	return name
}

// Folder returns the names of a directory, those that hold until a restart: as
// given first, resolved last.
func (c Config) Folder(dir string) []string { return c.origin.system.names(dir) }

// Source is a settings file as it was found, for people.
type Source struct {
	File
	Found  bool
	Broken *perm.BrokenFile
	// Ignored says why it counts for nothing; "" where it counts.
	Ignored string
	// Waiting says what of it holds only after a restart.
	Waiting string
}

// Sources lists the settings files that were looked for, those that win first.
func (c Config) Sources() (out []Source) {
	for _, e := range c.entries {
		if !e.gone {
			l := e.layer
			out = append(out, Source{File: l.File, Found: l.Found, Broken: l.Broken, Ignored: e.ignored, Waiting: e.waiting})
		}
	}
	return out
}

// Guarded returns the absolute names of the files whose change would change what
// fsmcp, or the next fsmcp, does: every settings file that is read or would be in
// another environment, the folder of managed settings, and the log. AuditFile has
// the audit file.
func (c Config) Guarded() []string {
	f, s := c.origin.flags, c.origin.system
	files, folders := c.Watched()
	for _, file := range Files(s, c.Workspace, first(f.Settings, s.Getenv("FSMCP_SETTINGS")), true) {
		files = append(files, file.Name)
	}
	if s.Home != "" {
		files = append(files, filepath.Join(s.Home, ".config", "fsmcp", "settings.json"), filepath.Join(s.Home, ".claude", "settings.json"))
	}
	if c.Log != "" {
		files = append(files, s.absolute(c.Log, s.WorkDir))
	}
	files = append(files, folders...)
	slices.Sort(files)
	return slices.Compact(files)
}

// Watched are the files, and the folders with whatever lies in them, whose
// changes matter.
func (c Config) Watched() (files, folders []string) {
	for _, e := range c.entries {
		files = append(files, e.layer.File.Name)
	}
	return files, []string{dropIns(c.origin.system)}
}
