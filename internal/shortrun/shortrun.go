// Package shortrun makes tests smaller than they are under make faults, and makes them say what
// is left out. They are smallest under go test -short, which make quick uses, and under the race
// detector, which slows a test down five to ten times, unless FSMCP_RACE_FULL is set; of the
// largest, make test runs some or nothing, unless FSMCP_FULL is set. make faults sets both.
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

// Full reports whether all is to be tested, however long it takes.
func Full() bool { return os.Getenv("FSMCP_FULL") != "" }

// Leave skips a test that takes more time than make test has.
func Leave(t testing.TB, why string) {
	t.Helper()
	if !Full() {
		t.Skipf("!!! NOT TESTED: %s; make faults runs it !!!", why)
	}
}

// Most returns all where everything is to be tested; otherwise some, and logs it.
func Most(t testing.TB, all, some int, what string) int {
	t.Helper()
	if Full() {
		return all
	}
	t.Logf("%d of %d %s; make faults tries all", some, all, what)
	return some
}
