package access

import (
	"slices"
	"time"

	"github.com/fsmcp/fsmcp/internal/fsys"
	"github.com/fsmcp/fsmcp/internal/perm"
)

// withLinks is a decision on a file's names once its other hard links are known, too.
// began is when the look at the file began.
func (c *Checker) withLinks(j Judgement, t *fsys.Target, began time.Time, grants perm.Grants) perm.Decision {
	if denied, ok := c.deniedLink(j, t, began); ok {
		return denied
	}
	return c.guardedLink(j, t, grants)
}

// deniedLink finds out whether the file is one that a deny rule names by another hard
// link: that is no way around the rule.
//
// Another process may remove a second name after the file was found by it and before
// its names were counted. Where the file may have changed since the look began, the
// count proves nothing.
func (c *Checker) deniedLink(j Judgement, t *fsys.Target, began time.Time) (perm.Decision, bool) {
	oneName := t.Stamp.Nlink == 1 && t.Stamp.Settled(began)
	if j.Verdict == perm.Deny || t.Kind != fsys.Regular || oneName {
		return perm.Decision{}, false
	}
	for _, l := range j.Policy.LiteralDenies(j.Op) {
		if c.isLink(l.Path, t) != nil {
			return l.Decision, true
		}
	}
	return perm.Decision{}, false
}

// guardedLink decides once more where another hard link of the file is a guarded one,
// such as a settings file: a write in place would change both.
func (c *Checker) guardedLink(j Judgement, t *fsys.Target, grants perm.Grants) perm.Decision {
	if j.Verdict != perm.Allow || !j.Op.Changes() || t.Kind != fsys.Regular || t.Stamp.Nlink < 2 {
		return j.Decision
	}
	for _, name := range j.Policy.Guarded() {
		if others := c.isLink(name, t); others != nil {
			// The resolved name comes last: a grant is for that one.
			names := slices.Concat(t.Names[:1], others, t.Names)
			return j.Policy.DecideGranted(j.Op, names, c.isThere, grants)
		}
	}
	return j.Decision
}

// isLink returns the names of what a name leads to where that is the same file by
// another resolved name; nil where it is not. A link that leads to the very name of
// the file gives it no other one.
func (c *Checker) isLink(name string, t *fsys.Target) []string {
	other, err := c.find(name)
	if other == nil {
		return nil
	}
	defer other.Close()
	if err == nil && other.Stamp.SameFile(t.Stamp) && other.Path != t.Path {
		return other.Names
	}
	return nil
}

// Links returns the other hard links of a file in its own folder and in the workspace
// directories, if wanted reports true for them. It does not search the rest of the
// disk.
func (c *Checker) Links(f *File, wanted func(name string) bool) (names []string) {
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
			name := Join(dir, e.Name)
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
