package tools

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/fsmcp/fsmcp/internal/notebook"
	"github.com/fsmcp/fsmcp/internal/notebook/render"
	"github.com/fsmcp/fsmcp/internal/refusal"
	"github.com/fsmcp/fsmcp/internal/shortrun"
	"github.com/fsmcp/fsmcp/internal/toolcall"
)

// cellsOf writes a notebook of n cells, c0 and on, as nbformat would.
func cellsOf(n int) string {
	var s strings.Builder
	s.WriteString("{\n \"cells\": [")
	for i := range n {
		if i > 0 {
			s.WriteByte(',')
		}
		fmt.Fprintf(&s, "\n  {\n   \"cell_type\": \"code\",\n   \"execution_count\": %d,\n   \"id\": \"c%d\",\n   \"metadata\": {},\n   \"outputs\": [],\n   \"source\": [\n    \"value = 0\"\n   ]\n  }", i+1, i)
	}
	s.WriteString("\n ],\n \"metadata\": {},\n \"nbformat\": 4,\n \"nbformat_minor\": 5\n}\n")
	return s.String()
}

func src(text string) *string { return &text }

// sources are the cells of a notebook on disk, by their ids.
func (b *bench) sources(name string) map[string]string {
	b.t.Helper()
	raw, err := os.ReadFile(b.path(name))
	if err != nil {
		b.t.Fatal(err)
	}
	nb, err := notebook.Parse(raw)
	if err != nil {
		b.t.Fatalf("%v in\n%s", err, raw)
	}
	out := map[string]string{}
	for _, c := range nb.Cells() {
		if _, twice := out[c.Name]; twice {
			b.t.Fatalf("two cells are called %s", c.Name)
		}
		out[c.Name] = c.SourceText()
	}
	return out
}

// until repeats a call, as a caller does, while the notebook changes under it.
func (b *bench) until(edit *NotebookEditArgs) {
	for try := 0; ; try++ {
		r := b.run(edit)
		if !r.IsError {
			return
		}
		if slug := r.Facts.Error; try > 200 || slug != refusal.SlugModified && slug != refusal.SlugBusy {
			b.t.Errorf("cell %s: %s", edit.CellID, r.Blocks[0].Text)
			return
		}
	}
}

func TestNotebookEditsAtOnceLoseNothing(t *testing.T) {
	b := newBench(t)
	const cells, rounds = 8, 5
	p := b.put("a.ipynb", cellsOf(cells))
	var all sync.WaitGroup
	for i := range cells {
		other := *b
		if i%2 == 1 { // every second one is a conversation of its own
			other.call.Session = b.service.NewSession("")
		}
		all.Go(func() {
			other.run(&ReadArgs{FilePath: p})
			for n := 1; n <= rounds; n++ {
				edit := &NotebookEditArgs{NotebookPath: p, CellID: fmt.Sprint("c", i), NewSource: src(fmt.Sprintf("value = %d", n))}
				other.until(edit)
			}
			other.until(&NotebookEditArgs{NotebookPath: p, EditMode: modeInsert, CellType: notebook.Raw, NewSource: src("new")})
		})
	}
	all.Wait()
	got := b.sources("a.ipynb")
	if len(got) != 2*cells {
		t.Fatalf("%d cells", len(got))
	}
	for i := range cells {
		if s := got[fmt.Sprint("c", i)]; s != fmt.Sprintf("value = %d", rounds) {
			t.Errorf("cell %d holds %q", i, s)
		}
	}
}

func TestAFormatterBetweenNotebookEdits(t *testing.T) {
	b := newBench(t)
	p := b.put("a.ipynb", cellsOf(3))
	b.ok(&ReadArgs{FilePath: p})
	b.ok(&NotebookEditArgs{NotebookPath: p, CellID: "c0", NewSource: src("x=1")})
	format := func() {
		raw, _ := os.ReadFile(p)
		b.put("a.ipynb", strings.ReplaceAll(string(raw), "x=", "x = "))
	}
	format()
	next := &NotebookEditArgs{NotebookPath: p, CellID: "c1", NewSource: src("x=2")}
	holds(t, b.fails(10, refusal.SlugModified, next), `+10	    "x = 1"`, `-10	    "x=1"`)
	b.ok(next)
	format()
	// The cell that the formatter changed itself: what was told counts as shown.
	again := &NotebookEditArgs{NotebookPath: p, CellID: "c1", NewSource: src("x = 3")}
	b.fails(10, refusal.SlugModified, again)
	b.ok(again)
	got := b.sources("a.ipynb")
	if got["c0"] != "x = 1" || got["c1"] != "x = 3" || got["c2"] != "value = 0" {
		t.Fatalf("%q", got)
	}
}

