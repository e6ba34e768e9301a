package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/fsmcp/fsmcp/internal/mcptest"
)

// warmed is a server that has a companion, with a cache of its own.
func warmed(t *testing.T, cache string, words ...string) *fort {
	t.Helper()
	media, err := companion()
	if err != nil {
		t.Fatal(err)
	}
	f := newFort(t)
	f.put("a.pdf", string(samplePDF(1, "")))
	f.serve(append([]string{"FSMCP_MEDIA=" + media, "XDG_CACHE_HOME=" + cache}, words...)...)
	return f
}

// workersOf are the workers that a server has started. (With its first process Go
// makes one more, for a moment, to see what the system can do: it is none.)
func workersOf(pid int) (pids []int) {
	for _, child := range mcptest.Children(pid) {
		line, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", child)) // empty: it has ended
		if strings.Contains(string(line), "media-worker") {
			pids = append(pids, child)
		}
	}
	return pids
}

// eventually waits for something that takes as long as the machine lets it.
func eventually(t *testing.T, what string, is func() bool) {
	t.Helper()
	for end := time.Now().Add(150 * time.Second); !is(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%s: never", what)
		}
	}
}

// compiledFile is the one file with compiled code, as it is listed: "" where there
// is none, or not all of it.
func compiledFile(cache string) string {
	list, err := os.ReadFile(filepath.Join(cache, "fsmcp", "pdfium", "list"))
	lines := strings.Split(strings.TrimSpace(string(list)), "\n")
	if err != nil || len(lines) != 2 {
		return ""
	}
	var sum, name string
	var size int64
	fmt.Sscan(lines[1], &sum, &size, &name)
	name = filepath.Join(cache, "fsmcp", "pdfium", name)
	if info, err := os.Stat(name); err != nil || info.Size() != size {
		return ""
	}
	return name
}

// readsPDF does what a caller does who is told that PDFs cannot be read yet.
func (f *fort) readsPDF() {
	f.t.Helper()
	res := f.call("Read", map[string]any{"file_path": f.abs("a.pdf")})
	for tries := 0; res.Slug == "busy" && tries < 5; tries++ {
		f.t.Log(res.Text)
		res = f.call("Read", map[string]any{"file_path": f.abs("a.pdf")})
	}
	if res.IsError || !strings.Contains(res.Text, "This is page 1") {
		f.t.Errorf("%s\nstandard error: %s", clipText(res.Text), f.stderr)
	}
}

// Servers that are idle have PDFium compiled in the background, once for all of
// them, by a process that stands back; at their start they do nothing of the kind.
// What the one leaves the next uses; what is damaged it makes anew.
func TestIdleServersCompileOnce(t *testing.T) {
	t.Parallel()
	cache := t.TempDir()
	one, two := warmed(t, cache), warmed(t, cache)
	begin := time.Now()
	for time.Since(begin) < lullAfter-time.Second {
		if n := len(workersOf(one.client.PID())) + len(workersOf(two.client.PID())); n > 0 {
			t.Fatalf("%d processes were started %v after the start", n, time.Since(begin))
		}
		time.Sleep(50 * time.Millisecond)
	}
	polite := false
	eventually(t, "compiled", func() bool {
		for _, pid := range workersOf(one.client.PID()) {
			nice, err := syscall.Getpriority(syscall.PRIO_PROCESS, pid)
			polite = polite || err == nil && 20-nice >= 10
		}
		return compiledFile(cache) != ""
	})
	if !polite {
		t.Error("it does not stand back")
	}
	file := compiledFile(cache)
	before, err := os.Stat(file)
	one.check(err)
	one.readsPDF()
	two.readsPDF()
	if after, err := os.Stat(file); err != nil || !os.SameFile(before, after) || compiledFile(cache) != file {
		t.Errorf("it was compiled again: %v", err)
	}
	eventually(t, "the compiling processes end", func() bool {
		return len(workersOf(one.client.PID())) == 1 && len(workersOf(two.client.PID())) == 1 // what has read the PDFs
	})
	one.close()
	two.close()

	one.check(os.Truncate(file, before.Size()/2))
	three := warmed(t, cache)
	eventually(t, "made anew", func() bool { return compiledFile(cache) != "" })
	three.readsPDF()
}

// A compiling process that is killed costs nothing but its work: the first PDF
// does it again, and what was left half done is cleared away.
func TestKilledWhileCompiling(t *testing.T) {
	t.Parallel()
	cache := t.TempDir()
	f := warmed(t, cache)
	eventually(t, "compiling", func() bool {
		pids := workersOf(f.client.PID())
		if len(pids) == 1 {
			time.Sleep(300 * time.Millisecond)
			if err := syscall.Kill(pids[0], syscall.SIGKILL); err != nil {
				t.Fatalf("it has ended by itself: %v; standard error: %s", err, f.stderr)
			}
		}
		return len(pids) == 1
	})
	if compiledFile(cache) != "" {
		t.Skip("!!! NOT TESTED: PDFium was compiled before that could be broken off !!!")
	}
	f.readsPDF()
	eventually(t, "compiled after all", func() bool { return compiledFile(cache) != "" })
}

// Where nothing can be kept, nothing is compiled in the background, which the log
// says, and PDFs are read all the same. Nothing is started where there is no companion, or where the
// user does not want it.
func TestNothingIsCompiledInVain(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "a file in the place of the folder")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	cache := t.TempDir()
	nowhere := warmed(t, file)
	unwanted := newFort(t)
	media, err := companion()
	unwanted.check(err)
	unwanted.put(unwanted.home+"/.config/fsmcp/settings.json", `{"pdf": {"warm": false}}`)
	unwanted.serve("FSMCP_MEDIA="+media, "XDG_CACHE_HOME="+cache)
	alone := newFort(t)
	alone.serve("FSMCP_MEDIA=", "XDG_CACHE_HOME="+cache)
	for begin := time.Now(); time.Since(begin) < lullAfter+1500*time.Millisecond; time.Sleep(50 * time.Millisecond) {
		if n := len(workersOf(unwanted.client.PID())) + len(workersOf(alone.client.PID())); n > 0 {
			t.Fatalf("%d processes were started", n)
		}
	}
	if n := len(workersOf(nowhere.client.PID())); n > 0 {
		t.Error("something is compiled that cannot be kept")
	}
	if log := nowhere.stderr.String(); !strings.Contains(log, "cannot be written: "+file) {
		t.Errorf("the log does not say where nothing can be kept: %s", log)
	}
	nowhere.readsPDF()
	if left, _ := os.ReadDir(cache); len(left) > 0 {
		t.Errorf("%v was made", left)
	}
}
