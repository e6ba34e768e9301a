//go:build linux

package winetest

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// Names translates between the names of Linux and those of the drive on which Wine shows
// the same files. It works on text: arguments, environments, lines of JSON.
type Names struct {
	// Roots are the folders whose names are translated wherever they stand.
	Roots []string
}

// Name returns the name that a program for Windows has for a file.
func Name(linux string) string { return `Z:` + strings.ReplaceAll(linux, "/", `\`) }

var (
	wholeName = regexp.MustCompile(`"(/[^"\\]*)"`)
	// fileArgument is a name in an argument that holds nothing else, wherever the file is.
	fileArgument = regexp.MustCompile(`("(?:file_path|notebook_path|path)"\s*:\s*")(/[^"\\]*)"`)
	option       = regexp.MustCompile(`^(-[-a-z]*=|[A-Z_]+=)?(/.*)$`)
)

// ToWindows translates an argument or the value of a variable. A name on its own gets the
// separators of Windows; within a rule or another text it gets the drive alone.
func (n Names) ToWindows(arg string) string {
	if m := option.FindStringSubmatch(arg); m != nil && n.isBelow(m[2]) && !strings.ContainsAny(m[2], "*()") {
		return m[1] + Name(m[2])
	}
	if strings.HasPrefix(arg, "{") {
		return n.JSONToWindows(arg)
	}
	return n.addDrives(arg)
}

// JSONToWindows translates the names in a text of JSON.
func (n Names) JSONToWindows(text string) string {
	escaped := func(name string) string { return "Z:" + strings.ReplaceAll(name, "/", `\\`) }
	text = fileArgument.ReplaceAllStringFunc(text, func(s string) string {
		m := fileArgument.FindStringSubmatch(s)
		return m[1] + escaped(m[2]) + `"`
	})
	text = wholeName.ReplaceAllStringFunc(text, func(s string) string {
		if name := s[1 : len(s)-1]; n.isBelow(name) && !strings.ContainsAny(name, "*()") {
			return `"` + escaped(name) + `"`
		}
		return s
	})
	return n.addDrives(text)
}

func (n Names) isBelow(name string) bool {
	for _, root := range n.Roots {
		if name == root || strings.HasPrefix(name, root+"/") {
			return true
		}
	}
	return false
}

// addDrives puts the drive before each root. "//tmp/x", as rules and URIs have it, becomes
// "//Z:/tmp/x".
func (n Names) addDrives(text string) string {
	for _, root := range n.Roots {
		from := 0
		for {
			i := strings.Index(text[from:], root)
			if i < 0 {
				break
			}
			i += from
			drive := "Z:"
			if i > 0 && text[i-1] == ':' {
				drive = "" // it is there
			} else if i > 0 && text[i-1] == '/' {
				drive = "/Z:"
			}
			text = text[:i] + drive + text[i:]
			from = i + len(drive) + len(root)
		}
	}
	return text
}

// The separators in JSON are escaped, once or, in JSON within JSON, twice.
var (
	jsonName     = regexp.MustCompile(`\bZ:(?:(?:\\\\){1,2}[^\\/"<>|*?:\r\n\t]*)+`)
	textName     = regexp.MustCompile(`\bZ:(?:\\{1,2}[^\\/"<>|*?:\r\n\t]*)+`)
	jsonRelative = regexp.MustCompile(`[^\s\\/"'<>|*?:()]+(?:(?:\\\\){1,2}[^\s\\/"'<>|*?:()]+)+`)
	textRelative = regexp.MustCompile(`[^\s\\/"'<>|*?:()]+(?:\\{1,2}[^\s\\/"'<>|*?:()]+)+`)
	separators   = regexp.MustCompile(`\\+`)
)

// FromWindows translates what a program has written, a line of JSON or another text: names
// with the drive, and relative names that lie in one of the folders. A name that mixes both
// separators stays as it is, so that a test sees it.
func (n Names) FromWindows(text string, json bool) string {
	absolute, relative := textName, textRelative
	if json {
		absolute, relative = jsonName, jsonRelative
	}
	if strings.Contains(text, "Z:") {
		text = replaceAll(absolute, text, func(s, next string) string {
			last := strings.LastIndexByte(s, '\\')
			if blank := strings.IndexByte(s[last+1:], ' '); blank < 0 && strings.HasPrefix(next, "/") {
				return s
			}
			return separators.ReplaceAllString(s[2:], "/")
		})
		text = strings.ReplaceAll(text, "/Z:/", "/") // of a rule or a URI
		for _, root := range n.Roots {
			text = strings.ReplaceAll(text, "(Z:"+root, "("+root)
		}
	}
	if !strings.Contains(text, `\`) {
		return text
	}
	return replaceAll(relative, text, func(s, next string) string {
		if !n.hasEntry(s[:strings.IndexByte(s, '\\')]) || strings.HasPrefix(next, "/") {
			return s
		}
		return separators.ReplaceAllString(s, "/")
	})
}

// hasEntry reports whether one of the folders has an entry of that name.
func (n Names) hasEntry(name string) bool {
	for _, root := range n.Roots {
		if _, err := os.Lstat(filepath.Join(root, name)); err == nil {
			return true
		}
	}
	return name == "." || name == ".." || name == "~"
}

// replaceAll replaces each match. change also gets what comes after it.
func replaceAll(re *regexp.Regexp, text string, change func(match, next string) string) string {
	var out strings.Builder
	done := 0
	for _, m := range re.FindAllStringIndex(text, -1) {
		out.WriteString(text[done:m[0]])
		out.WriteString(change(text[m[0]:m[1]], text[m[1]:]))
		done = m[1]
	}
	return out.String() + text[done:]
}
