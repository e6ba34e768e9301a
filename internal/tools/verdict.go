package tools

import (
	"github.com/fsmcp/fsmcp/internal/fsys"
	"github.com/fsmcp/fsmcp/internal/perm"
)

// Verdict is what the rules say of one file, for the person who wrote them: it
// hides nothing that an answer to an agent would.
type Verdict struct {
	// Path is the absolute name as it was asked for, Names every name that was
	// considered: that one, each that a link leads on to, and the resolved one.
	Path  string
	Names []string
	// Device says that the name is refused for what it is, before any rule.
	Device bool
	// Decisions are by tool; grants of a running session are not among them.
	Decisions map[perm.Op]perm.Decision
	// Unresolved is why the names may be incomplete, nil where they are not.
	Unresolved error
}

// Verdict decides on a file argument for every tool, without opening the file.
func (h *House) Verdict(raw string) (Verdict, error) {
	path, err := h.Lexer().Parse(raw)
	if err != nil {
		return Verdict{}, err
	}
	v := Verdict{Path: path.String(), Names: []string{path.String()}, Device: fsys.RefusedByName(path), Decisions: make(map[perm.Op]perm.Decision)}
	began := h.Now()
	target, err := h.Resolver.Resolve(path)
	if target == nil {
		return v, err
	}
	defer target.Close()
	v.Names, v.Unresolved = target.Names, err
	policy := h.Policy()
	for _, op := range []perm.Op{perm.Read, perm.Edit, perm.Write, perm.NotebookEdit} {
		v.Decisions[op] = h.decide(policy, op, target, began)
	}
	return v, nil
}
