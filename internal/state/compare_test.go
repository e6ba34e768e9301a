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
	"github.com/fsmcp/fsmcp/internal/text"
	"github.com/fsmcp/fsmcp/internal/text/charset"
)

// fileOf is a file in memory with the record of it.
func fileOf(raw string, rec Record, known bool) *KnownFile {
	return &KnownFile{Content: NewContent([]byte(raw)), Stamp: fsys.Stamp{Size: int64(len(raw))}, Record: rec, Known: known}
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
		missing := Outside(now.Seen, c.need)
		if c.need == nil {
			missing = now.Seen.Missing(int64(len(c.now)))
		}
		if got := (outcome{now.Seen, now.Lost, missing, now.Changed}); fmt.Sprint(got) != fmt.Sprint(c.want) {
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

// generated is a file of the generated comparison, and the model of what was shown of it.
type generated struct {
	raw      []byte
	stamp    fsys.Stamp
	enc      text.Encoding
	notebook bool
	rec      Record
	shown    shownBytes
	known    []byte // of a notebook: all bytes when it was last looked at
}

func (g *generated) file() *KnownFile {
	g.stamp.Size = int64(len(g.raw))
	f := &KnownFile{Content: NewContent(g.raw), Stamp: g.stamp, Record: g.rec, Known: true, Notebook: g.notebook}
	if !g.notebook {
		f.Doc = &text.Doc{Raw: g.raw, Enc: g.enc}
	}
	return f
}

// After Reads, own edits, changes by other programs, of bytes and of the charset, and the loss
// of the text that is kept, no byte counts as seen that is not as it was shown. If nothing has
// changed, all that was shown counts; a notebook that changed anywhere is one that changed.
func TestCompareAgreesWithTheBytesThatWereShown(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	place := func(size int) span.Span {
		start := rnd.IntN(size + 1)
		length := []int{10, 3000, MaxPart + 20_000}[rnd.IntN(3)]
		return span.Span{Start: int64(start), End: int64(min(size, start+rnd.IntN(length)))}
	}
	happened := map[string]int{}
	for round := range shortrun.Count(t, 400, 40, "files") {
		size := []int{40, KeepText - 200, KeepText + 200, 3*MaxPart + 1000}[rnd.IntN(4)]
		g := &generated{raw: make([]byte, size), notebook: rnd.IntN(3) == 0}
		for i := range g.raw {
			g.raw[i] = byte('a' + rnd.IntN(4))
		}
		g.known, g.rec = g.raw, g.file().Recorded(nil)
		for range 1 + rnd.IntN(8) {
			f := g.file()
			switch rnd.IntN(6) {
			case 0, 1: // a Read
				s := place(len(g.raw))
				need := []span.Span{}
				if g.notebook {
					need = nil
				}
				now := f.Compare(need)
				if now.Changed { // the record goes on without what has changed
					g.shown = g.shown.within(now.Seen)
				}
				g.rec = f.WithShown(now.Record, span.Set{}.Add(s))
				g.shown, g.known = g.shown.show(g.raw, s), g.raw
			case 2: // an own edit, of what was seen
				now := f.Compare(nil)
				if now.Changed {
					continue
				}
				s := place(len(g.raw))
				splices := []span.Splice{{Start: s.Start, End: s.End, New: bytes.Repeat([]byte{'n'}, rnd.IntN(500))}}
				if rnd.IntN(8) == 0 { // that takes the file across the bound
					splices[0].New = bytes.Repeat([]byte{'n'}, KeepText)
				}
				content := f.Spliced(splices, KeepText)
				g.rec = f.Edited(now.Record, splices, content)
				g.shown = g.shown.through(splices[0])
				g.raw = span.Apply(g.raw, splices)
				g.stamp.Ctime++
				if g.rec.Stamp = g.stamp; g.notebook { // as package commit does
					g.rec.All = content.Sum()
				}
				g.rec.Stamp.Size, g.known = int64(len(g.raw)), g.raw
				if content.Sum() != sha256.Sum256(g.raw) || f.Sum() != sha256.Sum256(f.Raw) {
					t.Fatalf("round %d: a hash is of other bytes", round)
				}
			case 3: // other files take the room of its text
				g.rec = g.rec.withoutText()
			case 4: // another program writes it in another charset
				g.stamp.Ctime++
				g.enc = text.Encoding{Set: []charset.Charset{charset.UTF8, charset.UTF16LE}[rnd.IntN(2)]}
			default: // a change of another program
				g.changeOutside(rnd, place(len(g.raw)))
			}
		}
		var need []span.Span
		if rnd.IntN(2) == 0 {
			need = []span.Span{place(len(g.raw))}
		}
		f := g.file()
		now := f.Compare(need)
		switch charsetMoved := !g.notebook && f.Record.Text == nil && f.Record.Enc != g.enc; {
		case g.notebook && now.Changed == bytes.Equal(g.raw, g.known):
			t.Fatalf("round %d: a notebook of %d bytes: changed: %v", round, len(g.raw), now.Changed)
		case g.notebook && now.Changed:
			happened["a notebook changed"]++
		case charsetMoved && len(now.Seen) > 0:
			t.Fatalf("round %d: what was shown in another charset counts as seen", round)
		case charsetMoved && now.Changed:
			happened["a charset changed"]++
		}
		checkComparison(t, round, f, g.shown, need)
	}
	for _, what := range []string{"a notebook changed", "a charset changed"} {
		if happened[what] == 0 {
			t.Errorf("this did not happen: %s", what)
		}
	}
}

// changeOutside changes a file as another program does.
func (g *generated) changeOutside(rnd *rand.Rand, s span.Span) {
	g.stamp.Ctime++
	g.raw = slices.Clone(g.raw)
	for i := s.Start; i < min(s.End, s.Start+3); i++ {
		g.raw[i] = 'X'
	}
	switch rnd.IntN(4) {
	case 0:
		g.raw = append(g.raw, "grown"...)
	case 1:
		g.raw = g.raw[:len(g.raw)/3]
	}
}

func checkComparison(t *testing.T, round int, f *KnownFile, shown shownBytes, need []span.Span) {
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
