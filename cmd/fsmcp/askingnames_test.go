//go:build unix

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestAskingAboutNames: a Move or Delete asks one question about all of its names, in both
// eras. A yes for the session covers a Move alone: consent to a Delete is for once, and a
// grant of Edit is none to remove.
func TestAskingAboutNames(t *testing.T) {
	for _, revision := range bothEras {
		t.Run(revision, func(t *testing.T) {
			t.Parallel()
			work := t.TempDir()
			var paths []any
			for i := range 25 {
				paths = append(paths, writeFile(t, work, fmt.Sprintf("f%02d.txt", i), "one\n"))
			}
			a, b := paths[0].(string), filepath.Join(work, "b.txt")
			p := meet(t, revision, work, nil, "--tools", "all", "--ask", "Edit(*.txt)", work)
			move := func(from, to string) map[string]any { return map[string]any{"from": from, "to": to} }

			p.will("decline", "")
			p.call("Move", move(a, b), true, "the user declined", "Edit(*.txt) (--ask)")
			p.wasAsked("Move " + a + " to " + b + "?\nRule: Edit(*.txt) (--ask)")
			wantFile(t, a, "one\n")

			p.will("accept", "once")
			p.call("Move", move(a, b), false, "Moved "+a)
			p.wasAsked(a)
			p.call("Move", move(b, a), false)
			p.wasAsked(b)

			p.will("accept", "session")
			p.call("Read", map[string]any{"file_path": a}, false)
			p.call("Edit", map[string]any{"file_path": a, "old_string": "one", "new_string": "two"}, false)
			p.wasAsked(a)
			p.will("accept", "once")
			p.call("Delete", map[string]any{"paths": []any{a}}, false)
			p.wasAsked("Delete " + a + "?")
			wantOnlyOnce(t, p.schema)
			writeFile(t, work, "f00.txt", "again\n")
			p.call("Delete", map[string]any{"paths": []any{a}}, false)
			p.wasAsked("Delete " + a + "?")

			p.will("accept", "once")
			p.call("Delete", map[string]any{"paths": paths[1:]}, false, "… and 4 more (24 in all).")
			asked := p.questions()
			if len(asked) != 1 || strings.Count(asked[0], ".txt\n") != 20 || !strings.Contains(asked[0], "Delete 24 files and folders?") || !strings.Contains(asked[0], "… and 4 more") {
				t.Errorf("asked %q", asked)
			}
		})
	}
}

func wantOnlyOnce(t *testing.T, schema any) {
	t.Helper()
	if text := fmt.Sprint(schema); strings.Contains(text, "session") || !strings.Contains(text, "once") {
		t.Errorf("the answer wanted is %s", text)
	}
}

// TestAskedWhateverTheMode: more than 100 names that a call does not spell, and what the
// history will not keep, are asked about even in bypassPermissions; dontAsk refuses both.
func TestAskedWhateverTheMode(t *testing.T) {
	for _, revision := range bothEras {
		t.Run(revision, func(t *testing.T) {
			t.Parallel()
			work := t.TempDir()
			for i := range 101 {
				writeFile(t, work, fmt.Sprintf("%03d.tmp", i), "x\n")
			}
			env := writeFile(t, work, ".env", "SECRET\n")
			p := meet(t, revision, work, nil, "--tools", "all", "--permission-mode", "bypassPermissions", work)
			pattern := map[string]any{"paths": []any{filepath.Join(work, "*.tmp")}}
			p.call("Delete", pattern, true, "the user declined")
			p.wasAsked("101 names that it does not spell")
			p.will("accept", "once")
			p.call("Move", map[string]any{"from": filepath.Join(work, "*.tmp"), "to": filepath.Join(work, "d")}, false)
			p.wasAsked("101 names that it does not spell")
			p.call("Delete", map[string]any{"paths": []any{env}}, false, "cannot be restored")
			p.wasAsked("history will not keep " + env)

			q := meet(t, revision, work, nil, "--tools", "all", "--permission-mode", "dontAsk", "--allow", "Edit", work)
			writeFile(t, work, ".env", "SECRET\n")
			if got := q.try("Delete", map[string]any{"paths": []any{env}}); got.code != 23 || got.slug != "not_kept" {
				t.Errorf("dontAsk: %+v", got)
			}
			if got := q.try("Delete", map[string]any{"paths": []any{filepath.Join(work, "d", "*.tmp")}}); got.slug != "denied" {
				t.Errorf("dontAsk: %+v", got)
			}
			if left, err := os.ReadDir(filepath.Join(work, "d")); err != nil || len(left) != 101 || slices.Contains(q.questions(), "") {
				t.Errorf("%d left, %v", len(left), err)
			}
		})
	}
}
