package config

import (
	"fmt"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/fsmcp/fsmcp/internal/perm"
)

// environment reads variables and remembers what was wrong with them.
type environment struct {
	System
	warnings []string
}

// rules are those of the flag and those of its twin, one a line.
func (e *environment) rules(list string, flags []string) []Rule {
	var out []Rule
	for _, text := range flags {
		out = append(out, Rule{Text: text, From: "--" + list, Level: perm.Flag})
	}
	name := "FSMCP_" + strings.ToUpper(list)
	for _, text := range e.lines(name) {
		out = append(out, Rule{Text: text, From: name, Level: perm.Env})
	}
	return out
}

// lines are the lines of a variable, without blank ones.
func (e *environment) lines(name string) (out []string) {
	for line := range strings.Lines(e.Getenv(name)) {
		if line = strings.TrimSpace(line); line != "" {
			out = append(out, line)
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

// decided is what a flag says, else its twin, else what holds otherwise.
func (e *environment) decided(flag *bool, name string, otherwise bool) bool {
	if flag != nil {
		return *flag
	}
	if b, ok := e.yes(name); ok {
		return b
	}
	return otherwise
}

func (e *environment) yes(name string) (is, ok bool) {
	v := e.Getenv(name)
	if v == "" {
		return false, false
	}
	b, err := strconv.ParseBool(v)
	if err != nil {
		e.warn(name, v, "true or false")
	}
	return b, err == nil
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

// bytes is a number of bytes above 0.
func (e *environment) bytes(name string) (int64, bool) {
	v := e.Getenv(name)
	if v == "" {
		return 0, false
	}
	n, ok := size(strings.TrimSpace(v))
	if !ok || n == 0 {
		e.warn(name, v, `a number of bytes above 0, such as 512KB`)
		return 0, false
	}
	return n, true
}

func (e *environment) warn(name, value, want string) {
	e.warnings = append(e.warnings, fmt.Sprintf("%s is %q, but takes %s; it is ignored", name, value, want))
}

// absolute is a name as people write it: from the home directory, from base, or
// absolute as it is. It is "" where there is nothing to start from.
func (s System) absolute(name, base string) string {
	rest, tilde := strings.CutPrefix(filepath.ToSlash(name), "~")
	switch {
	case tilde && (rest == "" || rest[0] == '/') && s.Home != "":
		return filepath.Join(s.Home, rest)
	case filepath.IsAbs(name):
		return filepath.Clean(name)
	case base == "":
		return ""
	}
	return filepath.Join(base, name)
}

// real is a file's name with links resolved, as far as the caller knows.
func (s System) real(name string) string {
	if s.Real == nil || name == "" {
		return name
	}
	return s.Real(name)
}

// names are those of a directory, which hold until a restart.
func (s System) names(dir string) []string {
	if s.Folder == nil || dir == "" {
		return []string{dir, s.real(dir)}
	}
	return s.Folder(dir)
}

// folder is a directory's name with links resolved, which holds until a restart.
func (s System) folder(dir string) string {
	names := s.names(dir)
	return names[len(names)-1]
}

// ownFolders returns the folder of the user's own settings, by the rules of the XDG
// base directories. other is where they would lie without XDG_CONFIG_HOME; "" where
// that is the same file.
func (s System) ownFolders() (own, other string) {
	if s.Home != "" {
		own = filepath.Join(s.Home, ".config", "fsmcp")
	}
	dir := s.Getenv("XDG_CONFIG_HOME")
	if !filepath.IsAbs(dir) {
		return own, ""
	}
	own, other = filepath.Join(dir, "fsmcp"), own
	if s.real(filepath.Join(own, "settings.json")) == s.real(filepath.Join(other, "settings.json")) {
		other = ""
	}
	return own, other
}

// stateDir is where fsmcp keeps its own locks and journals, by the rules of the
// XDG base directories; empty where nothing is known.
func stateDir(s System) string {
	if dir := s.Getenv("XDG_STATE_HOME"); filepath.IsAbs(dir) {
		return filepath.Join(dir, "fsmcp")
	}
	if s.Home == "" {
		return ""
	}
	return filepath.Join(s.Home, ".local", "state", "fsmcp")
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
