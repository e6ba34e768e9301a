//go:build linux

package faults

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/fsmcp/fsmcp/internal/mcptest"
)

// fsmcp is the binary under test, built once.
var fsmcp string

func TestMain(m *testing.M) {
	if role := os.Getenv("FAULTS_ROLE"); role != "" {
		playRole(role, os.Args[1:])
		return
	}
	os.Exit(withBinary(m))
}

func withBinary(m *testing.M) int {
	dir, err := os.MkdirTemp("", "faults")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	programs.dir, programs.built = dir, make(map[string]bool)
	if fsmcp = os.Getenv("FSMCP_BIN"); fsmcp == "" {
		if fsmcp, err = build("fsmcp"); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
	}
	return m.Run()
}

// programs is the folder of the programs that build has built.
var programs struct {
	sync.Mutex
	dir   string
	built map[string]bool
}

// build builds one of the programs below cmd, once for all tests, and returns its path. Each has
// a folder of its own: fsmcp finds no decoders beside it.
func build(name string, flags ...string) (string, error) {
	programs.Lock()
	defer programs.Unlock()
	path := filepath.Join(programs.dir, name, name)
	if programs.built[name] {
		return path, nil
	}
	cmd := exec.Command("go", slices.Concat([]string{"build", "-trimpath", "-ldflags=-s -w", "-o", path}, flags, []string{"github.com/fsmcp/fsmcp/cmd/" + name})...)
	cmd.Env = append(os.Environ(), "CGO_ENABLED="+map[bool]string{true: "1", false: "0"}[name == "fsmcp-vips"])
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("go build %s: %w\n%s", name, err, out)
	}
	programs.built[name] = true
	return path, nil
}

// count is a number from the environment, or the short run's.
func count(t *testing.T, name string, short int) int {
	t.Helper()
	s := os.Getenv(name)
	if s == "" {
		return short
	}
	n, err := strconv.Atoi(s)
	if err != nil || n <= 0 {
		t.Fatalf("%s=%s is no count", name, s)
	}
	return n
}

// report prints what a run did, so that its counts can be quoted.
func report(t *testing.T, format string, args ...any) {
	t.Helper()
	fmt.Printf("%s: %s\n", t.Name(), fmt.Sprintf(format, args...))
}

// place is where one test plays: a workspace and a home beside each other.
type place struct{ ws, home string }

func newPlace(t *testing.T) place {
	t.Helper()
	dir := t.TempDir()
	p := place{ws: filepath.Join(dir, "ws"), home: filepath.Join(dir, "home")}
	for _, d := range []string{p.ws, p.home} {
		if err := os.Mkdir(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return p
}

// env has all that a server keeps lie in the place, also what it puts into the temp
// directory for want of a state folder: no test finds there what another has left.
func (p place) env(more ...string) []string {
	return append(append(os.Environ(), "HOME="+p.home, "XDG_STATE_HOME=", "TMPDIR="+p.home), more...)
}

// settings writes the user's own settings file.
func (p place) settings(t *testing.T, text string) {
	t.Helper()
	dir := filepath.Join(p.home, ".config", "fsmcp")
	must(t, os.MkdirAll(dir, 0o700))
	must(t, os.WriteFile(filepath.Join(dir, "settings.json"), []byte(text), 0o600))
}

func (p place) file(name string) string { return filepath.Join(p.ws, name) }

// start runs a server on the place and shakes hands.
func (p place) start(t testing.TB, more ...string) *mcptest.Client {
	t.Helper()
	c, err := mcptest.Start(mcptest.Options{Path: fsmcp, Args: []string{"serve", p.ws}, Dir: p.ws,
		Env: p.env(more...), Stderr: &stderrOf{t: t}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Initialize(mcptest.Latest); err != nil {
		c.Kill()
		t.Fatal(err)
	}
	return c
}

// stderrOf shows a crash in the test's log, and nothing else.
type stderrOf struct {
	t  testing.TB
	mu sync.Mutex
	b  bytes.Buffer
}

func (s *stderrOf) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.b.Write(p)
	crashed := bytes.Contains(p, []byte("panic")) || bytes.Contains(p, []byte("fatal error"))
	if crashed && !bytes.Contains(p, []byte("a media worker was lost")) { // whose last words these are
		fmt.Fprintf(os.Stderr, "the server crashed: %s\n", p)
	}
	return len(p), nil
}

type args = map[string]any

// mustCall is a call that has to succeed.
func mustCall(t testing.TB, c *mcptest.Client, tool string, a args) mcptest.Result {
	t.Helper()
	res, err := c.Call(tool, a)
	if err != nil {
		t.Fatalf("%s: %v", tool, err)
	}
	if res.IsError {
		t.Fatalf("%s %v: %d %s: %s", tool, a["file_path"], res.Code, res.Slug, clip(res.Text))
	}
	return res
}

func clip(s string) string {
	if len(s) > 600 {
		return s[:400] + " … " + s[len(s)-150:]
	}
	return s
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func read(t testing.TB, path string) []byte {
	t.Helper()
	b, err := os.ReadFile(path)
	must(t, err)
	return b
}

// strays returns the unexpected names in a folder.
func strays(t testing.TB, dir string, expected func(name string) bool) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	must(t, err)
	var out []string
	for _, e := range entries {
		if !expected(e.Name()) {
			out = append(out, e.Name())
		}
	}
	return out
}

// noStrays waits for the sweep of a start that has just been.
func noStrays(t testing.TB, dir string, expected func(name string) bool) []string {
	t.Helper()
	var left []string
	for end := time.Now().Add(30 * time.Second); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		if left = strays(t, dir, expected); len(left) == 0 {
			return nil
		}
	}
	return left
}

// marks counts the lines of a text that begin with a prefix.
func marks(text []byte, prefix string) map[string]int {
	out := map[string]int{}
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSuffix(line, "\n")
		if strings.HasPrefix(line, prefix) {
			out[line]++
		}
	}
	return out
}
