package tools

import (
	"crypto/sha256"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/fsmcp/fsmcp/internal/notebook"
	"github.com/fsmcp/fsmcp/internal/state"
)

// What is kept parsed is the file byte for byte, whoever wrote it, and whatever
// its time says; else it is not used.
func TestWhatIsKeptParsedIsWhatTheFileHolds(t *testing.T) {
	b := newBench(t)
	cell := func(i int) string {
		return fmt.Sprintf(`{"cell_type":"raw","id":"c%d","metadata":{},"source":"value %03d"}`, i, i)
	}
	text := `{"cells":[` + cell(0) + "," + cell(1) + "," + cell(2) + `],"metadata":{},"nbformat":4,"nbformat_minor":5}`
	p := b.put("a.ipynb", text)
	b.ok(&ReadArgs{FilePath: p})
	session, rng, used := b.call.Session, rand.New(rand.NewPCG(1, 2)), 0
	for i := range 200 {
		raw, err := os.ReadFile(p)
		if err != nil {
			t.Fatal(err)
		}
		if rng.IntN(3) == 0 { // another program, at the same size and time
			info, _ := os.Stat(p)
			at := strings.Index(string(raw), "value ") + len("value ")
			raw[at] = byte('0' + rng.IntN(10))
			if os.WriteFile(p, raw, 0o644) != nil || os.Chtimes(p, info.ModTime(), info.ModTime()) != nil {
				t.Fatal("cannot write")
			}
		}
		if last, ok := session.lastParsed(p, raw); ok {
			used++
			if last.sum != state.Sum(sha256.Sum256(raw)) {
				t.Fatal("it is kept under another hash")
			}
		}
		id := fmt.Sprint("c", 1+rng.IntN(2))
		r := b.run(&NotebookEditArgs{NotebookPath: p, CellID: id, NewSource: src(fmt.Sprintf("value %03d", i))})
		now, err := os.ReadFile(p)
		if err != nil {
			t.Fatal(err)
		}
		nb, err := notebook.Parse(now)
		if err != nil {
			t.Fatal(err)
		}
		was, _ := notebook.Parse(raw)
		for k := range 3 {
			want := was.Cell(k).SourceText()
			if !r.IsError && fmt.Sprint("c", k) == id {
				want = fmt.Sprintf("value %03d", i)
			}
			if got := nb.Cell(k).SourceText(); got != want {
				t.Fatalf("edit %d: cell %d holds %q, not %q", i, k, got, want)
			}
		}
		if i%5 == 0 {
			time.Sleep(2 * time.Millisecond) // it is parsed behind the answer
		}
	}
	if used < 20 {
		t.Errorf("what was kept was of use %d times in 200", used)
	}
	raw, err := os.ReadFile(p)
	if err != nil {
		t.Fatal(err)
	}
	if _, ok := session.lastParsed(b.path("b.ipynb"), raw); ok {
		t.Error("it is given for another file")
	}
}

func TestALargeNotebookIsNotKeptParsed(t *testing.T) {
	b := newBench(t)
	p := b.put("a.ipynb", `{"cells":[],"metadata":{"x":"`+strings.Repeat("x", mostParsed)+`"},"nbformat":4,"nbformat_minor":5}`)
	b.ok(&ReadArgs{FilePath: p})
	if b.call.Session.parsed.nb != nil {
		t.Error("it is kept")
	}
}
