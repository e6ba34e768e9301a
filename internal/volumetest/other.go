//go:build !linux

package volumetest

import "testing"

// Folding skips the test.
func Folding(t testing.TB) string {
	t.Skip("!!! NOT TESTED: the volume that folds names is made on Linux alone !!!")
	return ""
}

// Reflinks skips the test.
func Reflinks(t testing.TB) string {
	t.Skip("!!! NOT TESTED: the volume that clones files is made on Linux alone !!!")
	return ""
}
