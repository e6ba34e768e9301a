//go:build unix

package disk

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestLinked(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	home := dir + "/home"
	for _, d := range []string{"/.ssh/a/b", "/dot/nvim", "/cfg", "/.emacs.d"} {
		if err := os.MkdirAll(home+d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for name, target := range map[string]string{
		"/.vimrc": "one", "/one": "dot/vimrc", // a chain to what is not there
		"/.config": "cfg", "/cfg/nvim": "../dot/nvim", // links on the way
		"/.ssh/config": home + "/dot/ssh", "/.ssh/a/deep": "../../dot/deep", "/.ssh/a/b/deeper": "../../../dot/deeper",
		"/.ssh/home": "..", "/.gvimrc": "d/../gvimrc", "/d": "dot/nvim",
		"/.loop": ".loop", "/.emacs.d/self": ".",
	} {
		if err := os.Symlink(target, home+name); err != nil {
			t.Fatal(err)
		}
	}
	given := []string{home + "/.gvimrc", home + "/.vimrc", home + "/.config/nvim", home + "/.ssh", home + "/.loop", home + "/.emacs.d", home + "/missing/x"}
	got := Linked(given)
	want := []string{
		home + "/.gvimrc", home + "/dot/gvimrc",
		home + "/.vimrc", home + "/one", home + "/dot/vimrc",
		home + "/.config/nvim", home + "/cfg/nvim", home + "/dot/nvim",
		home + "/.ssh", home + "/.ssh/config", home + "/dot/ssh", home + "/.ssh/a/deep", home + "/dot/deep", home + "/.ssh/home",
		home + "/.loop", home + "/.emacs.d", home + "/.emacs.d/self", home + "/missing/x",
	}
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}
