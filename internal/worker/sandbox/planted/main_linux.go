// Command planted is a decoder as an attacker would like it, for tests alone: its jobs open
// files, connect, start processes and trace. FREE=1 in its environment keeps it out of the
// sandbox, the control arm.
package main

import (
	"encoding/json"
	"errors"
	"os"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/fsmcp/fsmcp/internal/worker"
)

func main() {
	if os.Getenv("FREE") != "" && strings.Join(os.Args[1:], " ") == "media-worker" {
		if worker.Serve(os.Stdin, os.Stdout, attack, func() { os.Exit(0) }) != nil {
			os.Exit(1)
		}
		return
	}
	program := worker.Program{
		Name:    "planted",
		Version: func() string { return "planted" },
		Handler: func() worker.Handler { return attack },
	}
	os.Exit(program.Main(os.Args[1:]))
}

// attack does what a job's name says, and answers with the number of its error. A picture,
// whatever it shows, opens a connection.
func attack(t worker.Task) (worker.HandlerResult, error) {
	var where string
	if t.Op != "picture" && json.Unmarshal(t.Params, &where) != nil {
		return worker.HandlerResult{}, errors.New("the job names no place")
	}
	var failed error
	switch t.Op {
	case "read":
		_, failed = os.ReadFile(where)
	case "write":
		failed = os.WriteFile(where, []byte("planted"), 0o600)
	case "list":
		_, failed = os.ReadDir(where)
	case "connect", "picture":
		failed = connect(where)
	case "fork":
		failed = fork()
	case "exec":
		failed = syscall.Exec(where, []string{where}, nil)
	case "trace":
		failed = call(unix.SYS_PTRACE, unix.PTRACE_TRACEME)
	case "signal":
		failed = unix.Kill(os.Getppid(), 0)
	case "clone3":
		failed = call(unix.SYS_CLONE3, 0)
	case "code":
		failed = executable()
	}
	var number syscall.Errno
	errors.As(failed, &number)
	return worker.HandlerResult{Value: int(number)}, nil
}

func call(number, argument uintptr) error {
	if _, _, errno := unix.RawSyscall(number, argument, 0, 0); errno != 0 {
		return errno
	}
	return nil
}

// connect connects to a socket in the file system.
func connect(where string) error {
	fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	return unix.Connect(fd, &unix.SockaddrUnix{Name: where})
}

// fork makes a process that ends at once.
func fork() error {
	child, _, errno := unix.RawSyscall6(unix.SYS_CLONE, uintptr(unix.SIGCHLD), 0, 0, 0, 0, 0)
	if errno != 0 {
		return errno
	}
	if child == 0 {
		unix.RawSyscall(unix.SYS_EXIT_GROUP, 0, 0, 0)
	}
	_, err := unix.Wait4(int(child), nil, 0, nil)
	return err
}

// executable makes memory executable, as a compiler does.
func executable() error {
	page, err := unix.Mmap(-1, 0, os.Getpagesize(), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON)
	if err != nil {
		return err
	}
	defer unix.Munmap(page)
	return unix.Mprotect(page, unix.PROT_READ|unix.PROT_EXEC)
}
