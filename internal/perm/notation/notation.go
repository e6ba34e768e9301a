// Package notation turns patterns of files, as people write them on a system, into the one
// form that the matchers have: the rules of permissions, the globs of hooks and of
// history.exclude, and the patterns of Glob and Grep.
//
// On Windows that is names with backslashes, drives in the spellings of Windows, of Git Bash
// and of WSL, and the variables that name a folder of the user. What it cannot understand
// is a Fault: its callers close what the pattern was to guard, or say so. Elsewhere a
// pattern stays as it is.
//
// It does not match, and does not look at the disk.
package notation

import (
	"regexp"
	"strings"
	"sync"
)

// Convention describes how people write names. The zero value is a Unix system.
type Convention struct {
	Windows bool
	Home    string              // the home directory, as the system spells it
	Getenv  func(string) string // nil: no variable is set
	WSL     func() bool         // reports whether the drives of Windows are below /mnt; nil: they are not
}

// A Reading is the meaning of a pattern. Both texts are in the matchers' form: "/" separates, a
// backslash escapes, "//C:/" begins a name on a drive, "~/" one in the home directory.
type Reading struct {
	Text string
	// Also is the second meaning that the pattern may have, "" if there is none. It counts
	// if more matches are the safer side.
	Also string
	// Doubt says why the pattern may not mean what it seems to mean, or is "".
	Doubt Doubt
}

// A Fault is the reason why a pattern cannot be understood, as the rest of a sentence.
type Fault string

func (f Fault) Error() string { return string(f) }

// The faults.
const (
	Machine       Fault = "names another machine (UNC), which fsmcp does not open; map it to a drive letter and name that"
	Device        Fault = "is in the device name space"
	DriveRelative Fault = "is relative to a drive's current directory"
	Variable      Fault = "has a variable that is not known here; %USERPROFILE%, %APPDATA%, %LOCALAPPDATA% and %PROGRAMDATA% are, at the beginning"
)

// A Doubt is a fact about a pattern that is understood, as the rest of a sentence.
type Doubt string

// The doubts.
const (
	NoDrives Doubt = "has a drive letter, which this system does not have"
	UnixTop  Doubt = "names a folder of Unix systems, which Windows does not have"
	Escape   Doubt = "takes the backslash before the bracket for a separator; on Windows [[] stands for a bracket"
	Colon    Doubt = "has a colon, which no name on Windows has"
)

// Read returns the meaning of a pattern. The error is a Fault.
func (s Convention) Read(text string) (Reading, error) {
	if !s.Windows {
		return s.readUnix(text), nil
	}
	r := Reading{Text: s.Slashes(text)}
	if Escaped(text) {
		r.Doubt = Escape
	}
	r.Text = strings.ReplaceAll(r.Text, "[[]", `\[`)
	var err error
	if r.Text, err = s.expanded(r.Text); err != nil {
		return Reading{}, err
	}
	if r.Text, err = absolute(r.Text); err != nil {
		return Reading{}, err
	}
	tail, rooted := strings.CutPrefix(r.Text, "//")
	switch first, rest, _ := strings.Cut(tail, "/"); {
	case !rooted:
		if dir, ok := mounted(r.Text); ok {
			r.Also = dir
		}
		tail = r.Text
	case first == "" || strings.ContainsAny(first, "*?["):
		tail = rest
	case isDrive(first):
		tail = rest
	case unixTops()[first]:
		r.Doubt = UnixTop
	default:
		return Reading{}, Machine
	}
	if r.Doubt == "" && strings.Contains(classes().ReplaceAllString(tail, ""), ":") {
		r.Doubt = Colon
	}
	return r, nil
}

