package worker

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync"
	"time"
)

// process is one worker.
type process struct {
	cmd    *exec.Cmd
	in     io.WriteCloser
	out    *bufio.Reader
	stderr *tail
	gone   chan struct{} // closed when it has ended
	jobs   int
	rest   *time.Timer // while it is idle
}

// launch starts a worker.
func launch(o Options) (*process, error) {
	path, argv := o.Command()
	cmd := &exec.Cmd{Path: path, Args: argv, Env: o.Env, SysProcAttr: apart()}
	if cmd.Env == nil {
		cmd.Env = []string{}
	}
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrStart, err)
	}
	out, writer, err := os.Pipe() // Wait would close the one of StdoutPipe too soon
	if err != nil {
		in.Close()
		return nil, fmt.Errorf("%w: %w", ErrStart, err)
	}
	widen(in)
	widen(out)
	w := &process{cmd: cmd, in: in, out: bufio.NewReaderSize(out, 64<<10), stderr: new(tail), gone: make(chan struct{})}
	cmd.Stdout, cmd.Stderr = writer, w.stderr
	err = cmd.Start()
	writer.Close()
	if err != nil {
		in.Close()
		out.Close()
		return nil, fmt.Errorf("%w: %w", ErrStart, err)
	}
	go func() {
		cmd.Wait()
		out.Close()
		close(w.gone)
	}()
	return w, nil
}

// watch looks at a worker while it has a job, and kills it where it must. The
// function it returns ends that and says why it was killed; nil: it was not.
func (w *process) watch(ctx context.Context, deadline time.Duration, memory int64) func() error {
	end, ended := make(chan struct{}), make(chan struct{})
	var why error
	go func() {
		defer close(ended)
		over := time.NewTimer(deadline)
		defer over.Stop()
		tick := time.NewTicker(watchEvery)
		defer tick.Stop()
		still := 0
		for why == nil {
			select {
			case <-end:
				return
			case <-ctx.Done():
				why = ctx.Err()
			case <-over.C:
				why = ErrDeadline
			case <-tick.C:
				resident, stopped, ok := usage(w.cmd.Process.Pid)
				if still++; !stopped {
					still = 0
				}
				switch {
				case ok && memory > 0 && resident > memory:
					why = ErrMemory
				case time.Duration(still)*watchEvery >= stoppedFor:
					why = ErrStopped
				}
			}
		}
		w.cmd.Process.Kill() // what is being written or read ends with it
	}()
	return func() error {
		close(end)
		<-ended
		return why
	}
}

// kill ends a worker at once.
func (w *process) kill() {
	w.cmd.Process.Kill()
	w.in.Close()
	<-w.gone
}

// leave lets a worker end by itself.
func (w *process) leave() {
	w.in.Close()
	select {
	case <-w.gone:
	case <-time.After(leaveWithin):
		w.kill()
	}
}

// tail keeps the end of what is written to it.
type tail struct {
	mu sync.Mutex
	b  []byte
}

const tailSize = 4 << 10

func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.b = append(t.b, p[max(len(p)-tailSize, 0):]...)
	t.b = t.b[max(len(t.b)-tailSize, 0):]
	return len(p), nil
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return string(t.b)
}
