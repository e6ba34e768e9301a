package commit

import "github.com/fsmcp/fsmcp/internal/fsys"

// nameTree holds the names that earlier entries of a call will change on the disk. A look at
// it takes time for the segments of a name, not for all entries.
type nameTree struct {
	changes []treeChange
	at      map[string][]int // the changes that have the name as from or to, in order
	parents map[string]bool  // the folders above the names that come
}

// treeChange is one entry: a name that goes away, unless it is copied, and one that comes. Of
// a delete to is "".
type treeChange struct {
	from, to string
	copied   bool
}

// add adds the next entry.
func (t *nameTree) add(c treeChange) {
	if t.at == nil {
		t.at, t.parents = make(map[string][]int), make(map[string]bool)
	}
	n := len(t.changes)
	t.changes = append(t.changes, c)
	if t.at[c.from] = append(t.at[c.from], n); c.to == "" {
		return
	}
	t.at[c.to] = append(t.at[c.to], n)
	for dir := fsys.DirOf(c.to); !t.parents[dir]; dir = fsys.DirOf(dir) {
		t.parents[dir] = true
	}
}

// latest returns the last of the first n changes that changes a name or a folder above it; -1
// if there is none.
func (t *nameTree) latest(name string, n int) (i int) {
	i = -1
	for dir := name; ; dir = fsys.DirOf(dir) {
		all := t.at[dir]
		for j := len(all) - 1; j >= 0 && all[j] > i; j-- {
			c := t.changes[all[j]]
			if all[j] < n && (c.to == dir || c.from == dir && !c.copied) {
				i = all[j]
				break
			}
		}
		if dir == fsys.DirOf(dir) {
			return i
		}
	}
}

// real returns the name under which the disk has now what a name will be; ok is false if
// nothing will be there that the disk has.
func (t *nameTree) real(name string) (real string, ok bool) {
	for n := len(t.changes); ; {
		i := t.latest(name, n)
		if i < 0 {
			return name, true
		}
		c := t.changes[i]
		if c.to == "" || !fsys.Within(c.to, name) {
			return "", false
		}
		rest, _ := fsys.Below(c.to, name)
		if name = c.from; rest != "" {
			name = fsys.Join(c.from, rest)
		}
		n = i
	}
}

// makes reports whether a name will be a folder that an entry makes on the way to its own.
func (t *nameTree) makes(name string) bool { return t.parents[name] }
