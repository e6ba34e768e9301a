//go:build linux

package worker

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// fakeCage makes a cage whose program sets $CAGED, as a shell script does.
func fakeCage(t *testing.T, script string) *Cage {
	t.Helper()
	path := filepath.Join(t.TempDir(), "sandbox-exec")
	if err := os.WriteFile(path, []byte("#!/bin/sh\n"+script), 0o755); err != nil {
		t.Fatal(err)
	}
	return &Cage{Program: path}
}

// Bodies are seen in the cage alone. The first job is done once out of it, by a worker that
// gets no body, and then by each worker in it. A cage in which the program does not start,
// or says that it does not hold, is not used.
func TestCage(t *testing.T) {
	const caged = `[ "$1" = -p ] && case "$2" in "(version 1)"*) shift 2; CAGED=1 exec "$@";; esac; exit 1`
	for _, row := range []struct{ name, script, first, body string }{
		{"holds", caged, "free caged caged", "caged"},
		{"refuses", `exit 65`, "free free", "free"},
		{"does not hold", `shift 2; exec "$@"`, "free free", "free"},
	} {
		t.Run(row.name, func(t *testing.T) {
			did := filepath.Join(t.TempDir(), "did")
			p := newPool(t, func(o *Options) {
				o.Cage, o.Jobs = fakeCage(t, row.script), 2 // the first job counts
				o.First = &Job{Op: "caged", Params: did}
			})
			for range 2 {
				r, err := p.Do(t.Context(), Job{Op: "caged", Params: "", Body: strings.NewReader("body"), Size: 4})
				var where string
				if err != nil || json.Unmarshal(r.Result, &where) != nil || where != row.body {
					t.Errorf("%s %v, want %s", r.Result, err, row.body)
				}
			}
			if b, err := os.ReadFile(did); err != nil || strings.Join(strings.Fields(string(b)), " ") != row.first {
				t.Errorf("first jobs: %q %v, want %s", b, err, row.first)
			}
		})
	}
}

// A worker that Close ends while it does the first job out of the cage ends.
func TestClosedWhileFilling(t *testing.T) {
	p := newPool(t, func(o *Options) {
		o.Cage, o.First = fakeCage(t, `shift 2; CAGED=1 exec "$@"`), &Job{Op: "hang"}
	})
	done := make(chan error, 1)
	go func() {
		_, err := p.Do(t.Context(), Job{Op: "echo"})
		done <- err
	}()
	until(t, "two workers", func() bool {
		p.mu.Lock()
		defer p.mu.Unlock()
		return len(p.all) == 2
	})
	p.Close()
	if err := <-done; err == nil {
		t.Error("no error")
	}
}
