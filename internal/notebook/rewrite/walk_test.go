package rewrite

import (
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/fsmcp/fsmcp/internal/notebook"
	"github.com/fsmcp/fsmcp/internal/shortrun"
	"github.com/fsmcp/fsmcp/internal/span"
)

// walks returns the number of random walks: FSMCP_NOTEBOOK_WALKS, or 2,000, or 300 in a short run.
func walks(t testing.TB) int {
	t.Helper()
	value := os.Getenv("FSMCP_NOTEBOOK_WALKS")
	if value == "" {
		return shortrun.Count(t, 2000, 300, "random walks")
	}
	n, err := strconv.Atoi(value)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// Sequences of random edits have the same result as the naive model, except for the bytes.
func TestRandomWalks(t *testing.T) {
	t.Parallel()
	var books []*notebook.Notebook
	all := editable(t)
	for _, name := range slices.Sorted(maps.Keys(all)) { // a seed means the same each time
		if nb := all[name]; len(nb.Raw) < 6000 {
			books = append(books, nb)
		}
	}
	steps := 0
	for seed := range walks(t) {
		r := rand.New(rand.NewPCG(uint64(seed), 5))
		steps += walk(t, r, books[r.IntN(len(books))])
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
	t.Logf("%d steps", steps)
}

// walk edits one notebook a few times, each time the bytes that came before.
func walk(t *testing.T, r *rand.Rand, nb *notebook.Notebook) (steps int) {
	m := newModel(t, nb.Raw)
	ids := &counting{n: r.Uint32()}
	for steps = range 1 + r.IntN(8) {
		e := randomEdit(r, nb)
		c, err := e.runWith(nb, ids)
		if err == nil {
			err = follow(m, nb, e, c)
		}
		if err != nil {
			t.Errorf("%v: %v", e, err)
			return
		}
		if nb, err = notebook.Parse(span.Apply(nb.Raw, c.Splices)); err != nil {
			t.Errorf("%v: %v", e, err)
			return
		}
		if err := m.same(t, nb.Raw); err != nil {
			t.Errorf("%v: %v", e, err)
			return
		}
	}
	return steps + 1
}

func randomEdit(r *rand.Rand, nb *notebook.Notebook) edit {
	kinds := []string{notebook.Code, notebook.Markdown, notebook.Raw}
	what := r.IntN(10)
	if what < 3 || nb.Len() == 0 {
		return edit{"insert", r.IntN(nb.Len()+1) - 1, kinds[r.IntN(3)], randomSource(r, "")}
	}
	at := r.IntN(nb.Len())
	if what < 5 {
		return edit{"delete", at, "", ""}
	}
	return edit{"replace", at, append(kinds, "", "")[r.IntN(5)], randomSource(r, nb.Cell(at).SourceText())}
}

// randomSource changes a source a little, or is another.
func randomSource(r *rand.Rand, old string) string {
	all := sources(old)
	if r.IntN(2) == 0 {
		return all[r.IntN(len(all))]
	}
	lines := slices.Collect(strings.Lines(old))
	for range 1 + r.IntN(3) {
		at := r.IntN(len(lines) + 1)
		switch {
		case r.IntN(3) > 0 || at == len(lines):
			lines = append(lines[:at:at], append([]string{"line " + strconv.Itoa(r.IntN(100)) + "\n"}, lines[at:]...)...)
		default:
			lines = append(lines[:at:at], lines[at+1:]...)
		}
	}
	text := ""
	for _, line := range lines {
		text += line
	}
	return text
}
