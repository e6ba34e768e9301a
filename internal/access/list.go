package access

import (
	"context"
	"errors"

	"github.com/fsmcp/fsmcp/internal/fsys"
	"github.com/fsmcp/fsmcp/internal/perm"
)

// Bounds of what is looked at and listed of a folder.
const (
	maxEntries = 50
	// MaxScan bounds the names that are looked at for a list, hidden ones included.
	MaxScan = 50_000
)

// ErrHidden: the rules do not let the caller read a folder without a question.
var ErrHidden = errors.New("the folder may not be read")

// Listing holds the entries of a folder that a caller may know.
type Listing struct {
	Names []string // at most fifty; of a folder with a separator at the end
	More  bool     // there are more
}

// List lists the first entries of a folder that a caller may read. It fails if the folder
// itself may not be read. Entries that may not be read do not change the list, unless the
// folder has more than MaxScan.
func (c *Checker) List(f *AllowedFile) (l Listing, ok bool) {
	_, err := eachEntry(context.Background(), c, f, func(e ListedName) bool {
		if e.Kind == fsys.Missing {
			return true
		}
		if len(l.Names) == maxEntries {
			l.More = true
			return false
		}
		name := e.Name
		if e.Kind == fsys.Directory && !e.Link {
			name += fsys.Separator
		}
		l.Names = append(l.Names, name)
		return true
	})
	return l, err == nil
}

// ListedName is a name in a folder that a caller may read.
type ListedName struct {
	Name string
	// Link says that the name is a symbolic link. Kind is then that of what it leads to:
	// Missing if it leads nowhere.
	Link  bool
	Kind  fsys.Kind
	Stamp fsys.Stamp
}

// Contents holds all entries of a folder that a caller may read: folders first, each part by
// name.
type Contents struct {
	Entries []ListedName
	// Cut says that the folder has more than MaxScan names, and the others were not looked at.
	Cut bool
}

// ReadFolder lists a folder. It fails if the folder itself may not be read without a question.
// Entries that may not be read do not change the list, unless the folder has more than
// MaxScan. Links are decided on by every name on the way, and not listed as what they lead to.
func (c *Checker) ReadFolder(ctx context.Context, f *AllowedFile) (all Contents, err error) {
	all.Cut, err = eachEntry(ctx, c, f, func(e ListedName) bool {
		all.Entries = append(all.Entries, e)
		return true
	})
	return all, err
}

// eachEntry calls do with each entry of a folder that a caller may read without a question, until
// do returns false. cut says that the folder has more than MaxScan names.
func eachEntry(ctx context.Context, c *Checker, f *AllowedFile, do func(ListedName) bool) (cut bool, err error) {
	walk := c.Walk(f, nil)
	entries, err := f.Entries(MaxScan + 1)
	if err != nil {
		return false, err
	}
	if !c.Readable(f.Asked.String()) {
		return false, ErrHidden
	}
	for i, e := range entries {
		if i == MaxScan {
			return true, nil
		}
		if i%256 == 0 && ctx.Err() != nil {
			return false, context.Cause(ctx)
		}
		// A look at the disk decides: most hidden names need none.
		if !walk.Allowed(e.Name, false) && !(e.Dir && walk.Allowed(e.Name, true)) {
			continue
		}
		if entry, ok := entryOf(c, f, e.Name); ok && !do(entry) {
			return false, nil
		}
	}
	return false, nil
}

// entryOf resolves a name in a folder, and reports whether a Read of it takes no question. A
// name that is gone by then is none; a link that leads nowhere is one.
func entryOf(c *Checker, f *AllowedFile, name string) (e ListedName, ok bool) {
	path, err := c.absolute(fsys.Join(f.Asked.String(), name))
	if err != nil {
		return e, false
	}
	t := c.permitted(perm.Read, path, perm.Allow)
	if t == nil {
		return e, false
	}
	defer t.Close()
	e = ListedName{Name: name, Link: t.Path != fsys.Join(f.Path, name), Kind: t.Kind, Stamp: t.Stamp}
	return e, e.Link || e.Kind != fsys.Missing
}
