package main

import (
	"bufio"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/windows"

	"github.com/fsmcp/fsmcp/internal/worker"
	"github.com/fsmcp/fsmcp/internal/worker/sandbox"
)

// The test program is the decoder, too, and a server that takes connections and says where.
func TestMain(m *testing.M) {
	switch strings.Join(os.Args[1:], " ") {
	case "media-worker", "media-worker " + worker.SandboxWord:
		main()
	case "listen":
		listen()
	default:
		os.Exit(m.Run())
	}
}

func listen() {
	var data windows.WSAData
	_ = windows.WSAStartup(0x202, &data)
	s, err := windows.Socket(windows.AF_INET, windows.SOCK_STREAM, 0)
	if err != nil || windows.Bind(s, &windows.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}) != nil || windows.Listen(s, 5) != nil {
		os.Exit(1)
	}
	at, _ := windows.Getsockname(s)
	println(at.(*windows.SockaddrInet4).Port)
	time.Sleep(time.Hour)
}

// attempt returns the number of the error of a job of a new decoder, which has had a body.
func attempt(t *testing.T, free bool, op, where string) string {
	t.Helper()
	o := worker.Options{
		Command: func() (string, []string) { return os.Args[0], []string{os.Args[0], "media-worker"} },
		Env:     []string{"SYSTEMROOT=" + os.Getenv("SYSTEMROOT")},
		Size:    1, Deadline: time.Minute, Jobs: 100, Idle: time.Hour,
	}
	if free {
		o.Env = append(o.Env, "FREE=1")
	}
	p := worker.New(o)
	defer p.Close()
	r, err := p.Do(t.Context(), worker.Job{Op: op, Params: where, Body: strings.NewReader("hostile"), Size: 7})
	if err != nil {
		t.Fatalf("%s: %v", op, err)
	}
	return string(r.Result)
}

func number(e windows.Errno) string { return strconv.Itoa(int(e)) }

// What planted code tries is denied, as far as this system enforces it: Wine ignores
// integrity levels and the limits of jobs. It may read files and connect: that is not
// limited on Windows. The control: out of the sandbox all of it succeeds.
func TestPlantedCodeIsStopped(t *testing.T) {
	var held sandbox.State
	answer := worker.AskSandbox(os.Args[0], []string{"SYSTEMROOT=" + os.Getenv("SYSTEMROOT")}, nil, time.Minute)
	if err := json.Unmarshal([]byte(answer), &held); err != nil {
		t.Fatalf("%q: %v", answer, err)
	}
	t.Logf("held: %s", answer)
	server := exec.Command(os.Args[0], "listen")
	said, err := server.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	defer server.Process.Kill()
	port, err := bufio.NewReader(said).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	secret := filepath.Join(dir, "secret")
	if err := os.WriteFile(secret, []byte("secret"), 0o600); err != nil {
		t.Fatal(err)
	}
	denied := number(windows.ERROR_ACCESS_DENIED)
	for _, row := range []struct {
		op, where, want string
		enforced        bool
	}{
		{"privileges", "", number(windows.ERROR_PRIVILEGE_NOT_HELD), held.Privileges},
		{"write", filepath.Join(dir, "made"), denied, held.Writes},
		{"write", secret, denied, held.Writes},
		{"open parent", "", denied, held.Writes},
		{"start", os.Args[0], number(windows.ERROR_NOT_ENOUGH_QUOTA), held.Programs},
		{"read", secret, "0", true},
		{"connect", strings.TrimSpace(port), "0", true},
		{"code", "", "0", true}, // which the compiler of WebAssembly needs
	} {
		// The decoder in the control arm has the job, too: it is the pool's.
		if got := attempt(t, true, row.op, row.where); got != "0" && (row.op != "start" || got != row.want) {
			t.Errorf("%s %s out of the sandbox: %s", row.op, row.where, got)
		}
		got := attempt(t, false, row.op, row.where)
		switch {
		case row.enforced && got != row.want:
			t.Errorf("%s %s: %s, want %s", row.op, row.where, got, row.want)
		case !row.enforced:
			t.Logf("!!! NOT TESTED: %s: this system does not enforce it (%s) !!!", row.op, got)
		}
	}
	if !held.Privileges {
		t.Error("its privileges are not given up")
	}
}
