package worker

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"github.com/fsmcp/fsmcp/internal/procgroup"
)

// process is one worker.
type process struct {
	cmd         *exec.Cmd
	group       *procgroup.Group // cmd and what it started
	in          io.WriteCloser
	out         *bufio.Reader // from pipe
	pipe        *os.File
	stderr      *tail
	gone        chan struct{} // closed when the process has ended
	jobs        int
	caged       bool        // it is in the pool's cage
	readingBody atomic.Bool // while its job's body is read
	rest        *time.Timer // ends it when it was idle too long

	ready    chan struct{}            // closed when its first job is over
	failed   error                    // of that job
	progress atomic.Pointer[Progress] // of that job; nil: no caller waits
}

// launch starts a worker.
func launch(o Options) (*process, error) {
	path, argv := o.Command()
	if path == filepath.Base(path) { // the system would look for it in the working directory
		return nil, fmt.Errorf("%w: %s: %w", ErrStart, path, exec.ErrNotFound)
	}
	if o.Env == nil {
		o.Env = []string{}
	}
	path, argv, caged := o.Cage.command(path, argv, o.Env)
	cmd := &exec.Cmd{Path: path, Args: argv, Env: o.Env, WaitDelay: leaveWithin}
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrStart, err)
	}
	out, writer, err := os.Pipe() // Wait would close StdoutPipe's too soon
	if err != nil {
		in.Close()
		return nil, fmt.Errorf("%w: %w", ErrStart, err)
	}
	w := &process{cmd: cmd, caged: caged, in: in, pipe: out, out: bufio.NewReaderSize(out, 64<<10), stderr: new(tail), gone: make(chan struct{}), ready: make(chan struct{})}
	cmd.Stdout, cmd.Stderr = writer, w.stderr
	w.group, err = procgroup.StartLimited(cmd, limits(o.Memory))
	writer.Close()
	if err != nil {
		in.Close()
		out.Close()
		return nil, fmt.Errorf("%w: %w", ErrStart, err)
	}
	go func() {
		w.group.Wait(context.Background(), 0)
		out.Close()
		close(w.gone)
	}()
	return w, nil
}

// limits returns the limits of a worker whose resident memory is bounded.
func limits(memory int64) procgroup.Limits {
	return procgroup.Limits{Memory: 2 * memory, Time: jobTime * time.Second}
}

// watch watches a busy worker until its answer comes, and returns the reason to give up.
// Time in which this process itself was stopped does not count.
func (w *process) watch(ctx context.Context, answered <-chan answer, deadline time.Duration, memory int64) (answer, error) {
	tick := time.NewTicker(watchEvery)
	defer tick.Stop()
	var c clock
	looks, runnable := 0, false
	still, last := 0, time.Now()
	for {
		select {
		case a := <-answered:
			return a, nil
		case <-ctx.Done():
			return answer{}, ctx.Err()
		case <-tick.C:
		}
		now := time.Now()
		u, ok := usageOf(w.cmd.Process.Pid)
		if looks++; looks%threadsEvery == 0 {
			runnable = isRunnable(w.cmd.Process.Pid)
		}
		c.add(min(now.Sub(last), maxTick), u.cpu, runnable)
		last = now
		if still++; !u.stopped {
			still = 0
		}
		switch {
		case c.over(deadline):
			return answer{}, ErrDeadline
		case ok && memory > 0 && u.resident > memory:
			return answer{}, ErrMemory
		case time.Duration(still)*watchEvery >= stoppedFor:
			return answer{}, ErrStopped
		}
	}
}

// end kills a worker and what it started, and unblocks its readers and writers. It does
// not wait.
func (w *process) end() {
	select {
	case <-w.gone:
	default:
		w.group.Kill()
	}
	w.in.Close()
	w.pipe.Close()
}

// kill ends a worker. It does not wait for one that a dead disk blocks.
func (w *process) kill() {
	w.end()
	select {
	case <-w.gone:
	case <-time.After(2 * leaveWithin):
	}
}

// leave lets a worker end by itself, and kills it if it does not.
func (w *process) leave() {
	w.in.Close()
	select {
	case <-w.gone:
	case <-time.After(leaveWithin):
		w.kill()
	}
}

// tail keeps the last bytes that are written to it.
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
