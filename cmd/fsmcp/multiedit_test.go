//go:build unix

package main

import (
	"path/filepath"
	"strings"
	"testing"
)

// One question is asked for all files of a MultiEdit, which shows their diffs: a yes lets all be
// edited, and without one nothing is changed.
func TestMultiEditAsksOnce(t *testing.T) {
	for _, revision := range bothEras {
		t.Run(revision, func(t *testing.T) {
			dir := t.TempDir()
			a, b := writeFile(t, dir, "a.txt", "one\ntwo\n"), writeFile(t, dir, "b.txt", "three\nfour\n")
			c := writeFile(t, dir, "c.md", "five\n")
			p := meet(t, revision, dir, nil, "--tools", "all", "--ask", "Edit(*.txt)")
			for _, name := range []string{a, b, c} {
				p.call("Read", map[string]any{"file_path": name}, false)
			}
			edits := []map[string]any{
				{"file_path": a, "old_string": "two", "new_string": "2"},
				{"file_path": b, "old_string": "three", "new_string": "3"},
				{"file_path": c, "old_string": "five", "new_string": "5"},
			}
			p.call("MultiEdit", map[string]any{"edits": edits}, true, "the user declined")
			p.wasAsked("Edit these 3 files?")
			wantFile(t, a, "one\ntwo\n")
			wantFile(t, c, "five\n")
			p.will("accept", "once")
			p.call("MultiEdit", map[string]any{"edits": edits}, false, "b.txt has been updated")
			asked := strings.Join(p.questions(), "\n---\n")
			for _, words := range []string{filepath.Base(a) + ": It removes", "-two\n+2", "-three\n+3", "-five\n+5"} {
				if !strings.Contains(asked, words) {
					t.Errorf("asked %q, without %q", asked, words)
				}
			}
			if strings.Contains(asked, "\n---\n") {
				t.Errorf("asked more than once: %q", asked)
			}
			wantFile(t, a, "one\n2\n")
			wantFile(t, b, "3\nfour\n")
			wantFile(t, c, "5\n")

			// A call that fails asks nothing.
			p.call("MultiEdit", map[string]any{"edits": []map[string]any{
				{"file_path": a, "old_string": "2", "new_string": "two"}, {"file_path": b, "old_string": "nowhere", "new_string": "x"},
			}}, true, "edits[1]")
			p.wasAsked()
		})
	}
}
