// Package procgroup runs a command as the first process of a group, so that it is killed
// with all that it starts, also when a signal ends this process. On Linux the command also
// ends when this process dies, on Windows the command and all that it started, also what it
// left running.
//
// It does not reach a process that leaves the group (setsid, CREATE_BREAKAWAY_FROM_JOB).
package procgroup

import (
	"context"
	"os/exec"
	"time"
)

// Group is a command with all that it starts.
type Group struct {
	cmd *exec.Cmd
	job job
}

// Limits bound a group of one process, which then also has a low priority. They hold on
// Windows alone: elsewhere a process bounds itself. The zero value means no limits.
type Limits struct {
	Memory int64         // in bytes, as the system promises it to the process
	Time   time.Duration // of the processors, since the start or RenewTime
}

// Start starts a command as the first process of a group. The error is an *ArgumentError if
// an argument would be read as syntax of a shell.
func Start(cmd *exec.Cmd) (*Group, error) { return StartLimited(cmd, Limits{}) }

// StartLimited is Start with limits.
func StartLimited(cmd *exec.Cmd, l Limits) (*Group, error) {
	if err := prepare(cmd); err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	made, err := gather(cmd.Process, l)
	if err != nil {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		return nil, err
	}
	return &Group{cmd, made}, nil
}

// Wait waits for the command to end; what it started may go on. If ctx ends first, Wait
// kills the group, and gives up after timeout: a process may hang in the kernel. It is
// called once.
func (g *Group) Wait(ctx context.Context, timeout time.Duration) (killed bool, err error) {
	defer g.job.close()
	ended := make(chan error, 1)
	go func() { ended <- g.cmd.Wait() }()
	select {
	case err = <-ended:
		return false, err
	case <-ctx.Done():
	}
	g.Kill()
	select {
	case <-ended:
	case <-time.After(timeout):
	}
	return true, nil
}
