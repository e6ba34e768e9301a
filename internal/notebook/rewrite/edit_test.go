package rewrite

import (
	"bytes"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/fsmcp/fsmcp/internal/notebook"
	"github.com/fsmcp/fsmcp/internal/span"
)

// after is the file after an edit.
func after(t testing.TB, nb *notebook.Notebook, c Edit, err error) string {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	return string(span.Apply(nb.Raw, c.Splices))
}

func TestReplaceTouchesOnlyLinesThatDiffer(t *testing.T) {
	list := func(lines string) string { return wrap(`{"cell_type": "raw", "source": [` + lines + `]}`) }
	tests := []struct{ old, source, want string }{
		{`"a\n", "b\n", "c"`, "a\nB\nc", `"a\n", "B\n", "c"`},
		{`"a\n", "b\n", "c"`, "a\nc", `"a\n", "c"`},
		{`"a\n", "b\n", "c"`, "b\nc", `"b\n", "c"`},
		{`"a\n", "b\n", "c"`, "a\nb\n", `"a\n", "b\n"`},
		{`"a\n", "b\n", "c"`, "a\nb\nc\nd", `"a\n", "b\n", "c\n", "d"`},
		{`"a\n", "b\n", "c"`, "z\na\nb\nc", `"z\n", "a\n", "b\n", "c"`},
		{`"a\n", "b\n", "c"`, "a\nb\nx\nc", `"a\n", "b\n", "x\n", "c"`},
		{`"a\n", "b\n", "c"`, "", ``},
		{`"a\n" ,"b\n" ,"c"`, "a\nx\ny\nc", `"a\n" ,"x\n" ,"y\n" ,"c"`},
		{`"\u0061\n", "b"`, "a\nB", `"\u0061\n", "B"`},
		{`"a", "b\n", "c"`, "ab\nC", `"ab\n", "C"`},
		{`"a\nb\n", "c"`, "a\nb\nC", `"a\nb\n", "C"`},
		{`"a\nb"`, "a\nc", `"a\n", "c"`},
		{`"", "a\n", ""`, "b\n", `"b\n"`},
		{`"bad \ud800\n", "b"`, "bad \ufffd\nc", `"bad \ud800\n", "c"`},
		{``, "a\nb", `"a\n", "b"`},
		{`"x"`, "x\ny", `"x\n", "y"`},
	}
	for _, test := range tests {
		nb := mustParse(t, list(test.old))
		c, err := Replace(nb, 0, test.source, "")
		if got := after(t, nb, c, err); got != list(test.want) {
			t.Errorf("[%s] to %q:\n%s\nwant\n%s", test.old, test.source, got, list(test.want))
		}
	}
}

