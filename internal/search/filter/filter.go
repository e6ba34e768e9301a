// Package filter decides by the name of a file whether a Grep looks at it: by gitignore
// patterns and by file types.
//
// It knows no files, and does not decide what a caller may see.
package filter

import (
	"fmt"
	"path"
	"strings"

	"github.com/fsmcp/fsmcp/internal/perm/glob"
)

// Filter says which names a Grep looks at.
type Filter struct {
	only, never []glob.Pattern
	types       []glob.Pattern
	extensions  []string // that globs and the type name, as .pdf
	whole       bool     // one of the globs looks at more than the last segment of a name
}

// maxGlobs bounds the patterns that braces stand for.
const maxGlobs = 1000

// New parses the globs and the type of a query. The error is a *GlobError or a
// *TypeError.
func New(globs []string, typ string) (f Filter, err error) {
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
			for also := &p; also != nil; also = also.Also {
				f.whole = f.whole || also.Slash
			}
			if not {
				f.never = append(f.never, p)
			} else {
				f.only = append(f.only, p)
				f.extensions = append(f.extensions, extensionOf(one))
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
		f.extensions = append(f.extensions, extensionOf(name))
	}
	return f, nil
}

// expand writes out the braces of a pattern; false if they are not closed, or stand for
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
		if p := &patterns[i]; (dir || !p.DirOnly) && Matches(p, name, base) {
			return true
		}
	}
	return false
}

// Whole reports whether the filter looks at more than the last segment of a name.
func (f *Filter) Whole() bool { return f.whole }

// Enters reports whether a folder is searched.
func (f *Filter) Enters(rel string) bool {
	return len(f.never) == 0 || !matchAny(f.never, rel, path.Base(rel), true)
}

// Wants reports whether a file is searched.
func (f *Filter) Wants(rel string) bool {
	if len(f.only)+len(f.never)+len(f.types) == 0 {
		return true
	}
	base := rel[strings.LastIndexByte(rel, '/')+1:]
	return (len(f.only) == 0 || matchAny(f.only, rel, base, false)) &&
		!matchAny(f.never, rel, base, false) &&
		(len(f.types) == 0 || matchAny(f.types, base, base, false))
}

// Matches reports whether a gitignore pattern matches a name as a whole. base is its
// last segment.
func Matches(p *glob.Pattern, name, base string) bool {
	for ; p != nil; p = p.Also {
		if p.Slash && matchSegments(p.Segments, name) || !p.Slash && matchSegments(p.Segments, base) {
			return true
		}
	}
	return false
}

// matchSegments takes at most the product of both lengths: only the last "**" passed is
// reopened.
func matchSegments(segs []glob.Segment, name string) bool {
	at, reopen, share := 0, -1, ""
	for {
		switch {
		case at == len(segs) && name == "":
			return true
		case at < len(segs) && segs[at].Kind == glob.Deep:
			if at++; at == len(segs) {
				return name != ""
			}
			reopen, share = at, name
			continue
		case at < len(segs) && name != "":
			seg, rest, _ := strings.Cut(name, "/")
			if matchSegment(&segs[at], seg) {
				at, name = at+1, rest
				continue
			}
		}
		if reopen < 0 || share == "" {
			return false
		}
		_, share, _ = strings.Cut(share, "/")
		at, name = reopen, share
	}
}

func matchSegment(s *glob.Segment, name string) bool {
	switch s.Kind {
	case glob.Exact:
		return s.Text == name
	case glob.AnyName:
		return true
	}
	return glob.Match(s.Tokens, name)
}

// GlobError: a pattern of file names cannot be parsed.
type GlobError struct{ Pattern string }

func (e *GlobError) Error() string { return fmt.Sprintf("glob %q cannot be parsed", e.Pattern) }

// TypeError: no file type has that name. Near are the names that look like it, best
// first.
type TypeError struct {
	Type string
	Near []string
}

func (e *TypeError) Error() string { return fmt.Sprintf("unknown type %q", e.Type) }
