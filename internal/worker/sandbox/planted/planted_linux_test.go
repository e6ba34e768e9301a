package main

import (
	"encoding/json"
	"errors"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/fsmcp/fsmcp/internal/worker"
	"github.com/fsmcp/fsmcp/internal/worker/sandbox"
)

// planted builds the decoder, without C code, and returns it with what holds of it.
func planted(t *testing.T) (path string, held sandbox.State) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "planted")
	build := exec.Command("go", "build", "-o", path, ".")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	out, err := exec.Command(path, "media-worker", worker.SandboxWord).Output()
	if err != nil || json.Unmarshal(out, &held) != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return path, held
}

// pool starts the decoder, in the sandbox or, free, out of it.
func pool(t *testing.T, path string, free bool) *worker.Pool {
	o := worker.Options{
		Command: func() (string, []string) { return path, []string{path, "media-worker"} },
		Env:     []string{"GODEBUG=asyncpreemptoff=1"}, // a signal would stop one that is traced
		Size:    1, Deadline: time.Minute, Jobs: 100, Idle: time.Hour,
	}
	if free {
		o.Env = append(o.Env, "FREE=1")
	}
	p := worker.New(o)
	t.Cleanup(p.Close)
	return p
}

// outcome returns the number of the error of a job, "forbidden" if the kernel ended the
// decoder for it, and "gone" if the decoder is another program or has ended.
func outcome(t *testing.T, p *worker.Pool, op, where string) string {
	t.Helper()
	r, err := p.Do(t.Context(), worker.Job{Op: op, Params: where, Body: strings.NewReader("hostile"), Size: 7})
	switch {
	case errors.Is(err, worker.ErrForbidden):
		return "forbidden"
	case errors.Is(err, worker.ErrDied):
		return "gone"
	case err != nil:
		t.Fatalf("%s: %v", op, err)
	}
	return string(r.Result)
}

func number(e syscall.Errno) string { return strconv.Itoa(int(e)) }

// What planted code tries is denied, or ends the decoder. The control: out of the sandbox
// all of it succeeds.
func TestPlantedCodeIsStopped(t *testing.T) {
	path, held := planted(t)
	dir, err := os.MkdirTemp("", "planted") // short: the address of a socket is
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	secret, socket := filepath.Join(dir, "secret"), filepath.Join(dir, "socket")
	if err := os.WriteFile(secret, []byte("secret"), 0o600); err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	denied := number(syscall.EACCES)
	for _, row := range []struct{ op, where, want, free string }{
		{"read", secret, denied, "0"},
		{"read", "/etc/passwd", denied, "0"},
		{"write", filepath.Join(dir, "made"), denied, "0"},
		{"list", dir, denied, "0"},
		{"list", "/usr", "0", "0"}, // libraries and fonts
		{"read", "/proc/self/status", "0", "0"},
		{"connect", socket, "forbidden", "0"},
		{"fork", "", "forbidden", "0"},
		{"exec", "/bin/true", "forbidden", "gone"},
		{"trace", "", "forbidden", "0"},
		{"signal", "", number(syscall.EPERM), "0"},
		{"clone3", "", number(syscall.ENOSYS), number(syscall.EINVAL)},
		{"code", "", "0", "0"}, // which compilers of WebAssembly need
	} {
		files := row.op == "read" || row.op == "write" || row.op == "list"
		if got := outcome(t, pool(t, path, true), row.op, row.where); got != row.free {
			t.Errorf("%s %s out of the sandbox: %s, want %s", row.op, row.where, got, row.free)
		}
		switch {
		case files && !held.Files:
			t.Logf("!!! NOT TESTED: %s: this kernel does not limit files !!!", row.op)
		case !files && !held.Calls:
			t.Logf("!!! NOT TESTED: %s: this kernel does not limit system calls !!!", row.op)
		default:
			if got := outcome(t, pool(t, path, false), row.op, row.where); got != row.want {
				t.Errorf("%s %s: %s, want %s", row.op, row.where, got, row.want)
			}
		}
	}
}

// A job without a body, as that which compiles PDFium into the cache, runs out of the
// sandbox; no job after the first body does.
func TestTheSandboxBeginsWithTheFirstBody(t *testing.T) {
	path, held := planted(t)
	if !held.Files {
		t.Skip("!!! NOT TESTED: this kernel does not limit files !!!")
	}
	p := pool(t, path, false)
	try := func(body string) string {
		t.Helper()
		r, err := p.Do(t.Context(), worker.Job{Op: "read", Params: "/etc/passwd", Body: strings.NewReader(body), Size: int64(len(body))})
		if err != nil {
			t.Fatal(err)
		}
		return string(r.Result)
	}
	got := []string{try(""), try("hostile"), try("")}
	if want := []string{"0", number(syscall.EACCES), number(syscall.EACCES)}; strings.Join(got, " ") != strings.Join(want, " ") {
		t.Errorf("%q, want %q", got, want)
	}
}
