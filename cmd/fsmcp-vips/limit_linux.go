//go:build vips && cgo

package main

import "golang.org/x/sys/unix"

// mostAddresses is how much address space the process may take, in bytes. What
// it holds is watched from outside and bounded to an eighth of this; but C code
// that is led astray may ask for more at once than a look each 50 ms can see.
// (Go and libvips reserve 1.3 GB of it before the first picture, and 3.4 GB were
// seen after three of the largest.)
const mostAddresses = 8 << 30

// limitAddresses bounds the address space. What cannot be bounded is left.
func limitAddresses() {
	unix.Setrlimit(unix.RLIMIT_AS, &unix.Rlimit{Cur: mostAddresses, Max: mostAddresses})
}
