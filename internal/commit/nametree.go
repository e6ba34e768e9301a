package commit

import "github.com/fsmcp/fsmcp/internal/fsys"

// nameTree holds the names that earlier entries of a call will change on the disk.
type nameTree struct{ changes []treeChange }

// treeChange is one entry: a name that goes away, unless it is copied, and one that comes. Of
// a delete to is "".
type treeChange struct {
	from, to string
	copied   bool
}

// real returns the name under which the disk has now what a name will be; ok is false if
// nothing will be there that the disk has.
func (t *nameTree) real(name string) (real string, ok bool) {
	for i := len(t.changes) - 1; i >= 0; i-- {
		c := t.changes[i]
		switch {
		case c.to != "" && fsys.Within(c.to, name):
			rest, _ := fsys.Below(c.to, name)
			if name = c.from; rest != "" {
				name = fsys.Join(c.from, rest)
			}
		case !c.copied && fsys.Within(c.from, name):
			return "", false
		}
	}
	return name, true
}

// makes reports whether a name will be a folder that an entry makes on the way to its own.
func (t *nameTree) makes(name string) bool {
	for _, c := range t.changes {
		if c.to != "" && c.to != name && fsys.Within(name, c.to) {
			return true
		}
	}
	return false
}
