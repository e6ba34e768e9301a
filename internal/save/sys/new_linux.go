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

func (Kernel) Adopt(t *fsys.Target, f *fsys.File) (dir, fd int, err error) {
	dir, err = t.ParentFD()
	if f == nil {
		return dir, -1, err
	}
	return dir, int(f.Fd()), err
}
