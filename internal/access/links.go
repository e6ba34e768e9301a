package access

import (
	"slices"
	"time"

	"github.com/fsmcp/fsmcp/internal/fsys"
	"github.com/fsmcp/fsmcp/internal/perm"
)

// hardLinks finds the other hard links of a target.
type hardLinks struct {
	c *Checker
	t *fsys.Target
}

// decide returns a decision on the target's names once its other hard links are known, too.
// began is when the look at the target began.
func (h hardLinks) decide(d Decision, began time.Time, grants perm.Grants) perm.Decision {
	if denied, ok := h.denied(d, began); ok {
		return denied
	}
	return h.guarded(d, grants)
}

// denied reports whether a deny rule names the target by another hard link: that is no way
// around the rule.
//
// Another process may remove a second name after the file was found by it and before
// its names were counted. If the file may have changed since the look began, the
// count proves nothing.
func (h hardLinks) denied(d Decision, began time.Time) (perm.Decision, bool) {
	oneName := h.t.Stamp.Nlink == 1 && h.t.Stamp.Settled(began)
	if d.Verdict == perm.Deny || h.t.Kind != fsys.Regular || oneName {
		return perm.Decision{}, false
	}
	for _, l := range d.Policy.LiteralDenies(d.Op) {
		if h.named(l.Path) != nil {
			return l.Decision, true
		}
	}
	return perm.Decision{}, false
}

// guarded decides once more if another hard link of the target is a guarded file, such as
// a settings file: a write in place would change both.
func (h hardLinks) guarded(d Decision, grants perm.Grants) perm.Decision {
	if d.Verdict != perm.Allow || !d.Op.Changes() || h.t.Kind != fsys.Regular || h.t.Stamp.Nlink < 2 {
		return d.Decision
	}
	for _, name := range d.Policy.Guarded() {
		if others := h.named(name); others != nil {
			// The resolved name comes last: a grant is for that one.
			names := slices.Concat(h.t.Names[:1], others, h.t.Names)
			return d.Policy.DecideGranted(d.Op, names, h.c.isThere, grants)
		}
	}
	return d.Decision
}

// named returns the names that a name leads to if it is the target by another resolved name;
// nil if it is not. A link that leads to the very name of the target gives it no other one.
func (h hardLinks) named(name string) []string {
	other, err := h.c.find(name)
	if other == nil {
		return nil
	}
	defer other.Close()
	if err == nil && other.Stamp.SameFile(h.t.Stamp) && other.Path != h.t.Path {
		return other.Names
	}
	return nil
}

// Links returns the other hard links of a file in its own folder and in the workspace
// directories, if wanted reports true for them. It does not search the rest of the
// disk.
func (c *Checker) Links(f *AllowedFile, wanted func(name string) bool) (names []string) {
	dirs := []string{f.dir()}
	for _, w := range c.Policy().Workspace() {
		dirs = append(dirs, w.Name)
	}
	for _, dir := range dirs {
		folder, err := c.find(dir)
		if folder == nil {
			continue
		}
		entries, listed := folder.Entries(maxSiblings)
		folder.Close()
		if err != nil || listed != nil {
			continue
		}
		for _, e := range entries {
			name := fsys.Join(dir, e.Name)
			if e.Dir || !wanted(name) {
				continue
			}
			other, err := c.find(name)
			if other == nil {
				continue
			}
			if err == nil && other.Stamp.SameFile(f.Stamp) {
				names = append(names, name)
			}
			other.Close()
		}
	}
	return names
}
