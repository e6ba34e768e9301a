//go:build !linux

package worker

// widen does nothing on this system.
func widen(any) {}
