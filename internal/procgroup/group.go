// Package procgroup runs a command as the first process of a group, so that it is killed
// with all that it starts, also when a signal ends this process. On Linux the command also
// ends when this process dies.
//
// It does not reach a process that leaves the group (setsid).
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

// Start starts a command as the first process of a group.
func Start(cmd *exec.Cmd) (*Group, error) {
	cmd.SysProcAttr = ownGroup()
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	return &Group{cmd, gather(cmd.Process)}, nil
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
