package worker

import (
	"context"
	"errors"
	"os/exec"
	"strings"
	"time"
)

// maxAnswer bounds a program's answer, in bytes.
const maxAnswer = 1 << 10

// Ask runs a program that says what it is, and returns its standard output without
// surrounding blanks. It returns "" if the program fails, writes more than a kilobyte, or
// does not end in time; it then kills the program and everything that it started.
func Ask(path string, args, env []string, within time.Duration) string {
	ctx, cancel := context.WithTimeout(context.Background(), within)
	defer cancel()
	cmd := exec.CommandContext(ctx, path, args...)
	var said bounded
	cmd.Env, cmd.Stdout, cmd.SysProcAttr, cmd.WaitDelay = env, &said, apart(), 100*time.Millisecond
	cmd.Cancel = func() error {
		killAll(cmd.Process)
		return nil
	}
	if cmd.Run() != nil {
		return ""
	}
	return strings.TrimSpace(string(said))
}

// bounded accepts writes as long as there is room.
type bounded []byte

func (b *bounded) Write(p []byte) (int, error) {
	if len(*b)+len(p) > maxAnswer {
		return 0, errors.New("worker: too much is said")
	}
	*b = append(*b, p...)
	return len(p), nil
}
