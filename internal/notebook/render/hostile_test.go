package render

import (
	"testing"
	"unicode/utf8"

	"github.com/fsmcp/fsmcp/internal/notebook"
	"github.com/fsmcp/fsmcp/internal/notebook/notebooktest"
	"github.com/fsmcp/fsmcp/internal/shortrun"
)

// Files with a change at any place are read or refused, without a panic.
func TestChangedFilesAreReadOrRefused(t *testing.T) {
	places := shortrun.Count(t, 150, 25, "places in each file")
	for name, raw := range fixtures(t) {
		step := max(1, len(raw)/places)
		for at := 0; at < len(raw); at += step {
			for _, b := range []string{"", "\x00", "\"", "\\", "[", "}", ",", "\xc3", "1", `\ud800`, "NaN"} {
				changed := append(append(append([]byte{}, raw[:at]...), b...), raw[at+1:]...)
				if nb, err := notebook.Parse(changed); err == nil {
					showAll(t, name, nb)
				}
			}
		}
	}
}

// A notebook is shown in every way.
func FuzzCells(f *testing.F) {
	for _, raw := range notebooktest.Seeds(f) {
		f.Add(raw)
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		nb, err := notebook.Parse(raw)
		if err != nil {
			return
		}
		showAll(t, "", nb)
		for i := range min(nb.Len(), 5) {
			if err := addUp(nb, i, CellOptions{MaxText: 70}); err != nil {
				t.Fatalf("%q cell %d: %v", raw, i, err)
			}
		}
	})
}

// showAll shows a notebook in every way and looks at what comes.
func showAll(t testing.TB, name string, nb *notebook.Notebook) {
	t.Helper()
	parts := Cells(nb, Options{}).Parts
	parts = append(parts, Cells(nb, Options{MaxOutput: 20, MaxText: 500}).Parts...)
	for i := range nb.Len() {
		parts = append(parts, Cell(nb, i, CellOptions{}).Parts...)
		parts = append(parts, Cell(nb, i, CellOptions{First: 2, Limit: 3}).Parts...)
		parts = append(parts, Cell(nb, i, CellOptions{Column: 2, MaxText: 60}).Parts...)
		f := nb.Fields(i)
		if source, cell := nb.Cell(i).Source, f.Whole.Span(); source.Start < cell.Start || source.End > cell.End {
			t.Errorf("%s: source %v outside cell %v", name, source, cell)
		}
	}
	for _, p := range parts {
		if !utf8.ValidString(p.Text) {
			t.Errorf("%s: %.200q", name, p.Text)
		}
		if p.Picture != nil && len(p.Picture.Bytes()) != p.Picture.Size {
			t.Errorf("%s: picture of %d bytes has %d", name, p.Picture.Size, len(p.Picture.Bytes()))
		}
	}
}