func TestStyleIsCopied(t *testing.T) {
	tests := []struct {
		name, old, want string
		edit            func(nb *notebook.Notebook) (Edit, error)
	}{
		{
			"first cell in Jupyter's own indent", "{\n \"cells\": [],\n \"nbformat\": 4,\n \"nbformat_minor\": 5\n}\n",
			"{\n \"cells\": [\n  {\n   \"cell_type\": \"code\",\n   \"execution_count\": null,\n   \"id\": \"00000000\",\n   \"metadata\": {},\n   \"outputs\": [],\n   \"source\": [\n    \"a\\n\",\n    \"b\"\n   ]\n  }\n ],\n \"nbformat\": 4,\n \"nbformat_minor\": 5\n}\n",
			func(nb *notebook.Notebook) (Edit, error) { return Insert(nb, -1, notebook.Code, "a\nb", zeros{}) },
		},
		{
			"first cell without a line break", `{"cells":[],"nbformat":4,"nbformat_minor":4}`,
			`{"cells":[{"cell_type":"raw","metadata":{},"source":["a\n","b"]}],"nbformat":4,"nbformat_minor":4}`,
			func(nb *notebook.Notebook) (Edit, error) { return Insert(nb, -1, notebook.Raw, "a\nb", zeros{}) },
		},
		{
			"first cell on one line", `{"cells": [], "nbformat": 4, "nbformat_minor": 4}`,
			`{"cells": [{"cell_type": "raw", "metadata": {}, "source": ["a\n", "b"]}], "nbformat": 4, "nbformat_minor": 4}`,
			func(nb *notebook.Notebook) (Edit, error) { return Insert(nb, -1, notebook.Raw, "a\nb", zeros{}) },
		},
		{
			"keys, spaces and string as the neighbour has them", `{"nbformat": 4, "cells": [{ "source" :"x" , "metadata" :{ } , "cell_type" :"code" }]}`,
			`{"nbformat": 4, "cells": [{ "source" :"x" , "metadata" :{ } , "cell_type" :"code" }, { "source" :"y" , "metadata" :{} , "cell_type" :"raw" }]}`,
			func(nb *notebook.Notebook) (Edit, error) { return Insert(nb, 0, notebook.Raw, "y", zeros{}) },
		},
		{
			"fields of a code cell between those of a text cell", `{"nbformat": 4, "cells": [{"cell_type": "markdown", "id": "m", "metadata": {}, "source": []}]}`,
			`{"nbformat": 4, "cells": [{"cell_type": "code", "execution_count": null, "id": "m", "metadata": {}, "outputs": [], "source": []}]}`,
			func(nb *notebook.Notebook) (Edit, error) { return Replace(nb, 0, "", notebook.Code) },
		},
		{
			"fields of a code cell as the next one has them", `{"nbformat": 4, "cells": [{"cell_type": "markdown", "source": [], "metadata": {}}, {"cell_type": "code", "source": [], "metadata": {}, "outputs": [], "execution_count": 1}]}`,
			`{"nbformat": 4, "cells": [{"cell_type": "code", "source": [], "metadata": {}, "outputs": [], "execution_count": null}, {"cell_type": "code", "source": [], "metadata": {}, "outputs": [], "execution_count": 1}]}`,
			func(nb *notebook.Notebook) (Edit, error) { return Replace(nb, 0, "", notebook.Code) },
		},
		{
			"fields of a code cell go", `{"nbformat": 4, "cells": [{"outputs": [1], "execution_count": 2, "cell_type": "code", "outputs": [], "source": "s", "metadata": {}, "execution_count": 3}]}`,
			`{"nbformat": 4, "cells": [{"cell_type": "markdown", "source": "s", "metadata": {}}]}`,
			func(nb *notebook.Notebook) (Edit, error) { return Replace(nb, 0, "s", notebook.Markdown) },
		},
		{
			"escapes as the cell had them", `{"nbformat": 4, "cells": [{"cell_type": "raw", "source": "\u00C9"}, {"cell_type": "raw", "source": "é"}]}`,
			`{"nbformat": 4, "cells": [{"cell_type": "raw", "source": "\u00E9\uD83D\uDE00\n\u001B"}, {"cell_type": "raw", "source": "é"}]}`,
			func(nb *notebook.Notebook) (Edit, error) { return Replace(nb, 0, "é😀\n\x1b", "") },
		},
		{
			"escapes as the file has them", `{"nbformat": 4, "metadata": {"a": "\u00e9 \\u00C9"}, "cells": [{"cell_type": "raw", "source": ""}]}`,
			`{"nbformat": 4, "metadata": {"a": "\u00e9 \\u00C9"}, "cells": [{"cell_type": "raw", "source": "\u00fc"}]}`,
			func(nb *notebook.Notebook) (Edit, error) { return Replace(nb, 0, "ü", "") },
		},
		{
			"no escapes where the file has none", `{"nbformat": 4, "metadata": {"a": "\\u00e9"}, "cells": [{"cell_type": "raw", "source": ""}]}`,
			`{"nbformat": 4, "metadata": {"a": "\\u00e9"}, "cells": [{"cell_type": "raw", "source": "ü` + "\u2028" + `\u0000\t"}]}`,
			func(nb *notebook.Notebook) (Edit, error) { return Replace(nb, 0, "ü\u2028\x00\t", "") },
		},
	}
	for _, test := range tests {
		nb := mustParse(t, test.old)
		c, err := test.edit(nb)
		if got := after(t, nb, c, err); got != test.want {
			t.Errorf("%s:\n%s\nwant\n%s", test.name, got, test.want)
		}
	}
}

