package notebook

import (
	"errors"
	"testing"
	"unicode/utf8"
)

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

func seeds(f *testing.F) [][]byte {
	var all [][]byte
	for _, raw := range fixtures(f) {
		all = append(all, raw)
	}
	for _, raw := range oddFiles {
		all = append(all, []byte(raw))
	}
	return all
}

// A file is refused or shown; it is refused as JSON just where encoding/json
// refuses it.
func FuzzParse(f *testing.F) {
	for _, raw := range seeds(f) {
		f.Add(raw)
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		nb, err := Parse(raw)
		var fault *ParseError
		if err != nil && !errors.As(err, &fault) {
			t.Fatal(err)
		}
		isJSON := err == nil || fault.Fault == NotNotebook || fault.Fault == BadVersion
		if isJSON != accepted(raw) {
			t.Fatalf("%q: %v, but JSON is %v", raw, err, accepted(raw))
		}
		if err != nil {
			if fault.Offset < 0 || fault.Offset > int64(len(raw)) {
				t.Fatalf("%q: %v", raw, err)
			}
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

// An edit does what the model does, changes nothing outside the cell, and an
// delete restores the file after an insert.
func FuzzEdit(f *testing.F) {
	for i, raw := range seeds(f) {
		for what := range byte(3) {
			f.Add(raw, what, byte(i), byte(i), "a\né\x00\n")
		}
	}
	whats, kinds := []string{"replace", "insert", "delete"}, []string{Code, Markdown, Raw, ""}
	f.Fuzz(func(t *testing.T, raw []byte, what, at, kind byte, source string) {
		nb, err := Parse(raw)
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
