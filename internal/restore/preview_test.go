package restore

import (
	"errors"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/fsmcp/fsmcp/internal/history"
	"github.com/fsmcp/fsmcp/internal/span"
)

// newest returns the newest change, and all changes.
func (w *workspace) newest() (history.Entry, []history.Entry) {
	w.Helper()
	entries, _ := w.restorer().Archive.Entries(nil)
	if len(entries) == 0 {
		w.Fatal("no changes")
	}
	return entries[0], entries
}

// preview previews the restore of a change, and checks that it changed nothing.
func (w *workspace) preview(e history.Entry, group bool) *Preview {
	w.Helper()
	before := w.all()
	p, err := w.restorer().Preview(w.Context(), e, group)
	w.check(err)
	if after := w.all(); after != before {
		w.Fatalf("the preview changed\n%s\nto\n%s", before, after)
	}
	return p
}

// A restore does what its preview shows, byte by byte, of each kind of change.
func TestPreviewIsWhatHappens(t *testing.T) {
	for name, change := range map[string]func(w *workspace){
		"an edit with a later one": func(w *workspace) {
			w.edit("", "f", "1\n2\n3\n4\n5\n", "one\n2\n3\n4\n5\n")
			w.put("f", "one\n2\n3\n4\nfive\n", 0o644)
		},
		"a new file":       func(w *workspace) { w.created("f", "text") },
		"a copy":           func(w *workspace) { w.put("g", "x", 0o600); w.move("g1", "g", "f", true) },
		"a move":           func(w *workspace) { w.put("g", "x", 0o600); w.move("g1", "g", "new/f", false) },
		"a deleted file":   func(w *workspace) { w.put("f", "x", 0o600); w.delete("g1", "f") },
		"a deleted folder": func(w *workspace) { w.put("d/f", "x", 0o600); w.put("d/g", "y", 0o600); w.delete("g1", "d") },
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorkspace(t)
			change(w)
			e, _ := w.newest()
			p := w.preview(e, e.Group != "")
			if !p.Changes || len(p.Steps) == 0 {
				t.Fatalf("nothing to do: %+v", p)
			}
			for _, s := range p.Steps {
				now, err := os.ReadFile(s.Path)
				if s.Now != nil && (err != nil || string(now) != string(s.Now)) {
					t.Errorf("%s is %q, not %q", s.Path, now, s.Now)
				}
			}
			lines, err := w.restorer().Restored(t.Context(), p)
			w.check(err)
			if len(lines) == 0 {
				t.Error("it says that nothing was changed")
			}
			for _, s := range p.Steps {
				then, err := os.ReadFile(s.Path)
				if bytes := s.Now != nil || s.Then != nil; bytes && (err == nil) != (s.Then != nil) || s.Then != nil && string(then) != string(s.Then) {
					t.Errorf("%s is %q (%v), not %q", s.Path, then, err, s.Then)
				}
			}
			again, err := w.restorer().Preview(t.Context(), e, e.Group != "")
			if !errors.As(err, new(*history.ConflictError)) && (err != nil || again.Changes) {
				t.Errorf("a second time: %v, %+v", err, again)
			}
		})
	}
}

// created records that a change creates a file, and writes it.
func (w *workspace) created(name, content string) {
	w.Helper()
	mark, err := w.history.Keep(w.Context(), history.PendingChange{Names: []string{w.path(name)}, Tool: "Write", Session: "s", Splices: []span.Splice{{New: []byte(content)}}})
	w.check(err)
	mark.Done()
	w.check(os.WriteFile(w.path(name), []byte(content), 0o644))
}

// A restore does not do what its preview did not show: the file, or the change, is another by then.
func TestRestoreStopsWhereThePreviewIsOld(t *testing.T) {
	const was, is = "1\n2\n3\n4\n5\n", "one\n2\n3\n4\n5\n"
	for name, meanwhile := range map[string]func(w *workspace){
		"the control":  func(*workspace) {},
		"another line": func(w *workspace) { w.put("f", strings.Replace(is, "5", "five", 1), 0o644) },
		"it is gone":   func(w *workspace) { w.check(os.Remove(w.path("f"))) },
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorkspace(t)
			w.edit("", "f", was, is)
			e, _ := w.newest()
			p := w.preview(e, false)
			meanwhile(w)
			before := w.all()
			lines, err := w.restorer().Restored(t.Context(), p)
			if name == "the control" {
				w.check(err)
				w.want("f", was)
				return
			}
			if !errors.As(err, new(*history.ConflictError)) || len(lines) > 0 || w.all() != before {
				t.Errorf("%v, %q, %s", err, lines, w.all())
			}
		})
	}
}

// What the rules deny is neither previewed nor restored, also as one file of a group.
func TestPreviewObeysRules(t *testing.T) {
	w := newWorkspace(t)
	w.put("hidden/f", "canary", 0o644)
	w.put("g", "y", 0o644)
	w.delete("g1", "g", "hidden/f")
	_, entries := w.newest()
	at := slices.IndexFunc(entries, func(e history.Entry) bool { return e.Path == w.path("g") })
	p, err := w.restorer().Preview(t.Context(), entries[at], true)
	if !errors.Is(err, ErrDenied) {
		t.Fatalf("%v, %+v", err, p)
	}
	if text := Refused(entries[at], err); strings.Contains(text, "hidden") || strings.Contains(text, "canary") {
		t.Error(text)
	}
	if alone := w.preview(entries[at], false); !alone.Changes {
		t.Error("the control: a file that no rule denies has no preview")
	}
}
