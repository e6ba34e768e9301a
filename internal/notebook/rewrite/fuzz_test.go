package rewrite

import (
	"testing"
	"unicode/utf8"

	"github.com/fsmcp/fsmcp/internal/notebook"
	"github.com/fsmcp/fsmcp/internal/notebook/notebooktest"
)

// An edit does what the model does, changes nothing outside the cell, and an
// delete restores the file after an insert.
func FuzzEdit(f *testing.F) {
	for i, raw := range notebooktest.Seeds(f) {
		for what := range byte(3) {
			f.Add(raw, what, byte(i), byte(i), "a\né\x00\n")
		}
	}
	whats, kinds := []string{"replace", "insert", "delete"}, []string{notebook.Code, notebook.Markdown, notebook.Raw, ""}
	f.Fuzz(func(t *testing.T, raw []byte, what, at, kind byte, source string) {
		nb, err := notebook.Parse(raw)
		if err != nil || nb.Editable() != nil || !utf8.ValidString(source) {
			return
		}
		e := edit{whats[what%3], int(at) % (nb.Len() + 1), kinds[kind%4], source}
		if e.what == "insert" {
			e.at, e.kind = e.at-1, kinds[kind%3]
		} else if e.at == nb.Len() {
			return
		}
		if err := lawful(t, nb, e); err != nil {
			t.Fatalf("%q: %v: %v", raw, e, err)
		}
		if e.what != "insert" {
			return
		}
		if err := restoredByDelete(nb, e.at, e.kind, e.source); err != nil {
			t.Fatalf("%q: %v: %v", raw, e, err)
		}
	})
}
