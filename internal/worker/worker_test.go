//go:build linux

package worker

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/fsmcp/fsmcp/internal/worker/sandbox"
)

func TestMain(m *testing.M) {
	if len(os.Args) == 2 && os.Args[1] == "be-a-worker" {
		Confine()
		if Serve(os.Stdin, os.Stdout, play, func() { os.Exit(0) }) != nil {
			os.Exit(1)
		}
		return
	}
	if strings.Join(os.Args[1:], " ") == "media-worker "+SandboxWord {
		json.NewEncoder(os.Stdout).Encode(sandbox.State{Files: os.Getenv("CAGED") != ""})
		return
	}
	if len(os.Args) == 3 && os.Args[1] == "wait-for-a-worker" {
		waitForAWorker(os.Args[2])
		return
	}
	os.Exit(m.Run())
}

// crowd is the number of threads of a job of that name.
const crowd = 12

// workTime is the processor time that a job "work" takes.
const workTime = 300 * time.Millisecond

// processorTime returns the processor time of this process.
func processorTime() time.Duration {
	var used syscall.Rusage
	syscall.Getrusage(syscall.RUSAGE_SELF, &used)
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}

// play does what a job says.
func play(t Task) (HandlerResult, error) {
	switch t.Op {
	case "echo":
		return HandlerResult{Value: map[string]int{"pid": os.Getpid()}, Blobs: [][]byte{t.Body, []byte("and more"), nil}}, nil
	case "fail":
		return HandlerResult{}, &Failure{Code: "damaged", Text: "it is damaged", Detail: json.RawMessage(`{"n":1}`)}
	case "panic":
		panic("something impossible")
	case "die":
		os.Stderr.WriteString("last words")
		os.Exit(7)
	case "hang":
		select {}
	case "spin":
		t.Progress(0, 1, "at it")
		for i := uint8(0); ; i++ {
			_ = i
		}
	case "work": // needs some processor time
		for begin := processorTime(); processorTime()-begin < workTime; {
		}
		return HandlerResult{Value: 1}, nil
	case "stop":
		syscall.Kill(os.Getpid(), syscall.SIGSTOP)
		time.Sleep(time.Hour)
	case "eat":
		for kept := []any(nil); ; { // a chain of all that was taken
			b := make([]byte, 16<<20)
			for i := 0; i < len(b); i += 4096 {
				b[i] = 1
			}
			kept = []any{b, kept}
		}
	case "babble":
		os.Stdout.WriteString(strings.Repeat("this is no message\n", 1000))
		time.Sleep(time.Hour)
	case "progress":
		for i := range int64(3) {
			t.Progress(i, 3, "part")
		}
		return HandlerResult{Value: 1}, nil
	case "caged": // says where it is, also in a file
		where, file := "free", ""
		if os.Getenv("CAGED") != "" {
			where = "caged"
		}
		if err := json.Unmarshal(t.Params, &file); err != nil || file == "" {
			return HandlerResult{Value: where}, err
		}
		f, err := os.OpenFile(file, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
		if err != nil {
			return HandlerResult{}, err
		}
		defer f.Close()
		_, err = f.WriteString(where + "\n")
		return HandlerResult{}, err
	case "nap": // until a file is there
		var file string
		if err := json.Unmarshal(t.Params, &file); err != nil {
			return HandlerResult{}, err
		}
		for n := int64(0); ; n++ {
			if _, err := os.Stat(file); err == nil {
				return HandlerResult{}, nil
			}
			if n%10 == 0 {
				t.Progress(n, 0, "napping")
			}
			time.Sleep(5 * time.Millisecond)
		}
	case "crowd":
		var all, here sync.WaitGroup
		here.Add(crowd)
		for range crowd {
			all.Go(func() {
				runtime.LockOSThread() // it has a thread of its own, and keeps it
				defer runtime.UnlockOSThread()
				here.Done()
				here.Wait()
			})
		}
		all.Wait()
		return HandlerResult{Value: map[string]int{"pid": os.Getpid()}}, nil
	case "limits":
		var core, cpu syscall.Rlimit
		syscall.Getrlimit(syscall.RLIMIT_CORE, &core)
		syscall.Getrlimit(syscall.RLIMIT_CPU, &cpu)
		nice, _ := syscall.Getpriority(syscall.PRIO_PROCESS, 0) // 20 less
		oom, _ := os.ReadFile("/proc/self/oom_score_adj")
		return HandlerResult{Value: map[string]any{"oom": strings.TrimSpace(string(oom)), "core": core.Cur, "cpu": cpu.Cur, "nice": 20 - nice, "env": os.Environ()}}, nil
	}
	return HandlerResult{}, errors.New("what?")
}

func newPool(t *testing.T, change func(*Options)) *Pool {
	t.Helper()
	path, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	o := Options{
		Command: func() (string, []string) { return path, []string{path, "be-a-worker"} },
		Size:    2, Deadline: 2 * time.Minute, Memory: 256 << 20, Jobs: 200, Idle: time.Hour,
	}
	if change != nil {
		change(&o)
	}
	p := New(o)
	t.Cleanup(p.Close)
	return p
}

// until waits for something that is to come true soon.
func until(t *testing.T, what string, true func() bool) {
	t.Helper()
	for begun := time.Now(); !true(); time.Sleep(10 * time.Millisecond) {
		if time.Since(begun) > time.Minute {
			t.Fatal("never: ", what)
		}
	}
}

// promptly judges what is to be over within a time by the fastest of several tries:
// what is too slow is so at each, the machine holds up only some.
func promptly(t *testing.T, what string, within time.Duration, try func()) {
	t.Helper()
	best := time.Hour
	for n := 0; n < 10 && best > within; n++ {
		begin := time.Now()
		try()
		best = min(best, time.Since(begin))
	}
	if best > within {
		t.Errorf("%s: %v at best", what, best)
	}
}

func (p *Pool) pid(t *testing.T) int {
	t.Helper()
	r, err := p.Do(t.Context(), Job{Op: "echo"})
	if err != nil {
		t.Fatal(err)
	}
	var v struct{ Pid int }
	if err := json.Unmarshal(r.Result, &v); err != nil {
		t.Fatal(err)
	}
	return v.Pid
}

func TestJobsComeBackWhole(t *testing.T) {
	p := newPool(t, nil)
	if n := len(p.PIDs()); n != 0 {
		t.Errorf("%d workers before the first job", n)
	}
	r := rand.New(rand.NewPCG(1, 2))
	for _, size := range []int{0, 1, 1000, chunk - 1, chunk, chunk + 1, 5 << 20} {
		body := make([]byte, size)
		for i := range body {
			body[i] = byte(r.Uint32())
		}
		reply, err := p.Do(t.Context(), Job{Op: "echo", Body: bytes.NewReader(body), Size: int64(size)})
		if err != nil || len(reply.Blobs) != 3 || !bytes.Equal(reply.Blobs[0], body) || string(reply.Blobs[1]) != "and more" || len(reply.Blobs[2]) != 0 {
			t.Errorf("%d bytes: %v", size, err)
		}
	}
	if n := len(p.PIDs()); n != 1 {
		t.Errorf("%d workers for one job at a time", n)
	}
}

func TestAJobsOwnFailureLeavesTheWorker(t *testing.T) {
	p := newPool(t, nil)
	pid := p.pid(t)
	for _, c := range []struct{ op, code, text string }{{"fail", "damaged", "it is damaged"}, {"panic", "crashed", "something impossible"}, {"", "failed", "what?"}} {
		_, err := p.Do(t.Context(), Job{Op: c.op})
		var f *Failure
		if !errors.As(err, &f) || f.Code != c.code || f.Text != c.text {
			t.Errorf("%s: %v", c.op, err)
		}
	}
	if p.pid(t) != pid {
		t.Error("it is another worker")
	}
}

func TestMisbehavingWorkersCostTheirJobAlone(t *testing.T) {
	t.Parallel()
	var lost atomic.Value
	p := newPool(t, func(o *Options) {
		o.Lost = func(_ error, stderr string) { lost.Store(stderr) }
	})
	const soon = 1500 * time.Millisecond
	for _, c := range []struct {
		op       string
		deadline time.Duration // 0: much later than the end that is wanted
		want     error
		by       time.Duration
	}{
		{"die", 0, ErrDied, time.Second}, {"babble", 0, ErrDied, time.Second}, {"hang", soon, ErrDeadline, 2 * time.Second},
		{"spin", soon, ErrDeadline, 2 * time.Second}, {"stop", 0, ErrStopped, 1500 * time.Millisecond},
	} {
		promptly(t, c.op, 2*c.by+time.Second, func() {
			pid := p.pid(t)
			if _, err := p.Do(t.Context(), Job{Op: c.op, Deadline: c.deadline}); !errors.Is(err, c.want) {
				t.Errorf("%s: %v", c.op, err)
			}
			if c.op == "die" && lost.Load() != "last words" {
				t.Errorf("its last words are %q", lost.Load())
			}
			if syscall.Kill(pid, 0) == nil && p.pid(t) == pid {
				t.Errorf("%s: the same worker goes on", c.op)
			}
		})
	}
}

// A worker grows as fast as the machine lets it, so that only the memory that
// it takes ends it here, not its time.
func TestAGreedyWorkerCostsItsJobAlone(t *testing.T) {
	p := newPool(t, func(o *Options) { o.Deadline = time.Minute })
	pid := p.pid(t)
	if _, err := p.Do(t.Context(), Job{Op: "eat"}); !errors.Is(err, ErrMemory) {
		t.Error(err)
	}
	if p.pid(t) == pid {
		t.Error("the same worker goes on")
	}
}

func TestAWorkerKilledBetweenJobsCostsNothing(t *testing.T) {
	p := newPool(t, nil)
	for range 5 {
		pid := p.pid(t)
		syscall.Kill(pid, syscall.SIGKILL)
		if p.pid(t) == pid {
			t.Error("the dead answer")
		}
	}
}

func TestCancellingEndsTheJob(t *testing.T) {
	p := newPool(t, nil)
	promptly(t, "a job that is given up", 3*time.Second, func() {
		ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
		defer cancel()
		if _, err := p.Do(ctx, Job{Op: "hang"}); !errors.Is(err, context.DeadlineExceeded) {
			t.Error(err)
		}
	})
	p.pid(t)
}

// A job that was given up while it waited costs no worker.
func TestWhatIsGivenUpBeforeCostsNoWorker(t *testing.T) {
	p := newPool(t, nil)
	pid := p.pid(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for range 20 {
		if _, err := p.Do(ctx, Job{Op: "echo"}); !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	}
	if p.pid(t) != pid {
		t.Error("its worker was ended")
	}
}

// broken is a file whose disk fails.
type broken struct{}

func (broken) ReadAt(p []byte, off int64) (int, error) {
	if off > 0 {
		return 0, syscall.EIO
	}
	return len(p), nil
}

func TestABodyThatCannotBeRead(t *testing.T) {
	p := newPool(t, nil)
	if _, err := p.Do(t.Context(), Job{Op: "echo", Body: broken{}, Size: 10 << 20}); !errors.Is(err, syscall.EIO) {
		t.Error(err)
	}
	if _, err := p.Do(t.Context(), Job{Op: "echo", Body: bytes.NewReader(nil), Size: 10}); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Error(err)
	}
	p.pid(t)
}

func TestWorkersAreReplacedInTime(t *testing.T) {
	p := newPool(t, func(o *Options) { o.Jobs = 3 })
	first := p.pid(t)
	if second, third := p.pid(t), p.pid(t); second != first || third != first {
		t.Error("another worker too soon")
	}
	if p.pid(t) == first {
		t.Error("the same worker after three jobs")
	}
	p = newPool(t, func(o *Options) { o.Idle = 100 * time.Millisecond })
	p.pid(t)
	until(t, "an idle worker ends", func() bool { return len(p.PIDs()) == 0 })
}

func TestProgressAndConfinement(t *testing.T) {
	p := newPool(t, func(o *Options) { o.Env = []string{"ONLY=this"} })
	var seen []int64
	if _, err := p.Do(t.Context(), Job{Op: "progress", Progress: func(done, total int64, what string) {
		if total == 3 && what == "part" {
			seen = append(seen, done)
		}
	}}); err != nil || len(seen) != 3 || seen[2] != 2 {
		t.Errorf("%v %v", seen, err)
	}
	r, err := p.Do(t.Context(), Job{Op: "limits"})
	if err != nil {
		t.Fatal(err)
	}
	var v struct {
		Core, CPU uint64
		Nice      int
		OOM       string
		Env       []string
	}
	if err := json.Unmarshal(r.Result, &v); err != nil || v.Core != 0 || v.CPU == 0 || v.CPU > 2*jobTime || v.Nice < niceness || v.OOM != "500" || len(v.Env) != 1 {
		t.Errorf("%s %v", r.Result, err)
	}
}

// What a new worker does first is told as a part of the job's progress, which rises.
func TestFirstJobReportsProgress(t *testing.T) {
	p := newPool(t, func(o *Options) { o.First = &Job{Op: "progress"} })
	var seen []int64
	if _, err := p.Do(t.Context(), Job{Op: "progress", Progress: func(done, _ int64, _ string) { seen = append(seen, done) }}); err != nil || !slices.Equal(seen, []int64{0, 1, 2, 3, 4, 5}) {
		t.Errorf("%v %v", seen, err)
	}
}

// It goes on when its caller gives up, and the next finds the worker ready.
func TestWhatComesFirstGoesOn(t *testing.T) {
	wake := filepath.Join(t.TempDir(), "wake")
	p := newPool(t, func(o *Options) { o.First = &Job{Op: "nap", Params: wake} })
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	given := make(chan error)
	go func() {
		_, err := p.Do(ctx, Job{Op: "echo"})
		given <- err
	}()
	until(t, "a worker is started", func() bool { return len(p.PIDs()) == 1 })
	cancel()
	if err := <-given; !errors.Is(err, ErrUnready) || !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	for range 5 { // the same is waited for, however often
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		if _, err := p.Do(ctx, Job{Op: "echo"}); !errors.Is(err, ErrUnready) {
			t.Error(err)
		}
		cancel()
	}
	pids := p.PIDs()
	if err := os.WriteFile(wake, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	until(t, "it is ready", func() bool {
		p.mu.Lock()
		defer p.mu.Unlock()
		return len(p.idle) == 1
	})
	if pid := p.pid(t); len(pids) != 1 || pid != pids[0] {
		t.Errorf("%d answers, %v was readied", pid, pids)
	}
}

// A caller that comes meanwhile gets its progress and that worker.
func TestWhatComesFirstIsTakenOver(t *testing.T) {
	wake := filepath.Join(t.TempDir(), "wake")
	p := newPool(t, func(o *Options) { o.First = &Job{Op: "nap", Params: wake} })
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := p.Do(ctx, Job{Op: "echo"}); !errors.Is(err, ErrUnready) {
		t.Error(err)
	}
	pids := p.PIDs()
	reported := make(chan string, 100)
	given := make(chan error)
	go func() {
		_, err := p.Do(t.Context(), Job{Op: "echo", Progress: func(_, _ int64, what string) { reported <- what }})
		given <- err
	}()
	if what := <-reported; what != "napping" {
		t.Error(what)
	}
	if err := os.WriteFile(wake, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := <-given; err != nil {
		t.Error(err)
	}
	if !slices.Equal(p.PIDs(), pids) {
		t.Errorf("%v, and not %v", p.PIDs(), pids)
	}
}

// A worker that dies of it is lost, and reported.
func TestWhatComesFirstMayBeDeadly(t *testing.T) {
	var lost atomic.Bool
	p := newPool(t, func(o *Options) { o.First = &Job{Op: "die"}; o.Lost = func(error, string) { lost.Store(true) } })
	if _, err := p.Do(t.Context(), Job{Op: "echo"}); !errors.Is(err, ErrStart) || !errors.Is(err, ErrDied) || !lost.Load() {
		t.Errorf("%v, told: %v", err, lost.Load())
	}
}

func TestAWorkerEndsWithItsParent(t *testing.T) {
	p := newPool(t, nil)
	w, err := launch(p.opts)
	if err != nil {
		t.Fatal(err)
	}
	spins := make(chan bool, 1)
	go w.exchange(Job{Op: "spin", Progress: func(int64, int64, string) { spins <- true }})
	<-spins
	w.in.Close()
	select {
	case <-w.gone:
	case <-time.After(time.Minute):
		t.Error("it goes on")
		w.kill()
	}
}

// A worker may be a script around the decoder, and leave a process behind that has its
// streams: that process ends, too, and delays no caller.
func TestWhatAWorkerHasStartedEndsWithIt(t *testing.T) {
	t.Parallel()
	own, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for _, script := range []string{"sleep 1000 & \"$0\" be-a-worker; exit $?", "sleep 1000 & \"$0\" be-a-worker", "sleep 1000"} {
		t.Run(script, func(t *testing.T) {
			t.Parallel()
			p := newPool(t, func(o *Options) {
				o.Command = func() (string, []string) { return "/bin/sh", []string{"sh", "-c", script, own} }
			})
			done := make(chan error, 1)
			go func() {
				_, err := p.Do(t.Context(), Job{Op: "hang", Deadline: time.Second})
				done <- err
			}()
			until(t, "it is started", func() bool { return len(p.PIDs()) == 1 })
			group := p.PIDs()[0]
			select {
			case err := <-done:
				if !errors.Is(err, ErrDeadline) {
					t.Errorf("%s: %v", script, err)
				}
			case <-time.After(time.Minute):
				syscall.Kill(-group, syscall.SIGKILL)
				t.Fatalf("%s: no answer", script)
			}
			until(t, "all of it has ended", func() bool { return syscall.Kill(-group, 0) == syscall.ESRCH })
		})
	}
}

// deaf is a file on a disk that does not answer.
type deaf chan struct{}

func (d deaf) ReadAt([]byte, int64) (int, error) {
	<-d
	return 0, syscall.EIO
}

// A disk that does not answer costs the jobs that need it, not those after them.
func TestABodyThatDoesNotCome(t *testing.T) {
	t.Parallel()
	p := newPool(t, nil)
	body := make(deaf)
	t.Cleanup(func() { close(body) })
	for range 3 {
		done := make(chan error, 1)
		go func() {
			_, err := p.Do(t.Context(), Job{Op: "echo", Body: body, Size: 10, Deadline: time.Second})
			done <- err
		}()
		select {
		case err := <-done:
			if !errors.Is(err, ErrUnread) {
				t.Error(err)
			}
		case <-time.After(time.Minute):
			t.Fatal("it is waited for")
		}
	}
	p.pid(t)
}

// waitForAWorker has a worker nap until a file is there, and says what came of it.
func waitForAWorker(file string) {
	own, _ := os.Executable()
	p := New(Options{Command: func() (string, []string) { return own, []string{own, "be-a-worker"} }, Deadline: 3 * time.Second, Jobs: 200, Idle: time.Hour})
	go func() {
		for len(p.PIDs()) == 0 {
			time.Sleep(time.Millisecond)
		}
		os.Stdout.WriteString("at it\n")
	}()
	_, err := p.Do(context.Background(), Job{Op: "nap", Params: file})
	fmt.Printf("%v\n", err)
	p.Close()
}

// A pool that was stopped itself, as a job of a terminal is, for longer than the deadline
// finds the answer when it goes on, or waits for it: the worker did nothing wrong.
func TestOneWhoWasStoppedBlamesNobody(t *testing.T) {
	t.Parallel()
	own, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	wake := filepath.Join(t.TempDir(), "wake")
	cmd := exec.Command(own, "wait-for-a-worker", wake)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer cmd.Process.Kill()
	lines := bufio.NewScanner(out)
	lines.Scan()
	cmd.Process.Signal(syscall.SIGSTOP)
	time.Sleep(4 * time.Second)
	cmd.Process.Signal(syscall.SIGCONT)
	time.Sleep(100 * time.Millisecond)
	if err := os.WriteFile(wake, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if lines.Scan(); lines.Text() != "<nil>" {
		t.Error(lines.Text())
	}
	cmd.Wait()
}

func TestNoWorker(t *testing.T) {
	p := newPool(t, func(o *Options) { o.Command = func() (string, []string) { return "/nowhere/at/all", nil } })
	if _, err := p.Do(t.Context(), Job{Op: "echo"}); !errors.Is(err, ErrStart) {
		t.Error(err)
	}
	p = newPool(t, nil)
	p.Close()
	if _, err := p.Do(t.Context(), Job{Op: "echo"}); !errors.Is(err, ErrClosed) {
		t.Error(err)
	}
}

// TestManyAtOnce kills workers at random while jobs come from many goroutines: each gets
// the right answer, or an error with the reason. After the kills every job gets the right
// answer.
func TestManyAtOnce(t *testing.T) {
	p := newPool(t, nil)
	killAny := func(r *rand.Rand) {
		p.mu.Lock()
		defer p.mu.Unlock() // its number is unique while it is in the pool
		n := r.IntN(max(len(p.all), 1))
		for w := range p.all {
			if n--; n < 0 {
				w.cmd.Process.Kill()
				return
			}
		}
	}
	var right, died atomic.Int32
	ask := func(times int, kill bool) {
		var callers sync.WaitGroup
		for i := range 4 {
			callers.Go(func() {
				r := rand.New(rand.NewPCG(3, uint64(i)))
				body := bytes.Repeat([]byte{byte(i)}, 300_000)
				for range times {
					if kill && r.IntN(2) == 0 {
						killAny(r) // the others' jobs are under way
					}
					answer, err := p.Do(t.Context(), Job{Op: "echo", Body: bytes.NewReader(body), Size: int64(len(body))})
					switch {
					case err == nil && bytes.Equal(answer.Blobs[0], body):
						right.Add(1)
					case errors.Is(err, ErrDied):
						died.Add(1)
					default:
						t.Errorf("%v", err)
					}
				}
			})
		}
		callers.Wait()
	}
	ask(30, true)
	t.Logf("%d right answers, %d workers died of their job", right.Load(), died.Load())
	if right.Load() == 0 || died.Load() == 0 {
		t.Error("only one of both happened")
	}
	right.Store(0)
	if ask(2, false); right.Load() != 8 {
		t.Errorf("%d right answers of 8, although nobody kills", right.Load())
	}
}

// PIDs returns the process ids of all workers.
func (p *Pool) PIDs() []int {
	p.mu.Lock()
	defer p.mu.Unlock()
	var out []int
	for w := range p.all {
		out = append(out, w.cmd.Process.Pid)
	}
	return out
}
