package find

import (
	"strings"

	"github.com/fsmcp/fsmcp/internal/perm/notation"
	"github.com/fsmcp/fsmcp/internal/refusal"
	"github.com/fsmcp/fsmcp/internal/search"
)

// The tools' names, as published.
const (
	NameGlob = "Glob"
	NameGrep = "Grep"
)

// GlobArgs are the arguments of Glob.
type GlobArgs struct {
	Pattern        string `json:"pattern"`
	Path           string `json:"path"`
	IncludeIgnored bool   `json:"include_ignored"`
	HeadLimit      *int   `json:"head_limit"`
	Offset         *int   `json:"offset"`
}

// Target is the folder argument as it arrived.
func (a *GlobArgs) Target() string { return a.Path }

// Intent tells the user what the call is about to do.
func (a *GlobArgs) Intent() string { return intent }

// GrepArgs are the arguments of Grep.
type GrepArgs struct {
	Pattern        string `json:"pattern"`
	Path           string `json:"path"`
	Glob           string `json:"glob"`
	Type           string `json:"type"`
	OutputMode     string `json:"output_mode"`
	After          *int   `json:"-A"`
	Before         *int   `json:"-B"`
	Around         *int   `json:"-C"`
	Context        *int   `json:"context"`
	Numbers        *bool  `json:"-n"`
	Fold           bool   `json:"-i"`
	Multiline      bool   `json:"multiline"`
	HeadLimit      *int   `json:"head_limit"`
	Offset         *int   `json:"offset"`
	IncludeIgnored bool   `json:"include_ignored"`
}

// Target is the file or folder argument as it arrived.
func (a *GrepArgs) Target() string { return a.Path }

// Intent tells the user what the call is about to do.
func (a *GrepArgs) Intent() string { return intent }

// intent completes the question whether a folder may be read.
const intent = "It searches the file, or the folder with all below it, but for what your rules name."

// The output modes.
const (
	outputFiles   = "files_with_matches"
	outputContent = "content"
	outputCount   = "count"
)

// modes maps the output modes to those of the search.
func modes() map[string]search.GrepMode {
	return map[string]search.GrepMode{"": search.FilesOnly, outputFiles: search.FilesOnly, outputContent: search.Content, outputCount: search.Counts}
}

// Defaults of head_limit.
const (
	defaultNames   = 100 // of Glob
	defaultResults = 250 // of Grep
)

// mostContext bounds the lines of context.
const mostContext = 1000

// window is the part of the results that a call asks for.
func window(headLimit, offset *int, otherwise int) (w search.Window, fault error) {
	w.Most = otherwise
	if headLimit != nil {
		w.Most = *headLimit
	}
	if offset != nil {
		w.Skip = *offset
	}
	return w, notNegative(named{"head_limit", headLimit}, named{"offset", offset})
}

// contexts are the arguments that ask for lines of context.
func (a *GrepArgs) contexts() []named {
	return []named{{"-A", a.After}, {"-B", a.Before}, {"-C", a.Around}, {"context", a.Context}}
}

// contextOf returns the lines of context before and after a match: -A and -B count before
// -C and context.
func (a *GrepArgs) contextOf() (before, after int, fault error) {
	pick := func(first *int) int {
		for _, n := range []*int{first, a.Around, a.Context} {
			if n != nil {
				return min(*n, mostContext)
			}
		}
		return 0
	}
	return pick(a.Before), pick(a.After), notNegative(a.contexts()...)
}

// unused names the arguments that only mean something beside lines.
func (a *GrepArgs) unused() (names []string) {
	if modes()[a.OutputMode] == search.Content {
		return nil
	}
	for _, arg := range a.contexts() {
		if arg.value != nil && *arg.value > 0 {
			names = append(names, arg.name)
		}
	}
	return names
}

// notation returns the notation of patterns on this system.
func (f *Finder) notation() notation.Convention {
	l := f.Opener.Access.Lexer()
	return notation.Convention{Windows: l.OS == "windows", Home: l.Home, Getenv: l.Getenv}
}

// written returns a pattern of an argument in the form of the matchers. On Windows an absolute
// one begins with its drive. A name of Git Bash or WSL is refused with the name that it means.
func written(on notation.Convention, argument, pattern string) (string, error) {
	if !on.Windows {
		return pattern, nil
	}
	r, err := on.Read(pattern)
	switch {
	case err != nil:
		return "", refusal.New(refusal.BadNotation, argument, pattern, err)
	case r.Also != "":
		return "", refusal.New(refusal.ForeignPattern, argument, pattern, strings.TrimPrefix(r.Also, "//"))
	}
	return strings.TrimPrefix(r.Text, "//"), nil
}

// globsOf returns the globs of a list, in the form of the matchers.
func globsOf(on notation.Convention, list string) ([]string, error) {
	all := globs(on.Slashes(list))
	for i, glob := range all {
		text, not := strings.CutPrefix(glob, "!")
		text, err := written(on, "glob", text)
		if err != nil {
			return nil, err
		}
		if all[i] = text; not {
			all[i] = "!" + text
		}
	}
	return all, nil
}

// globBelow makes a glob that begins with the absolute name of a start one that begins there: in
// a glob, as in an ignore file, a slash at the beginning stands for the start.
func (r *finding) globBelow(on notation.Convention, glob string) string {
	text, not := strings.CutPrefix(glob, "!")
	if whole, ok := on.Root(text); ok && on.Windows && strings.HasPrefix(text, "~/") {
		text = whole[1:]
	}
	for _, s := range r.starts {
		for _, name := range append([]string{s.Path}, s.Names...) {
			rest, ok := cutFolder(on, text, name)
			switch {
			case !ok || rest == "":
			case not:
				return "!/" + rest
			default:
				return "/" + rest
			}
		}
	}
	return glob
}

// cutFolder returns the rest of a glob that begins with the absolute name of a folder, as a
// pattern or as it is.
func cutFolder(on notation.Convention, glob, dir string) (rest string, ok bool) {
	dir = strings.TrimSuffix(on.Slashes(dir), "/") + "/"
	if !on.Windows {
		rest, ok = strings.CutPrefix(glob, dir)
		return rest, ok && dir[0] == '/'
	}
	for _, dir := range []string{dir, notation.Literal(dir)} {
		if len(glob) >= len(dir) && strings.EqualFold(glob[:len(dir)], dir) {
			return glob[len(dir):], true
		}
	}
	return "", false
}

// globs splits a list at its commas, but not within braces or brackets.
func globs(list string) (all []string) {
	depth, from := 0, 0
	add := func(to int) {
		if g := strings.TrimSpace(list[from:to]); g != "" {
			all = append(all, g)
		}
		from = to + 1
	}
	for i := 0; i < len(list); i++ {
		switch list[i] {
		case '\\':
			i++
		case '{', '[':
			depth++
		case '}', ']':
			depth = max(depth-1, 0)
		case ',':
			if depth == 0 {
				add(i)
			}
		}
	}
	add(len(list))
	return all
}
