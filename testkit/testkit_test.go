package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestBadServers plays all cases with servers that are bad on purpose: each case has to tell
// them from good ones.
func TestBadServers(t *testing.T) {
	cases, err := readCases("cases")
	if err != nil {
		t.Fatal(err)
	}
	t.Run("in-place", func(t *testing.T) { // it writes in place what it once read, with LF, and follows links
		bad := []string{"equal-lines", "replace-all", "crlf", "mixed-ends", "no-text", "stale-elsewhere", "stale-same-place",
			"stale-overwrite", "never-read", "removed-meanwhile", "two-at-once", "two-servers-in-turn", "two-servers-at-once",
			"link-out-read", "link-out-edit", "link-dangling", "link-folder", "dot-dot", "absolute-outside", "prefix",
			"kill", "picture", "pdf", "move-onto"}
		for i, one := range playBad(t, "in-place", cases) {
			if slices.Contains(bad, cases[i].name()) != (one.Verdict == wrong) {
				t.Errorf("%s is %s: %s", cases[i].name(), one.Verdict, one.Reason)
			}
		}
	})
	t.Run("replace", func(t *testing.T) { // it removes the old file first
		var some []*testCase
		for _, c := range cases {
			if slices.Contains([]string{"link-inside", "mode", "hard-link"}, c.name()) {
				some = append(some, c)
			}
		}
		for i, one := range playBad(t, "replace", some) {
			if one.Verdict != wrong {
				t.Errorf("%s is %s, not WRONG", some[i].name(), one.Verdict)
			}
		}
	})
	t.Run("liar", func(t *testing.T) { // it reports success, and does nothing
		for i, one := range playBad(t, "liar", cases) {
			if one.Verdict != wrong {
				t.Errorf("%s is %s, not WRONG", cases[i].name(), one.Verdict)
			}
		}
	})
	t.Run("timid", func(t *testing.T) { // it refuses everything
		for i, one := range playBad(t, "timid", cases) {
			want := refused
			if last := cases[i].Steps[len(cases[i].Steps)-1]; cases[i].Refuse && len(last.OnError) == 0 {
				want = right
			}
			if one.Verdict != want {
				t.Errorf("%s is %s, not %s: %s", cases[i].name(), one.Verdict, want, one.Reason)
			}
		}
	})
}

func playBad(t *testing.T, kind string, cases []*testCase) []result {
	t.Helper()
	a, err := readAdapter("badserver/adapter.json")
	if err != nil {
		t.Fatal(err)
	}
	a.Command[1] = kind
	played, err := playAll(a, cases)
	if err != nil {
		t.Fatal(err)
	}
	return played.Results
}

// TestCases checks that a case says why it matters, and that its number is its own.
func TestCases(t *testing.T) {
	cases, err := readCases("cases")
	if err != nil {
		t.Fatal(err)
	}
	for i, c := range cases {
		why, err := os.ReadFile(filepath.Join(c.dir, "why.txt"))
		if err != nil || len(strings.Fields(string(why))) < 8 {
			t.Errorf("%s does not say why: %q %v", c.dir, why, err)
		}
		if c.number != i+1 {
			t.Errorf("%s is case %d", c.dir, i+1)
		}
	}
}

func TestWrongBytes(t *testing.T) {
	for _, c := range []struct {
		want, got string
		wrong     int
	}{
		{"", "", 0}, {"abc", "abc", 0}, {"abc", "abd", 2}, {"abc", "ab", 1}, {"a\r\nb\r\n", "a\nb\n", 2},
		{"x", "", 1}, {"one two", "two one", 8}, {"aXbXc", "abc", 2},
	} {
		if n := wrongBytes(c.want, c.got); n != c.wrong {
			t.Errorf("%q for %q: %d, not %d", c.got, c.want, n, c.wrong)
		}
	}
}
