package rewrite

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/fsmcp/fsmcp/internal/notebook"
	"github.com/fsmcp/fsmcp/internal/shortrun"
	"github.com/fsmcp/fsmcp/internal/span"
)

// An edit is one call of Replace, Insert or Delete.
type edit struct {
	what         string
	at           int
	kind, source string
}

func (e edit) String() string { return fmt.Sprintf("%s %d %q %.80q", e.what, e.at, e.kind, e.source) }

func (e edit) run(nb *notebook.Notebook) (Edit, error) { return e.runWith(nb, &counting{n: 0xfeed}) }

func (e edit) runWith(nb *notebook.Notebook, ids io.Reader) (Edit, error) {
	switch e.what {
	case "replace":
		return Replace(nb, e.at, e.source, e.kind)
	case "insert":
		return Insert(nb, e.at, e.kind, e.source, ids)
	}
	return Delete(nb, e.at)
}

// sources are new sources that ask for trouble.
func sources(old string) []string {
	first, rest, _ := strings.Cut(old, "\n")
	return []string{
		"", "x", "one\ntwo\n", "\n\nblank\n\n",
		"quote \" slash \\ / tab\t bell\a del\x7f nul\x00 esc\x1b",
		"é 中文 \U0001f600   e\u0301", "crlf\r\nlone\rend\r\n",
		old + "\nappended", first + "\nchanged\n" + rest, rest,
	}
}

// edits are all edits to try on a notebook.
func edits(nb *notebook.Notebook) []edit {
	var all []edit
	kinds := []string{notebook.Code, notebook.Markdown, notebook.Raw}
	for i := range nb.Len() {
		for _, source := range sources(nb.Cell(i).SourceText()) {
			for _, kind := range append(kinds, "") {
				all = append(all, edit{"replace", i, kind, source})
			}
		}
		all = append(all, edit{"replace", i, "", nb.Cell(i).SourceText()}, edit{"delete", i, "", ""})
	}
	for after := -1; after < nb.Len(); after++ {
		for _, kind := range kinds {
			for _, source := range []string{"", "new\ncell", "é\n"} {
				all = append(all, edit{"insert", after, kind, source})
			}
		}
	}
	return all
}

// editable are the fixtures that are edited.
func editable(t testing.TB) map[string]*notebook.Notebook {
	books := map[string]*notebook.Notebook{}
	for name, raw := range fixtures(t) {
		if nb := mustParse(t, string(raw)); nb.Editable() == nil {
			books[name] = nb
		}
	}
	return books
}

// Every edit of every cell of every notebook does what the model does and
// touches nothing else.
func TestEditsKeepAllOtherBytes(t *testing.T) {
	t.Parallel()
	n, count, step := 0, 0, shortrun.Step(t, 4, "edits")
	for name, nb := range editable(t) {
		for _, e := range edits(nb) {
			if n++; n%step != 0 {
				continue
			}
			if err := lawful(t, nb, e); err != nil {
				t.Errorf("%s: %v: %v", name, e, err)
			}
			count++
		}
	}
	t.Logf("%d edits", count)
	if count < 5000/step {
		t.Errorf("only %d edits tried", count)
	}
}

// lawful runs an edit and returns an error for a broken promise.
func lawful(t testing.TB, nb *notebook.Notebook, e edit) error {
	t.Helper()
	c, err := e.run(nb)
	if err != nil {
		return err
	}
	if err := inside(nb, e, c.Splices); err != nil {
		return err
	}
	raw := span.Apply(nb.Raw, c.Splices)
	after, err := notebook.Parse(raw)
	if err != nil {
		return fmt.Errorf("%w in %.2000s", err, raw)
	}
	m := newModel(t, nb.Raw)
	if err := follow(m, nb, e, c); err != nil {
		return err
	}
	if err := m.same(t, raw); err != nil {
		return err
	}
	return neighbours(nb, after, e)
}

// follow does to the model what was done to the file.
func follow(m model, nb *notebook.Notebook, e edit, c Edit) error {
	switch e.what {
	case "replace":
		m.replace(e.at, e.source, e.kind)
	case "insert":
		id := c.Name
		if nb.Minor < 5 {
			id = ""
		} else if _, count := nb.WithID(id); len(id) < 8 || strings.Trim(id, "0123456789abcdef-") != "" || count > 0 {
			return fmt.Errorf("new id %q", id)
		}
		m.insert(e.at, e.kind, e.source, id)
	default:
		m.delete(e.at)
	}
	return nil
}

