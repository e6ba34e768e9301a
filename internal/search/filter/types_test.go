package filter

import (
	"slices"
	"testing"
)

func TestTypes(t *testing.T) {
	for name, typ := range otherNames() {
		if _, known := namesOf(name); known || !slices.Contains(Types(), typ) {
			t.Error(name, typ)
		}
	}
	for _, typ := range Types() {
		if _, err := New(nil, typ); err != nil {
			t.Error(typ, err)
		}
	}
	for typ, want := range map[string]string{"golang": "go", "golan": "go", "typescipt": "typescript"} {
		if near := nearTypes(typ); len(near) == 0 || near[0] != want {
			t.Errorf("%s: %q", typ, near)
		}
	}
}
