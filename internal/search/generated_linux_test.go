package search

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/fsmcp/fsmcp/internal/fsys"
	"github.com/fsmcp/fsmcp/internal/search/match/matchtest"
	"github.com/fsmcp/fsmcp/internal/shortrun"
	"github.com/fsmcp/fsmcp/internal/text"
)

// TestGeneratedFiles searches files with texts that were drawn from generated expressions and
// compares the lines, the counts and the files with those of the standard package, whatever
// the encoding and the line endings of a file are. The literal by which files are skipped
// changes no count; the control arm skips those that lack one more letter.
func TestGeneratedFiles(t *testing.T) {
	const files = 8
	all := number("FSMCP_SEARCH_PAIRS", 50*shortrun.Count(t, 2000, 400, "pairs of an expression and a file")) / 50
	rnd := rand.New(rand.NewPCG(23, 20))
	y := newTree(t)
	scope := y.scope()
	compared, matching, wrong, failed := 0, 0, 0, 0
	for compared < all {
		e := matchtest.Draw(rnd)
		re, err := e.Regexp()
		if err != nil {
			t.Fatal(err)
		}
		want := map[string][]int{}
		texts := map[string][]byte{}
		for i := range files {
			name := fmt.Sprint("f", i)
			texts[name] = drawFile(e, rnd)
			y.put(name, string(texts[name]))
			if numbers := linesOf(t, e, re, texts[name]); len(numbers) > 0 {
				want[name] = numbers
			}
		}
		q := GrepQuery{Pattern: e.Pattern, Fold: e.Fold, Multiline: e.Multiline, Window: Window{MaxBytes: 1 << 30}}
		got, err := found(y, scope, q)
		if refusal := (*PatternError)(nil); errors.As(err, &refusal) {
			continue
		} else if err != nil {
			t.Fatal(err)
		}
		compared, matching = compared+files, matching+len(want)
		for _, mode := range []GrepMode{FilesOnly, Counts} {
			q.Mode = mode
			counted, err := y.Grep(context.Background(), scope, q)
			if err != nil {
				t.Fatal(err)
			}
			for _, f := range counted.Files {
				if count := len(want[y.rel(f.Path)]); mode == FilesOnly && count == 0 || mode == Counts && f.Count != count {
					t.Errorf("%+v: %d lines counted, want %d, in %.300q", q, f.Count, count, texts[y.rel(f.Path)])
				}
			}
			if len(counted.Files) != len(want) {
				t.Errorf("%+v: %d files, want %d", q, len(counted.Files), len(want))
			}
		}
		for name, text := range texts {
			if counts := countsOf(t, y, q, text); counts[0] != counts[1] {
				t.Errorf("%+v: %d lines, without the literal %d, in %.300q", q, counts[0], counts[1], text)
			} else if counts[2] != counts[1] {
				wrong++
			}
			if !slices.Equal(got[name], want[name]) {
				if failed++; failed < 10 {
					t.Errorf("%+v: lines %v, want %v, in %.300q", q, without(got[name], want[name]), without(want[name], got[name]), text)
				}
			}
		}
	}
	t.Logf("%d pairs, %d of them with a match; %d differences; control: %d files skipped with a wrong literal", compared, matching, failed, wrong)
	if wrong < compared/100 {
		t.Error("the comparison does not see that files are skipped")
	}
}

// countsOf returns how many lines are counted of a file that is held in memory: with the
// literal by which it may be skipped, without one, and with a wrong one.
func countsOf(t *testing.T, y *tree, q GrepQuery, raw []byte) (counts [3]int) {
	if len(raw) >= windowSize {
		return counts
	}
	g, err := newGrepper(q)
	if err != nil {
		t.Fatal(err)
	}
	m := g.newFileSearch(y.newRun(&Scope{}, g))
	arms := [][]byte{g.literal, nil, append(slices.Clone(g.literal), 'x')}
	if g.literal == nil {
		arms[2] = nil
	}
	for i := range arms {
		g.literal = arms[i]
		g.begin(m.tally, result{}, nil, fsys.Stamp{})
		m.lines.begin()
		m.searchText(raw, &room{})
		if counts[i] = int(m.tally.count.Load()); m.tally.binary.Load() {
			counts[i] = 1
		}
	}
	return counts
}

// found returns the numbers of the lines that a search shows of each file.
func found(y *tree, scope Scope, q GrepQuery) (map[string][]int, error) {
	q.Mode = Content
	got, err := y.Grep(context.Background(), scope, q)
	if err != nil {
		return nil, err
	}
	lines := map[string][]int{}
	for _, f := range got.Files {
		for _, l := range f.Lines {
			lines[y.rel(f.Path)] = append(lines[y.rel(f.Path)], l.Number)
		}
	}
	return lines, nil
}

// drawFile draws the content of a file in some encoding. Some files are larger than what a
// worker holds in memory.
func drawFile(e *matchtest.Expression, rnd *rand.Rand) []byte {
	drawn := e.Text(rnd)
	valid := strings.ToValidUTF8(string(drawn), "")
	switch rnd.IntN(12) {
	case 0:
		return []byte("\ufeff" + valid)
	case 1, 2:
		wide := []byte{0xFF, 0xFE}
		for _, u := range utf16.Encode([]rune(valid)) {
			wide = append(wide, byte(u), byte(u>>8))
		}
		return wide
	case 3, 4:
		return []byte(strings.ReplaceAll(strings.ReplaceAll(valid, "\r\n", "\r"), "\n", "\r"))
	case 5, 6:
		return []byte(strings.ReplaceAll(strings.ReplaceAll(valid, "\r\n", "\n"), "\n", "\r\n"))
	case 7:
		if rnd.IntN(16) == 0 {
			return bytes.Repeat([]byte(valid), 1+(windowSize+100<<10)/max(1, len(valid)))
		}
	}
	if _, err := text.Decode(drawn); err != nil {
		return []byte(valid)
	}
	return drawn
}
