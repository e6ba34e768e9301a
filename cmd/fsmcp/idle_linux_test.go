package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/fsmcp/fsmcp/internal/app"
	"github.com/fsmcp/fsmcp/internal/mcptest"
	"github.com/fsmcp/fsmcp/internal/shortrun"
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

// timeOfChildren returns the CPU time of a process's ended children.
func timeOfChildren(pid int) time.Duration {
	b, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	var user, system int64 // in hundredths of a second
	fields := strings.Fields(string(b[strings.LastIndexByte(string(b), ')')+1:]))
	fmt.Sscan(fields[13], &user)
	fmt.Sscan(fields[14], &system)
	return time.Duration(user+system) * 10 * time.Millisecond
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

// readsPDF reads as a caller does after the answer that PDFs cannot be read yet.
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
	shortrun.Leave(t, "it compiles PDFium twice")
	t.Parallel()
	cache := t.TempDir()
	begin := time.Now() // before any server's
	one, two := warmed(t, cache), warmed(t, cache)
	for time.Since(begin) < app.IdleAfter {
		if n := len(workersOf(one.client.PID())) + len(workersOf(two.client.PID())); n > 0 && time.Since(begin) < app.IdleAfter {
			t.Fatalf("%d processes were started %v after the start", n, time.Since(begin))
		}
		time.Sleep(50 * time.Millisecond)
	}
	polite := false
	compiled := func(servers ...*fort) func() bool {
		return func() bool {
			for _, f := range servers {
				for _, pid := range workersOf(f.client.PID()) {
					nice, err := syscall.Getpriority(syscall.PRIO_PROCESS, pid)
					polite = polite || err == nil && 20-nice >= 5
				}
			}
			return compiledFile(cache) != ""
		}
	}
	eventually(t, "compiled", compiled(one, two))
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
	eventually(t, "made anew", compiled(three))
	three.readsPDF()
	if !polite {
		t.Error("who compiles does not stand back")
	}
}

// killCompiling kills the process that compiles, once it has compiled for a while. It
// returns whether that had not ended by itself.
func (f *fort) killCompiling() bool {
	f.t.Helper()
	var pids []int
	eventually(f.t, "compiling", func() bool {
		pids = workersOf(f.client.PID())
		return len(pids) == 1
	})
	eventually(f.t, "compiling for a while", func() bool {
		return len(workersOf(f.client.PID())) == 0 || processorTime(pids[0]) >= 300*time.Millisecond
	})
	return syscall.Kill(pids[0], syscall.SIGKILL) == nil
}

// A compiling process that is killed costs nothing but its work: the first PDF
// does it again, and what was left half done is cleared away.
func TestKilledWhileCompiling(t *testing.T) {
	shortrun.Leave(t, "it compiles PDFium twice")
	t.Parallel()
	var f *fort
	var cache string
	for tries := 1; ; tries++ { // a blow may come too late
		cache = t.TempDir()
		f = warmed(t, cache)
		killed := f.killCompiling()
		if compiledFile(cache) == "" {
			if !killed {
				t.Fatalf("it has ended by itself; standard error: %s", f.stderr)
			}
			break
		}
		if tries == 5 {
			t.Fatalf("of %d blows none came before all was compiled", tries)
		}
		f.close()
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
	for begin := time.Now(); time.Since(begin) < app.IdleAfter+1500*time.Millisecond; time.Sleep(50 * time.Millisecond) {
		if n := len(workersOf(unwanted.client.PID())) + len(workersOf(alone.client.PID())); n > 0 {
			t.Fatalf("%d processes were started", n)
		}
	}
	eventually(t, "the log says where nothing can be kept", func() bool {
		return strings.Contains(nowhere.stderr.String(), "cannot be written: "+file)
	})
	eventually(t, "who found that has ended", func() bool { return len(workersOf(nowhere.client.PID())) == 0 })
	if used := timeOfChildren(nowhere.client.PID()); used > time.Second {
		t.Errorf("something is compiled that cannot be kept, for %v of a processor", used)
	} else {
		t.Logf("to find that nothing can be kept took %v of a processor", used)
	}
	if shortrun.Full() {
		nowhere.readsPDF()
	} else { // pdf_cache_that_others_can_write_is_not_used reads one where nothing is kept, either
		t.Log("!!! NOT TESTED: a PDF where a file is in the place of the cache, which compiles PDFium; make faults reads it !!!")
	}
	if left, _ := os.ReadDir(cache); len(left) > 0 {
		t.Errorf("%v was made", left)
	}
}
