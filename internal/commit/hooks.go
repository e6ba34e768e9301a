package commit

import (
	"context"

	"github.com/fsmcp/fsmcp/internal/hooks"
)

// Hooks run the user's own commands around changes. They are called while other calls of the
// conversation on that path wait, and outside of the file's locks.
type Hooks interface {
	// Wanted reports whether any concern a file by its names, before and after it is
	// changed. Without commands it costs nothing.
	Wanted(names []string) (before, after bool)
	// Before runs those before a change. faults are of commands that failed and did not refuse
	// it; with stop the change must not be made. An error is that of ctx.
	Before(ctx context.Context, e Edited) (faults []hooks.Report, stop *hooks.Report, err error)
	// After runs those after a change.
	After(ctx context.Context, e Edited) (faults []hooks.Report)
}

// Edited is a change as hooks are told of it.
type Edited struct {
	Names         []string // of the file; the last one is resolved
	Tool, Session string
	Call          string // the client's id of it
	// Operation is edit, move, copy or delete; "" means edit. To is the new name of a file that
	// is moved or copied.
	Operation, To string
	// Old are the bytes that were replaced, nil if they are not kept.
	Old []byte
}
