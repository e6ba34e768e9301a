package audit

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

func lines(t *testing.T, name string) (all []string) {
	t.Helper()
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if len(b) > 0 && b[len(b)-1] != '\n' {
		t.Errorf("%s ends in the middle of a line", name)
	}
	return strings.Split(strings.TrimSuffix(string(b), "\n"), "\n")
}

// Several processes (here: several Logs, each with a file of its own) append while
// files are changed: no line is lost while its file is kept, none is torn.
func TestLinesOfMany(t *testing.T) {
	name := filepath.Join(t.TempDir(), "audit.jsonl")
	const each, logs = 120, 4
	var all sync.WaitGroup
	for g := range logs {
		all.Go(func() {
			l := New(name, 5_000)
			l.wait = time.Minute // the one that has the file may stand still for a moment
			defer l.Close()
			for i := range each {
				if err := l.Append(fmt.Appendf(nil, "%d-%d %s", g, i, strings.Repeat("x", i%40))); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	seen := map[string]bool{}
	files, _ := filepath.Glob(name + "*")
	for _, f := range files {
		info, err := os.Stat(f)
		if err != nil || info.Size() > 5_000 || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v, %v", f, info, err)
		}
		for _, l := range lines(t, f) {
			var g, i int
			if n, _ := fmt.Sscanf(l, "%d-%d ", &g, &i); n != 2 || !strings.HasSuffix(l, " "+strings.Repeat("x", i%40)) {
				t.Errorf("a torn line: %q", l)
			}
			if seen[l[:strings.Index(l, " ")]] {
				t.Errorf("twice: %q", l)
			}
			seen[l[:strings.Index(l, " ")]] = true
		}
	}
	if len(seen) != each*logs || len(files) < 3 {
		t.Errorf("%d lines of %d in %d files", len(seen), each*logs, len(files))
	}
}

func TestOnlySoManyAreKept(t *testing.T) {
	name := filepath.Join(t.TempDir(), "a")
	l := New(name, 100)
	defer l.Close()
	for i := range 40 {
		if err := l.Append(fmt.Appendf(nil, "%080d", i)); err != nil {
			t.Fatal(err)
		}
	}
	files, _ := filepath.Glob(name + "*")
	if len(files) != Keep+1 {
		t.Errorf("%d files: %q", len(files), files)
	}
	if got := lines(t, name+".1"); len(got) != 1 || got[0] != fmt.Sprintf("%080d", 38) {
		t.Errorf("the youngest of the old: %q", got)
	}
	if err := l.Append(bytes.Repeat([]byte("x"), 500)); err != nil {
		t.Errorf("a line longer than a file may be: %v", err)
	}
}

// A file that was removed is made again; what is no file is refused, and does not
// hold anybody up.
func TestRemovedAndStrange(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, "a")
	l := New(name, 0)
	defer l.Close()
	if err := l.Append([]byte("one")); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(name); err != nil {
		t.Fatal(err)
	}
	if err := l.Append([]byte("two")); err != nil {
		t.Fatal(err)
	}
	if got := lines(t, name); len(got) != 1 || got[0] != "two" {
		t.Errorf("%q", got)
	}
	for _, strange := range []string{dir, filepath.Join(dir, "missing", "a"), os.DevNull} {
		if err := New(strange, 0).Append([]byte("x")); err == nil {
			t.Errorf("%s was written to", strange)
		}
	}
	later := New(filepath.Join(dir, "later", "a"), 0)
	if later.Append([]byte("x")) == nil {
		t.Error("a folder was made")
	}
	if err := os.Mkdir(filepath.Join(dir, "later"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := later.Append([]byte("x")); err != nil {
		t.Errorf("once it can be written: %v", err)
	}
	later.Close()
}

// Two processes append to one file and rotate it: no line is lost.
func TestLinesOfProcesses(t *testing.T) {
	const each = 150
	if name := os.Getenv("FSMCP_TEST_AUDIT"); name != "" {
		l := New(name, 5_000)
		l.wait = time.Minute
		for i := range each {
			if err := l.Append(fmt.Appendf(nil, "%d %d %s", os.Getpid(), i, strings.Repeat("x", 40))); err != nil {
				t.Fatal(err)
			}
		}
		return
	}
	name := filepath.Join(t.TempDir(), "audit.jsonl")
	var all sync.WaitGroup
	for range 2 {
		all.Go(func() {
			c := exec.Command(os.Args[0], "-test.run=^TestLinesOfProcesses$")
			c.Env = append(os.Environ(), "FSMCP_TEST_AUDIT="+name)
			if out, err := c.CombinedOutput(); err != nil {
				t.Errorf("%v: %s", err, out)
			}
		})
	}
	all.Wait()
	seen := map[string]int{}
	files, _ := filepath.Glob(name + "*")
	for _, f := range files {
		for _, l := range lines(t, f) {
			pid, rest, _ := strings.Cut(l, " ")
			if n, _, _ := strings.Cut(rest, " "); n == "" || seen[pid+" "+n] > 0 {
				t.Errorf("%s: %q", f, l)
			} else {
				seen[pid+" "+n]++
			}
		}
	}
	if len(seen) != 2*each || len(files) < 3 {
		t.Errorf("%d lines in %d files", len(seen), len(files))
	}
}

// A missing number is filled before a file goes.
func TestGapIsFilled(t *testing.T) {
	name := filepath.Join(t.TempDir(), "a")
	for n, old := range Names(name) {
		if n == 2 {
			continue
		}
		if err := os.WriteFile(old, []byte(strconv.Itoa(n)+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	l := New(name, 1)
	defer l.Close()
	if err := l.Append([]byte("new")); err != nil {
		t.Fatal(err)
	}
	for n, want := range []string{"new", "0", "1", "3", "4", "5"} {
		if got := lines(t, Names(name)[n]); got[0] != want {
			t.Errorf("%d: %q, want %q", n, got, want)
		}
	}
}
