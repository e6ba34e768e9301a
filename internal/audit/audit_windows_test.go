package audit

import (
	"os"
	"path/filepath"
	"strconv"
	"testing"
)

// While another program holds one of the files without sharing its deletion, lines are
// still written, and none is lost. Afterwards the file is rotated again.
func TestFileThatAnotherProgramHolds(t *testing.T) {
	for _, held := range []int{0, 1, 2} {
		name := filepath.Join(t.TempDir(), "a")
		l := New(name, 10)
		next := 0
		put := func() {
			t.Helper()
			next++
			if err := l.Append([]byte("line " + strconv.Itoa(next))); err != nil {
				t.Fatalf("%d: %v", held, err)
			}
		}
		for range 3 {
			put()
		}
		f, err := os.Open(Names(name)[held])
		if err != nil {
			t.Fatal(err)
		}
		put()
		put()
		f.Close()
		put()
		seen := 0
		for _, old := range Names(name) {
			if _, err := os.Stat(old); err == nil {
				seen += len(lines(t, old))
			}
		}
		if now := lines(t, name); seen != next || len(now) != 1 {
			t.Errorf("%d: %d lines of %d, %q in the youngest file", held, seen, next, now)
		}
		l.Close()
	}
}
