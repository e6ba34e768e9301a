package fsys

import (
	"path"
	"strings"
	"unicode/utf16"
)

// Path is a path argument, parsed once: absolute, clean, and free of everything
// that could mean something else to the system than it does to the reader. It is
// a comparable value; its zero value is no path.
type Path struct {
	given    string
	name     string // "/" separated on unix, "C:\..." on Windows
	windows  bool
	relative bool
	folder   bool
}

// Named returns a Path for a name in the system's own spelling, or for what is no file: String
// returns the name itself.
func Named(name string) Path { return Path{given: name, name: name, windows: onWindows} }

// String is the absolute, cleaned name, in the system's own spelling.
func (p Path) String() string { return p.name }

// Given is the argument as it was parsed.
func (p Path) Given() string { return p.given }

// GivenAs is the same path with another argument that stands for it.
func (p Path) GivenAs(raw string) Path {
	p.given = raw
	return p
}

// Relative reports that the argument was relative, so that an answer should
// name the absolute path that was used.
func (p Path) Relative() bool { return p.relative }

// TrailingSlash reports that the argument was spelt as a folder: it ended with
// a separator, or with "." or "..".
func (p Path) TrailingSlash() bool { return p.folder }

// Base is the last segment; of a file system's root it is the root itself.
func (p Path) Base() string { return baseOf(p.name, p.windows) }

// Dir is the path without its last segment; a root is its own Dir.
func (p Path) Dir() string { return dirOf(p.name, p.windows) }

// Ext is the extension in lower case, without the dot. A name that only begins
// with a dot (".env") has none.
func (p Path) Ext() string {
	base := p.Base()
	dot := strings.LastIndexByte(base, '.')
	if dot <= 0 {
		return ""
	}
	return strings.ToLower(base[dot+1:])
}

// WithBase is the path of another name in the same folder, as a listing gave it.
func (p Path) WithBase(name string) Path {
	q := p
	q.name = joinName(p.Dir(), name, p.windows)
	q.folder = false
	return q
}

// Below is the path of a name in the folder of this path.
func (p Path) Below(name string) Path {
	q := p
	q.name = joinName(p.name, name, p.windows)
	q.given, q.folder = q.name, false
	return q
}

// Lexer parses path arguments. It is pure: the same text gives the same Path or
// the same error on every machine, whatever its disk holds.
type Lexer struct {
	OS   string // as runtime.GOOS
	Home string // absolute; "" if there is none
	Base string // absolute folder that relative arguments start from; "" if there is none
	// Getenv gives the variables that a pattern or an argument on Windows may begin with; nil:
	// none is set.
	Getenv func(string) string
}

// Parse reads one path argument. "~" and "~/..." start from the home directory,
// relative arguments from Base; "." and ".." are cleaned away as text. Errors
// are of type *PathError.
func (l Lexer) Parse(raw string) (Path, error) {
	fail := func(reason string) (Path, error) { return Path{}, &PathError{Raw: raw, Reason: reason} }
	if raw == "" {
		return fail("is empty")
	}
	if strings.IndexByte(raw, 0) >= 0 {
		return fail("contains a NUL byte")
	}
	p := Path{given: raw, windows: l.OS == "windows"}
	if p.windows {
		if reason := windowsFault(raw); reason != "" {
			return fail(reason)
		}
	}
	whole := raw
	switch {
	case p.isHome(raw):
		if l.Home == "" {
			return fail("starts with ~, and no home directory is known")
		}
		whole = l.Home + "/" + raw[1:]
	case !p.isAbsolute(raw):
		if l.Base == "" {
			return fail("is relative, and there is no directory to start from")
		}
		whole = l.Base + "/" + raw
		p.relative = true
	}
	p.folder = p.endsAsFolder(raw)
	p.name = clean(whole, p.windows)
	if reason := l.nameFault(p.name); reason != "" {
		return fail(reason)
	}
	return p, nil
}

// slashes spells a Windows path with "/", where both separators are one.
func (p Path) slashes(raw string) string {
	if p.windows {
		return strings.ReplaceAll(raw, `\`, "/")
	}
	return raw
}

func (p Path) isHome(raw string) bool {
	return raw == "~" || strings.HasPrefix(p.slashes(raw), "~/")
}

func (p Path) isAbsolute(raw string) bool {
	if p.windows {
		return hasDrive(raw) // a drive without a separator was refused before
	}
	return raw[0] == '/'
}

func (p Path) endsAsFolder(raw string) bool {
	name := p.slashes(raw)
	last := path.Base("/" + name)
	return last == "." || last == ".." || strings.HasSuffix(name, "/")
}

// clean is path.Clean for both spellings of an absolute name.
func clean(whole string, windows bool) string {
	if !windows {
		return path.Clean(whole)
	}
	drive := strings.ToUpper(whole[:len("C:")])
	rest := path.Clean("/" + strings.ReplaceAll(whole[len("C:"):], `\`, "/"))
	return drive + strings.ReplaceAll(rest, "/", `\`)
}

// Longest names the systems take, in bytes (in UTF-16 units on Windows).
const (
	maxSegment     = 255
	maxLinuxPath   = 4095
	maxDarwinPath  = 1023
	maxWindowsPath = 32_760
)

// nameFault returns what is wrong with a clean absolute name as a whole: its length,
// or another meaning. It returns "" if nothing is.
func (l Lexer) nameFault(name string) string {
	longest, length := maxLinuxPath, len(name)
	switch l.OS {
	case "darwin":
		longest = maxDarwinPath
		if reason := darwinFault(name); reason != "" {
			return reason
		}
	case "windows":
		longest, length = maxWindowsPath, utf16Len(name)
	}
	if length > longest {
		return "is longer than the system takes"
	}
	for segment := range strings.SplitSeq(name, string(separator(l.OS == "windows"))) {
		if len(segment) > maxSegment && (l.OS != "windows" || utf16Len(segment) > maxSegment) {
			return "has a name of more than 255 bytes in it"
		}
	}
	return ""
}

// darwinFault refuses the two name spaces that macOS hides in ordinary paths:
// files by their inode, and resource forks.
func darwinFault(name string) string {
	folded := strings.ToLower(name)
	if folded == "/.vol" || strings.HasPrefix(folded, "/.vol/") {
		return "names a file by its number"
	}
	if strings.Contains(folded+"/", "/..namedfork/") {
		return "names a fork of a file"
	}
	return ""
}

func utf16Len(s string) int {
	n := 0
	for _, r := range s {
		n += utf16.RuneLen(r)
	}
	return n
}