// A refusal that shows an outside change says that the same call may be made again only where
// the call lacks nothing else.
func TestAChangedNotebookInvitesNoCallThatLacksMore(t *testing.T) {
	const again = "the same call may be made again at once"
	change := func(b *bench) string { return b.put("a.ipynb", strings.Replace(cellsOf(3), "value = 0", "x = 1", 1)) }
	read := func(b *bench, cell string) string {
		p := b.put("a.ipynb", cellsOf(3))
		b.ok(&ReadArgs{FilePath: p, CellID: cell})
		return p
	}
	for name, c := range map[string]struct {
		cell   string
		edit   NotebookEditArgs
		invite bool
		want   string
	}{
		"a shown cell":             {"c1", NotebookEditArgs{CellID: "c1", NewSource: src("y")}, true, ""},
		"the cell that changed":    {"c0", NotebookEditArgs{CellID: "c0", NewSource: src("y")}, true, ""},
		"a new cell":               {"c1", NotebookEditArgs{CellID: "c2", EditMode: modeInsert, CellType: notebook.Raw, NewSource: src("y")}, true, ""},
		"a cell never shown":       {"c1", NotebookEditArgs{CellID: "c2", NewSource: src("y")}, false, `Read cell_id="c2"`},
		"a cell never shown, out":  {"c1", NotebookEditArgs{CellID: "c2", EditMode: modeDelete}, false, `Read cell_id="c2"`},
		"a cell that is not there": {"c1", NotebookEditArgs{CellID: "c7", NewSource: src("y")}, false, "no such cell"},
	} {
		b := newBench(t)
		p := read(b, c.cell)
		change(b)
		c.edit.NotebookPath = p
		text := b.fails(10, refusal.SlugModified, &c.edit)
		if strings.Contains(text, again) != c.invite || !strings.Contains(text, c.want) || !strings.Contains(text, "x = 1") {
			t.Errorf("%s: %s", name, text)
		}
		if c.invite {
			b.ok(&c.edit)
		}
	}
	b := newBench(t)
	p := read(b, "c1")
	change(b)
	text := b.fails(3, refusal.SlugModified, &WriteArgs{FilePath: p, Content: cellsOf(1)})
	if strings.Contains(text, again) || !strings.Contains(text, `Read cell_id="c0"`) {
		t.Errorf("Write: %s", text)
	}
	b.ok(&ReadArgs{FilePath: p})
	b.ok(&WriteArgs{FilePath: p, Content: cellsOf(1)})
}

func TestAReindentedNotebookMustBeReadAgain(t *testing.T) {
	b := newBench(t)
	p := b.put("a.ipynb", cellsOf(20))
	b.ok(&ReadArgs{FilePath: p})
	raw, _ := os.ReadFile(p)
	var wide bytes.Buffer
	if err := json.Indent(&wide, raw, "", "    "); err != nil {
		t.Fatal(err)
	}
	b.put("a.ipynb", wide.String())
	edit := &NotebookEditArgs{NotebookPath: p, CellID: "c7", NewSource: src("x")}
	for range 2 {
		if text := b.fails(10, refusal.SlugModified, edit); len(text) > 1000 {
			t.Fatalf("a refusal of %d bytes", len(text))
		}
	}
	b.ok(&ReadArgs{FilePath: p})
	b.ok(edit)
	if got := b.sources("a.ipynb")["c7"]; got != "x" {
		t.Fatalf("%q", got)
	}
}

func TestACellOfAnAnswerThatIsNeverSentIsNotShown(t *testing.T) {
	b := newBench(t)
	p := b.put("a.ipynb", cellsOf(2))
	edit := &NotebookEditArgs{NotebookPath: p, CellID: "c1", NewSource: src("x")}
	b.unsent(&ReadArgs{FilePath: p})
	b.unsent(edit)
	b.fails(9, refusal.SlugNotRead, edit)
	other := &NotebookEditArgs{NotebookPath: p, CellID: "c0", NewSource: src("x")}
	b.unsent(other)
	b.fails(9, refusal.SlugPartlyRead, other)
	b.ok(other)
	b.ok(edit)
}

