package lsp

import (
	"io"
	"os/exec"
	"slices"
	"time"

	"github.com/fsmcp/fsmcp/internal/procgroup"
)

// running is a process of the system.
type running struct {
	cmd   *exec.Cmd
	group *procgroup.Group
	in    io.WriteCloser
	out   io.ReadCloser
}

// outputTimeout bounds the wait for the standard error of a process that has ended.
const outputTimeout = 200 * time.Millisecond

// startProcess starts a program as a group of processes.
func startProcess(l Launch) (Process, error) {
	cmd := exec.Command(l.Program, l.Args...)
	cmd.Dir, cmd.Env, cmd.WaitDelay = l.Dir, l.Env, outputTimeout
	if cmd.Env != nil {
		cmd.Env = append(slices.Clip(cmd.Env), "PWD="+l.Dir)
	}
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	group := procgroup.New(cmd)
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	group.Gather()
	return &running{cmd, group, in, out}, nil
}

// In implements Process.
func (r *running) In() io.WriteCloser { return r.in }

// Out implements Process.
func (r *running) Out() io.ReadCloser { return r.out }

// Kill implements Process. It comes before Wait: until then the group's number is not given
// to others.
func (r *running) Kill() { r.group.Kill() }

// Wait implements Process.
func (r *running) Wait() {
	_ = r.cmd.Wait()
	r.group.Close()
}
