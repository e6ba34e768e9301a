//go:build !race

// The race detector has pools forget a part of what they hold.

package perm

import "testing"

// TestAllocationsDoNotGrow compares the allocations of a decision under many
// rules with those under a few.
func TestAllocationsDoNotGrow(t *testing.T) {
	count := func(n int) float64 {
		config := testConfig(manyRules(n)...)
		config.Mode = AcceptEdits
		p, _ := Compile(config)
		names := []string{deepPath, project + "/a/B/c"}
		return testing.AllocsPerRun(100, func() { p.Decide(Edit, names, noHead) })
	}
	if few, many := count(10), count(2000); many > few {
		t.Errorf("%v allocations with 10 rules, %v with 2000", few, many)
	}
}