// An error that the client cuts off before its model sees it shows nothing: it
// names the call that does.
func TestACellThatTheClientCutsOffIsNotShown(t *testing.T) {
	b := newBench(t)
	long := strings.Repeat("a line of the cell\\n", 400)
	p := b.put("a.ipynb", strings.Replace(cellsOf(2), "value = 0", long, 1))
	one, second := 1, 2
	b.ok(&ReadArgs{FilePath: p, Limit: &one, Offset: &second})
	for name, limits := range map[string]toolcall.ClientLimits{"characters": {Chars: 4000}, "tokens": {Tokens: 1000}, "lines": {Lines: 300}, "errors": {Errors: 4000}} {
		b.call.Client = limits
		edit := &NotebookEditArgs{NotebookPath: p, CellID: "c0", NewSource: src("x")}
		for range 2 {
			if text := b.fails(9, refusal.SlugPartlyRead, edit); len(text) > 1000 || !strings.Contains(text, `cell_id "c0"`) {
				t.Fatalf("%s: %s", name, text)
			}
		}
	}
}

// A notebook stops at a whole cell, and a cell at a whole line, below the number of lines
// that a client passes on.
func TestANotebookWithinTheClientsLines(t *testing.T) {
	b := newBench(t)
	long := strings.Repeat("a line of the cell\\n", 400)
	p := b.put("a.ipynb", strings.Replace(cellsOf(3), "value = 0", long, 2))
	read := func(args *ReadArgs) (text string) {
		for _, block := range b.run(args).Blocks {
			text += block.Text + "\n"
		}
		return text
	}
	b.call.Client = toolcall.ClientLimits{Lines: 800}
	text := read(&ReadArgs{FilePath: p})
	if n := strings.Count(text, "\n"); n > 550 || n < 400 || !strings.Contains(text, "offset=2") {
		t.Errorf("%d lines of the notebook: %s", n, text[len(text)-300:])
	}
	b.call.Client = toolcall.ClientLimits{Lines: 400}
	text = read(&ReadArgs{FilePath: p, CellID: "c0"})
	if n := strings.Count(text, "\n"); n > 220 || n < 150 || !strings.Contains(text, `cell_id="c0"`) {
		t.Errorf("%d lines of the cell: %s", n, text[max(0, len(text)-300):])
	}
	b.call.Client = toolcall.ClientLimits{}
	other := b.put("b.ipynb", strings.Replace(cellsOf(3), "value = 0", long, 2))
	if n := strings.Count(read(&ReadArgs{FilePath: other}), "\n"); n < 800 {
		t.Errorf("%d lines without a bound", n)
	}
}

// The same holds for an outside change.
func TestAChangeCutOffByTheClientCountsAsUnreported(t *testing.T) {
	for name, limits := range map[string]toolcall.ClientLimits{"characters": {Chars: 4000}, "tokens": {Tokens: 1000}} {
		b := newBench(t)
		p := b.put("a.ipynb", cellsOf(2))
		b.ok(&ReadArgs{FilePath: p})
		raw, _ := os.ReadFile(p)
		b.put("a.ipynb", strings.Replace(string(raw), "value = 0", strings.Repeat("a new text ", 800), 1))
		b.call.Client = limits
		edit := &NotebookEditArgs{NotebookPath: p, CellID: "c0", NewSource: src("x")}
		for range 2 {
			if text := b.fails(10, refusal.SlugModified, edit); len(text) > 1000 {
				t.Fatalf("%s: %.300s", name, text)
			}
		}
	}
}

// Whatever part of a cell's lines was read, only all of them together show it.
func TestPartsOfACellShowItTogether(t *testing.T) {
	b := newBench(t)
	lines := make([]string, 40)
	for i := range lines {
		lines[i] = fmt.Sprintf("%q", strings.Repeat(fmt.Sprintf("é\t%d ", i), 200)+"\n")
	}
	for name, list := range map[string]string{"list.ipynb": "[" + strings.Join(lines, ", ") + "]", "string.ipynb": strings.ReplaceAll(strings.Join(lines, ""), `""`, "")} {
		p := b.put(name, `{"cells": [{"cell_type": "raw", "id": "long", "metadata": {}, "source": `+list+`}], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}`)
		edit := &NotebookEditArgs{NotebookPath: p, CellID: "long", NewSource: src("x")}
		for _, first := range []int{31, 1, 21, 11} {
			limit := 10
			b.ok(&ReadArgs{FilePath: p, CellID: "long", Offset: &first, Limit: &limit})
			if first != 11 {
				b.fails(9, refusal.SlugPartlyRead, edit)
			}
		}
		b.ok(edit)
	}
}

