package worker

import (
	"context"
	"os/exec"
	"strings"
	"time"

	"github.com/fsmcp/fsmcp/internal/procgroup"
)

// maxAnswer bounds a program's answer, in bytes.
const maxAnswer = 1 << 10

// Ask runs a program that says what it is, and returns its standard output without
// surrounding blanks. It returns "" if the program fails, writes more than a kilobyte, or
// does not end in time; it then kills the program and everything that it started.
func Ask(path string, args, env []string, within time.Duration) string {
	return ask(path, args, env, procgroup.Limits{}, within)
}

// AskSandbox asks a worker, started as those of a pool are, what is enforced on it: JSON of
// a sandbox.State. c is their cage, or nil.
func AskSandbox(path string, env []string, c *Cage, within time.Duration) string {
	path, argv, _ := c.command(path, []string{path, "media-worker", SandboxWord}, env)
	return ask(path, argv[1:], env, limits(0), within)
}

func ask(path string, args, env []string, l procgroup.Limits, within time.Duration) string {
	const outputTimeout = 100 * time.Millisecond
	ctx, cancel := context.WithTimeout(context.Background(), within)
	defer cancel()
	said := &procgroup.Head{Limit: maxAnswer, Full: cancel}
	cmd := exec.Command(path, args...)
	cmd.Env, cmd.Stdout, cmd.WaitDelay = env, said, outputTimeout
	group, err := procgroup.StartLimited(cmd, l)
	if err != nil {
		return ""
	}
	killed, err := group.Wait(ctx, 2*outputTimeout)
	answer, more := said.Bytes()
	if killed || more || err != nil {
		return ""
	}
	return strings.TrimSpace(string(answer))
}
