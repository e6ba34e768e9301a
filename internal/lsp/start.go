package lsp

import (
	"context"
	"os/exec"
	"slices"
	"time"

	"github.com/fsmcp/fsmcp/internal/procgroup"
)

// outputTimeout bounds the wait for the standard error of a process that has ended.
const outputTimeout = 200 * time.Millisecond

// startProcess starts a program as a group of processes.
func startProcess(l Launch) (*Process, error) {
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
	group, err := procgroup.Start(cmd)
	if err != nil {
		return nil, err
	}
	wait := func() { _, _ = group.Wait(context.Background(), 0) }
	return &Process{In: in, Out: out, Kill: group.Kill, Wait: wait}, nil
}
