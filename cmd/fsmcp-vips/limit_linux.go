//go:build vips && cgo

package main

import "golang.org/x/sys/unix"

// mostAddresses bounds the address space of the process, in bytes. The server bounds its
// memory to an eighth of this, with a look each 50 ms; C code that goes wrong may ask for
// more between two looks. Go and libvips reserve 1.3 GB before the first picture; 3.4 GB
// were seen after three of the largest.
const mostAddresses = 8 << 30

// limitAddresses bounds the address space. What cannot be bounded is left.
func limitAddresses() {
	unix.Setrlimit(unix.RLIMIT_AS, &unix.Rlimit{Cur: mostAddresses, Max: mostAddresses})
}
