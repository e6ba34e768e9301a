// Package notebooktest has the notebooks that the tests of package notebook and of the
// packages below it share.
package notebooktest

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/fsmcp/fsmcp/internal/notebook"
)

// Files returns the notebooks in testdata by name.
func Files(t testing.TB) map[string][]byte {
	t.Helper()
	dir := "testdata/notebooks"
	for _, err := os.Stat(dir); err != nil && len(dir) < 100; _, err = os.Stat(dir) {
		dir = "../" + dir
	}
	paths, err := filepath.Glob(filepath.Join(dir, "*.ipynb"))
	if err != nil || len(paths) < 25 {
		t.Fatalf("%d notebooks in testdata, at least 25 wanted (%v)", len(paths), err)
	}
	all := map[string][]byte{}
	for _, path := range paths {
		raw, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		all[strings.TrimSuffix(filepath.Base(path), ".ipynb")] = raw
	}
	return all
}

// Parse parses a file that is a notebook.
func Parse(t testing.TB, raw string) *notebook.Notebook {
	t.Helper()
	nb, err := notebook.Parse([]byte(raw))
	if err != nil {
		t.Fatalf("%v in %.300s", err, raw)
	}
	return nb
}

// Wrap returns a small notebook with these cells.
func Wrap(cells string) string {
	return `{"cells": [` + cells + `], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}`
}

// oddFiles are seeds beside the fixtures: small, and each with something that
// no maker of notebooks writes.
var oddFiles = []string{
	"", "{", "[]", `{"nbformat":4,"cells":[]}`, `{"nbformat":3,"worksheets":[{"cells":[{"cell_type":"code","input":["a"]}]}]}`,
	`{"nbformat":4,"cells":[{"cell_type":"code","source":"a","source":["b\n","c"],"outputs":[1,{}],"outputs":[{}],"execution_count":7}]}`,
	`{"nbformat":4,"cells":[{"cell_type":"raw","source":["\ud800\n","\u00E9"],"id":"cell-1"},{"cell_type":"raw"}],"nbformat_minor":5}`,
	`{"nbformat":4,"cells":[{"cell_type":"markdown","attachments":{},"metadata":{"collapsed":1,"execution":{"a":1},"scrolled":"x","format":2},"source":[]}]}`,
	`{"nbformat":4,"cells":[{"cell_type":"code","outputs":7,"execution_count":"x","metadata":null}]}`,
	`{"nbformat":4,"cells":[NaN]}`, "{\"nbformat\":4,\"cells\":[\n \n ]}", "\ufeff { \"nbformat\" : 4.0e0 ,\r\n\"cells\" : [ ] }",
	`{"nbformat":4,"cells":[{"c\u0065ll_type":"raw","\u0073ource":["","a","b\nc"]}]}`,
	`{"nbformat":4,"cells":[{"cell_type":"sql","expressions":[1],"source":"x"}],"nbformat_minor":9,"metadata":{"language_info":{"name":"<"}}}`,
}

// Seeds returns the notebooks in testdata and odd ones.
func Seeds(t testing.TB) (all [][]byte) {
	for _, raw := range Files(t) {
		all = append(all, raw)
	}
	for _, raw := range oddFiles {
		all = append(all, []byte(raw))
	}
	return all
}
