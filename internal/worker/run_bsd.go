//go:build unix && !linux

package worker

import "golang.org/x/sys/unix"

// pointAt makes descriptor to mean what from means.
func pointAt(from, to int) error { return unix.Dup2(from, to) }
