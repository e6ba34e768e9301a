package access

import (
	"path"
	"slices"
	"strings"

	"github.com/fsmcp/fsmcp/internal/fsys"
	"github.com/fsmcp/fsmcp/internal/perm"
	"github.com/fsmcp/fsmcp/internal/perm/notation"
)

// ElsewhereError: the argument is spelt as another system or program spells it, and names
// nothing as it is.
type ElsewhereError struct {
	Raw string
	fsys.Elsewhere
}

func (e *ElsewhereError) Error() string { return e.Raw + " is spelt for another system" }

// Parse parses a file argument. It does not look at the disk. The error is a
// *fsys.PathError, or a *ElsewhereError if the argument cannot be a name of this system
// either. A file: URL that cannot be is decoded.
func (c *Checker) Parse(raw string) (fsys.Path, error) {
	lexer := c.Lexer()
	p, err := lexer.Parse(raw)
	if err == nil {
		return p, nil
	}
	e, ok := fsys.ParseElsewhere(raw, lexer.OS)
	switch {
	case !ok:
		return p, err
	case !taken(e):
		return p, &ElsewhereError{raw, e}
	}
	if p, err = lexer.Parse(e.Path); err == nil {
		p = p.GivenAs(raw)
	}
	return p, err
}

// fromElsewhere returns a request for the file that a file: URL names, and which spelling
// that is. Other spellings of other systems are a *ElsewhereError. A file that bears the
// very name comes first.
func (c *Checker) fromElsewhere(r Request) (Request, []Spelling, error) {
	lexer, raw := c.Lexer(), r.Path.Given()
	e, ok := fsys.ParseElsewhere(raw, lexer.OS)
	if !ok || r.Exact {
		return r, nil, nil
	}
	if !taken(e) {
		if c.Exists(r.Op, r.Path, perm.Ask) {
			return r, nil, nil
		}
		return r, nil, &ElsewhereError{raw, e}
	}
	decoded, err := lexer.Parse(e.Path)
	if err == nil && decoded.String() != r.Path.String() && c.Exists(r.Op, r.Path, perm.Ask) {
		return r, nil, nil
	}
	r.Path = decoded
	how := FromURL
	if e.Kind == fsys.Blanks {
		how = Trimmed
	}
	return r, []Spelling{{Path: decoded, How: how}}, err
}

// taken reports whether a spelling is taken for the path that it means.
func taken(e fsys.Elsewhere) bool { return e.Kind == fsys.FileURL || e.Kind == fsys.Blanks }

// mostTails bounds how many ends of a path are looked for below the workspace.
const mostTails = 12

// Meant returns the path of this system that a spelling of another one means, "" if none is
// known. Of a guess it names only what exists and may be known; for a change, a new name in
// a folder that exists.
func (c *Checker) Meant(op perm.Op, e fsys.Elsewhere) string {
	if e.Kind == fsys.Variable {
		l := c.Lexer()
		on := notation.Convention{Windows: true, Home: l.Home, Getenv: l.Getenv}
		e.Path, _ = on.Expand(e.Tail)
	}
	if e.Path != "" {
		if inner, ok := fsys.ParseElsewhere(e.Path, c.Lexer().OS); ok {
			return c.Meant(op, inner)
		}
		if p, err := c.Lexer().Parse(e.Path); err == nil {
			return p.String()
		}
		return ""
	}
	if e.Guess != "" && c.mayMean(op, e.Guess) {
		return e.Guess
	}
	tail := path.Clean("/" + e.Tail)[1:]
	for range mostTails {
		for _, dir := range c.Policy().Workspace() {
			if name := fsys.Join(dir.Name, tail); tail != "" && c.mayMean(op, name) {
				return name
			}
		}
		_, rest, ok := strings.Cut(tail, "/")
		if !ok {
			break
		}
		tail = rest
	}
	return ""
}

// mayMean reports whether an absolute name exists, or for a change, whether its folder does
// below a workspace directory; of both only what may be read.
func (c *Checker) mayMean(op perm.Op, name string) bool {
	if c.Readable(name) {
		return true
	}
	dir := fsys.DirOf(name)
	below := func(d perm.Dir) bool { return dir != d.Name && fsys.Within(d.Name, dir) }
	return op.Changes() && slices.ContainsFunc(c.Policy().Workspace(), below) && c.Readable(dir)
}
