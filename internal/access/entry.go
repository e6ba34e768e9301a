package access

import (
	"errors"
	"io/fs"
	"slices"

	"github.com/fsmcp/fsmcp/internal/fsys"
	"github.com/fsmcp/fsmcp/internal/perm"
)

// ErrCoveredBelow: a rule covers something below a folder that is to be moved or removed as a
// whole. It is one error for deny and ask, and does not say what.
var ErrCoveredBelow = errors.New("a rule covers something below the folder")

// Exists reports whether a name is there; nil takes the disk's word.
type Exists func(name string) bool

// Entry resolves and authorizes a name itself: a link at its last step is not followed. What
// it decides is decided as Read and as the operation, and the stricter verdict holds; a Read
// alone decides on the source of a copy. A question is in the file, which is Hidden if a Read
// takes one. The error is a *DeniedError, *DeviceError, *SpecialError or that of Resolve. If the
// file would be Hidden, a *ConsentError replaces that of Resolve.
func (c *Checker) Entry(r Request, there Exists) (*AllowedFile, error) {
	if fsys.RefusedByName(r.Path) {
		return nil, &DeviceError{r.Path}
	}
	if there == nil {
		there = c.isThere
	}
	r, used, err := c.fromElsewhere(r)
	if err != nil {
		return nil, err
	}
	d := strictest(c, r, []string{r.Path.String()}, there)
	if d.Verdict == perm.Deny && d.Reason != perm.ReasonBuiltin {
		return nil, &DeniedError{d}
	}
	began := c.Now()
	t, err := r.resolveEntry(c.Resolver)
	if d.Verdict != perm.Allow || len(t.Names) > 1 {
		d = strictest(c, r, t.Names, there)
	}
	d.Decision = hardLinks{c, t}.decide(d, began, r)
	f, refused := entryBy(c, d, r, t, there)
	if refused == nil && err != nil {
		if refused = err; f.Hidden {
			refused = f.Question
		}
	}
	if refused != nil {
		t.Close()
		return nil, refused
	}
	f.Used = used
	return f, nil
}

func (r Request) resolveEntry(by *fsys.Resolver) (*fsys.Target, error) {
	if r.Folders != nil {
		return r.Folders.ResolveEntry(r.Path)
	}
	return by.ResolveEntry(r.Path)
}

// entryBy returns the file that a decision lets through, or the error that it comes to.
func entryBy(c *Checker, d Decision, r Request, t *fsys.Target, there Exists) (*AllowedFile, error) {
	if c.Folders != nil {
		if err := unserved(c.Folders(), r.Path.String(), t); err != nil {
			return nil, err
		}
	}
	switch {
	case d.Verdict == perm.Deny && d.Reason == perm.ReasonBuiltin && t.Kind == fsys.Special:
		return nil, &SpecialError{r.Path}
	case d.Verdict == perm.Deny:
		return nil, &DeniedError{d}
	}
	f := &AllowedFile{Target: t, Op: r.Op}
	if d.Verdict == perm.Ask {
		f.Question = &ConsentError{Decision: d, Resolved: t.Path}
		f.Hidden = d.Policy.DecideGranted(perm.Read, d.Names, there, entryGrants{&r}).Verdict != perm.Allow
	}
	return f, nil
}

// entryGrants lets consent to the operation count for the Read that it takes, too: nothing
// that the file holds is shown.
type entryGrants struct{ *Request }

// Granted implements perm.Grants.
func (g entryGrants) Granted(op perm.Op, path string) bool {
	return g.Request.Granted(op, path) || g.Request.Granted(g.Op, path)
}

// strictest is the strictest decision as Read and as the operation.
func strictest(c *Checker, r Request, names []string, there Exists) Decision {
	policy := c.Policy()
	d, grants := Decision{Policy: policy, Op: r.Op, Path: r.Path, Names: names}, entryGrants{&r}
	d.Decision = policy.DecideGranted(r.Op, names, there, grants)
	if r.Op == perm.Read {
		return d
	}
	if read := policy.DecideGranted(perm.Read, names, there, grants); read.Verdict < d.Verdict {
		d.Decision = read
	}
	return d
}

// Below lists what lies below a folder, as far as it may be known.
type Below struct {
	Files   []string // absolute names of what is no folder, in the order of the walk
	Folders int
	// Question asks about a protected name below the folder; nil: there is none.
	Question *ConsentError
}

// mostBelow bounds the names that are looked at below one folder.
const mostBelow = 200_000

// ErrTooManyBelow: a folder holds more names than are decided on.
var ErrTooManyBelow = errors.New("the folder holds too many names")

