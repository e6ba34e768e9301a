//go:build !unix

package worker

import "os"

// KeepOutput keeps standard output for one protocol alone: what a library prints
// through os.Stdout goes to standard error from here on.
func KeepOutput(stdout *os.File, _ string) (*os.File, error) {
	os.Stdout = os.Stderr
	return stdout, nil
}
