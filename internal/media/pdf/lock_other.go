//go:build !unix

package pdf

import "time"

// How a folder is held.
const alone, beside = 0, 0

// lockFolder does nothing where there is no such lock: all compile at once.
func lockFolder(string, int, time.Duration) (unlock func()) { return func() {} }
