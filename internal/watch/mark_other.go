//go:build !linux

package watch

import "io/fs"

// changeTime returns 0: it is not used on this system.
func changeTime(fs.FileInfo) int64 { return 0 }
