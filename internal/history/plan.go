package history

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/fsmcp/fsmcp/internal/span"
)

// Plan says how a change is restored: by splices of the current content, or by removing
// the file. An empty Plan changes nothing.
type Plan struct {
	Splices []span.Splice
	Remove  bool
}

// ConflictError says why a change cannot be restored.
type ConflictError struct {
	// Why is a sentence about the file, without its end.
	Why string
}

func (e *ConflictError) Error() string { return e.Why }

// PlanRestore reverses the change from before to after in the current content. nil stands
// for no file. The error is a *ConflictError.
func PlanRestore(before, after, now []byte) (p Plan, err error) {
	switch {
	case before == nil && now == nil:
		return p, nil
	case before == nil && bytes.Equal(now, after):
		return Plan{Remove: true}, nil
	case before == nil:
		return p, &ConflictError{"the change created it, and it was changed since"}
	case after == nil && now == nil:
		return Plan{Splices: []span.Splice{{New: before}}}, nil
	case after == nil && bytes.Equal(now, before):
		return p, nil
	case after == nil:
		return p, &ConflictError{"another file is there by now"}
	case now == nil:
		return p, &ConflictError{"it is not there any more"}
	}
	splices, conflicts := Merge(after, now, before)
	if conflicts != nil {
		return p, &ConflictError{"the same place was changed since (" + listed(conflicts) + ")"}
	}
	return Plan{Splices: splices}, nil
}

// listed names the first conflicts.
func listed(conflicts []Conflict) string {
	const most = 5
	var parts []string
	for _, c := range conflicts[:min(len(conflicts), most)] {
		switch {
		case c.Last > c.First:
			parts = append(parts, fmt.Sprintf("lines %d to %d", c.First, c.Last))
		case c.Last == c.First:
			parts = append(parts, fmt.Sprintf("line %d", c.First))
		default:
			parts = append(parts, fmt.Sprintf("before line %d", c.First))
		}
	}
	if len(conflicts) > most {
		parts = append(parts, "…")
	}
	return strings.Join(parts, ", ")
}
