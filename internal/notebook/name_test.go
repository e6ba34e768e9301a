package notebook_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/fsmcp/fsmcp/internal/notebook"
)

func TestFind(t *testing.T) {
	named := func(ids ...string) *notebook.Notebook {
		var cells []string
		for _, id := range ids {
			if id != "" {
				id = fmt.Sprintf(`"id": %s, `, id)
			}
			cells = append(cells, "{"+id+`"cell_type": "raw", "source": []}`)
		}
		return mustParse(t, wrap(strings.Join(cells, ", ")))
	}
	books := map[string]*notebook.Notebook{
		"plain":  named(`"a"`, `"b"`, ""),
		"twice":  named(`"a"`, `"b"`, `"a"`),
		"cell-N": named(`"cell-2"`, `"cell-x"`, "", ""),
		"odd":    named(`"A"`, `"\u0041b"`, `""`, `7`, `"<&>\""`, `"é"`),
	}
	tests := []struct {
		book, name string
		index      int
		miss       notebook.Miss
	}{
		{"plain", "a", 0, 0}, {"plain", "b", 1, 0}, {"plain", "cell-2", 2, 0}, {"plain", "cell-0", 0, 0},
		{"plain", "cell-3", -1, notebook.NoSuchIndex}, {"plain", "c", -1, notebook.NoSuchID}, {"plain", "", -1, notebook.NoSuchID},
		{"plain", "cell-02", -1, notebook.NoSuchID}, {"plain", "cell-+1", -1, notebook.NoSuchID}, {"plain", "cell--1", -1, notebook.NoSuchID},
		{"plain", "cell-99999999999999999999", -1, notebook.NoSuchID}, {"plain", "Cell-1", -1, notebook.NoSuchID}, {"plain", "2", -1, notebook.NoSuchID},
		{"twice", "a", -1, notebook.Twice}, {"twice", "cell-0", 0, 0}, {"twice", "cell-2", 2, 0}, {"twice", "b", 1, 0},
		{"cell-N", "cell-2", 0, 0}, {"cell-N", "cell-3", 3, 0}, {"cell-N", "cell-x", 1, 0}, {"cell-N", "cell-0", 0, 0},
		{"odd", "A", 0, 0}, {"odd", "Ab", 1, 0}, {"odd", "cell-2", 2, 0}, {"odd", "cell-3", 3, 0}, {"odd", "cell-4", 4, 0}, {"odd", `<&>"`, 4, 0}, {"odd", "é", 5, 0},
	}
	for _, test := range tests {
		got, err := books[test.book].Find(test.name)
		var miss *notebook.CellError
		switch {
		case test.index >= 0 && (err != nil || got != test.index):
			t.Errorf("%s %q: %d, %v", test.book, test.name, got, err)
		case test.index < 0 && (!errors.As(err, &miss) || miss.Miss != test.miss):
			t.Errorf("%s %q: %d, %v", test.book, test.name, got, err)
		}
	}
	_, err := books["twice"].Find("a")
	if miss := new(notebook.CellError); !errors.As(err, &miss) || !slices.Equal(miss.Names, []string{"cell-0", "cell-2"}) || miss.Count != 2 {
		t.Errorf("twice: %+v", err)
	}
	_, err = books["odd"].Find("z")
	if miss := new(notebook.CellError); !errors.As(err, &miss) || !slices.Equal(miss.Names, []string{"A", "Ab", "cell-2", "cell-3", "cell-4", "é"}) {
		t.Errorf("odd: %+v", err)
	}
}

// What names a cell in a call leads to it: not an id that two cells bear, nor a
// cell-N that is another cell's id.
func TestCallNames(t *testing.T) {
	raw := fixtures(t)["duplicate_ids"]
	nb := mustParse(t, string(raw))
	for i, want := range []string{"", "cell-1", "cell-0", "other"} {
		if got := nb.CallName(i); got != want {
			t.Errorf("cell %d: %q, want %q", i, got, want)
		}
	}
	_, err := nb.Find("same")
	if miss := new(notebook.CellError); !errors.As(err, &miss) || !slices.Equal(miss.Names, []string{"cell-1"}) || miss.Count != 2 || miss.Hidden != 1 {
		t.Errorf("same: %+v", err)
	}
	_, err = nb.Find("nowhere")
	if miss := new(notebook.CellError); !errors.As(err, &miss) || !slices.Equal(miss.Names, []string{"cell-1", "cell-0", "other"}) {
		t.Errorf("nowhere: %+v", err)
	}
	// A cell without id, whose place another cell has for its id.
	hidden := mustParse(t, wrap(`{"cell_type": "raw", "id": "cell-1"}, {"cell_type": "raw"}, {"cell_type": "raw"}`))
	if got := []string{hidden.CallName(0), hidden.CallName(1), hidden.CallName(2)}; !slices.Equal(got, []string{"cell-1", "", "cell-2"}) {
		t.Errorf("%q", got)
	}
}

// Whatever a cell is called in what is shown leads back to it, unless its id is
// borne twice.
func TestNamesLeadBack(t *testing.T) {
	for name, raw := range fixtures(t) {
		nb := mustParse(t, string(raw))
		for _, cell := range nb.Cells() {
			i, err := nb.Find(cell.Name)
			if err == nil && i != cell.Index || err != nil && name != "duplicate_ids" {
				t.Errorf("%s cell %d is called %q: %d, %v", name, cell.Index, cell.Name, i, err)
			}
		}
	}
}

func TestAtMostTwentyNames(t *testing.T) {
	cells := strings.Repeat(`{"cell_type": "raw", "id": "x", "source": []}, `, 30)
	nb := mustParse(t, wrap(cells+`{"cell_type": "raw", "source": []}`))
	for _, name := range []string{"x", "y"} {
		_, err := nb.Find(name)
		if miss := new(notebook.CellError); !errors.As(err, &miss) || len(miss.Names) != 20 {
			t.Errorf("%q: %+v", name, err)
		}
	}
}
