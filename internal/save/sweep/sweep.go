// Package sweep tidies up after processes that died: it removes their temporary files,
// finishes their writes in place, and keeps unknown bytes. It leaves the files of running
// processes alone. Without a state folder it does nothing, and makes none. It reports what
// other users may have written, and leaves it alone, and no journal is looked for in the
// temp directory.
package sweep

import (
	"context"

	"github.com/fsmcp/fsmcp/internal/save/disk"
	"github.com/fsmcp/fsmcp/internal/save/rescue"
	"github.com/fsmcp/fsmcp/internal/save/statedir"
)

// Options of a Run.
type Options struct {
	State  *statedir.Folder
	Sys    disk.Sys     // Linux only
	Rescue rescue.Store // Linux only
	// Lock takes the lock that a writer of the name with that key takes.
	Lock func(ctx context.Context, key string) (unlock func(), err error)
	Sync bool
}

// Report describes the files of dead processes.
type Report struct {
	Removed  int      // temporary files that held nothing of worth
	Saved    []string // files with bytes known nowhere else, as they are named now
	Rescued  []string // what the store has kept such bytes as
	Replayed []string // files whose write in place was finished
	Torn     []string // files that are neither old, nor new, nor a mix of them; their journals are among Saved or Rescued
	Pending  []string // files and folders that could not be looked at now; the next Sweep tries again
	// Untrusted are the folders and files that were left alone, since others may
	// have written them.
	Untrusted []error
}
