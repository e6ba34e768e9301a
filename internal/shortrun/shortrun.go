// Package shortrun makes tests smaller under go test -short, which make quick uses, and makes
// them say what is left out.
package shortrun

import "testing"

// Count returns all. Under -short it returns some, and logs that only so many of what are
// tried.
func Count(t testing.TB, all, some int, what string) int {
	t.Helper()
	if !testing.Short() {
		return all
	}
	t.Logf("!!! SHORT: %d of %d %s; make test tries all !!!", some, all, what)
	return some
}

// Step returns 1. Under -short it returns n, for a loop that tries every n-th of what, and
// logs that.
func Step(t testing.TB, n int, what string) int {
	t.Helper()
	if !testing.Short() {
		return 1
	}
	t.Logf("!!! SHORT: one in %d %s; make test tries all !!!", n, what)
	return n
}

// Skip skips the test under -short and says why.
func Skip(t testing.TB, why string) {
	t.Helper()
	if testing.Short() {
		t.Skipf("!!! NOT TESTED: %s; make test runs it !!!", why)
	}
}
