//go:build !linux

package sys

// Portable alone reads these.
const (
	noFollow = 1 << (24 + iota)
	nonBlock
	folder
	place
	unnamed
	alone
)
