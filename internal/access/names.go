package access

import (
	"strings"

	"github.com/fsmcp/fsmcp/internal/fsys"
	"github.com/fsmcp/fsmcp/internal/perm"
	"github.com/fsmcp/fsmcp/internal/similar"
)

// Bounds of what is looked at and listed of a folder.
const (
	maxSiblings = 5_000
	maxNear     = 3
)

// Spelling is another spelling that was tried in place of a name that names nothing.
type Spelling struct {
	Path fsys.Path
	How  SpellingKind
}

// SpellingKind is the way in which a Spelling differs from the argument.
type SpellingKind int

// The ways: the one name in the folder that looks the same, the argument without the blanks
// around it, and what a file: URL names.
const (
	LooksAlike SpellingKind = iota
	Trimmed
	FromURL
)

// dir is the folder of the resolved name.
func (f *AllowedFile) dir() string { return fsys.DirOf(f.Path) }

// respell makes up for an argument that names nothing: without the blanks around it, then
// with what answers escape in names as it is, then the one name beside it that merely looks
// different.
func (c *Checker) respell(r Request, f *AllowedFile) error {
	raw := r.Path.Given()
	if trimmed := strings.TrimSpace(raw); trimmed != raw && trimmed != "" {
		path, err := c.Parse(trimmed)
		if err != nil {
			return err
		}
		if err := c.replace(r, f, Spelling{Path: path, How: Trimmed}); err != nil || f.Kind != fsys.Missing {
			return err
		}
	}
	if literal, ok := fsys.Unescaped(raw); ok {
		path, err := c.Parse(literal)
		if err == nil && c.Exists(r.Op, path, perm.Ask) {
			return c.replace(r, f, Spelling{Path: path})
		}
	}
	siblings, err := f.Siblings(maxSiblings)
	if err != nil {
		return nil // nothing to look at: the name stays missing
	}
	other, ok := similar.Lookalike(f.Asked.Base(), namesOf(siblings))
	if !ok {
		return nil
	}
	path := f.Asked.WithBase(other)
	if !c.Exists(r.Op, path, perm.Ask) {
		return nil // what is denied stays unknown
	}
	return c.replace(r, f, Spelling{Path: path})
}

// replace puts another spelling in the place of one that names nothing.
func (c *Checker) replace(r Request, f *AllowedFile, used Spelling) error {
	r.Path = used.Path
	other, err := c.authorize(r)
	if err != nil {
		return err
	}
	f.Close()
	other.Used = append(f.Used, used)
	*f = *other
	return nil
}

func namesOf(entries []fsys.FolderName) []string {
	names := make([]string, len(entries))
	for i, e := range entries {
		names[i] = e.Name
	}
	return names
}

// Near returns at most three names beside one that names nothing that a caller may
// have meant and may read, best first.
func (c *Checker) Near(f *AllowedFile) (near []string) {
	if !c.Readable(f.Asked.Dir()) {
		return nil
	}
	siblings, err := f.Siblings(maxSiblings)
	if err != nil {
		return nil
	}
	for _, n := range similar.Near(f.Asked.Base(), namesOf(siblings), maxNear*4) {
		if full := fsys.Join(f.Asked.Dir(), n); len(near) < maxNear && c.Readable(full) {
			near = append(near, full)
		}
	}
	return near
}
