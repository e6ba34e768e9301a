//go:build !linux

package worker

// widen does nothing where a pipe has the size that it has.
func widen(any) {}
