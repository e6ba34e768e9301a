package search

import (
	"path"
	"strings"

	"github.com/fsmcp/fsmcp/internal/perm/glob"
)

// filter says which names a Grep looks at.
type filter struct {
	only, never []glob.Pattern
	types       []glob.Pattern
}

// maxGlobs bounds the patterns that braces stand for.
const maxGlobs = 1000

// newFilter parses the globs and the type of a query. The error is a *GlobError or a
// *TypeError.
func newFilter(globs []string, typ string) (f filter, err error) {
	for _, g := range globs {
		text, not := strings.CutPrefix(g, "!")
		all, ok := expand(text, maxGlobs)
		if !ok || text == "" {
			return f, &GlobError{g}
		}
		for _, one := range all {
			p, err := glob.Parse(one)
			if err != nil || len(p.Segments) == 0 {
				return f, &GlobError{g}
			}
			if not {
				f.never = append(f.never, p)
			} else {
				f.only = append(f.only, p)
			}
		}
	}
	if typ == "" {
		return f, nil
	}
	names, ok := namesOf(typ)
	if !ok {
		return f, &TypeError{Type: typ, Near: nearTypes(typ)}
	}
	for name := range strings.FieldsSeq(names) {
		p, err := glob.Parse(name)
		if err != nil {
			return f, &TypeError{Type: typ}
		}
		f.types = append(f.types, p)
	}
	return f, nil
}

// expand writes out the braces of a pattern; false where they are not closed, or stand for
// more than most patterns.
func expand(pattern string, most int) ([]string, bool) {
	open, depth := -1, 0
	var commas []int
	for i := 0; i < len(pattern); i++ {
		switch pattern[i] {
		case '\\':
			i++
		case '{':
			if depth++; depth == 1 {
				open = i
			}
		case ',':
			if depth == 1 {
				commas = append(commas, i)
			}
		case '}':
			if depth == 0 {
				continue
			}
			if depth--; depth > 0 {
				continue
			}
			var all []string
			from := open + 1
			for _, to := range append(commas, i) {
				some, ok := expand(pattern[:open]+pattern[from:to]+pattern[i+1:], most-len(all))
				if all = append(all, some...); !ok || len(all) > most {
					return nil, false
				}
				from = to + 1
			}
			return all, true
		}
	}
	return []string{pattern}, depth == 0 && most > 0
}

func matchAny(patterns []glob.Pattern, name, base string, dir bool) bool {
	for i := range patterns {
		if p := &patterns[i]; (dir || !p.DirOnly) && matchPattern(p, name, base) {
			return true
		}
	}
	return false
}

// enters reports whether a folder is searched.
func (f *filter) enters(rel string) bool {
	return len(f.never) == 0 || !matchAny(f.never, rel, path.Base(rel), true)
}

// wants reports whether a file is searched.
func (f *filter) wants(rel string) bool {
	if len(f.only)+len(f.never)+len(f.types) == 0 {
		return true
	}
	base := rel[strings.LastIndexByte(rel, '/')+1:]
	return (len(f.only) == 0 || matchAny(f.only, rel, base, false)) &&
		!matchAny(f.never, rel, base, false) &&
		(len(f.types) == 0 || matchAny(f.types, base, base, false))
}
