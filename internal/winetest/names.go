//go:build linux

package winetest

import (
	"encoding/json"
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
			if i > 0 && text[i-1] == ':' && !strings.HasSuffix(strings.ToLower(text[:i]), "file:") {
				drive = "" // it is there
			} else if i > 0 && strings.IndexByte("/:", text[i-1]) >= 0 || strings.HasSuffix(text[:i], "file://localhost") {
				drive = "/Z:"
			}
			text = text[:i] + drive + text[i:]
			from = i + len(drive) + len(root)
		}
	}
	return text
}

var (
	jsonString   = regexp.MustCompile(`"(?:[^"\\]|\\.)*"`)
	homeName     = regexp.MustCompile(`%USERPROFILE%((?:\\{1,2}[^\\/"<>|*?:\r\n\t]+)+)`)
	absoluteName = regexp.MustCompile(`\b[zZ]:(?:\\{1,2}[^\\/"<>|*?:\r\n\t]*)+`)
	relativeName = regexp.MustCompile(`[^\s\\/"'<>|*?:()]+(?:\\{1,2}[^\s\\/"'<>|*?:()]+)+(?:\\{1,2})?`)
	separators   = regexp.MustCompile(`\\+`)
)

// FromWindows translates what a program has written, a line of JSON or another text: names
// with the drive, and relative names that lie in one of the folders. A name that mixes both
// separators stays as it is, so that a test sees it.
func (n Names) FromWindows(text string, isJSON bool) string {
	if !strings.Contains(text, `\`) && !strings.Contains(text, "Z:") {
		return text
	}
	if isJSON {
		return jsonString.ReplaceAllStringFunc(text, n.stringFromWindows)
	}
	return n.textFromWindows(text)
}

// stringFromWindows translates a string of JSON, which may itself hold JSON. One that holds
// no name stays as it is spelled.
func (n Names) stringFromWindows(quoted string) string {
	var text string
	if json.Unmarshal([]byte(quoted), &text) != nil {
		return quoted
	}
	changed := n.textFromWindows(text)
	if changed == text {
		return quoted
	}
	var out strings.Builder
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	if encoder.Encode(changed) != nil {
		return quoted
	}
	return strings.TrimSuffix(out.String(), "\n")
}

func (n Names) textFromWindows(text string) string {
	text = replaceAll(absoluteName, text, func(name, next string) string {
		last := strings.LastIndexByte(name, '\\')
		if blank := strings.IndexByte(name[last+1:], ' '); blank < 0 && strings.HasPrefix(next, "/") {
			return name
		}
		return separators.ReplaceAllString(name[2:], "/")
	})
	text = homeName.ReplaceAllStringFunc(text, func(name string) string {
		return "~" + separators.ReplaceAllString(name[len("%USERPROFILE%"):], "/")
	})
	text = strings.ReplaceAll(text, "/Z:/", "/") // of a rule or a URI
	for _, root := range n.Roots {
		text = strings.ReplaceAll(text, "(Z:"+root, "("+root)
		text = strings.ReplaceAll(text, `"Z:`+root, `"`+root) // of a Glob pattern
	}
	return replaceAll(relativeName, text, func(name, next string) string {
		if !n.hasEntry(name[:strings.IndexByte(name, '\\')]) || strings.HasPrefix(next, "/") {
			return name
		}
		return separators.ReplaceAllString(name, "/")
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

// replaceAll replaces each match. change also gets what comes after it. The letter of a
// drive is no part of a match: another name begins with it.
func replaceAll(re *regexp.Regexp, text string, change func(match, next string) string) string {
	var out strings.Builder
	for {
		m := re.FindStringIndex(text)
		if m == nil {
			return out.String() + text
		}
		end := m[1]
		if strings.HasPrefix(text[end:], `:\`) && end-m[0] > 3 {
			end--
		}
		out.WriteString(text[:m[0]] + change(text[m[0]:end], text[end:]))
		text = text[end:]
	}
}
