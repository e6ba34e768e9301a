package settings

import (
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/fsmcp/fsmcp/internal/perm"
)

// environment reads variables and collects warnings about them.
type environment struct {
	System
	warnings []string
}

// rules returns the rules of a list's flag and of its variable, which has one a line, or
// several with commas: a form of a client has no second line.
func (e *environment) rules(list perm.List, flags []string) (out []perm.RuleText) {
	for _, text := range flags {
		out = append(out, perm.RuleText{Text: text, List: list, Source: perm.Source{Name: "--" + list.String(), Level: perm.Flag}})
	}
	name := "FSMCP_" + strings.ToUpper(list.String())
	for _, line := range e.lines(name) {
		for _, text := range betweenCommas(line) {
			out = append(out, perm.RuleText{Text: text, List: list, Source: perm.Source{Name: name, Level: perm.Env}})
		}
	}
	return out
}

// betweenCommas parts a line at commas that are in no parentheses, and leaves out blank parts.
// If a parenthesis stays open, the rest of the line is one part.
func betweenCommas(line string) (parts []string) {
	depth, start := 0, 0
	add := func(end int) {
		if part := strings.TrimSpace(line[start:end]); part != "" {
			parts = append(parts, part)
		}
		start = end + 1
	}
	for i, c := range line {
		switch {
		case c == '(':
			depth++
		case c == ')':
			depth--
		case c == ',' && depth <= 0:
			add(i)
		}
	}
	add(len(line))
	return parts
}

// lines returns the lines of a variable, without blank ones.
func (e *environment) lines(name string) (out []string) {
	for line := range strings.Lines(e.Getenv(name)) {
		if line = strings.TrimSpace(line); line != "" {
			out = append(out, line)
		}
	}
	return out
}

// variable reads a variable by parse; ok is false if it is empty, or wrong, which it
// warns of.
func variable[T any](e *environment, name, want string, parse func(string) (T, bool)) (is T, ok bool) {
	v := e.Getenv(name)
	if v == "" {
		return is, false
	}
	if is, ok = parse(v); !ok {
		e.warn(name, v, want)
		return *new(T), false
	}
	return is, true
}

// word returns a variable's word, and "" if it is none of known.
func (e *environment) word(name string, known []string) string {
	word, _ := variable(e, name, "one of "+strings.Join(known, ", "), func(v string) (string, bool) { return v, slices.Contains(known, v) })
	return word
}

// decided returns the flag's value, else its variable's, else the default.
func (e *environment) decided(flag *bool, name string, otherwise bool) bool {
	if flag != nil {
		return *flag
	}
	is, ok := variable(e, name, "true or false", func(v string) (bool, bool) {
		is, err := strconv.ParseBool(v)
		return is, err == nil
	})
	if ok {
		return is
	}
	return otherwise
}

func (e *environment) positive(name string) (int, bool) {
	return variable(e, name, "a whole number above 0", func(v string) (int, bool) {
		n, err := strconv.Atoi(strings.TrimSpace(v))
		return n, err == nil && n > 0
	})
}

// bytes reads a number of bytes above 0.
func (e *environment) bytes(name string) (int64, bool) {
	return variable(e, name, "a number of bytes above 0, such as 512KB", func(v string) (int64, bool) {
		n, ok := size(strings.TrimSpace(v))
		return n, ok && n > 0
	})
}

func (e *environment) warn(name, value, want string) {
	e.warnings = append(e.warnings, fmt.Sprintf("%s is %q, but takes %s; it is ignored", name, value, want))
}

// Absolute makes a name absolute: from the home directory, from base, or as it is. It
// returns "" if the directory to start from is unknown.
func (s System) Absolute(name, base string) string {
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

// real resolves the links of a file's name.
func (s System) real(name string) string {
	if s.Real == nil || name == "" {
		return name
	}
	return s.Real(name)
}

// names returns all names of a directory, as they were at the start.
func (s System) names(dir string) []string {
	if s.Folder == nil || dir == "" {
		return []string{dir, s.real(dir)}
	}
	return s.Folder(dir)
}

// folder resolves the links of a directory's name, as they were at the start.
func (s System) folder(dir string) string {
	names := s.names(dir)
	return names[len(names)-1]
}

// ownFolders returns the folder of the user's own settings, by the rules of the XDG
// base directories. other is that folder without XDG_CONFIG_HOME; "" if it
// holds the same file.
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

// StateDir returns the folder for fsmcp's own locks and journals, by the rules of the XDG
// base directories; "" if the environment names no place for it.
func StateDir(s System) string {
	if dir := s.Getenv("XDG_STATE_HOME"); filepath.IsAbs(dir) {
		return filepath.Join(dir, "fsmcp")
	}
	if s.Home == "" {
		return ""
	}
	return filepath.Join(s.Home, ".local", "state", "fsmcp")
}
