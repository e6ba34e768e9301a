package gate

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/fsmcp/fsmcp/internal/fsys"
	"github.com/fsmcp/fsmcp/internal/span"
	"github.com/fsmcp/fsmcp/internal/state"
	"github.com/fsmcp/fsmcp/internal/text"
)

// A record that was kept over a restart gives the decision that the one in memory gives, except
// that it knows nothing of reminders.
func TestKeptRecordsDecideAlike(t *testing.T) {
	rnd := rand.New(rand.NewPCG(7, 8))
	happened := map[string]int{}
	for round := range 600 { // fewer would not have all that has to happen
		size := []int{60, 400, 4000}[rnd.IntN(3)]
		if rnd.IntN(40) == 0 {
			size = state.KeepText - 100 + 200*rnd.IntN(2)
		}
		raw := make([]byte, size)
		for i := range raw {
			raw[i] = []byte("abc\n")[rnd.IntN(4)]
		}
		fileOf := func(raw []byte, ctime int64) *state.KnownFile {
			doc, err := text.Decode(raw)
			if err != nil {
				t.Fatal(err)
			}
			return &state.KnownFile{Path: "/w/a", Content: state.NewContent(raw), Stamp: fsys.Stamp{Size: int64(len(raw)), Ctime: ctime}, Doc: doc, Known: true}
		}
		place := func(of int) span.Span {
			if rnd.IntN(3) == 0 {
				return span.Span{End: int64(of)}
			}
			start := rnd.IntN(of)
			return span.Span{Start: int64(start), End: int64(min(of, start+1+rnd.IntN(200)))}
		}
		before := fileOf(raw, 1)
		rec := before.Recorded(span.Set{}.Add(place(size)))
		for range rnd.IntN(3) {
			rec = before.WithShown(rec, span.Set{}.Add(place(size)))
		}
		reported := rnd.IntN(5) == 0
		if reported {
			rec = before.WithReported(rec, span.Set{}.Add(place(size)))
		}
		now, ctime := raw, int64(1)
		switch rnd.IntN(4) {
		case 0:
			now, ctime = slices.Clone(raw), 2
			now[rnd.IntN(size)] = 'X'
		case 1:
			now, ctime = append(slices.Clone(raw), "grown\n"...), 2
		case 2:
			ctime = 2 // touched
		}
		by := Replaced{Spans: []span.Span{place(min(size, len(now)))}, Only: rnd.IntN(2) == 0}
		type decision struct{ edit, write bool }
		decide := func(rec state.Record) (d decision, seen span.Set) {
			g := gateOf(t, "/w/a", "", "")
			g.File = fileOf(now, ctime)
			g.File.Record = rec
			after, out := g.AllowEdit(by)
			d.edit = out.Err == nil && (!by.Only || len(state.Outside(after.Shown(), by.Spans)) == 0)
			d.write = g.AllowWrite().Err == nil
			return d, g.File.Compare(nil).Seen
		}
		kept := rec.Kept()
		if kept.Text != nil || kept.Settled || kept.Index != nil {
			t.Fatalf("round %d: more is kept than hashes and ranges: %+v", round, kept)
		}
		live, seen := decide(rec)
		again, seenAgain := decide(kept)
		switch {
		case again.edit && !live.edit, again.write && !live.write:
			t.Fatalf("round %d: a kept record lets through what the one in memory refuses: %+v, %+v", round, again, live)
		case again != live && !reported:
			t.Fatalf("round %d: %+v by a kept record, %+v by the one in memory", round, again, live)
		case fmt.Sprint(seen) != fmt.Sprint(seenAgain) && !reported:
			t.Fatalf("round %d: %v counts as seen by a kept record, %v by the one in memory", round, seenAgain, seen)
		}
		for _, s := range seenAgain {
			if !bytes.Equal(now[s.Start:s.End], raw[s.Start:s.End]) {
				t.Fatalf("round %d: bytes that were never shown count as seen", round)
			}
		}
		happened[fmt.Sprintf("edit %v, changed %v", again.edit, !bytes.Equal(raw, now))]++
		happened[fmt.Sprintf("write %v", again.write)]++
	}
	for _, what := range []string{"edit true, changed false", "edit false, changed true", "edit true, changed true", "write true", "write false"} {
		if happened[what] == 0 {
			t.Errorf("this did not happen: %s", what)
		}
	}
}
