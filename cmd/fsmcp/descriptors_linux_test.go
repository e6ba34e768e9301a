package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/fsmcp/fsmcp/internal/mcptest"
)

// A server with few descriptors writes to any number of files: a lock file is open only while
// it is held.
func TestFewDescriptors(t *testing.T) {
	t.Parallel()
	const limit, files = 128, 300
	f := newFort(t)
	shell := fmt.Sprintf(`ulimit -n %d && exec "$0" "$@"`, limit)
	f.options = mcptest.Options{Path: "/bin/sh", Args: []string{"-c", shell, program, "serve", f.ws}, Dir: f.ws, Stderr: f.stderr,
		Env: append(os.Environ(), "HOME="+f.home, "XDG_STATE_HOME=", "CLAUDE_PROJECT_DIR=", "CLAUDE_CONFIG_DIR=", "FSMCP_DURABILITY=none")}
	f.start()
	for n := range files {
		res := f.call("Write", map[string]any{"file_path": f.abs(fmt.Sprint("f", n)), "content": "x"})
		if res.IsError {
			t.Fatalf("file %d: %s", n, res.Text)
		}
	}
	open := 0
	fds, err := filepath.Glob(fmt.Sprintf("/proc/%d/fd/*", f.client.PID()))
	f.check(err)
	for _, fd := range fds {
		if to, _ := os.Readlink(fd); strings.Contains(to, "/locks/") {
			open++
		}
	}
	made, err := os.ReadDir(filepath.Join(f.home, ".local", "state", "fsmcp", "locks"))
	f.check(err)
	if open > 0 || len(made) <= limit {
		t.Errorf("%d lock files are open, %d were made", open, len(made))
	}
}
