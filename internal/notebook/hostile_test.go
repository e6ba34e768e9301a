package notebook_test

import (
	"os"
	"runtime"
	"strings"
	"testing"

	"github.com/fsmcp/fsmcp/internal/notebook"
	"github.com/fsmcp/fsmcp/internal/notebook/render"
	"github.com/fsmcp/fsmcp/internal/notebook/rewrite"
)

// hostileSize returns the size of the files that need most memory: 2 MB, and 40 MB with
// FSMCP_NOTEBOOK_ALL=1.
func hostileSize() int {
	if os.Getenv("FSMCP_NOTEBOOK_ALL") != "" {
		return 40_000_000
	}
	return 2_000_000
}

// maxGrowth bounds the memory in sizes of the file, itself included. All allocations count,
// so the memory in use at a time is less.
const maxGrowth = 10

// hostile is a file that repeats something small until it is big. In shape, %
// stands for the repetitions.
type hostile struct{ name, shape, unit, sep string }

func hostiles() []hostile {
	cell := func(rest string) string {
		return wrap(`{"cell_type": "code", "id": "a", "metadata": {}, ` + rest + `}`)
	}
	outputs := cell(`"source": "x", "outputs": [%]`)
	data := cell(`"source": "x", "outputs": [{"output_type": "display_data", "data": {%}}]`)
	deep := strings.Repeat("[", 900) + strings.Repeat("]", 900)
	return []hostile{
		{"cells that are no objects", wrap("%"), "0", ","},
		{"cells without anything", wrap("%"), "{}", ","},
		{"smallest cells", wrap("%"), `{"cell_type":""}`, ","},
		{"small cells", wrap("%"), `{"cell_type":"code","id":"a","source":[""]}`, ","},
		{"outputs that are no objects", outputs, "0", ","},
		{"outputs without anything", outputs, "{}", ","},
		{"outputs of both kinds", outputs, "0,{}", ","},
		{"small streams", outputs, `{"output_type":"stream","text":"x"}`, ","},
		{"small errors", outputs, `{"output_type":"error","ename":"x"}`, ","},
		{"broken pictures", outputs, `{"output_type":"display_data","data":{"image/png":0}}`, ","},
		{"small pictures", outputs, `{"output_type":"display_data","data":{"image/png":"/9j/"}}`, ","},
		{"many forms", data, `"a":0`, ","},
		{"JSON", data, `"application/json":[0,0,0,0]`, ","},
		{"one JSON", cell(`"source": "x", "outputs": [{"output_type": "display_data", "data": {"application/json": [%]}}]`), "0", ","},
		{"one traceback", cell(`"source": "x", "outputs": [{"output_type": "error", "ename": "E", "traceback": [%]}]`), `"E"`, ","},
		{"one stream in pieces", cell(`"source": "x", "outputs": [{"output_type": "stream", "text": [%]}]`), `""`, ","},
		{"one stream of line ends", cell(`"source": "x", "outputs": [{"output_type": "stream", "text": "%"}]`), `\n`, ""},
		{"one stream of escapes", cell(`"source": "x", "outputs": [{"output_type": "stream", "text": "%"}]`), `\u001b[`, ""},
		{"source in pieces", cell(`"outputs": [], "source": [%]`), `""`, ","},
		{"source of line ends", cell(`"outputs": [], "source": [%]`), `"\n"`, ","},
		{"source of escapes", cell(`"outputs": [], "source": "%"`), `\ud800`, ""},
		{"source of one line", cell(`"outputs": [], "source": "%"`), `x`, ""},
		{"doubled outputs", cell(`"source": "x", %`), `"outputs":0`, ","},
		{"doubled sources", cell(`%`), `"source":""`, ","},
		{"fields nobody knows", cell(`"source": "x", %`), `"":0`, ","},
		{"small objects", cell(`"source": "x", "outputs": [], "x": [%]`), `{"a":{}}`, ","},
		{"deep lists", cell(`"source": "x", "outputs": [], "x": [%]`), deep, ","},
		{"metadata", `{"metadata": {%}, "nbformat": 4, "nbformat_minor": 5, "cells": [{"cell_type": "raw", "source": "x"}]}`, `"collapsed":0`, ","},
		{"cell metadata", wrap(`{"cell_type": "raw", "source": "x", "metadata": {%}}`), `"collapsed":0`, ","},
		{"worksheets", `{"nbformat": 3, "worksheets": [%]}`, `{"cells":[{"cell_type":""}]}`, ","},
		{"empty worksheets", `{"nbformat": 3, "worksheets": [%]}`, `{"cells":[]}`, ","},
	}
}