// inside reports whether splices are in order and within the part that the edit may change.
func inside(nb *notebook.Notebook, e edit, splices []span.Splice) error {
	within := nb.List.Span()
	if e.what == "replace" {
		f := nb.Fields(e.at)
		within = f.Whole.Span()
	}
	last := within.Start
	for i, s := range splices {
		if s.Start < last || s.End < s.Start || s.End > within.End || i > 0 && s.Start == last {
			return fmt.Errorf("splice %d (%d to %d) is out of order or outside %v", i, s.Start, s.End, within)
		}
		last = s.End
	}
	return nil
}

// neighbours reports whether the other cells still have the same bytes.
func neighbours(before, after *notebook.Notebook, e edit) error {
	shift := map[string]int{"insert": 1, "delete": -1}[e.what]
	if after.Len() != before.Len()+shift {
		return fmt.Errorf("%d cells became %d", before.Len(), after.Len())
	}
	for i := range before.Len() {
		j := i
		switch {
		case e.what == "insert" && i > e.at:
			j++
		case e.what == "delete" && i > e.at:
			j--
		case e.what != "insert" && i == e.at:
			continue
		}
		cell, other := before.Fields(i).Whole, after.Fields(j).Whole
		if !bytes.Equal(cell.Raw(), other.Raw()) {
			return fmt.Errorf("cell %d changed", i)
		}
	}
	return nil
}

func TestInsertThenDeleteIsNothing(t *testing.T) {
	t.Parallel()
	for name, nb := range editable(t) {
		for after := -1; after < nb.Len(); after++ {
			for _, kind := range []string{notebook.Code, notebook.Markdown, notebook.Raw} {
				if err := restoredByDelete(nb, after, kind, "some\nsource"); err != nil {
					t.Errorf("%s after %d: %v", name, after, err)
				}
			}
		}
	}
}

// restoredByDelete inserts a cell, deletes it and compares.
func restoredByDelete(nb *notebook.Notebook, after int, kind, source string) error {
	c, err := Insert(nb, after, kind, source, zeros{})
	if err != nil {
		return err
	}
	with, err := notebook.Parse(span.Apply(nb.Raw, c.Splices))
	if err != nil {
		return err
	}
	back, err := Delete(with, c.Index)
	if err != nil {
		return err
	}
	if got := span.Apply(with.Raw, back.Splices); !bytes.Equal(got, nb.Raw) {
		return fmt.Errorf("insert then delete gave\n%.2000q\nfor\n%.2000q", got, nb.Raw)
	}
	return nil
}

func TestReplaceByTheSameIsNothing(t *testing.T) {
	for name, nb := range editable(t) {
		for _, cell := range nb.Cells() {
			c, err := Replace(nb, cell.Index, cell.SourceText(), "")
			if err != nil {
				t.Fatal(err)
			}
			if cell.Type != notebook.Code && cell.Source.Start < cell.Source.End && len(c.Splices) > 0 {
				t.Errorf("%s cell %d: %d splices for the same source", name, cell.Index, len(c.Splices))
			}
		}
	}
}

// Empty lists of cells, however they are spaced, open up and close again.
func TestEmptyListsOpenAndClose(t *testing.T) {
	spaces := []string{"", " ", "\n", "\n\n", "\n\n\n", "\n ", "\n  ", "\n   ", "\r\n", "\t", "\n \n ", "  ", " \n"}
	files := []string{
		"{\n \"cells\": [%s],\n \"nbformat\": 4\n}", "{\"nbformat\":4,\"cells\":[%s]}", "{\n\"nbformat\": 4,\n\"cells\": [%s]\n}",
		"{\r\n\t\"nbformat\": 4,\r\n\t\"cells\": [%s]\r\n}", "{ \"nbformat\": 4, \"cells\": [%s] }", "{\n\n\"cells\":[%s],\"nbformat\":4}",
		"{\n \n \"cells\":[%s],\"nbformat\":4}",
	}
	for _, file := range files {
		for _, space := range spaces {
			nb := mustParse(t, fmt.Sprintf(file, space))
			if err := restoredByDelete(nb, -1, notebook.Code, "x\ny"); err != nil {
				t.Error(err)
			}
		}
	}
}
