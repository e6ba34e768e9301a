//go:build linux

package faults

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/fsmcp/fsmcp/internal/mcptest"
)

// five is a MultiEdit of five small files by "fsmcp call".
type five struct {
	p     place
	files []string
}

const fiveSize = 1 << 10

func newFive(t *testing.T) five {
	f := five{p: newPlace(t)}
	for i := range 5 {
		f.files = append(f.files, f.p.file(fmt.Sprintf("f%d.txt", i)))
	}
	f.reset(t)
	return f
}

func (f five) reset(t *testing.T) {
	t.Helper()
	for _, name := range strays(t, f.p.ws, func(string) bool { return false }) {
		os.RemoveAll(f.p.file(name))
	}
	for _, file := range f.files {
		must(t, os.WriteFile(file, content(1, fiveSize), 0o640))
	}
}

// change reads and edits the files under strace, and returns what was answered and the trace.
func (f five) change(t *testing.T, inject ...string) (said string, trace []byte) {
	t.Helper()
	traceFile := filepath.Join(f.p.home, "trace")
	argv := append([]string{"-f", "-qq", "-o", traceFile}, inject...)
	argv = append(argv, fsmcp, "call", "--json", "--tools", "all", "--dir", f.p.ws)
	var edits []args
	for _, file := range f.files {
		read, _ := json.Marshal(args{"file_path": file, "limit": 2})
		argv = append(argv, "Read", string(read))
		edits = append(edits, args{"file_path": file, "old_string": firstLine(1, fiveSize), "new_string": firstLine(2, fiveSize)})
	}
	many, _ := json.Marshal(args{"edits": edits})
	cmd := exec.Command("strace", append(argv, "MultiEdit", string(many))...)
	cmd.Env = f.p.env("GOMAXPROCS=2")
	out, _ := cmd.CombinedOutput()
	trace, _ = os.ReadFile(traceFile)
	return string(out), trace
}

// generations returns the generation of each file; 0 for one that is torn or gone.
func (f five) generations(t *testing.T) (all []int) {
	t.Helper()
	for _, file := range f.files {
		b, _ := os.ReadFile(file)
		gen, ok := whole(b, fiveSize)
		if !ok {
			gen = 0
		}
		all = append(all, gen)
	}
	return all
}

// TestKillMultiEditAtEverySystemCall kills a MultiEdit of five files at the first, second ... of
// each system call. Each file is wholly old or wholly new, the files before a new one are new,
// what was answered stays, the history knows each new file, and the next start leaves nothing.
func TestKillMultiEditAtEverySystemCall(t *testing.T) {
	needStrace(t)
	if os.Getenv("FSMCP_STRACE_PER_CALL") == "" {
		t.Skip("!!! NOT TESTED: it was not seen to end within nine minutes; make faults runs it !!!")
	}
	f := newFive(t)
	perCall := count(t, "FSMCP_STRACE_PER_CALL", 3)
	said, trace := f.change(t)
	if strings.Count(said, "has been updated") != 5 {
		t.Fatalf("undisturbed, the call answered: %s", clip(said))
	}
	calls := map[string]int{}
	for _, m := range traced.FindAllSubmatch(trace, -1) {
		calls[string(m[1])]++
	}
	kills, between, torn := 0, 0, 0
	for _, name := range sortedKeys(calls) {
		if quiet.MatchString(name) {
			continue
		}
		step := max(1, calls[name]/perCall)
		for when := 1; when <= calls[name]; when += step {
			f.reset(t)
			had := f.newStates(t)
			said, _ := f.change(t, "-e", fmt.Sprintf("inject=%s:signal=KILL:when=%d", name, when))
			where := fmt.Sprintf("killed at %s %d", name, when)
			acked := strings.Count(said, "has been updated") == 5
			c := f.p.start(t) // the next start mends what is half done
			mustCall(t, c, "Read", args{"file_path": f.files[0], "limit": 1})
			must(t, c.Close())
			news := 0
			for i, gen := range f.generations(t) {
				switch {
				case gen == 0:
					torn++
					t.Errorf("%s: file %d is torn", where, i)
				case gen == 2 && news < i:
					t.Errorf("%s: file %d is new, and one before it is old", where, i)
				case gen == 2:
					news++
				}
			}
			if acked && news != 5 {
				t.Errorf("%s: reported as done, and %d of 5 are", where, news)
			}
			if now := f.newStates(t); now < had+news {
				t.Errorf("%s: %d files are new, and the history has %d changes more", where, news, now-had)
			}
			if left := noStrays(t, f.p.ws, func(n string) bool { return strings.HasPrefix(n, "f") && strings.HasSuffix(n, ".txt") }); len(left) > 0 {
				t.Errorf("%s: after the next start there are %q", where, left)
			}
			if kills++; news > 0 && news < 5 {
				between++
			}
		}
	}
	if between == 0 {
		t.Error("no kill came between two files: the control arm failed")
	}
	report(t, "%d kills, %d between two of the files, %d torn", kills, between, torn)
}

