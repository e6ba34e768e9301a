package search

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/fsmcp/fsmcp/internal/fsys"
	"github.com/fsmcp/fsmcp/internal/search/match/matchtest"
	"github.com/fsmcp/fsmcp/internal/shortrun"
	"github.com/fsmcp/fsmcp/internal/text"
)

// A window shows the lines that a search of everything shows at that place, and these are the
// lines that the standard package matches, with their context.
func TestWindowsShowPartsOfTheWhole(t *testing.T) {
	y := newTree(t)
	patterns := []string{"needle", "n[a-f]+dle", "^", "$", "e", "x*", "needle.*\n.*needle", "dle\nb", "(?:x?){30}needle", "^needle", "end$"}
	for round := range shortrun.Count(t, shortrun.Most(t, 100, 24, "searches"), 6, "searches") {
		r := rand.New(rand.NewPCG(uint64(round), 4))
		dir, large := fmt.Sprint(round), false
		for i := range 1 + r.IntN(4) {
			var b strings.Builder
			ending := []string{"\n", "\n", "\n", "\r\n", "\r"}[r.IntN(5)]
			if r.IntN(5) == 0 {
				b.WriteString("\uFEFF")
			}
			lines, kinds := 1+r.IntN(40), 8
			switch r.IntN(40) {
			case 0:
				lines = 10_000 // in windows, then in memory
			case 1:
				lines = 60_000 // in windows
			case 2, 3:
				lines, kinds = 170_000, 100_000 // with some matches far from each other
			}
			large = large || lines > 1000
			for range lines {
				switch r.IntN(kinds) {
				case 0:
					b.WriteString("a needle and another needle at the end")
				case 1:
					b.WriteString("needle " + strings.Repeat("long ", r.IntN(300)) + "needle")
				case 2:
				case 3:
					b.WriteString("b \xff stray")
				default:
					b.WriteString("some words that stand beside")
				}
				b.WriteString(ending)
			}
			text := b.String()
			if r.IntN(3) == 0 {
				text = strings.TrimSuffix(text, ending)
			}
			y.put(fmt.Sprintf("%s/f%d", dir, i), text)
		}
		q := GrepQuery{Pattern: patterns[r.IntN(len(patterns))], Multiline: r.IntN(3) == 0, Fold: r.IntN(4) == 0, Before: r.IntN(3), After: r.IntN(3), Mode: Content, Window: Window{MaxBytes: 1 << 30}}
		if strings.Contains(q.Pattern, "\n") {
			q.Multiline = true
		}
		if q.Multiline && large {
			q.Multiline, q.Pattern = false, "needle" // a match over the end of a window may be missed
		}
		all, err := y.Grep(context.Background(), y.scope(dir), q)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range all.Files {
			var got []string
			for _, l := range f.Lines {
				got = append(got, fmt.Sprint(l.Number, l.Context))
			}
			if want := withContext(t, q, f.Path); !slices.Equal(got, want) {
				t.Fatalf("round %d, %+v: %s: %.2000q, want %.2000q", round, q, f.Path, got, want)
			}
		}
		q.Window = Window{Skip: []int{0, 0, 3, 500, 40_000}[r.IntN(5)], Most: []int{0, 1, 10, 250}[r.IntN(4)], MaxBytes: 64 << 10}
		part, err := y.Grep(context.Background(), y.scope(dir), q)
		if err != nil {
			t.Fatal(err)
		}
		for _, found := range []*Grepped{all, part} {
			for i := range found.Files {
				found.Files[i].Record.Settled = false // by now more of them are
			}
		}
		if want := windowOf(all, q.Window); !reflect.DeepEqual(part, want) {
			t.Fatalf("round %d, %+v:\n%s\nwant\n%s", round, q, summary(part), summary(want))
		}
		if err := os.RemoveAll(y.path(dir)); err != nil {
			t.Fatal(err)
		}
	}
}

func summary(g *Grepped) string {
	s := fmt.Sprintf("%d files, %d lines, more %v, %+v", g.TotalFiles, g.TotalMatches, g.More, g.Coverage)
	for _, f := range g.Files {
		s += fmt.Sprintf("\n%s %d %v %+v", f.Path, f.Count, f.Recorded, f.Record.Stamp)
		for _, l := range f.Lines[:min(len(f.Lines), 5)] {
			s += fmt.Sprintf(" %d %v %v %v", l.Number, l.Context, l.Gap, l.Exact)
		}
	}
	return s
}

// windowOf cuts a window out of all results.
func windowOf(all *Grepped, w Window) *Grepped {
	out := *all
	out.Files = nil
	skip, most, bytes := w.Skip, w.Most, w.MaxBytes
	for _, f := range all.Files {
		lines := f.Lines
		f.Lines = nil
		for _, l := range lines {
			if skip > 0 {
				skip--
				continue
			}
			size := lineBytes
			for _, p := range l.Parts {
				size += len(p.Text)
			}
			if out.More = w.Most > 0 && most == 0 || size > bytes && bytes < w.MaxBytes; out.More {
				break
			}
			l.Gap = l.Gap && len(f.Lines) > 0
			f.Lines = append(f.Lines, l)
			most, bytes = most-1, bytes-size
		}
		if len(f.Lines) > 0 {
			out.Files = append(out.Files, f)
		}
		if out.More {
			break
		}
	}
	return &out
}

