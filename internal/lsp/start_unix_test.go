//go:build unix

package lsp

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/fsmcp/fsmcp/internal/mcptest"
)

// A real process with a child of its own: both are gone after Close, although the program
// ignores that its input ends, and signals.
func TestProcessesAreGone(t *testing.T) {
	dir := t.TempDir()
	pids, script := filepath.Join(dir, "pids"), filepath.Join(dir, "server")
	text := `trap "" TERM INT HUP
sleep 300 & echo $! $$ >"` + pids + `.new"
mv "` + pids + `.new" "` + pids + `"
echo "complaint" >&2
while :; do sleep 300; done`
	if err := mcptest.WriteProgram(script, text); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "go.mod"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	notes := make(chan string, 100)
	c := New(Options{
		Servers: func() []LanguageServer {
			return []LanguageServer{{Name: "stub", Command: []string{"stub"}, Languages: map[string]string{".go": "go"}, RootMarkers: []string{"go.mod"}}}
		},
		Folders:  func() []string { return []string{dir} },
		Readable: func(string) bool { return true },
		Read:     func(name string, _ int64) ([]byte, error) { return os.ReadFile(name) },
		Find:     func(LanguageServer) (string, []string, error) { return script, nil, nil },
		Ended:    func(_, _, why string) { notes <- why },
	})
	began := time.Now()
	c.Changed(t.Context(), FileChange{Path: filepath.Join(dir, "a.go"), Now: []byte("x")})
	if took := time.Since(began); took > mostDelay {
		t.Errorf("the change took %v", took)
	}
	var b []byte
	for range 1000 {
		if b, _ = os.ReadFile(pids); b != nil { // it is there once the script runs
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	began = time.Now()
	c.Close()
	if took := time.Since(began); took > time.Second {
		t.Errorf("Close took %v", took)
	}
	if why := <-notes; why != errStopped.Error() {
		t.Errorf("noted: %q", why)
	}
	for _, word := range strings.Fields(string(b)) {
		pid, err := strconv.Atoi(word)
		if err != nil {
			t.Fatal(err)
		}
		if !gone(pid) {
			t.Errorf("process %d is left", pid)
		}
	}
}

// gone reports whether a process has ended; a zombie is one that its new parent has not
// asked about.
func gone(pid int) bool {
	for range 100 {
		if errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) {
			return true
		}
		if b, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat"); err == nil {
			if _, rest, _ := strings.Cut(string(b), ") "); strings.HasPrefix(rest, "Z") {
				return true
			}
		}
		time.Sleep(10 * time.Millisecond)
	}
	return false
}
