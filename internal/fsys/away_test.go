//go:build !linux || fsys_portable

package fsys

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"testing"
)

// A file whose content is not on this machine is not opened in a folder, as searches do it; by
// its target, as Read does it, it is.
func TestNotHere(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"here.txt", "online.txt"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(name), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	isAway = func(info fs.FileInfo) bool { return info.Name() == "online.txt" }
	defer func() { isAway = awayBySystem }()
	folder := resolveForTest(t, dir)
	in, err := folder.OpenDir()
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	for name, away := range map[string]bool{"here.txt": false, "online.txt": true} {
		f, err := in.Open(name)
		if errors.Is(err, ErrNotHere) != away || away != (f == nil) {
			t.Errorf("in the folder, %s: %v", name, err)
		}
		if f != nil {
			f.Close()
		}
		target := resolveForTest(t, filepath.Join(dir, name))
		if target.NotHere() != away {
			t.Errorf("%s: not here is %v", name, target.NotHere())
		}
		f, err = target.Open()
		if err != nil {
			t.Fatal(err)
		}
		if b, _, err := f.ReadAll(100); err != nil || string(b) != name {
			t.Errorf("%s: %q, %v", name, b, err)
		}
		f.Close()
	}
}

func resolveForTest(t *testing.T, name string) *Target {
	t.Helper()
	p, err := Lexer{OS: runtime.GOOS}.Parse(name)
	if err != nil {
		t.Fatal(err)
	}
	target, err := NewResolver().Resolve(p)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(target.Close)
	return target
}
