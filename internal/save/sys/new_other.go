//go:build !linux || fsys_portable

package sys

import (
	"os"

	"github.com/fsmcp/fsmcp/internal/fsys"
)

// New returns the system calls of a Saver: those of a test, or if o is nil a Portable.
func New(o Sys) Sys {
	if o == nil {
		return &Portable{OpenParent: openParent}
	}
	return o
}

func openParent(t *fsys.Target) (*os.Root, error) {
	root, err := t.ParentRoot()
	if err != nil {
		return nil, err
	}
	return root.OpenRoot(".")
}
