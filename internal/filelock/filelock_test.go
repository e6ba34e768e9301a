package filelock

import (
	"os"
	"path/filepath"
	"testing"
)

// One at a time has the file, until it lets go or closes it; its bytes stay open to all.
func TestOneAtATime(t *testing.T) {
	name := filepath.Join(t.TempDir(), "f")
	open := func() *os.File {
		f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o600)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { f.Close() })
		return f
	}
	try := func(f *os.File, want bool) {
		t.Helper()
		if got, err := Try(f); got != want || err != nil {
			t.Errorf("%v, %v instead of %v", got, err, want)
		}
	}
	one, two := open(), open()
	try(one, true)
	try(two, false)
	if _, err := two.WriteString("x"); err != nil {
		t.Errorf("a locked file cannot be written: %v", err)
	}
	if err := Unlock(one); err != nil {
		t.Fatal(err)
	}
	try(two, true)
	try(one, false)
	two.Close()
	try(one, true)
	if got, err := Try(two); got || err == nil {
		t.Errorf("a closed file is locked: %v, %v", got, err)
	}
}
