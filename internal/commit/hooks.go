package commit

import (
	"context"

	"github.com/fsmcp/fsmcp/internal/refusal"
)

// Hooks run the user's own commands around changes. They are called within the
// turn of the file, but outside of its locks.
type Hooks interface {
	// Wanted tells whether any concern a file by its names, before and after it is
	// changed. Where there are no commands at all it costs nothing.
	Wanted(names []string) (before, after bool)
	// Before runs those before a change. faults are of commands that failed without
	// a say in it; with stop the change must not be made. An error is that of ctx.
	Before(ctx context.Context, e Edited) (faults []refusal.HookFault, stop *refusal.HookFault, err error)
	// After runs those after a change.
	After(ctx context.Context, e Edited) (faults []refusal.HookFault)
}

// Edited is a change as hooks are told of it.
type Edited struct {
	Names         []string // of the file; the last one is resolved
	Tool, Session string
	Call          string // the client's id of it
	// Old are the bytes that were replaced, nil where they are not kept.
	Old []byte
}