// newStates counts the changes of the files in the history.
func (f five) newStates(t *testing.T) (n int) {
	t.Helper()
	for _, k := range f.p.listed(t) {
		if filepath.Dir(k.Path) == f.p.ws {
			n++
		}
	}
	return n
}

// TestServersMultiEditTheSameFiles has two servers make MultiEdits of the same three files, each
// of its own lines: none is lost, and no file has a part of one call alone.
func TestServersMultiEditTheSameFiles(t *testing.T) {
	edits := count(t, "FSMCP_MULTIEDITS", 40)
	p := newPlace(t)
	var files []string
	var text strings.Builder
	for i := range edits {
		fmt.Fprintf(&text, "a%d old\nb%d old\n", i, i)
	}
	for i := range 3 {
		files = append(files, p.file(fmt.Sprintf("m%d.txt", i)))
		must(t, os.WriteFile(files[i], []byte(text.String()), 0o666))
	}
	var wg sync.WaitGroup
	refused := make([]int, 2)
	for s, who := range []string{"a", "b"} {
		c := p.start(t, "FSMCP_TOOLS=all")
		defer c.Close()
		for _, file := range files {
			mustCall(t, c, "Read", args{"file_path": file})
		}
		wg.Go(func() { refused[s] = manyEditor(t, c, files, who, edits) })
	}
	wg.Wait()
	for _, file := range files {
		if left := bytes.Count(read(t, file), []byte(" old")); left > 0 {
			t.Errorf("%s: %d edits were lost", file, left)
		}
		if n := bytes.Count(read(t, file), []byte(" new")); n != 2*edits {
			t.Errorf("%s: %d edits are there, not %d", file, n, 2*edits)
		}
	}
	report(t, "2 servers x %d MultiEdits of 3 files, %d and %d calls were refused and repeated", edits, refused[0], refused[1])
}

// manyEditor makes the edits of one server, each until it is reported as done.
func manyEditor(t *testing.T, c *mcptest.Client, files []string, who string, edits int) (refused int) {
	for i := range edits {
		var list []args
		for f := range files { // each call names them in another order
			list = append(list, args{"file_path": files[(f+i)%len(files)], "old_string": fmt.Sprintf("%s%d old\n", who, i), "new_string": fmt.Sprintf("%s%d new\n", who, i)})
		}
		for try := 0; ; try++ {
			res, err := c.Call("MultiEdit", args{"edits": list})
			if err != nil || try > 200 {
				t.Errorf("%s%d: %v after %d tries: %s", who, i, err, try, clip(res.Text))
				return refused
			}
			if !res.IsError {
				break
			}
			if refused++; res.Slug != "modified" && res.Slug != "busy" {
				t.Errorf("%s%d: %d %s", who, i, res.Code, clip(res.Text))
				return refused
			}
		}
	}
	return refused
}
