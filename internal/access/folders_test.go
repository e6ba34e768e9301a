package access

import (
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
)

// TestServedAgreesWithUnserved compares the look at the file alone with the look at the
// directories, over all files of a tree and lists of directories in it.
func TestServedAgreesWithUnserved(t *testing.T) {
	top, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	files := []string{"a/x", "a/b/x", "a/b/c/x", "${v}/x", "a/${v}/x", "%CD%/x", "f"}
	for _, name := range files {
		if err := errors.Join(os.MkdirAll(filepath.Join(top, filepath.Dir(name)), 0o755), os.WriteFile(filepath.Join(top, name), nil, 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	names := append([]string{"a", "a/b", "a/b/c", "${v}", "a/${v}", "%CD%", "gone", "a/gone", "."}, files...)
	r := rand.New(rand.NewPCG(1, 2))
	shown := 0
	for range 3000 {
		var folders []Folder
		for range 1 + r.IntN(3) {
			dir := filepath.Join(top, names[r.IntN(len(names))])
			folders = append(folders, NewFolder(dir, dir))
		}
		if r.IntN(8) == 0 {
			folders = append(folders, NewFolder("", ""))
		}
		name := filepath.Join(top, files[r.IntN(len(files))])
		if !served(folders, name) {
			continue
		}
		shown++
		if err := Unserved(folders, name); err != nil {
			t.Fatalf("%v serve %s, and yet: %v", folders, name, err)
		}
	}
	if shown < 500 {
		t.Errorf("only %d files were shown to be served", shown)
	}
}
