package search

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/fsmcp/fsmcp/internal/fsys"
	"github.com/fsmcp/fsmcp/internal/shortrun"
)

// Lines that are not matched again to be shown are those that are.
func TestKnownLinesAreThoseThatMatch(t *testing.T) {
	y := newTree(t)
	patterns := []string{"needle", "n[a-f]+dle", "^", "$", "e", "x*", "needle.*\n.*needle", "dle\nb", "(?:x?){30}needle", "^needle", "end$"}
	for round := range shortrun.Count(t, 150, 30, "searches") {
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
				lines, kinds = 300_000, 200_000 // with some matches far from each other
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
		q := GrepQuery{Pattern: patterns[r.IntN(len(patterns))], Multiline: r.IntN(3) == 0, Fold: r.IntN(4) == 0, Before: r.IntN(3), After: r.IntN(3), Mode: Content,
			Window: Window{Skip: []int{0, 0, 3, 500}[r.IntN(4)], Most: []int{0, 1, 10, 250}[r.IntN(4)], MaxBytes: 64 << 10}}
		if strings.Contains(q.Pattern, "\n") {
			q.Multiline = true
		}
		if q.Multiline && large {
			q.Multiline, q.Pattern = false, "needle" // what is matched again may be missed over the end of a window
		}
		y.matchAgain = false
		known, err := y.Grep(context.Background(), y.scope(dir), q)
		if err != nil {
			t.Fatal(err)
		}
		y.matchAgain = true
		again, err := y.Grep(context.Background(), y.scope(dir), q)
		if err != nil {
			t.Fatal(err)
		}
		for _, found := range []*Grepped{known, again} {
			for i := range found.Files {
				found.Files[i].Record.Settled = false
				for k := range found.Files[i].Lines {
					for p := range found.Files[i].Lines[k].Parts {
						found.Files[i].Lines[k].Parts[p].Matches = nil // whether a pattern is slow differs
					}
				}
			}
		}
		if !reflect.DeepEqual(known, again) {
			t.Fatalf("round %d, %+v:\n%.3000v\nmatched again:\n%.3000v", round, q, known, again)
		}
		if err := os.RemoveAll(y.path(dir)); err != nil {
			t.Fatal(err)
		}
	}
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
	for _, name := range []string{"small", "small/log", "large", "large/log"} {
		for _, mode := range []Mode{FilesOnly, Counts, Content} {
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
				t.Errorf("%s, mode %d: it does not say how far it came: %+v", name, mode, found.Outcome)
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
			g.settleOpen()
		}
		scope := y.scope("a.txt")
		if _, err := y.one(context.Background(), &scope, g); err != nil {
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
	g.settleOpen()
	for _, tally := range []*tally{early, g.newTally()} {
		tally.begin(file, nil, fsys.Stamp{})
		tally.add(hit{number: 1})
	}
	g.settleOpen()
	if files, _ := g.found.counts(); files != 0 {
		t.Errorf("%d files count", files)
	}
}