// readUnix knows drives as a doubt alone. WSL has them below /mnt.
func (s Convention) readUnix(text string) Reading {
	r := Reading{Text: text}
	slashed := strings.ReplaceAll(text, `\`, "/")
	slashed = strings.TrimPrefix(strings.TrimLeft(slashed, "/"), "?/")
	if len(slashed) < 2 || !isDrive(slashed[:2]) || len(slashed) > 2 && slashed[2] != '/' {
		return r
	}
	r.Doubt = NoDrives
	if s.WSL != nil && s.WSL() {
		r.Also = "//mnt/" + strings.ToLower(slashed[:1]) + "/" + strings.TrimLeft(slashed[2:], "/")
	}
	return r
}

// Escaped reports whether a pattern of Windows seems to have escapes: both brackets of a pair.
func Escaped(text string) bool {
	return strings.Contains(text, `\[`) && strings.Contains(text, `\]`)
}

// Slashes returns a text with "/" for each backslash on Windows, and as it is elsewhere.
func (s Convention) Slashes(text string) string {
	if !s.Windows {
		return text
	}
	return strings.ReplaceAll(text, `\`, "/")
}

// absolute gives a name on a drive the form "//C:/...". Other patterns stay as they are.
func absolute(text string) (string, error) {
	for _, device := range []string{"//?/", "//./", "/??/"} {
		rest, ok := strings.CutPrefix(text, device)
		switch {
		case !ok:
		case len(rest) >= 2 && isDrive(rest[:2]):
			text = rest
		case len(rest) >= 4 && strings.EqualFold(rest[:4], "UNC/"):
			return "", Machine
		default:
			return "", Device
		}
	}
	bare := strings.TrimLeft(text, "/")
	slashes := len(text) - len(bare)
	colon := strings.IndexByte(bare, ':')
	switch {
	case colon == 1 && isDrive(bare[:2]) && len(bare) > 2 && bare[2] != '/':
		return "", DriveRelative
	case colon == 1 && isDrive(bare[:2]):
		return "//" + strings.ToUpper(bare[:2]) + "/" + strings.TrimLeft(bare[2:], "/"), nil
	case colon > 0 && slashes != 1 && strings.HasPrefix(bare[colon+1:], "/") && anyDrive(bare[:colon]):
		return "//" + bare, nil
	case slashes >= 2:
		if dir, ok := mounted("/" + bare); ok {
			return dir, nil
		}
		return "//" + bare, nil
	}
	return text, nil
}

// mounted returns the name on a drive that a name of Git Bash, WSL or Cygwin means.
func mounted(text string) (dir string, ok bool) {
	for _, above := range []string{"/", "/mnt/", "/cygdrive/"} {
		rest, ok := strings.CutPrefix(text, above)
		if ok && rest != "" && isLetter(rest[0]) && (len(rest) == 1 || rest[1] == '/') {
			return "//" + strings.ToUpper(rest[:1]) + ":/" + strings.TrimLeft(rest[1:], "/"), true
		}
	}
	return "", false
}

// variables finds what cmd, PowerShell and shells of Unix have for variables: %NAME%,
// $env:NAME, ${NAME}, and $NAME as a whole segment.
var variables = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i:%[a-z_][a-z0-9_()]*%|\$env:[a-z_]\w*|\$\{[^}]*\})|(?:^|/)\$[A-Z_][A-Z0-9_]*(?:/|$)`)
})

