package commit

import (
	"math/rand/v2"
	"testing"

	"github.com/fsmcp/fsmcp/internal/fsys"
)

// plainReal is real, by a look at every change.
func plainReal(changes []treeChange, name string) (string, bool) {
	for i := len(changes) - 1; i >= 0; i-- {
		c := changes[i]
		switch {
		case c.to != "" && fsys.Within(c.to, name):
			rest, _ := fsys.Below(c.to, name)
			if name = c.from; rest != "" {
				name = fsys.Join(c.from, rest)
			}
		case !c.copied && fsys.Within(c.from, name):
			return "", false
		}
	}
	return name, true
}

func plainMakes(changes []treeChange, name string) bool {
	for _, c := range changes {
		if c.to != "" && c.to != name && fsys.Within(name, c.to) {
			return true
		}
	}
	return false
}

// The tree of names answers as a look at every change does.
func TestNameTreeIsThePlainOne(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	root := t.TempDir()
	name := func() string {
		n := root
		for range 1 + rng.IntN(3) {
			n = fsys.Join(n, string(rune('a'+rng.IntN(3))))
		}
		return n
	}
	moved := 0
	for range 3000 {
		var tree nameTree
		for range rng.IntN(8) {
			c := treeChange{from: name(), to: name(), copied: rng.IntN(4) == 0}
			if rng.IntN(4) == 0 {
				c.to, c.copied = "", false
			}
			tree.add(c)
		}
		for range 10 {
			n := name()
			got, ok := tree.real(n)
			want, wantOK := plainReal(tree.changes, n)
			if got != want || ok != wantOK || tree.makes(n) != plainMakes(tree.changes, n) {
				t.Fatalf("%+v: %s is %q %t, want %q %t", tree.changes, n, got, ok, want, wantOK)
			}
			if got != n {
				moved++
			}
		}
	}
	if moved == 0 {
		t.Error("no name was changed")
	}
}
