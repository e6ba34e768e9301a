//go:build linux

package faults

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"sort"
	"strings"
	"testing"
	"time"
)

// needStrace is loud where system calls cannot be tampered with.
func needStrace(t *testing.T) {
	t.Helper()
	out, err := exec.Command("strace", "-f", "--seccomp-bpf", "-o", os.DevNull, "true").CombinedOutput()
	if err != nil {
		t.Skipf("!!! NOT TESTED: strace does not work here (%v) !!! %s", err, out)
	}
}

// one is a change of one small file by "fsmcp call", a process of its own.
type one struct {
	p    place
	file string
	old  []byte
	new  []byte
}

func newOne(t *testing.T) one {
	p := newPlace(t)
	o := one{p: p, file: p.file("a.txt"), old: content(1, 1<<10), new: content(2, 1<<10)}
	must(t, os.WriteFile(o.file, o.old, 0o640))
	return o
}

// outcome holds the output of the process and its end.
type outcome struct {
	acked, refused bool
	killed         bool
	said           string
	trace          []byte
}

// change runs a Read and an Edit of the file under strace with some tampering
// and tells what was answered.
func (o one) change(t *testing.T, inject ...string) outcome {
	t.Helper()
	traceFile := filepath.Join(o.p.home, "trace")
	readArgs, _ := json.Marshal(args{"file_path": o.file})
	editArgs, _ := json.Marshal(args{"file_path": o.file, "old_string": firstLine(1, 1<<10), "new_string": firstLine(2, 1<<10)})
	argv := append([]string{"-f", "--seccomp-bpf", "-qq", "-o", traceFile}, inject...)
	argv = append(argv, fsmcp, "call", "--json", "--dir", o.p.ws, "Read", string(readArgs), "Edit", string(editArgs))
	cmd := exec.Command("strace", argv...)
	cmd.Env = o.p.env("GOMAXPROCS=2")
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	must(t, cmd.Start())
	done := make(chan error, 1)
	go func() { done <- cmd.Wait() }()
	var err error
	select {
	case err = <-done:
	case <-time.After(60 * time.Second):
		cmd.Process.Kill()
		t.Errorf("%v: no end within 60 s", inject)
		err = <-done
	}
	out := outcome{said: stdout.String() + stderr.String()}
	out.acked = strings.Contains(stdout.String(), "has been updated.")
	out.refused = strings.Contains(stdout.String(), `"isError":true`) || strings.Contains(stdout.String(), `"isError": true`)
	var exit *exec.ExitError
	out.killed = errors.As(err, &exit) && exit.ExitCode() == -1 || strings.Contains(fmt.Sprint(err), "137")
	out.trace, _ = os.ReadFile(traceFile)
	return out
}

// state reports whether the file is wholly old or wholly new.
func (o one) state(t *testing.T) string {
	t.Helper()
	b, err := os.ReadFile(o.file)
	switch {
	case err != nil:
		return err.Error()
	case bytes.Equal(b, o.old):
		return "old"
	case bytes.Equal(b, o.new):
		return "new"
	}
	return fmt.Sprintf("torn: %d bytes", len(b))
}

// nextStart lets a server start and end, and tells what is left in the folder.
func (o one) nextStart(t *testing.T) []string {
	t.Helper()
	c := o.p.start(t)
	mustCall(t, c, "Read", args{"file_path": o.file, "limit": 1})
	left := noStrays(t, o.p.ws, func(n string) bool { return n == "a.txt" })
	must(t, c.Close())
	return left
}

// reset puts the file back as it was.
func (o one) reset(t *testing.T) {
	t.Helper()
	os.Remove(o.file)
	must(t, os.WriteFile(o.file, o.old, 0o640))
	for _, name := range strays(t, o.p.ws, func(n string) bool { return n == "a.txt" }) {
		os.RemoveAll(o.p.file(name))
	}
}

var traced = regexp.MustCompile(`(?m)^\d+ +([a-z0-9_]+)\(`)

// calls counts the system calls of one undisturbed change, by name.
func (o one) calls(t *testing.T) map[string]int {
	t.Helper()
	done := o.change(t)
	if !done.acked || o.state(t) != "new" {
		t.Fatalf("undisturbed, the change answered: %s", clip(done.said))
	}
	o.reset(t)
	n := map[string]int{}
	for _, m := range traced.FindAllSubmatch(done.trace, -1) {
		n[string(m[1])]++
	}
	return n
}

// quiet are calls that say nothing of the file: memory, threads, time.
var quiet = regexp.MustCompile(`^(mmap|munmap|madvise|mprotect|brk|rt_sig.*|sigaltstack|futex|clone.*|sched_.*|nanosleep|getpid|gettid|tgkill|arch_prctl|set_.*|rseq|prlimit64|epoll_.*|eventfd2|pipe2|exit.*|getrandom|prctl|uname|execve|sysinfo|timer_.*|restart_syscall|get.id|gete.id)$`)

