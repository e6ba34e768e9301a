package worker

import (
	"context"
	"errors"
	"os/exec"
	"strings"
	"time"
)

// mostSaid bounds what a program that is asked may say, in bytes.
const mostSaid = 1 << 10

// Ask has a program say what it is, and returns what it writes to standard output,
// without the blanks around it. It is empty where the program fails, says more than
// a kilobyte, or has not ended within the time; it is killed then, with all that it
// has started.
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

// bounded takes what is written as long as there is room.
type bounded []byte

func (b *bounded) Write(p []byte) (int, error) {
	if len(*b)+len(p) > mostSaid {
		return 0, errors.New("worker: too much is said")
	}
	*b = append(*b, p...)
	return len(p), nil
}
