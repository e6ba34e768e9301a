package fsys

import (
	"os"
	"os/exec"
	"regexp"
	"runtime/debug"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

func descriptors(t *testing.T) []string {
	t.Helper()
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	var open []string
	for _, e := range entries {
		to, _ := os.Readlink("/proc/self/fd/" + e.Name())
		open = append(open, e.Name()+" "+to)
	}
	return open
}

// TestNoDescriptorLeaks walks every way in and out, errors included.
func TestNoDescriptorLeaks(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(-1)) // no finalizer may hide a leak
	y := newYard(t)
	y.file("ws/a", "x")
	y.file("ws/d/b", "x")
	y.link("ws/l", "d/b")
	y.link("ws/dl", "d")
	y.link("ws/loop", "loop")
	y.link("ws/up", "d/../a")
	y.link("ws/upfile", "a/../d")
	y.link("ws/upnothing", "no/../d")
	y.link("ws/spelt", "a/")
	y.link("ws/dangling", "no/new")
	y.link("ws/long", strings.Repeat("n", 256))
	y.must(unix.Mkfifo(y.at("ws/p"), 0o644))
	names := []string{"ws/a", "ws/l", "ws/dl/b", "ws/d", "ws", "/", "ws/loop", "ws/up", "ws/upfile", "ws/upnothing", "ws/spelt",
		"ws/dangling", "ws/long", "ws/p", "ws/a/x", "ws/new", "ws/new/x", "ws/l/x", "ws/p/x", "/dev/null", "/proc/self/exe"}
	before := descriptors(t)
	everyWay(t, func(t *testing.T, r *Resolver) {
		for _, name := range names {
			for _, swapped := range []bool{false, true} {
				target, _ := r.Resolve(y.path(name))
				if swapped {
					y.must(os.Rename(y.at("ws"), y.at("ws2")))
				}
				if f, err := target.Open(); err == nil {
					f.ReadAll(1 << 20)
					f.ReadAll(0)
					f.Close()
					f.Close()
				}
				target.Entries(1)
				target.Siblings(1)
				target.ParentID()
				target.Close()
				target.Close()
				if swapped {
					y.must(os.Rename(y.at("ws2"), y.at("ws")))
				}
			}
		}
		for _, name := range []string{"ws", "ws/dl", "ws/loop", "ws/no"} {
			NewResolver().Names(y.at(name))
		}
	})
	if after := descriptors(t); len(after) != len(before) {
		t.Errorf("open before %q, after %q", before, after)
	}
}

// maxReadCalls bounds the system calls of a usual read.
const maxReadCalls = 7

// TestReadCalls counts the system calls of the usual read, under strace where
// there is one: between two failing calls that mark it.
func TestReadCalls(t *testing.T) {
	if portable {
		t.Skip("!!! NOT TESTED: the figure is that of Linux's own way to read !!!")
	}
	const mark = "/nonexistent/mark"
	if os.Getenv("FSMCP_COUNTED") != "" {
		y := newYard(t)
		y.file("a", strings.Repeat("x", 1024))
		r := NewResolver()
		readOnce := func() {
			target, err := r.Resolve(y.path("a"))
			y.must(err)
			content, err := y.read(target)
			if len(content) != 1024 {
				t.Fatal(err)
			}
			target.Close()
		}
		readOnce()
		os.Remove(mark)
		readOnce()
		os.Remove(mark)
		return
	}
	strace, err := exec.LookPath("strace")
	if err != nil {
		t.Skip("!!! NOT TESTED: strace is missing !!!")
	}
	command := exec.Command(strace, "-f", "-e", "trace=file,desc", "-e", "signal=none", os.Args[0], "-test.run=^TestReadCalls$")
	command.Env = append(os.Environ(), "FSMCP_COUNTED=1")
	trace, err := command.CombinedOutput()
	if err != nil {
		t.Skipf("!!! NOT TESTED: strace does not work here: %v !!!\n%s", err, trace)
	}
	parts := regexp.MustCompile(`(?m)^.*rmdir\("`+mark+`"|unlinkat\(AT_FDCWD, "`+mark+`", AT_REMOVEDIR`).Split(string(trace), -1)
	if len(parts) != 3 {
		t.Skipf("!!! NOT TESTED: %d marks in the trace !!!\n%s", len(parts)-1, trace)
	}
	calls := regexp.MustCompile(`(?m)^(?:\[pid +\d+\] )?(openat2|openat|fstat|statfs|newfstatat|readlinkat|pread64|read|close|fcntl|lseek)\(.*$`).FindAllString(parts[1], -1)
	if len(calls) == 0 || len(calls) > maxReadCalls {
		t.Errorf("%d calls:\n%s", len(calls), strings.Join(calls, "\n"))
	}
	t.Logf("%d calls:\n%s", len(calls), strings.Join(calls, "\n"))
}
