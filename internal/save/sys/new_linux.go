//go:build !fsys_portable

package sys

import "github.com/fsmcp/fsmcp/internal/fsys"

// New returns the system calls of a Saver: those of a test, or if o is nil the Kernel.
func New(o Sys) Sys {
	if o == nil {
		return Kernel{}
	}
	return o
}

func (Kernel) FolderOf(t *fsys.Target) (int, error) { return t.ParentFD() }
