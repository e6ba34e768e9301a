//go:build !linux

package fsys

// FreeMemory is not known here.
func FreeMemory() (free int64, known bool) { return 0, false }
