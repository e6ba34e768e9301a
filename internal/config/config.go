// Package config turns what the user said, by flags and by the environment,
// into one immutable value. It promises that a flag beats its environment twin
// and that a value that cannot be used is told and falls through to the next.
//
// It is pure: callers hand it the environment and the folders. Settings files
// are not read yet.
package config

import (
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
)

// Flags are the command line of serve and call. Zero values were not given.
type Flags struct {
	Dirs             []string
	Deny, Ask, Allow []string
	Durability       string
	Dedup            *bool
	Log              string
}

// Surroundings are what the process was started in.
type Surroundings struct {
	Getenv  func(string) string
	WorkDir string // absolute
	Home    string // absolute, or empty
}

// Config is everything that was decided before the first call. It is never changed.
type Config struct {
	// Workspace are absolute, cleaned directories; the first is where relative
	// arguments start. It may be empty.
	Workspace        []string
	Home             string
	Deny, Ask, Allow []Rule
	Durability       string // full, data or none
	Dedup            bool
	Log              string // file; empty: standard error
	MaxTokens        int
	StateDir         string
}

// Rule is a permission rule with the flag or variable it came from.
type Rule struct{ Text, From string }

// durabilities are the words for how far a write is pushed.
func durabilities() []string { return []string{"full", "data", "none"} }

// New decides. Warnings are whole sentences; an error is a command line that
// cannot be served.
func New(f Flags, s Surroundings, defaultTokens int) (c Config, warnings []string, err error) {
	env := environment{Surroundings: s}
	c = Config{Home: s.Home, Dedup: true, MaxTokens: defaultTokens}
	c.Deny = env.rules("deny", f.Deny)
	c.Ask = env.rules("ask", f.Ask)
	c.Allow = env.rules("allow", f.Allow)
	c.Workspace = workspace(f.Dirs, s)
	c.Log = first(f.Log, s.Getenv("FSMCP_LOG"))
	c.StateDir = stateDir(s)

	if f.Durability != "" && !oneOf(f.Durability, durabilities()) {
		return c, nil, fmt.Errorf("--durability takes full, data or none, not %q", f.Durability)
	}
	c.Durability = first(f.Durability, env.word("FSMCP_DURABILITY", durabilities()), "full")
	if f.Dedup != nil {
		c.Dedup = *f.Dedup
	} else {
		c.Dedup = env.yes("FSMCP_DEDUP", true)
	}
	for _, name := range []string{"FSMCP_MAX_OUTPUT_TOKENS", "CLAUDE_CODE_FILE_READ_MAX_OUTPUT_TOKENS"} {
		if n, ok := env.positive(name); ok {
			c.MaxTokens = n
			break
		}
	}
	return c, env.warnings, nil
}

// workspace finds the directories the agent works in: those that were named,
// else the project's, else the working directory. "/", the home directory and
// its ancestors count only when they were named.
func workspace(named []string, s Surroundings) []string {
	var out []string
	for _, dir := range named {
		out = append(out, absolute(dir, s.WorkDir))
	}
	if len(out) > 0 {
		return out
	}
	dir := s.WorkDir
	if project := s.Getenv("CLAUDE_PROJECT_DIR"); project != "" {
		dir = absolute(project, s.WorkDir)
	}
	if dir == "" || tooWide(dir, s.Home) {
		return nil
	}
	return []string{dir}
}

func absolute(dir, base string) string {
	if !filepath.IsAbs(dir) {
		dir = filepath.Join(base, dir)
	}
	return filepath.Clean(dir)
}

// tooWide tells whether dir is the root, the home directory, or above it.
func tooWide(dir, home string) bool {
	if dir == filepath.Dir(dir) {
		return true
	}
	return home != "" && (home == dir || strings.HasPrefix(home, dir+string(filepath.Separator)))
}

// stateDir is where fsmcp keeps its own locks and journals, by the rules of the
// XDG base directories; empty where nothing is known.
func stateDir(s Surroundings) string {
	if dir := s.Getenv("XDG_STATE_HOME"); filepath.IsAbs(dir) {
		return filepath.Join(dir, "fsmcp")
	}
	if s.Home == "" {
		return ""
	}
	return filepath.Join(s.Home, ".local", "state", "fsmcp")
}

// environment reads variables and remembers what was wrong with them.
type environment struct {
	Surroundings
	warnings []string
}

// rules are those of the flag and those of its twin, one a line.
func (e *environment) rules(list string, flags []string) []Rule {
	var out []Rule
	for _, text := range flags {
		out = append(out, Rule{text, "--" + list})
	}
	name := "FSMCP_" + strings.ToUpper(list)
	for text := range strings.Lines(e.Getenv(name)) {
		if text = strings.TrimSpace(text); text != "" {
			out = append(out, Rule{text, name})
		}
	}
	return out
}

func (e *environment) word(name string, known []string) string {
	v := e.Getenv(name)
	if v == "" || oneOf(v, known) {
		return v
	}
	e.warn(name, v, "one of "+strings.Join(known, ", "))
	return ""
}

func (e *environment) yes(name string, otherwise bool) bool {
	v := e.Getenv(name)
	if v == "" {
		return otherwise
	}
	b, err := strconv.ParseBool(v)
	if err != nil {
		e.warn(name, v, "true or false")
		return otherwise
	}
	return b
}

func (e *environment) positive(name string) (int, bool) {
	v := e.Getenv(name)
	if v == "" {
		return 0, false
	}
	n, err := strconv.Atoi(strings.TrimSpace(v))
	if err != nil || n <= 0 {
		e.warn(name, v, "a whole number above 0")
		return 0, false
	}
	return n, true
}

func (e *environment) warn(name, value, want string) {
	e.warnings = append(e.warnings, fmt.Sprintf("%s is %q, but takes %s; it is ignored", name, value, want))
}

func oneOf(s string, words []string) bool {
	for _, w := range words {
		if s == w {
			return true
		}
	}
	return false
}

// first is the first of several words that is there.
func first(words ...string) string {
	for _, w := range words {
		if w != "" {
			return w
		}
	}
	return ""
}
