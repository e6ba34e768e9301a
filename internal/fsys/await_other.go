//go:build !windows && (!linux || fsys_portable)

package fsys

import (
	"io/fs"
	"os"
)

// awaitName is asked on Windows alone.
func awaitName(name string) (fs.FileInfo, error) { return os.Lstat(name) }
