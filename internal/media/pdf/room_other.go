//go:build !linux

package pdf

import "os"

// roomFor cannot tell without writing: it shows when there is something to keep.
func roomFor(*os.File, int64) bool { return true }
