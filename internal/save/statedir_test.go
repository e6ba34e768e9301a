package save

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/fsmcp/fsmcp/internal/nativetest"
	"github.com/fsmcp/fsmcp/internal/owndir"
)

// The state folder is named where it is there and only this user may write it.
func TestFoundStateDir(t *testing.T) {
	d := newTestFolder(t)
	if got, err := d.save.FoundStateDir(); got != "" || err != nil {
		t.Errorf("before anything was made: %q, %v", got, err)
	}
	if got, err := d.save.StateDir(t.Context()); got != d.state || err != nil {
		t.Errorf("%s, %v", got, err)
	}
	if got, err := d.save.FoundStateDir(); got != d.state || err != nil {
		t.Errorf("%s, %v", got, err)
	}
	if runtime.GOOS == "windows" {
		return
	}
	for _, path := range []string{d.state, filepath.Join(d.state, notesDir)} {
		if err := os.Chmod(path, 0o770); err != nil {
			t.Fatal(err)
		}
		got, err := d.save.FoundStateDir()
		if own := (*owndir.Error)(nil); got != "" || !errors.As(err, &own) || own.Path != path {
			t.Errorf("%s may be written by others: %q, %v", path, got, err)
		}
		if err := os.Chmod(path, 0o700); err != nil {
			t.Fatal(err)
		}
	}
}

// The folder in the temp directory is none to keep anything in but locks and notes.
func TestStateDirIsNeverInTemp(t *testing.T) {
	d := newTestFolderIn(t, t.TempDir())
	os.WriteFile(d.state, nil, 0o600)
	var reported []*StateError
	d.open(func(o *Options) { o.Lost = func(e *StateError) { reported = append(reported, e) } })
	out, err := whole(d.save, d.put("f", "old"), "new")
	skipWithoutReplace(t, err)
	if err != nil || out.StateInTemp != owndir.InTemp(filepath.Dir(d.state)) || out.NoState == nil || out.NoState.Dir != d.state {
		t.Errorf("%+v, %v", out, err)
	}
	if len(reported) != 1 || reported[0] != out.NoState {
		t.Errorf("told %v", reported)
	}
	lost := (*StateError)(nil)
	if got, err := d.save.StateDir(t.Context()); got != "" || !errors.As(err, &lost) {
		t.Errorf("%q, %v", got, err)
	}
	// To Windows a file in the place of a folder is a name that is not there.
	if got, err := d.save.FoundStateDir(); got != "" || !errors.As(err, &lost) && !nativetest.Windows {
		t.Errorf("%q, %v", got, err)
	}
	held, err := os.ReadDir(out.StateInTemp)
	if err != nil || len(held) != 2 {
		t.Errorf("more than locks and notes: %v, %v", held, err)
	}
}
