package state

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/fsmcp/fsmcp/internal/fsys"
	"github.com/fsmcp/fsmcp/internal/shortrun"
	"github.com/fsmcp/fsmcp/internal/span"
)

// fileOf is a file in memory with the record of it.
func fileOf(raw string, rec Record, known bool) *File {
	return &File{Content: NewContent([]byte(raw)), Stamp: fsys.Stamp{Size: int64(len(raw))}, Record: rec, Known: known}
}

// recordOf is the record of a file after places in it were shown.
func recordOf(raw string, shown ...span.Span) Record {
	return fileOf(raw, Record{}, false).Recorded(span.SetOf(shown))
}

func TestCompare(t *testing.T) {
	const text = "one\ntwo\nthree\n"
	one, two, all := span.Span{End: 4}, span.Span{Start: 4, End: 8}, span.Span{End: 14}
	big := strings.Repeat("0123456789abcde\n", MaxPart/8) // of two parts
	head, tail, whole := span.Span{End: MaxPart}, span.Span{Start: MaxPart, End: 2 * MaxPart}, span.Span{End: 2 * MaxPart}
	change := func(at int) string { return big[:at] + "X" + big[at+1:] }
	type outcome struct {
		seen, lost, missing span.Set
		changed             bool
	}
	for name, c := range map[string]struct {
		was   string
		shown []span.Span
		now   string
		need  []span.Span
		want  outcome
	}{
		"all shown":                 {was: text, shown: []span.Span{all}, now: text, want: outcome{seen: span.Set{all}}},
		"shown in part":             {was: text, shown: []span.Span{one}, now: text, want: outcome{seen: span.Set{one}, missing: span.Set{{Start: 4, End: 14}}}},
		"what is needed":            {was: text, shown: []span.Span{one}, now: text, need: []span.Span{{Start: 1, End: 3}}, want: outcome{seen: span.Set{one}}},
		"more is needed":            {was: text, shown: []span.Span{one}, now: text, need: []span.Span{one, two}, want: outcome{seen: span.Set{one}, missing: span.Set{two}}},
		"a text that changed":       {was: text, shown: []span.Span{one}, now: "one\ntwo\nTHREE\n", need: []span.Span{one}, want: outcome{lost: span.Set{one}, missing: span.Set{one}, changed: true}},
		"a text that grew":          {was: text, shown: []span.Span{all}, now: text + "x", need: []span.Span{one}, want: outcome{lost: span.Set{all}, missing: span.Set{one}, changed: true}},
		"an empty text that grew":   {now: text, need: []span.Span{one}, want: outcome{missing: span.Set{one}, changed: true}},
		"parts":                     {was: big, shown: []span.Span{whole}, now: big, want: outcome{seen: span.Set{whole}}},
		"parts of a file that grew": {was: big, shown: []span.Span{whole}, now: big + "more\n", want: outcome{seen: span.Set{whole}, missing: span.Set{{Start: 2 * MaxPart, End: 2*MaxPart + 5}}}},
		"one part changed":          {was: big, shown: []span.Span{whole}, now: change(2*MaxPart - 1), want: outcome{seen: span.Set{head}, lost: span.Set{tail}, missing: span.Set{tail}, changed: true}},
		"another part is needed":    {was: big, shown: []span.Span{whole}, now: change(2*MaxPart - 1), need: []span.Span{one}, want: outcome{seen: span.Set{whole}}},
		"the changed part is":       {was: big, shown: []span.Span{whole}, now: change(2*MaxPart - 1), need: []span.Span{tail}, want: outcome{seen: span.Set{head}, lost: span.Set{tail}, missing: span.Set{tail}, changed: true}},
		"the rest changed":          {was: big, shown: []span.Span{one}, now: change(9), need: []span.Span{one}, want: outcome{seen: span.Set{one}}},
		"a file that was cut":       {was: big, shown: []span.Span{whole}, now: big[:MaxPart+5], want: outcome{seen: span.Set{head}, lost: span.Set{tail}, missing: span.Set{{Start: MaxPart, End: MaxPart + 5}}, changed: true}},
		"a file that has a text now": {was: big, shown: []span.Span{one, {Start: MaxPart, End: MaxPart + 9}}, now: big[:100], need: []span.Span{one},
			want: outcome{seen: span.Set{one}, lost: span.Set{{Start: MaxPart, End: MaxPart + 9}}, changed: true}},
	} {
		now := fileOf(c.now, recordOf(c.was, c.shown...), true).Compare(c.need)
		if got := (outcome{now.Seen, now.Lost, now.Missing, now.Changed}); fmt.Sprint(got) != fmt.Sprint(c.want) {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}

// shownBytes is a model of a record: each byte that was shown, by its place; -1 for others.
type shownBytes []int16

func (m shownBytes) at(i int) int16 {
	if i < len(m) {
		return m[i]
	}
	return -1
}

// show returns the model after a place of a file was shown.
func (m shownBytes) show(raw []byte, s span.Span) shownBytes {
	for len(m) < int(s.End) {
		m = append(m, -1)
	}
	for i := s.Start; i < s.End; i++ {
		m[i] = int16(raw[i])
	}
	return m
}

// within returns the model of what was shown within a set.
func (m shownBytes) within(set span.Set) (out shownBytes) {
	for _, s := range set {
		for len(out) < int(s.End) {
			out = append(out, -1)
		}
		for i := s.Start; i < s.End; i++ {
			out[i] = m.at(int(i))
		}
	}
	return out
}

// through takes the model through a splice; the new bytes are shown.
func (m shownBytes) through(s span.Splice) (out shownBytes) {
	for i := range int(s.Start) {
		out = append(out, m.at(i))
	}
	for _, b := range s.New {
		out = append(out, int16(b))
	}
	for i := int(s.End); i < len(m); i++ {
		out = append(out, m[i])
	}
	return out
}

// After Reads, own edits and changes by other programs, no byte counts as seen that is not as
// it was shown. If nothing has changed, all that was shown counts.
func TestCompareAgreesWithTheBytesThatWereShown(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	place := func(size int) span.Span {
		start := rnd.IntN(size + 1)
		length := []int{10, 3000, MaxPart + 20_000}[rnd.IntN(3)]
		return span.Span{Start: int64(start), End: int64(min(size, start+rnd.IntN(length)))}
	}
	for round := range shortrun.Count(t, 300, 60, "files") {
		size := []int{40, KeepText - 200, KeepText + 200, 3*MaxPart + 1000}[rnd.IntN(4)]
		raw := make([]byte, size)
		for i := range raw {
			raw[i] = byte('a' + rnd.IntN(4))
		}
		shown, rec := shownBytes(nil), fileOf(string(raw), Record{}, false).Recorded(nil)
		for range 1 + rnd.IntN(8) {
			f := fileOf(string(raw), rec, true)
			switch rnd.IntN(4) {
			case 0, 1: // a Read
				s := place(len(raw))
				now := f.Compare([]span.Span{})
				if now.Changed { // the record goes on without what has changed
					shown = shown.within(now.Seen)
				}
				rec = f.WithShown(now.Record, span.Set{}.Add(s))
				shown = shown.show(raw, s)
			case 2: // an own edit, of what was seen
				now := f.Compare(nil)
				if now.Changed {
					continue
				}
				s := place(len(raw))
				splices := []span.Splice{{Start: s.Start, End: s.End, New: bytes.Repeat([]byte{'n'}, rnd.IntN(500))}}
				if rnd.IntN(8) == 0 { // that takes the file across the bound
					splices[0].New = bytes.Repeat([]byte{'n'}, KeepText)
				}
				content := f.Spliced(splices, KeepText)
				rec = f.Edited(now.Record, splices, content)
				shown = shown.through(splices[0])
				raw = span.Apply(raw, splices)
				if content.Sum() != sha256.Sum256(raw) || f.Sum() != sha256.Sum256(f.Raw) {
					t.Fatalf("round %d: a hash is of other bytes", round)
				}
			default: // a change of another program
				s := place(len(raw))
				raw = slices.Clone(raw)
				for i := s.Start; i < min(s.End, s.Start+3); i++ {
					raw[i] = 'X'
				}
				switch rnd.IntN(4) {
				case 0:
					raw = append(raw, "grown"...)
				case 1:
					raw = raw[:len(raw)/3]
				}
			}
		}
		var need []span.Span
		if rnd.IntN(2) == 0 {
			need = []span.Span{place(len(raw))}
		}
		checkComparison(t, round, fileOf(string(raw), rec, true), shown, need)
	}
}

func checkComparison(t *testing.T, round int, f *File, shown shownBytes, need []span.Span) {
	t.Helper()
	now := f.Compare(need)
	seen := make([]bool, len(f.Raw))
	for _, s := range now.Seen {
		for i := s.Start; i < min(s.End, int64(len(seen))); i++ {
			seen[i] = true
		}
	}
	for i := range max(len(f.Raw), len(shown)) {
		was, is, counts := shown.at(i), int16(-1), false
		if i < len(f.Raw) {
			is, counts = int16(f.Raw[i]), seen[i]
		}
		looked := need == nil || len(f.Raw) <= KeepText || span.Span{Start: int64(i), End: int64(i) + 1}.Touches(need)
		switch {
		case counts && was < 0:
			t.Fatalf("round %d: byte %d counts as seen and was never shown", round, i)
		case counts && was != is && looked:
			t.Fatalf("round %d: byte %d counts as seen and has changed", round, i)
		case was >= 0 && !counts && !now.Changed && i < len(f.Raw):
			t.Fatalf("round %d: byte %d was shown, nothing has changed, and it does not count", round, i)
		case was >= 0 && was != is && need == nil && !now.Changed:
			t.Fatalf("round %d: byte %d has changed unnoticed", round, i)
		}
	}
	if need == nil {
		if got, want := now.Missing, now.Seen.Missing(int64(len(f.Raw))); !slices.Equal(got, want) {
			t.Fatalf("round %d: %v is missing, want %v", round, got, want)
		}
	}
	for _, s := range need {
		if covered, missing := now.Seen.Covers(s), slices.Contains(now.Missing, s); covered == missing {
			t.Fatalf("round %d: %v is needed, seen: %v, missing: %v", round, s, covered, missing)
		}
	}
}

// Parts of equal bytes have equal IDs, in whatever order they were shown.
func TestJoinedPartsAreInOrder(t *testing.T) {
	raw := []byte(strings.Repeat("0123456789", 100))
	part := func(start, end int64) []Part { return partsIn(raw, span.Set{{Start: start, End: end}}) }
	a := joined(joined(part(0, 100), part(500, 600)), part(90, 200))
	b := joined(joined(part(90, 200), part(500, 600)), part(0, 100))
	if !slices.Equal(a, b) || len(a) != 3 {
		t.Errorf("%v, %v", a, b)
	}
	if c := joined(a, part(0, 550)); len(c) != 2 {
		t.Errorf("%v are beside a part that holds them", c)
	}
}

func TestWithKeepsATextThatPartsFit(t *testing.T) {
	const text = "one\ntwo\n"
	for name, c := range map[string]struct {
		part string
		fits bool
	}{
		"of the text":          {part: "two\n", fits: true},
		"of a text since then": {part: "TWO\n"},
	} {
		rec := recordOf(text, span.Span{End: 4})
		parts := PartsOf([]byte(c.part), 4)
		if rec.Fits(parts) != c.fits {
			t.Errorf("%s: fits: %v", name, !c.fits)
		}
		got := rec.With(parts)
		if (got.Text != nil) != c.fits || got.Shown().Len() != 8 {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

// New content keeps the old one only until it is hashed, and neither hash depends on which is
// asked for first.
func TestSplicedContent(t *testing.T) {
	raw := bytes.Repeat([]byte("0123456789abcdef"), 4*hashAside/16)
	splices := []span.Splice{{Start: 100, End: 110, New: []byte("new")}}
	for name, first := range map[string]func(old, now *Content) Sum{
		"old": func(old, _ *Content) Sum { return old.Sum() },
		"new": func(_, now *Content) Sum { return now.Sum() },
	} {
		old := NewContent(raw)
		now := old.Spliced(splices, 0)
		first(old, now)
		if old.Sum() != sha256.Sum256(raw) || now.Sum() != sha256.Sum256(span.Apply(raw, splices)) {
			t.Errorf("the %s one first: a hash is of other bytes", name)
		}
		if now.from != nil || old.next.Load() != nil {
			t.Errorf("the %s one first: one keeps the other", name)
		}
	}
}