func (h hostile) file(size int) []byte {
	n := size / (len(h.unit) + len(h.sep))
	middle := strings.Repeat(h.unit+h.sep, n) + h.unit
	return []byte(strings.Replace(h.shape, "%", middle, 1))
}

// growth returns the bytes that f allocates, in sizes of raw, plus one.
func growth(raw []byte, f func()) float64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return 1 + float64(after.TotalAlloc-before.TotalAlloc)/float64(len(raw))
}

// asks returns the calls that the tools make, with the bounds of one answer.
func asks(nb *notebook.Notebook) map[string]func() {
	const room = 64 << 10
	all := map[string]func(){
		"render":    func() { render.Cells(nb, render.Options{MaxText: room}) },
		"cells":     func() { nb.Cells() },
		"find":      func() { _, _ = nb.Find("nowhere") },
		"insert":    func() { _, _ = rewrite.Insert(nb, -1, notebook.Code, "é\n", zeros{}) },
		"last page": func() { render.Cells(nb, render.Options{First: nb.Len() - 1, MaxText: room}) },
	}
	if nb.Len() > 0 {
		all["cell"] = func() { render.Cell(nb, 0, render.CellOptions{MaxText: room}) }
		all["last cell"] = func() { render.Cell(nb, nb.Len()-1, render.CellOptions{First: 2, Limit: 10, MaxText: room}) }
		all["replace"] = func() { _, _ = rewrite.Replace(nb, 0, "x\né", "") }
		all["to text"] = func() { _, _ = rewrite.Replace(nb, 0, "x\né", notebook.Markdown) }
		all["to code"] = func() { _, _ = rewrite.Replace(nb, 0, "x\né", notebook.Code) }
		all["delete"] = func() { _, _ = rewrite.Delete(nb, 0) }
	}
	return all
}

func TestMemoryFollowsTheFile(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes seconds; make test runs it")
	}
	if raced {
		t.Skip("the race detector allocates in its own way: make test runs this once more without it")
	}
	for _, h := range hostiles() {
		raw := h.file(hostileSize())
		var nb *notebook.Notebook
		worst, what := growth(raw, func() { nb, _ = notebook.Parse(raw) }), "parse"
		if nb != nil {
			for name, ask := range asks(nb) {
				if g := growth(raw, ask); g > worst {
					worst, what = g, name
				}
			}
		}
		t.Logf("%5.2f times its %d bytes: %s (%s)", worst, len(raw), h.name, what)
		if worst > maxGrowth {
			t.Errorf("%s: %s takes %.1f times the file's size", h.name, what, worst)
		}
	}
}

// Nesting costs no stack: what is too deep is refused at its first bracket too
// many, however deep it would go.
func TestDepthBombs(t *testing.T) {
	const n = 5_000_000
	bombs := map[string]string{
		"lists":              strings.Repeat("[", n),
		"objects":            strings.Repeat(`{"a":`, n/5),
		"mixed":              strings.Repeat(`[{"a":`, n/6),
		"closed":             strings.Repeat("[", n/2) + strings.Repeat("]", n/2),
		"in an output":       wrap(`{"cell_type": "code", "source": "", "outputs": [` + strings.Repeat("[", n) + `]}`),
		"in a source":        wrap(`{"cell_type": "code", "source": ` + strings.Repeat("[", n) + `}`),
		"in nbformat 3":      `{"nbformat": 3, "worksheets": ` + strings.Repeat("[", n),
		"behind the cells":   `{"nbformat": 4, "cells": [], "x": ` + strings.Repeat("[", n),
		"behind spaces":      strings.Repeat(" ", n) + strings.Repeat("[", n),
		"with spaces within": strings.Repeat("[ \n", n/3),
	}
	for name, raw := range bombs {
		if fault, offset := parseFault(t, raw); fault != notebook.TooDeep || raw[offset] != '[' && raw[offset] != '{' {
			t.Errorf("%s: fault %d at %d", name, fault, offset)
		}
	}
}
