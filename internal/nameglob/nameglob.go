// Package nameglob matches names of files with the globs of settings: which files a hook is
// for, and which the history leaves out.
//
// It does not look at files, and does not check globs: the settings do.
package nameglob

import (
	"path"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
)

// Match reports whether a glob matches any of a file's absolute names. A glob without a
// slash matches the last part of a name; one with a slash matches the whole name or its end;
// "**" matches any number of folders. fold ignores case.
func Match(glob string, names []string, fold bool) bool {
	glob = NoSlash(glob)
	if fold {
		glob = strings.ToLower(glob)
	}
	for _, name := range names {
		name = slashed(name)
		if fold {
			name = strings.ToLower(name)
		}
		if matches(glob, name) {
			return true
		}
	}
	return false
}

// NoSlash returns a glob whose classes such as [!a] do not match a slash: those of doublestar do.
func NoSlash(glob string) string {
	if !strings.Contains(glob, "[") {
		return glob
	}
	var b strings.Builder
	inClass := false
	for rest := glob; rest != ""; {
		n := 1
		switch {
		case rest[0] == '\\':
			n = min(2, len(rest))
		case rest[0] == ']':
			inClass = false
		case rest[0] == '[' && !inClass:
			inClass = true
			if negated := len(rest) > 2 && (rest[1] == '!' || rest[1] == '^'); negated {
				b.WriteString(rest[:2] + "/")
				if rest = rest[2:]; rest[0] == '-' { // no range
					b.WriteByte('\\')
				}
			}
		}
		b.WriteString(rest[:n])
		rest = rest[n:]
	}
	return b.String()
}

// slashed returns a name of Windows, "C:\\a", as "/C:/a". Absolute names of other systems
// begin with a slash.
func slashed(name string) string {
	if name == "" || name[0] == '/' {
		return name
	}
	return "/" + strings.ReplaceAll(name, `\`, "/")
}

func matches(glob, name string) bool {
	switch {
	case !strings.Contains(glob, "/"):
		return doublestar.MatchUnvalidated(glob, path.Base(name))
	case strings.HasPrefix(glob, "/"):
		return doublestar.MatchUnvalidated(glob, name)
	}
	return doublestar.MatchUnvalidated("**/"+glob, strings.TrimPrefix(name, "/")) // no "*" stands for what is before the first slash
}
