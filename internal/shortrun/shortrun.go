// Package shortrun makes tests smaller under go test -short, which make quick uses, and makes
// them say what is left out. Under the race detector, which slows a test down five to ten times,
// they are as small, unless FSMCP_RACE_FULL is set, which make faults does. make test runs most
// packages in full without it; those that the Makefile names ONLY_RACED run there under it alone.
package shortrun

import (
	"os"
	"testing"
)

// Short reports whether a test is to make fewer rounds.
func Short() bool { return testing.Short() || raced && os.Getenv("FSMCP_RACE_FULL") == "" }

// loud marks a line that make quick prints.
func loud() string {
	if testing.Short() {
		return "!!!"
	}
	return ""
}

// Count returns all. In a short run it returns some, and logs that only so many of what are
// tried.
func Count(t testing.TB, all, some int, what string) int {
	t.Helper()
	if !Short() {
		return all
	}
	t.Logf("%s SHORT: %d of %d %s; make faults tries all %[1]s", loud(), some, all, what)
	return some
}

// Step returns 1. In a short run it returns n, for a loop that tries every n-th of what, and
// logs that.
func Step(t testing.TB, n int, what string) int {
	t.Helper()
	if !Short() {
		return 1
	}
	t.Logf("%s SHORT: one in %d %s; make faults tries all %[1]s", loud(), n, what)
	return n
}

// Skip skips the test in a short run and says why.
func Skip(t testing.TB, why string) {
	t.Helper()
	if Short() {
		t.Skipf("%s NOT TESTED: %s; make faults runs it %[1]s", loud(), why)
	}
}
