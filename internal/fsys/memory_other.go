//go:build !linux

package fsys

// FreeMemory is not known here.
func FreeMemory() (free int64, known bool) { return 0, false }

// largePages: there is nothing to ask for here.
func largePages([]byte) {}
