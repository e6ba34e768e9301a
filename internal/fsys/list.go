package fsys

import (
	"cmp"
	"slices"
)

// FolderName is one name in a folder. A link to a folder is not a Dir.
type FolderName struct {
	Name string
	Dir  bool
}

// A folder may hold millions of names: at most this many are examined, or as many as the
// caller asks for, if that is more.
const maxScan = 10_000

// Entries lists up to most names of a Directory, folders first, each part
// sorted. Of a folder with more than 10,000 names it sees only the first that
// the file system hands out.
func (t *Target) Entries(most int) ([]FolderName, error) {
	d, err := t.OpenDir()
	if err != nil {
		return nil, err
	}
	defer d.Close()
	return d.list(most)
}

// Siblings lists like Entries the folder that ParentFD pins: for a Missing
// target the deepest existing folder on the way, otherwise the parent.
func (t *Target) Siblings(most int) ([]FolderName, error) {
	d, err := t.openParent()
	if err != nil {
		return nil, fault("list", t.dir(), err)
	}
	defer d.Close()
	return d.list(most)
}

func (d *Dir) list(most int) ([]FolderName, error) {
	var entries []FolderName
	err := d.Each(func(name string, kind Kind) bool {
		if kind == Missing {
			_, kind, _ = d.stat(name)
		}
		entries = append(entries, FolderName{Name: name, Dir: kind == Directory})
		return len(entries) < max(most, maxScan)
	})
	if err != nil {
		return nil, err
	}
	slices.SortFunc(entries, func(a, b FolderName) int {
		switch {
		case a.Dir == b.Dir:
			return cmp.Compare(a.Name, b.Name)
		case a.Dir:
			return -1
		}
		return 1
	})
	return entries[:min(most, len(entries))], nil
}
