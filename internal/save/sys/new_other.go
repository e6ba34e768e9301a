//go:build !linux || fsys_portable

package sys

import "github.com/fsmcp/fsmcp/internal/fsys"

// New returns the system calls of a Saver: those of a test, or if o is nil a Portable.
func New(o Sys) Sys {
	if o == nil {
		return &Portable{}
	}
	return o
}

// FolderOf implements Sys.
func (p *Portable) FolderOf(t *fsys.Target) (int, error) {
	root, err := t.ParentRoot()
	if err != nil {
		return -1, err
	}
	return p.Add(root), nil
}
