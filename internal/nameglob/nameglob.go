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
	return doublestar.MatchUnvalidated("**/"+glob, name)
}
