package gate

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

// TestLineIsTheSameLine carries lines through generated changes: what Line finds has the bytes
// that the line had, and a line whose text is there once, and in the same order as the lines
// around it, is found.
func TestLineIsTheSameLine(t *testing.T) {
	seed := rand.Uint64()
	rng := rand.New(rand.NewPCG(seed, 1))
	found := 0
	for range 2000 {
		var was, now []string
		for i := range 1 + rng.IntN(12) {
			line := fmt.Sprintf("line %d\n", i)
			if rng.IntN(3) == 0 {
				line = "same\n"
			}
			was = append(was, line)
			switch rng.IntN(6) {
			case 0: // gone
			case 1:
				now = append(now, "new\n", line)
			case 2:
				now = append(now, "changed\n")
			default:
				now = append(now, line)
			}
		}
		before, after := strings.Join(was, ""), strings.Join(now, "")
		g := gateOf(t, "/w/a.txt", before, after, before)
		for i, line := range was {
			got, ok := g.Line(i + 1)
			unique := line != "same\n" && strings.Contains(after, line)
			switch {
			case after == "": // nothing is there to be found
			case unique && !ok:
				t.Fatalf("seed %d: line %d of %q is not found in %q", seed, i+1, before, after)
			case ok:
				found++
				if is := after[got.Spans[0].Start:got.Spans[0].End]; is != line || strings.Count(after[:got.Spans[0].Start], "\n") != got.Number-1 {
					t.Fatalf("seed %d: line %d of %q is %q, number %d, in %q", seed, i+1, before, is, got.Number, after)
				}
			}
		}
		if _, ok := g.Line(len(was) + 1); ok && before != after && after != "" {
			t.Fatalf("seed %d: a line behind the last one of %q is found", seed, before)
		}
	}
	if found == 0 {
		t.Error("no line was found")
	}
}
