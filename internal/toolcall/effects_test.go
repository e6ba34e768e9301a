package toolcall

import (
	"bytes"
	"testing"
	"time"

	"github.com/fsmcp/fsmcp/internal/fsys"
	"github.com/fsmcp/fsmcp/internal/reminders"
	"github.com/fsmcp/fsmcp/internal/state"
)

func newTestSession() *Session { return NewSession(time.Now, reminders.New(reminders.Options{})) }

// partOf is the record of a part of a version of a file that was shown.
func partOf(version byte, start, end int64) state.Record {
	text := bytes.Repeat([]byte{'0' + version}, 10)
	return state.Record{Stamp: fsys.Stamp{Size: 10, Mtime: int64(version)}, Parts: state.PartsOf(text[start:end], start)}
}

// recordOf is partOf with the text of the file.
func recordOf(version byte, start, end int64) state.Record {
	part := partOf(version, start, end)
	return state.Record{Stamp: part.Stamp, Text: bytes.Repeat([]byte{'0' + version}, 10)}.With(part.Parts)
}

// Each way in which an answer shows a file enters the record in one way, and what a client
// cuts does not.
func TestApplyShown(t *testing.T) {
	for name, c := range map[string]struct {
		shown Shown
		cut   bool  // the client does not pass the answer on
		want  int64 // the number of bytes that count as shown then; -1: there is no record
	}{
		"in all":                     {shown: Shown{How: InAll, Record: recordOf(2, 0, 9)}, want: 9},
		"in all, cut":                {shown: Shown{How: InAll, Record: recordOf(2, 0, 9)}, cut: true, want: 4},
		"added":                      {shown: Shown{How: Added, Record: partOf(1, 6, 9)}, want: 7},
		"added, cut":                 {shown: Shown{How: Added, Record: partOf(1, 6, 9)}, cut: true, want: 4},
		"added to another state":     {shown: Shown{How: Added, Record: partOf(2, 6, 9)}, want: 4},
		"found":                      {shown: Shown{How: Found, Record: partOf(1, 6, 9)}, want: 7},
		"found in another state":     {shown: Shown{How: Found, Record: partOf(2, 6, 9)}, want: 3},
		"found, cut":                 {shown: Shown{How: Found, Record: partOf(1, 6, 9)}, cut: true, want: 4},
		"it differs":                 {shown: Shown{How: Differs, Record: recordOf(1, 0, 4)}, want: 4},
		"it is gone":                 {shown: Shown{How: Gone}, want: 4},
		"it is gone, for a change":   {shown: Shown{How: Forgotten}, want: -1},
		"that it is gone is not cut": {shown: Shown{How: Forgotten}, cut: true, want: -1},
	} {
		s := newTestSession()
		s.Changed("/w/a", new(recordOf(1, 0, 4)))
		c.shown.Path = "/w/a"
		s.Apply(Effects{Shown: []Shown{c.shown}}, !c.cut)
		got := int64(-1)
		if rec, known := s.Files.Get("/w/a"); known {
			got = rec.Shown().Len()
		}
		if got != c.want {
			t.Errorf("%s: %d bytes count as shown, not %d", name, got, c.want)
		}
	}
}

// A stub is followed by the text, and only a stub that was sent.
func TestApplyAStub(t *testing.T) {
	s, view := newTestSession(), state.PageRequest{Offset: 1, Limit: 2000}
	served := Effects{Shown: []Shown{{Path: "/w/a", Record: recordOf(1, 0, 10), View: view}}}
	s.Apply(served, true)
	for range 2 { // the first answer is not sent
		if !s.Files.Stub("/w/a", view, state.Sum{}) {
			t.Fatal("no stub for what was served")
		}
	}
	s.Apply(Effects{Shown: []Shown{{Path: "/w/a", How: Again, View: view}}}, true)
	if s.Files.Stub("/w/a", view, state.Sum{}) {
		t.Error("two stubs in a row")
	}
}

// A remark counts as made once its answer is sent.
func TestApplyRemarks(t *testing.T) {
	s, r := newTestSession(), Remark{Path: "/w/a", Text: "the history is turned off"}
	if s.WasSaid(r) {
		t.Error("it was never said")
	}
	s.Apply(Effects{Said: []Remark{r}}, true)
	if !s.WasSaid(r) || s.WasSaid(Remark{Path: "/w/b", Text: r.Text}) {
		t.Error("it was said of one file")
	}
}

func TestChangedMovesTheRecord(t *testing.T) {
	s := newTestSession()
	s.Changed("/w/a", new(recordOf(1, 0, 4)))
	if rec, known := s.Files.Get("/w/a"); !known || rec.Stamp.Mtime != 1 {
		t.Errorf("%+v", rec)
	}
	s.Changed("/w/a", nil)
	if _, known := s.Files.Get("/w/a"); known {
		t.Error("it is still known")
	}
}
