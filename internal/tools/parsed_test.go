package tools

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/fsmcp/fsmcp/internal/notebook"
	"github.com/fsmcp/fsmcp/internal/shortrun"
	"github.com/fsmcp/fsmcp/internal/state"
	"github.com/fsmcp/fsmcp/internal/toolcall"
)

// What is kept parsed is the file byte for byte, whatever program wrote it, and
// whatever its time says; else it is not used.
func TestWhatIsKeptParsedIsWhatTheFileHolds(t *testing.T) {
	b := newBench(t)
	cell := func(i int) string {
		return fmt.Sprintf(`{"cell_type":"raw","id":"c%d","metadata":{},"source":"value %03d"}`, i, i)
	}
	p := b.put("a.ipynb", `{"cells":[`+cell(0)+","+cell(1)+","+cell(2)+`],"metadata":{},"nbformat":4,"nbformat_minor":5}`)
	b.ok(&ReadArgs{FilePath: p})
	session, rng, used := b.call.Session, rand.New(rand.NewPCG(1, 2)), 0
	edits := shortrun.Count(t, 200, 60, "edits")
	for i := range edits {
		if rng.IntN(3) == 0 {
			foreignValue(t, p, rng.IntN(10))
		}
		raw := bytesOf(t, p)
		if last, ok := session.LastParsed(p, raw); ok {
			used++
			if last.Sum() != state.Sum(sha256.Sum256(raw)) {
				t.Fatal("it is kept under another hash")
			}
		}
		want := sourcesOf(t, raw)
		edited := 1 + rng.IntN(2)
		r := b.run(&NotebookEditArgs{NotebookPath: p, CellID: fmt.Sprint("c", edited), NewSource: src(fmt.Sprintf("value %03d", i))})
		if !r.IsError {
			want[edited] = fmt.Sprintf("value %03d", i)
		}
		if got := sourcesOf(t, bytesOf(t, p)); !slices.Equal(got, want) {
			t.Fatalf("edit %d: the cells hold %q, not %q", i, got, want)
		}
		if i%5 == 0 && !r.IsError { // it is parsed behind the answer
			for end := time.Now().Add(time.Minute); ; time.Sleep(time.Millisecond) {
				if _, ok := session.LastParsed(p, bytesOf(t, p)); ok {
					break
				}
				if time.Now().After(end) {
					t.Fatalf("edit %d: the notebook is not kept parsed", i)
				}
			}
		}
	}
	if used < edits/10 {
		t.Errorf("what was kept was of use %d times in %d", used, edits)
	}
	if _, ok := session.LastParsed(b.path("b.ipynb"), bytesOf(t, p)); ok {
		t.Error("it is given for another file")
	}
}

// foreignValue has another program change the first cell's value, at the same size and
// time of the file.
func foreignValue(t *testing.T, path string, digit int) {
	t.Helper()
	raw := bytesOf(t, path)
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	raw[bytes.Index(raw, []byte("value "))+len("value ")] = byte('0' + digit)
	if os.WriteFile(path, raw, 0o644) != nil || os.Chtimes(path, info.ModTime(), info.ModTime()) != nil {
		t.Fatal("cannot write")
	}
}

func bytesOf(t *testing.T, path string) []byte {
	t.Helper()
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

// sourcesOf are the sources of a notebook's cells.
func sourcesOf(t *testing.T, raw []byte) (out []string) {
	t.Helper()
	nb, err := notebook.Parse(raw)
	if err != nil {
		t.Fatal(err)
	}
	for i := range nb.Len() {
		out = append(out, nb.Cell(i).SourceText())
	}
	return out
}

func TestALargeNotebookIsNotKeptParsed(t *testing.T) {
	b := newBench(t)
	p := b.put("a.ipynb", `{"cells":[],"metadata":{"x":"`+strings.Repeat("x", toolcall.MostParsed)+`"},"nbformat":4,"nbformat_minor":5}`)
	b.ok(&ReadArgs{FilePath: p})
	if _, ok := b.call.Session.LastParsed(p, bytesOf(t, p)); ok {
		t.Error("it is kept")
	}
}
