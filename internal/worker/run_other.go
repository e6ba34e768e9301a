//go:build !unix

package worker

import "os"

// ownOutput keeps standard output for frames alone: what a library prints
// through os.Stdout goes to standard error from here on.
func ownOutput() (*os.File, error) {
	out := os.Stdout
	os.Stdout = os.Stderr
	return out, nil
}
