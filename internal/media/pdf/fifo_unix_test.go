//go:build unix

package pdf

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/fsmcp/fsmcp/internal/shortrun"
)

// What is no file in the folder is not waited at: neither in place of the list, nor
// of the code, nor of the folder.
func TestAFifoInTheCacheIsNotWaitedAt(t *testing.T) {
	shortrun.Leave(t, "it compiles PDFium")
	if testing.Short() {
		t.Skip("!!! NOT TESTED: it compiles PDFium, which -short spares !!!")
	}
	for _, place := range []string{listName, "code", ""} {
		dir, code := compiledOnce(t)
		name := filepath.Join(dir, map[string]string{"code": code}[place])
		if place == listName {
			name = filepath.Join(dir, listName)
		}
		if err := os.RemoveAll(name); err != nil {
			t.Fatal(err)
		}
		if err := unix.Mkfifo(name, 0o600); err != nil {
			t.Fatal(err)
		}
		r := New(dir)
		if place == "" { // it takes long to compile; whether it would is enough
			if r.cache.usable() || r.cache.sound() {
				t.Error("a FIFO is taken for a folder")
			}
			continue
		}
		ready := make(chan error, 1)
		go func() { ready <- r.Warm(quiet) }()
		select {
		case err := <-ready:
			if err != nil {
				t.Errorf("%q: %v", place, err)
			}
			r.Close()
		case <-time.After(2 * time.Minute):
			t.Fatalf("%q: it waits", place)
		}
	}
}