// Below decides on everything below a folder, at its old names by the request's operation and,
// if to has names, at its new ones by perm.Move. It enters no folder that a rule covers, and goes on to the end
// when it finds one, so that neither the answer nor its time tells where that is: the error is
// then ErrCoveredBelow. Other errors are those of the system.
func (c *Checker) Below(f *AllowedFile, r Request, old, to []string, there Exists) (b Below, err error) {
	dir, err := f.OpenDir()
	if err != nil {
		return b, err
	}
	defer dir.Close()
	if there == nil {
		there = c.isThere
	}
	w := &belowWalk{c: c, r: r, there: there, walk: c.Walk(f, r), out: &b}
	err = w.folder(dir, "", old, to)
	if w.covered {
		return Below{}, ErrCoveredBelow
	}
	return b, err
}

type belowWalk struct {
	c       *Checker
	r       Request
	there   Exists
	walk    *Walk
	out     *Below
	covered bool
	seen    int
}

// folder decides on the names in one folder, rel below the start.
func (w *belowWalk) folder(dir *fsys.Dir, rel string, old, to []string) error {
	type entry struct {
		name string
		kind fsys.Kind
	}
	var entries []entry
	err := dir.Each(func(name string, kind fsys.Kind) bool {
		entries = append(entries, entry{name, kind})
		w.seen++
		return w.seen <= mostBelow
	})
	if err != nil {
		return err
	}
	if w.seen > mostBelow {
		return ErrTooManyBelow
	}
	slices.SortFunc(entries, func(a, b entry) int {
		if a.name < b.name {
			return -1
		}
		return 1
	})
	for _, e := range entries {
		below := e.name
		if rel != "" {
			below = rel + "/" + e.name
		}
		if e.kind == fsys.Missing { // the file system does not tell
			if _, e.kind, err = dir.Stat(e.name); errors.Is(err, fs.ErrNotExist) {
				continue
			} else if err != nil {
				return err
			}
		}
		isDir := e.kind == fsys.Directory
		oldNames, toNames := joined(old, e.name, isDir), joined(to, e.name, isDir)
		if !w.allowed(oldNames, toNames) || e.kind == fsys.Regular && !w.allowedLinks(dir, e.name, below) {
			w.covered = true
			continue
		}
		if !isDir {
			w.out.Files = append(w.out.Files, w.walk.Path(below))
			continue
		}
		w.out.Folders++
		sub, err := dir.OpenDir(e.name)
		if err != nil {
			return err
		}
		err = w.folder(sub, below, unslashed(oldNames), unslashed(toNames))
		sub.Close()
		if err != nil {
			return err
		}
	}
	return nil
}

// Covered reports whether a rule covers a name below a folder, at its old names or its new
// ones.
func Covered(c *Checker, r Request, old, to []string, there Exists) bool {
	w := &belowWalk{c: c, r: r, there: there, out: &Below{}}
	return !w.allowed(old, to)
}

// joined are the names of an entry of a folder; that of a folder ends with a separator.
func joined(dirs []string, name string, isDir bool) []string {
	out := make([]string, len(dirs))
	for i, d := range dirs {
		out[i] = fsys.Join(d, name)
		if isDir {
			out[i] += fsys.Separator
		}
	}
	return out
}

func unslashed(names []string) []string {
	out := make([]string, len(names))
	for i, n := range names {
		out[i] = n[:len(n)-len(fsys.Separator)]
	}
	return out
}

// allowed decides on one entry. What a mode asks about is asked about the folder, too.
func (w *belowWalk) allowed(old, to []string) bool {
	ok := w.passes(w.r, old)
	if len(to) > 0 {
		moved := w.r
		moved.Op = perm.Move
		ok = w.passes(moved, to) && ok
	}
	return ok
}

func (w *belowWalk) passes(r Request, names []string) bool {
	d := strictest(w.c, r, names, w.there)
	switch {
	case d.Verdict == perm.Allow:
		return true
	case d.Verdict == perm.Deny:
		return false
	case d.Reason == perm.ReasonProtected:
		if w.out.Question == nil {
			w.out.Question = &ConsentError{Decision: d, Resolved: names[len(names)-1]}
		}
		return true
	}
	return d.Reason == perm.ReasonMode
}

// allowedLinks reports whether no deny rule names a file by another hard link.
func (w *belowWalk) allowedLinks(dir *fsys.Dir, name, rel string) bool {
	if len(w.c.Policy().LiteralDenies(perm.Read)) == 0 {
		return true
	}
	began := w.c.Now()
	stamp, _, err := dir.Stat(name)
	return err != nil || w.walk.AllowedFile(stamp, began, func() string { return rel })
}
