//go:build !windows && (!linux || fsys_portable)

package sys

import (
	"os"

	"github.com/fsmcp/fsmcp/internal/fsys"
)

func openParent(t *fsys.Target) (*os.Root, error) {
	root, err := t.ParentRoot()
	if err != nil {
		return nil, err
	}
	return root.OpenRoot(".")
}
