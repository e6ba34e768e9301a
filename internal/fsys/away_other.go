//go:build !windows && !darwin && (!linux || fsys_portable)

package fsys

import "io/fs"

// awayBySystem reports false: no file system is known to tell.
func awayBySystem(fs.FileInfo) bool { return false }