func TestListsOrStringsAsMostCellsHaveThem(t *testing.T) {
	tests := []struct {
		sources []string
		list    bool
	}{
		{nil, true}, {[]string{`"s"`}, false}, {[]string{`[]`}, true}, {[]string{`[]`, `"s"`}, true}, {[]string{`[]`, `"s"`, `""`}, false},
	}
	for _, test := range tests {
		var cells []string
		for _, source := range test.sources {
			cells = append(cells, `{"cell_type": "raw", "source": `+source+`}`)
		}
		nb := mustParse(t, wrap(strings.Join(cells, ", ")))
		c, err := Insert(nb, -1, notebook.Markdown, "new", zeros{})
		if got := after(t, nb, c, err); strings.Contains(got, `["new"]`) != test.list {
			t.Errorf("%v: %s", test.sources, got)
		}
	}
}

func TestChangeReportsRemovedFields(t *testing.T) {
	ran := `{"cell_type": "code", "source": "s", "execution_count": 1, "outputs": [{}], "metadata": {"format": 1}}`
	fresh := `{"cell_type": "code", "source": "s", "execution_count": null, "outputs": [ ], "metadata": {}}`
	text := `{"cell_type": "markdown", "id": "m", "source": "s", "attachments": {}, "metadata": {"collapsed": 1, "x": 2, "scrolled": "auto", "execution": {"a": 1}}}`
	counted := `{"cell_type": "code", "source": "s", "execution_count": 1, "outputs": [], "metadata": {}}`
	both := []string{"outputs", "execution_count"}
	tests := []struct {
		cell, source, kind string
		want               Edit // without splices
	}{
		{counted, "t", "", Edit{Name: "cell-0", Type: notebook.Code, Cleared: both[1:]}},
		{counted, "t", notebook.Raw, Edit{Name: "cell-0", Type: notebook.Raw, Cleared: both[1:]}},
		{ran, "s", "", Edit{Name: "cell-0", Type: notebook.Code, Cleared: both}},
		{ran, "s", notebook.Code, Edit{Name: "cell-0", Type: notebook.Code, Cleared: both}},
		{ran, "t", notebook.Raw, Edit{Name: "cell-0", Type: notebook.Raw, Cleared: both, Dropped: []string{"metadata.format"}}},
		{fresh, "t", "", Edit{Name: "cell-0", Type: notebook.Code}},
		{fresh, "t", notebook.Markdown, Edit{Name: "cell-0", Type: notebook.Markdown}},
		{text, "s", notebook.Code, Edit{Name: "m", Type: notebook.Code, Dropped: []string{"attachments", "metadata.collapsed", "metadata.execution"}}},
		{text, "s", notebook.Raw, Edit{Name: "m", Type: notebook.Raw}},
	}
	for _, test := range tests {
		nb := mustParse(t, wrap(test.cell))
		c, err := Replace(nb, 0, test.source, test.kind)
		if err != nil || len(c.Splices) == 0 {
			t.Fatalf("%v, %d splices", err, len(c.Splices))
		}
		if c.Splices = nil; !reflect.DeepEqual(c, test.want) {
			t.Errorf("%s to %q %q:\n%+v\nwant\n%+v", test.cell, test.source, test.kind, c, test.want)
		}
	}
	if c, err := Replace(mustParse(t, wrap(fresh)), 0, "s", notebook.Code); err != nil || len(c.Splices) > 0 {
		t.Errorf("nothing to do gave %+v, %v", c, err)
	}
}

