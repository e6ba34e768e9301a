//go:build !unix

package main

import "os"

// protocolOutput keeps standard output for the protocol alone: what a library
// prints through os.Stdout goes to standard error from here on.
func protocolOutput(stdout *os.File) (*os.File, error) {
	os.Stdout = os.Stderr
	return stdout, nil
}