var classes = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\[[^\]]*\]`) })

// expanded replaces a variable at the beginning by what it names.
func (s Convention) expanded(text string) (string, error) {
	dir, rest, err := s.folder(text)
	return Literal(dir) + rest, err
}

// Expand returns the name, with "/" as separator, of a name that begins with a variable.
func (s Convention) Expand(name string) (expanded string, ok bool) {
	dir, rest, err := s.folder(s.Slashes(name))
	return dir + rest, err == nil && dir != ""
}

// folder splits a text with "/" as separator into the folder that a variable at its
// beginning names, and the rest.
func (s Convention) folder(text string) (dir, rest string, err error) {
	if !strings.ContainsAny(text, "%$") {
		return "", text, nil
	}
	at := variables().FindStringIndex(text)
	if at == nil {
		return "", text, nil
	}
	rest = text[at[1]:]
	value := s.value(text[:at[1]])
	if at[0] > 0 || value == "" || rest != "" && rest[0] != '/' || variables().MatchString(rest) {
		return "", "", Variable
	}
	return strings.TrimRight(s.Slashes(value), "/"), rest, nil
}

// value returns the folder that a variable names, "" if it is not known.
func (s Convention) value(variable string) string {
	name := strings.ToUpper(strings.Trim(variable, "%"))
	switch name {
	case "$ENV:USERPROFILE":
		name = "USERPROFILE"
	case "USERPROFILE", "APPDATA", "LOCALAPPDATA", "PROGRAMDATA":
	default:
		return ""
	}
	dir := ""
	if s.Getenv != nil {
		dir = s.Getenv(name)
	}
	if dir == "" && name == "USERPROFILE" {
		dir = s.Home
	}
	if len(dir) < 3 || !isDrive(dir[:2]) {
		return ""
	}
	return dir
}

// Literal returns the pattern, in the matchers' form, of a name with "/" as separator.
func Literal(name string) string {
	return strings.NewReplacer("[", `\[`, "{", `\{`).Replace(name)
}

// Written returns the pattern of exactly this name as it is written on Windows.
func Written(name string) string {
	name = strings.ReplaceAll(name, "[", "[[]")
	return variables().ReplaceAllStringFunc(name, func(v string) string {
		return strings.NewReplacer("%", "[%]", "$", "[$]").Replace(v)
	})
}

// Root returns a text of a Reading as a whole name with one slash in front, for globs: a name
// on a drive, in the home directory, or, on Windows, in the top folder of any drive. ok is
// false for a pattern that begins at no root.
func (s Convention) Root(text string) (whole string, ok bool) {
	switch {
	case !s.Windows:
		return text, strings.HasPrefix(text, "/")
	case strings.HasPrefix(text, "//"):
		return text[1:], true
	case strings.HasPrefix(text, "/"):
		return "/?:" + text, true
	case strings.HasPrefix(text, "~/") && s.Home != "":
		return "/" + Literal(strings.TrimRight(s.Slashes(s.Home), "/")) + text[1:], true
	}
	return text, false
}

// Globs returns the globs of names (package nameglob) that a glob of the settings stands
// for: each of its meanings. The error is a Fault.
func (s Convention) Globs(text string) ([]string, error) {
	if !s.Windows {
		return []string{text}, nil
	}
	r, err := s.Read(text)
	if err != nil {
		return nil, err
	}
	var all []string
	for _, t := range []string{r.Text, r.Also} {
		if t == "" {
			continue
		}
		whole, _ := s.Root(t)
		all = append(all, strings.TrimPrefix(single(whole), "./"))
	}
	return all, nil
}

// single has one slash for each run of them.
func single(text string) string {
	for strings.Contains(text, "//") {
		text = strings.ReplaceAll(text, "//", "/")
	}
	return text
}

// unixTops are the folders at the top of Unix systems, which rules for several systems name.
// A machine of such a name is not likely.
var unixTops = sync.OnceValue(func() map[string]bool {
	tops := map[string]bool{}
	for _, name := range strings.Fields("etc home root usr var proc sys dev opt tmp bin sbin lib boot run mnt Users Library Applications Volumes private System") {
		tops[name] = true
	}
	return tops
})

func isLetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }

// isDrive reports whether s is a letter and a colon.
func isDrive(s string) bool { return len(s) == 2 && s[1] == ':' && isLetter(s[0]) }

// OnDrive reports whether a pattern begins with a drive letter and a slash.
func OnDrive(text string) bool { return len(text) >= 3 && isDrive(text[:2]) && text[2] == '/' }

// anyDrive reports whether a pattern before a colon matches drives.
func anyDrive(pattern string) bool {
	return pattern == "?" || pattern == "*" || classes().FindString(pattern) == pattern
}
