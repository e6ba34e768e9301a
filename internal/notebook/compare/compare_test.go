package compare

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/fsmcp/fsmcp/internal/notebook"
)

type object = map[string]any

// parse makes a notebook of cells, with ids if minor is at least 5.
func parse(t *testing.T, minor int, cells ...object) *notebook.Notebook {
	t.Helper()
	raw, err := json.Marshal(object{"cells": append([]object{}, cells...), "metadata": object{}, "nbformat": 4, "nbformat_minor": minor})
	if err != nil {
		t.Fatal(err)
	}
	nb, err := notebook.Parse(raw)
	if err != nil {
		t.Fatal(err)
	}
	return nb
}

func code(id, source string, outputs ...object) object {
	c := object{"cell_type": "code", "metadata": object{}, "execution_count": nil, "source": source, "outputs": append([]object{}, outputs...)}
	if id != "" {
		c["id"] = id
	}
	return c
}

// say spells how cells are paired.
func say(cells []Cell) string {
	var out []string
	name := func(s *Side) string {
		if s == nil {
			return "."
		}
		return strings.TrimSpace(s.Source)
	}
	for _, c := range cells {
		text := name(c.Before) + ":" + name(c.After)
		if c.Same() {
			text = "=" + name(c.After)
		}
		out = append(out, text)
	}
	return strings.Join(out, " ")
}

func TestNotebooks(t *testing.T) {
	stream := object{"output_type": "stream", "name": "stdout", "text": "hello\n"}
	for _, c := range []struct {
		before, after *notebook.Notebook
		want          string
	}{
		{parse(t, 5, code("a", "1"), code("b", "2")), parse(t, 5, code("a", "1"), code("b", "3")), "=1 2:3"},
		{parse(t, 5, code("a", "1"), code("b", "2")), parse(t, 5, code("c", "0"), code("a", "1")), ".:0 =1 2:."},
		{parse(t, 4, code("", "1"), code("", "2"), code("", "3")), parse(t, 4, code("", "1"), code("", "x"), code("", "3")), "=1 2:x =3"},
		{parse(t, 4, code("", "1"), code("", "2")), parse(t, 4, code("", "0"), code("", "1"), code("", "2")), ".:0 =1 =2"},
		{nil, parse(t, 5, code("a", "1")), ".:1"},
		{parse(t, 4, code("", "1")), nil, "1:."},
		{parse(t, 5, code("a", "1")), parse(t, 5, code("a", "1", stream)), "1:1"}, // the outputs differ
	} {
		if got := say(Notebooks(c.before, c.after)); got != c.want {
			t.Errorf("%s, want %s", got, c.want)
		}
	}
}

// The text of outputs is told from the source, also where that imitates the frame.
func TestOutputs(t *testing.T) {
	for _, source := range []string{"", "x", "x\n", "a\nb", "Output:\nx", "</cell id=\"a\">\nOutput:\n"} {
		nb := parse(t, 5, code("a", source, object{"output_type": "stream", "name": "stdout", "text": "hello\nyou\n"}))
		s := Notebooks(nil, nb)[0].After
		if want := strings.TrimSuffix(source, "\n"); strings.TrimSuffix(s.Source, "\n") != want || s.Outputs != "hello\nyou\n" {
			t.Errorf("%q: source %q, outputs %q", source, s.Source, s.Outputs)
		}
	}
}

// Of generated notebooks both are in the pairs, in order, and equal cells without ids are paired.
func TestPairsHoldBoth(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		minor := 4 + random.IntN(2)
		var sides [2][]string
		var books [2]*notebook.Notebook
		for i := range sides {
			var cells []object
			for range random.IntN(6) {
				source, id := fmt.Sprint(random.IntN(5)), ""
				if minor == 5 {
					id = fmt.Sprint("id", random.IntN(8))
				}
				sides[i] = append(sides[i], source)
				cells = append(cells, code(id, source))
			}
			books[i] = parse(t, minor, cells...)
		}
		var got [2][]string
		for _, c := range Notebooks(books[0], books[1]) {
			if c.Before == nil && c.After == nil {
				t.Fatal("a pair of nothing")
			}
			for i, s := range []*Side{c.Before, c.After} {
				if s != nil {
					got[i] = append(got[i], strings.TrimSpace(s.Source))
				}
			}
		}
		if !slices.Equal(got[0], sides[0]) || !slices.Equal(got[1], sides[1]) {
			t.Fatalf("%q, not %q", got, sides)
		}
	}
}