func TestRefusedEdits(t *testing.T) {
	nb := fixture(t, "jupyterlab_4")
	old := fixture(t, "nbformat_3")
	var version *notebook.VersionError
	var miss *notebook.CellError
	for _, err := range []error{
		second(Replace(old, 0, "", "")), second(Insert(old, -1, notebook.Code, "", zeros{})), second(Delete(old, 0)), old.Editable(),
	} {
		if !errors.As(err, &version) || version.Major != 3 {
			t.Errorf("nbformat 3: %v", err)
		}
	}
	for _, err := range []error{
		second(Replace(nb, -1, "", "")), second(Replace(nb, 4, "", "")), second(Insert(nb, -2, notebook.Code, "", zeros{})),
		second(Insert(nb, 4, notebook.Code, "", zeros{})), second(Delete(nb, -1)), second(Delete(nb, 4)),
	} {
		if !errors.As(err, &miss) || miss.Miss != notebook.NoSuchIndex {
			t.Errorf("no such cell: %v", err)
		}
	}
	for _, kind := range []string{"heading", "Code", "sql"} {
		if err := second(Replace(nb, 0, "", kind)); !errors.Is(err, notebook.ErrType) {
			t.Errorf("%q: %v", kind, err)
		}
	}
	if err := second(Insert(nb, 0, "", "", zeros{})); !errors.Is(err, notebook.ErrType) {
		t.Error(err)
	}
	if err := second(Replace(nb, 0, "\xff", "")); !errors.Is(err, notebook.ErrSource) {
		t.Error(err)
	}
	if err := second(Insert(nb, 0, notebook.Code, "", strings.NewReader("abc"))); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Error(err)
	}
}

func second(_ Edit, err error) error { return err }

// Ids are new even if the randomness is none, and only where the format has them.
func TestFreshIDs(t *testing.T) {
	nb := fixture(t, "empty_cells")
	for range 5 {
		c, err := Insert(nb, -1, notebook.Markdown, "x", zeros{})
		nb = mustParse(t, after(t, nb, c, err))
	}
	seen := map[string]bool{}
	for _, cell := range nb.Cells() {
		id := string(nb.Fields(cell.Index).ID.Bytes())
		if seen[id] || len(id) < 8 {
			t.Errorf("id %q", id)
		}
		seen[id] = true
	}
	c, err := Insert(fixture(t, "empty_cells_minified"), -1, notebook.Raw, "", strings.NewReader(""))
	if err != nil || c.Name != "cell-0" || bytes.Contains(c.Splices[0].New, []byte(`"id"`)) {
		t.Errorf("4.4: %+v, %v", c, err)
	}
}

// git sees the lines that changed and no others.
func TestGitSeesOnlyTheCell(t *testing.T) {
	git, err := exec.LookPath("git")
	if err != nil {
		t.Skip("!!! NOT TESTED: git is missing !!!")
	}
	nb := fixture(t, "nbformat_45_long")
	tests := []struct {
		name, want string
		edit       func() (Edit, error)
	}{
		{"a line of text", "1\t1", func() (Edit, error) { return Replace(nb, 2, "## Part 1\n\nOther.", "") }},
		{"two lines more", "3\t1", func() (Edit, error) { return Replace(nb, 2, "## Part 1\n\nText.\n\nMore.", "") }},
		{"code", "3\t14", func() (Edit, error) { return Replace(nb, 1, "x = 0\ny", "") }},
		{"insert", "8\t0", func() (Edit, error) { return Insert(nb, 4, notebook.Raw, "one line", zeros{}) }},
		{"delete", "0\t10", func() (Edit, error) { return Delete(nb, 2) }},
	}
	for _, test := range tests {
		dir := t.TempDir()
		c, err := test.edit()
		write(t, filepath.Join(dir, "old"), string(nb.Raw))
		write(t, filepath.Join(dir, "new"), after(t, nb, c, err))
		cmd := exec.Command(git, "diff", "--no-index", "--numstat", "old", "new")
		cmd.Dir = dir
		out, _ := cmd.Output() // exit status 1 says that they differ
		if !strings.HasPrefix(string(out), test.want+"\t") {
			t.Errorf("%s: %swant %s", test.name, out, test.want)
		}
	}
}

func write(t testing.TB, path, content string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}