// TestKillAtEverySystemCall kills one change at the first, second, third ...
// of each system call it makes.
func TestKillAtEverySystemCall(t *testing.T) {
	needStrace(t)
	o := newOne(t)
	perCall := count(t, "FSMCP_STRACE_PER_CALL", 2)
	byName := o.calls(t)
	kills, torn, lost, stray, olds, news := 0, 0, 0, 0, 0, 0
	for _, name := range sortedKeys(byName) {
		if quiet.MatchString(name) {
			continue
		}
		for when := 1; when <= min(byName[name], perCall); when++ {
			out := o.change(t, "-e", fmt.Sprintf("inject=%s:signal=KILL:when=%d", name, when))
			where := fmt.Sprintf("killed at %s %d", name, when)
			if out.killed {
				kills++
			}
			switch state := o.state(t); {
			case state == "old" && out.acked:
				lost++
				t.Errorf("%s: reported as done and not there", where)
			case state == "old":
				olds++
			case state == "new":
				news++
			default:
				torn++
				t.Errorf("%s: the file is %s", where, state)
			}
			if left := o.nextStart(t); len(left) > 0 {
				stray++
				t.Errorf("%s: after the next start there are %q", where, left)
			}
			if state := o.state(t); state != "old" && state != "new" {
				t.Errorf("%s: after the next start the file is %s", where, state)
			}
			o.reset(t)
		}
	}
	if kills == 0 || olds == 0 || news == 0 {
		t.Errorf("%d kills, %d times old, %d times new: the kills did not hit the change", kills, olds, news)
	}
	report(t, "%d kills (%d old, %d new): %d torn, %d acknowledged lost, %d with stray files after the next start", kills, olds, news, torn, lost, stray)
}

// errnos lists possible errors of system calls.
var errnos = []string{"ENOSPC", "EDQUOT", "EIO", "EACCES", "EPERM", "EROFS", "EXDEV", "EBUSY", "EMFILE", "EINTR", "ENOMEM", "EINVAL", "ENOSYS", "EOPNOTSUPP"}

// tampered are the calls by which a file is changed, where they are made.
var tampered = []string{"openat", "openat2", "write", "pwrite64", "read", "pread64", "fsync", "fdatasync", "linkat", "renameat2", "renameat", "unlinkat",
	"mkdirat", "fchmod", "fchown", "fcntl", "flock", "ftruncate", "fstat", "newfstatat", "statx", "copy_file_range", "fsetxattr", "flistxattr", "fgetxattr", "fstatfs", "lseek", "readlinkat", "close", "getdents64"}

// TestEveryErrorOfEveryCall lets each call of one change fail with each errno:
// the file is wholly old or new, the answer tells the truth, and nothing is
// left in the folder.
func TestEveryErrorOfEveryCall(t *testing.T) {
	needStrace(t)
	o := newOne(t)
	cells := count(t, "FSMCP_STRACE_CELLS", 30)
	byName := o.calls(t)
	type cell struct{ call, errno, inject string }
	var all []cell
	for _, name := range tampered {
		for when := 1; when <= min(byName[name], 12); when++ {
			for _, errno := range errnos {
				all = append(all, cell{name, errno, fmt.Sprintf("inject=%s:error=%s:when=%d", name, errno, when)})
			}
		}
	}
	step := max(1, len(all)/cells)
	done, torn, lies, stray, hits := 0, 0, 0, 0, 0
	for i := int(time.Now().UnixNano()) % step; i < len(all); i += step {
		inject := all[i].inject
		out := o.change(t, "-e", inject)
		done++
		if bytes.Contains(out.trace, []byte("(INJECTED)")) {
			hits++
		}
		state := o.state(t)
		switch {
		case state != "old" && state != "new":
			torn++
			t.Errorf("%s: the file is %s", inject, state)
		case out.acked && state == "old":
			lies++
			t.Errorf("%s: reported as done, and the file is old", inject)
		case out.refused && !out.acked && state == "new":
			lies++
			t.Errorf("%s: reported as failed, and the file is new: %s", inject, clip(out.said))
		}
		if left := strays(t, o.p.ws, func(n string) bool { return n == "a.txt" }); len(left) > 0 {
			// A temp may outlive an error of the very call that removes it, or
			// of a process that could not even start; the next start takes it.
			if left = o.nextStart(t); len(left) > 0 {
				stray++
				t.Errorf("%s: after the next start there are %q", inject, left)
			}
		}
		o.reset(t)
	}
	if hits < done/2 {
		t.Errorf("only %d of %d cells met a call", hits, done)
	}
	report(t, "%d of %d cells (%d met a call): %d torn, %d untrue answers, %d with stray files", done, len(all), hits, torn, lies, stray)
}

func sortedKeys(m map[string]int) []string {
	var keys []string
	for k := range m {
		keys = append(keys, k)
	}
	sort.Strings(keys)
	return keys
}

// TestNaiveChangeIsTornByStrace is the control arm: a shell that writes in
// place, killed at a system call of its writing, leaves neither old nor new.
func TestNaiveChangeIsTornByStrace(t *testing.T) {
	needStrace(t)
	o := newOne(t)
	torn := 0
	for when := 1; when <= 4; when++ {
		cmd := exec.Command("strace", "-f", "-qq", "-o", os.DevNull, "-e", fmt.Sprintf("inject=write:signal=KILL:when=%d", when),
			"sh", "-c", `printf 'generation=2 ' > "$1"; printf 'size=1024 ' >> "$1"; printf 'rest' >> "$1"`, "sh", o.file)
		_ = cmd.Run()
		if s := o.state(t); s != "old" && s != "new" {
			torn++
		}
		o.reset(t)
	}
	if torn == 0 {
		t.Error("the naive change was never torn: the test proves nothing")
	}
	report(t, "a naive change was torn by %d of 4 kills", torn)
}
