//go:build linux

package worker

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// A program that is asked what it is says it; one that says too much, fails, hangs or
// has something else hold its streams is none, and costs little time and memory.
func TestAsking(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ script, want string }{
		{"echo ' it is me '", "it is me"}, {"echo $ONLY", "this"}, {"echo it is me; exit 1", ""}, {"yes", ""}, {"sleep 1000; echo late", ""},
	} {
		promptly(t, c.script, 5*time.Second, func() {
			if got := Ask("/bin/sh", []string{"-c", c.script}, []string{"ONLY=this", "PATH=" + os.Getenv("PATH")}, time.Second); got != c.want {
				t.Errorf("%s: %q", c.script, got)
			}
		})
	}
	if got := Ask("/nowhere/at/all", nil, nil, time.Second); got != "" {
		t.Error(got)
	}
	file := filepath.Join(t.TempDir(), "pid")
	Ask("/bin/sh", []string{"-c", "sleep 1000 & echo $! >" + file + "; wait"}, []string{"PATH=" + os.Getenv("PATH")}, time.Second)
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(b)))
	if err != nil {
		t.Fatal(err)
	}
	until(t, "what it has started has ended", func() bool {
		state, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat") // reaping it may take a while
		return err != nil || strings.Contains(string(state), ") Z ") || syscall.Kill(pid, 0) != nil
	})
}
