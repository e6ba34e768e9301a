package fsys

import (
	"path/filepath"
	"strings"
)

// Separator stands between the segments of a name of this system.
const Separator = string(filepath.Separator)

// Join is the name of what lies in a folder under rel, with slashes in rel. Both names are
// absolute, clean, and in the system's own spelling, as all names that packages exchange.
func Join(dir, rel string) string { return joinName(dir, native(rel, onWindows), onWindows) }

// DirOf is a name without its last segment; a root is its own.
func DirOf(name string) string { return dirOf(name, onWindows) }

// BaseOf is the last segment of a name; of a root it is the root itself.
func BaseOf(name string) string { return baseOf(name, onWindows) }

// Below returns the rest of a name below a folder, in the system's own spelling and without a
// separator at its start; "" for the folder itself. ok is false for a name elsewhere.
func Below(dir, name string) (rel string, ok bool) { return below(dir, name, onWindows) }

// Within reports whether name is dir or lies below it, segment by segment. Both are
// absolute and clean.
func Within(dir, name string) bool { return within(dir, name, onWindows) }

func separator(windows bool) byte {
	if windows {
		return '\\'
	}
	return '/'
}

// native spells a name with slashes as the system does.
func native(rel string, windows bool) string {
	if windows {
		return strings.ReplaceAll(rel, "/", `\`)
	}
	return rel
}

// rootOf is the part of an absolute clean name that cannot be climbed above.
func rootOf(name string, windows bool) string {
	if windows {
		return name[:min(len(name), len(`C:\`))]
	}
	return name[:min(len(name), len("/"))]
}

func dirOf(name string, windows bool) string {
	root := rootOf(name, windows)
	end := strings.LastIndexByte(name, separator(windows))
	if end < len(root) {
		return root
	}
	return name[:end]
}

func baseOf(name string, windows bool) string {
	if name == rootOf(name, windows) { // or no name
		return name
	}
	return name[strings.LastIndexByte(name, separator(windows))+1:]
}

// joinName takes no folder for the root of all names.
func joinName(dir, name string, windows bool) string {
	if dir != "" && dir == rootOf(dir, windows) {
		return dir + name
	}
	return dir + string(separator(windows)) + name
}

func below(dir, name string, windows bool) (rel string, ok bool) {
	sep := string(separator(windows))
	rest, ok := strings.CutPrefix(name, strings.TrimSuffix(dir, sep))
	if !ok || rest != "" && !strings.HasPrefix(rest, sep) {
		return "", false
	}
	return strings.TrimPrefix(rest, sep), true
}

func within(dir, name string, windows bool) bool {
	_, ok := below(dir, name, windows)
	return ok
}