// Outputs and attachments apart, nothing that an edit replaces was unseen: an
// answer that shows a cell only in part does not show it.
func TestTheCutAnswerOfAnEditLeavesTheCellShown(t *testing.T) {
	b := newBench(t)
	p := b.put("a.ipynb", cellsOf(1))
	b.ok(&ReadArgs{FilePath: p})
	long := strings.Repeat("a long line of code\n", 2000)
	b.ok(&NotebookEditArgs{NotebookPath: p, CellID: "c0", NewSource: &long})
	// The caller wrote all of it, so it knows it.
	b.ok(&NotebookEditArgs{NotebookPath: p, CellID: "c0", NewSource: src("x")})
}

func TestEveryNotebookCanBeReadCellByCell(t *testing.T) {
	entries, err := os.ReadDir("../../testdata/notebooks")
	if err != nil {
		t.Fatal(err)
	}
	count := 0
	for _, e := range entries {
		if !strings.HasSuffix(e.Name(), ".ipynb") {
			continue
		}
		raw, err := os.ReadFile("../../testdata/notebooks/" + e.Name())
		if err != nil {
			t.Fatal(err)
		}
		nb, err := notebook.Parse(raw)
		if err != nil {
			t.Fatalf("%s: %v", e.Name(), err)
		}
		b := newBench(t)
		p := b.put(e.Name(), string(raw))
		for i := range nb.Len() {
			args := &ReadArgs{FilePath: p, CellID: fmt.Sprint("cell-", i)}
			if at, err := nb.Find(args.CellID); err != nil || at != i {
				// Another cell bears that as its id: its place shows it.
				first, one := i+1, 1
				args = &ReadArgs{FilePath: p, Offset: &first, Limit: &one}
			}
			b.ok(args)
			count++
		}
		if nb.Len() > 0 {
			b.ok(&WriteArgs{FilePath: p, Content: "{}"}) // all cells were shown
		}
	}
	if count < 100 {
		t.Fatalf("%d cells", count)
	}
}

// The answer shows the cell as Read would, whatever notebook it is in.
func TestTheAnswerShowsTheCellAsReadWould(t *testing.T) {
	names, err := filepath.Glob("../../testdata/notebooks/*.ipynb")
	if err != nil {
		t.Fatal(err)
	}
	count, step := 0, shortrun.Step(t, 4, "cells of each notebook")
	for _, name := range names {
		raw, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		nb, err := notebook.Parse(raw)
		if err != nil || nb.Editable() != nil {
			continue
		}
		b := newBench(t)
		p := b.put("a.ipynb", string(raw))
		b.run(&ReadArgs{FilePath: p})
		for i := 0; i < nb.Len(); i += step {
			for _, edit := range []*NotebookEditArgs{
				{EditMode: modeReplace, NewSource: src("é <b>\n\tlast \"line\"")},
				{EditMode: modeReplace, NewSource: src(""), CellType: notebook.Markdown},
				{EditMode: modeReplace, NewSource: src("code()\n"), CellType: notebook.Code},
				{EditMode: modeInsert, NewSource: src("new"), CellType: notebook.Code},
				{EditMode: modeDelete},
			} {
				edit.NotebookPath, edit.CellID = p, fmt.Sprint("cell-", i)
				now, err := os.ReadFile(p)
				if err != nil {
					t.Fatal(err)
				}
				before, err := notebook.Parse(now)
				if err != nil {
					t.Fatal(err)
				}
				if at, err := before.Find(edit.CellID); err != nil || at != i {
					continue
				}
				r := b.run(edit)
				if r.IsError {
					t.Fatalf("%s, cell %d: %s", name, i, r.Blocks[0].Text)
				}
				count++
				if edit.EditMode == modeDelete || strings.Contains(r.Blocks[0].Text, "nothing was written") {
					continue
				}
				if now, err = os.ReadFile(p); err != nil {
					t.Fatal(err)
				}
				after, err := notebook.Parse(now)
				if err != nil {
					t.Fatalf("%s, cell %d, %s: %v", name, i, edit.EditMode, err)
				}
				at := i
				if edit.EditMode == modeInsert {
					at++
				}
				if want := render.Cells(after, render.Options{First: at, Limit: 1}).Parts[0].Text; !strings.HasSuffix(r.Blocks[0].Text, "\n"+want) {
					t.Fatalf("%s, cell %d, %s: answered\n%s\nand Read shows\n%s", name, i, edit.EditMode, r.Blocks[0].Text, want)
				}
			}
		}
	}
	if count < 500/step {
		t.Fatalf("%d edits", count)
	}
}
