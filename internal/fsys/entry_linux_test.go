package fsys

import (
	"os"
	"slices"
	"testing"
)

// A link at the last step is the object itself, wherever it leads; links before it are
// followed.
func TestResolveEntry(t *testing.T) {
	for _, c := range []struct {
		ask  string
		kind Kind
		want []string
	}{
		{"ws/file", Regular, []string{"ws/file"}},
		{"ws/new", Missing, []string{"ws/new"}},
		{"ws/to-file", Link, []string{"ws/to-file"}},
		{"ws/to-folder", Link, []string{"ws/to-folder"}},
		{"ws/dangling", Link, []string{"ws/dangling"}},
		{"ws/loop", Link, []string{"ws/loop"}},
		{"ws/to-folder/inner", Link, []string{"ws/to-folder/inner", "ws/folder/inner"}},
		{"ws/twice/file", Regular, []string{"ws/twice/file", "ws/to-folder/file", "ws/folder/file"}},
		{"ws/to-folder", Link, []string{"ws/to-folder"}},
	} {
		t.Run(c.ask, func(t *testing.T) {
			y := newYard(t)
			y.file("ws/file", "x")
			y.file("ws/folder/file", "x")
			y.link("ws/to-file", "file")
			y.link("ws/to-folder", "folder")
			y.link("ws/twice", "to-folder")
			y.link("ws/folder/inner", "../file")
			y.link("ws/dangling", "nothing/here")
			y.link("ws/loop", "loop")
			var want []string
			for _, name := range c.want {
				want = append(want, y.at(name))
			}
			everyWay(t, func(t *testing.T, r *Resolver) {
				target, err := r.ResolveEntry(y.path(c.ask))
				defer func() { target.Close() }()
				y.must(err)
				if target.Kind != c.kind || !slices.Equal(target.Names, want) || target.Path != want[len(want)-1] {
					t.Errorf("%v, names %q, path %q", target.Kind, target.Names, target.Path)
				}
				if c.kind == Missing {
					return
				}
				info, err := os.Lstat(y.at(c.ask))
				y.must(err)
				if stamp, err := Lstat(y.at(c.ask)); err != nil || !stamp.SameFile(target.Stamp) || info.Size() != target.Stamp.Size {
					t.Errorf("stamp %+v, %v", target.Stamp, err)
				}
				if _, _, err := target.ParentID(); err != nil {
					t.Errorf("parent: %v", err)
				}
				if _, err := target.Open(); (err == nil) != (c.kind == Regular) {
					t.Errorf("open: %v", err)
				}
			})
		})
	}
}
