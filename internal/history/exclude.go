package history

import (
	"path"
	"path/filepath"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
)

// Globs are patterns of names that are not kept. One without a slash is compared
// with the last part of a name, one with a slash with the whole name or its end;
// "**" stands for any number of folders. The case of letters does not count: a
// secret is one under any spelling.
type Globs []string

// Match tells whether one of the names of a file is excluded. Names are absolute.
func (g Globs) Match(names []string) bool {
	for _, name := range names {
		name = folded(name)
		base := path.Base(name)
		for _, glob := range g {
			if matches(folded(glob), name, base) {
				return true
			}
		}
	}
	return false
}

func folded(name string) string { return strings.ToLower(filepath.ToSlash(name)) }

func matches(glob, name, base string) bool {
	switch {
	case !strings.Contains(glob, "/"):
		return doublestar.MatchUnvalidated(glob, base)
	case strings.HasPrefix(glob, "/"):
		return doublestar.MatchUnvalidated(glob, name)
	}
	return doublestar.MatchUnvalidated("**/"+glob, name)
}
