package savemodel

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"strings"
	"testing"
)

// TestEveryOrderKeepsThePromises checks the protocol by exchange and in place.
func TestEveryOrderKeepsThePromises(t *testing.T) {
	for _, inPlace := range []bool{false, true} {
		m := &Machine{Rules: Fsmcp}
		m.InPlace = inPlace
		t.Logf("in place: %v: %d states", inPlace, m.Check())
		for _, v := range m.Found {
			t.Errorf("in place: %v: %s:\n  %s", inPlace, v.What, strings.Join(v.Path, "\n  "))
		}
	}
}

// TestEachPartIsNeeded is the control arm: without any one part of the protocol a promise
// breaks.
func TestEachPartIsNeeded(t *testing.T) {
	without := func(change func(*Rules)) Rules { r := Fsmcp; change(&r); return r }
	for _, c := range []struct {
		what  string
		rules Rules
	}{
		{"the lock", without(func(r *Rules) { r.Lock, r.SecondLook = false, false })},
		{"the lease", without(func(r *Rules) { r.Lease = false })},
		{"the second look", without(func(r *Rules) { r.SecondLook = false })},
		{"the journal", without(func(r *Rules) { r.Journal, r.InPlace = false, true })},
		{"an opening that a lease can see", without(func(r *Rules) { r.LateOpen = true })},
		{"a start before the next change", without(func(r *Rules) { r.BeforeStart, r.InPlace = true, true })},
	} {
		m := &Machine{Rules: c.rules}
		n := m.Check()
		if len(m.Found) == 0 {
			t.Errorf("without %s all promises hold in %d states", c.what, n)
			continue
		}
		t.Logf("without %s: %s after %d steps", c.what, m.Found[0].What, len(m.Found[0].Path))
	}
}

// TestStepsNameFunctions checks that the function of each step is there.
func TestStepsNameFunctions(t *testing.T) {
	for _, s := range Steps {
		file, name, _ := strings.Cut(s.Where, " ")
		f, err := parser.ParseFile(token.NewFileSet(), filepath.Join("..", "..", file), nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		found := false
		ast.Inspect(f, func(n ast.Node) bool {
			d, ok := n.(*ast.FuncDecl)
			found = found || ok && d.Name.Name == name
			return true
		})
		if !found {
			t.Errorf("%s: there is no function %s in %s", s.Name, name, file)
		}
	}
}
