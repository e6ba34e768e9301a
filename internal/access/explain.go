package access

import (
	"github.com/fsmcp/fsmcp/internal/fsys"
	"github.com/fsmcp/fsmcp/internal/perm"
)

// Explanation lists the decisions on one file, for the author of the rules: it tells
// facts that an answer to an agent hides.
type Explanation struct {
	// Path is the absolute name as it was asked for, Names every name that was
	// considered: that one, each that a link leads on to, and the resolved one.
	Path  string
	Names []string
	// Device says that the name is refused for what it is, before any rule.
	Device bool
	// Decisions are by tool, that of Move for the old name; grants of a running session are
	// not among them.
	Decisions map[perm.Op]Decision
	// Unresolved is why the names may be incomplete, nil if they are not.
	Unresolved error
}

// Explain decides on a file argument for every tool, without opening the file.
func (c *Checker) Explain(raw string) (Explanation, error) {
	path, err := c.Parse(raw)
	if err != nil {
		return Explanation{}, err
	}
	e := Explanation{Path: path.String(), Device: fsys.RefusedByName(path), Decisions: make(map[perm.Op]Decision)}
	for _, op := range []perm.Op{perm.Read, perm.Edit, perm.Write, perm.NotebookEdit, perm.MoveAway, perm.Delete} {
		d, target, unresolved := c.decide(Request{Op: op, Path: path}, func(perm.Decision) bool { return true })
		target.Close()
		if read := e.Decisions[perm.Read]; op.Removes() && read.Verdict < d.Verdict {
			d = read // they take a Read of the file, too
		}
		e.Decisions[op], e.Names, e.Unresolved = d, target.Names, unresolved
	}
	return e, nil
}
