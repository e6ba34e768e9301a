package lsp

import (
	"context"
	"io"
	"os/exec"
	"time"

	"github.com/fsmcp/fsmcp/internal/procgroup"
)

// program is a running language server.
type program struct {
	in  io.WriteCloser // the server's standard input
	out io.ReadCloser  // its standard output
	// kill ends the process with its group at once. It comes before wait: until then the
	// group's number is not given to others.
	kill func()
	// wait returns once the process has ended.
	wait func()
}

// startProgram starts a program as a group of processes.
func startProgram(cmd *exec.Cmd) (*program, error) {
	cmd.WaitDelay = 200 * time.Millisecond // for the standard error of a process that has ended
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	group, err := procgroup.Start(cmd)
	if err != nil {
		return nil, err
	}
	return &program{in, out, group.Kill, func() { _, _ = group.Wait(context.Background(), 0) }}, nil
}