// withContext returns the lines of a file that the standard package matches, with those
// around them, as NUMBER IS-CONTEXT.
func withContext(t *testing.T, q GrepQuery, name string) (lines []string) {
	raw, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	e := &matchtest.Expression{Pattern: q.Pattern, Fold: q.Fold, Multiline: q.Multiline}
	re, err := e.Regexp()
	if err != nil {
		t.Fatal(err)
	}
	count := 0
	if all := linesOf(t, &matchtest.Expression{}, regexp.MustCompile(""), raw); len(all) > 0 {
		count = all[len(all)-1]
	}
	shown := map[int]bool{}
	matching := linesOf(t, e, re, raw)
	for _, n := range matching {
		for at := max(1, n-q.Before); at <= min(count, n+q.After); at++ {
			shown[at] = true
		}
	}
	for _, n := range matching {
		shown[n] = false
	}
	for _, n := range slices.Sorted(maps.Keys(shown)) {
		lines = append(lines, fmt.Sprint(n, shown[n]))
	}
	return lines
}

// linesOf returns the numbers of the lines of a file that an expression matches.
func linesOf(t *testing.T, e *matchtest.Expression, re *regexp.Regexp, raw []byte) (numbers []int) {
	doc, err := text.Decode(raw)
	if err != nil {
		t.Fatal(err)
	}
	body := []byte(doc.Text)
	if bytes.IndexByte(body, '\n') < 0 {
		body = bytes.ReplaceAll(body, []byte("\r"), []byte("\n"))
	}
	starts := matchtest.Lines
	if e.Multiline {
		body, starts = bytes.ReplaceAll(body, []byte("\r\n"), []byte("\n")), matchtest.Touched
	}
	number, counted := 1, 0
	for _, at := range starts(re, body) {
		number, counted = number+bytes.Count(body[counted:at], []byte("\n")), at
		numbers = append(numbers, number)
	}
	return numbers
}

// slowPattern takes minutes for slowText, and finds the lines "needle" at once.
const slowPattern = `^needle|(?:[a-y][a-z]?){400}[0-9]`

func slowText(megabytes int) string {
	return strings.Repeat(strings.Repeat("abcdefghijklmnopqrstuvwxy", 100)+"\n", megabytes*1000/25*10)
}

// A search whose time runs out within a file returns what it found in that file, in every
// mode, and says how far it came.
func TestTimeRunsOutWithinAFile(t *testing.T) {
	shortrun.Skip(t, "it waits for the end of searches")
	y := newTree(t)
	body := "needle 1\nneedle 2\n" + slowText(1)
	y.put("small/log", body)
	y.put("large/log", body+slowText(8))
	names := []string{"small/log", "large", "small", "large/log"}
	for _, name := range names[:shortrun.Most(t, 4, 2, "searches in each mode")] { // a second each
		for _, mode := range []GrepMode{FilesOnly, Counts, Content} {
			other := treeAt(t, y.dir) // with workers of its own: they notice the end of a search late
			scope := other.scope(name)
			scope.Within = time.Second
			found, err := other.Grep(context.Background(), scope, GrepQuery{Pattern: slowPattern, Mode: mode, After: 1})
			if err != nil {
				t.Fatal(err)
			}
			want := 2
			if mode == FilesOnly {
				want = 1
			}
			if found.TotalFiles != 1 || found.TotalMatches != want || len(found.Files) != 1 {
				t.Errorf("%s, mode %d: %+v", name, mode, found)
				continue
			}
			if mode != FilesOnly && (found.Complete || len(found.Partly) != 1 || found.Partly[0].Searched >= found.Partly[0].Size) {
				t.Errorf("%s, mode %d: it does not say how far it came: %+v", name, mode, found.Coverage)
			}
			if lines := found.Files[0].Lines; mode == Content && (len(lines) < 2 || string(lines[1].Parts[0].Text) != "needle 2") {
				t.Errorf("%s: lines %v", name, lines)
			}
		}
	}
}

// A worker that comes to its slot behind the end of a search finds nothing that counts: what
// an answer counts and what it shows are the same.
func TestFoundBehindTheEndDoesNotCount(t *testing.T) {
	y := newTree(t)
	y.put("a.txt", "one needle here\n")
	for _, late := range []bool{false, true} {
		g, err := newGrepper(GrepQuery{Pattern: "needle", Mode: Content})
		if err != nil {
			t.Fatal(err)
		}
		if late {
			g.takeOpen()
		}
		scope := y.scope("a.txt")
		if _, err := y.Searcher.grep(context.Background(), &scope, g); err != nil {
			t.Fatal(err)
		}
		want := 1
		if late {
			want = 0
		}
		files, _ := g.found.counts()
		if kept := len(g.found.sorted()); files != want || kept != want {
			t.Errorf("late %v: %d files are counted and %d kept, want %d", late, files, kept, want)
		}
	}
}

// What is found in a file that a worker begins behind the end does not count either, while
// it is still searched.
func TestFileBegunBehindTheEndDoesNotCount(t *testing.T) {
	y := newTree(t)
	y.put("a.txt", "one needle here\n")
	g, err := newGrepper(GrepQuery{Pattern: "needle", Mode: Content})
	if err != nil {
		t.Fatal(err)
	}
	file := result{start: y.scope("a.txt").Starts[0]}
	early := g.newTally()
	g.takeOpen()
	for _, tally := range []*tally{early, g.newTally()} {
		g.begin(tally, file, nil, fsys.Stamp{})
		tally.count.Add(1)
		tally.keep(FoundLine{Number: 1})
	}
	g.takeOpen()
	if files, _ := g.found.counts(); files != 0 {
		t.Errorf("%d files count", files)
	}
}
