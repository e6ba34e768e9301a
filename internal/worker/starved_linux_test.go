package worker

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// starve leaves a process almost no processor time until release is called: its threads run
// on one processor, and only while no other thread wants it. A worker of another pool
// always does. The error of release is that of a system which does not let this user undo it.
func starve(t *testing.T, pid int) (release func() error) {
	t.Helper()
	all, ok := allowedCPUs()
	var one cpuSet
	for cpu := 0; ok && one.Count() == 0; cpu++ {
		if all.IsSet(cpu) {
			one.Set(cpu)
		}
	}
	p := newPool(t, nil)
	busy := p.pid(t)
	ctx, cancel := context.WithCancel(context.Background())
	spins, ended := make(chan bool, 1), make(chan bool)
	go func() {
		defer close(ended)
		p.Do(ctx, Job{Op: "spin", Progress: func(int64, int64, string) { spins <- true }})
	}()
	<-spins
	if err := errors.Join(runAs(busy, unix.SCHED_NORMAL, &one), runAs(pid, unix.SCHED_IDLE, &one)); err != nil {
		t.Fatal(err)
	}
	release = sync.OnceValue(func() error {
		cancel()
		<-ended
		return runAs(pid, unix.SCHED_NORMAL, &all)
	})
	t.Cleanup(func() { release() })
	return release
}

// runAs sets the policy and the processors of all threads of a worker.
func runAs(pid int, policy uint32, cpus *cpuSet) error {
	for range 2 { // a thread that is being made may be missing from the list
		for _, id := range threads(pid) {
			err := errors.Join(unix.SchedSetaffinity(id, cpus), unix.SchedSetAttr(id, &unix.SchedAttr{Size: unix.SizeofSchedAttr, Policy: policy, Nice: niceness}, 0))
			if err != nil && !errors.Is(err, unix.ESRCH) {
				return err
			}
		}
	}
	return nil
}

// A worker that gets almost no processor time answers when it gets some, although its
// deadline has passed meanwhile, as the end of a worker that hangs shows.
func TestStarvedWorkerAnswers(t *testing.T) {
	t.Parallel()
	const deadline = 3 * time.Second
	p, other := newPool(t, nil), newPool(t, nil)
	release := starve(t, p.pid(t))
	other.pid(t)
	done := make(chan error, 1)
	go func() {
		_, err := p.Do(t.Context(), Job{Op: "work", Deadline: deadline})
		done <- err
	}()
	until(t, "the job has begun", func() bool { return p.yield.jobs.Load() == 1 })
	if _, err := other.Do(t.Context(), Job{Op: "hang", Deadline: deadline * 5 / 4}); !errors.Is(err, ErrDeadline) {
		t.Errorf("a worker that hangs: %v", err)
	}
	select {
	case err := <-done:
		t.Fatalf("it was over before it got a processor: %v", err)
	default:
	}
	if err := release(); errors.Is(err, unix.EPERM) {
		t.Skip("!!! NOT TESTED: this user may not raise a priority !!!")
	} else if err != nil {
		t.Fatal(err)
	}
	if err := <-done; err != nil {
		t.Error(err)
	}
}

// A worker that never gets a processor is given up after three deadlines.
func TestStarvedWorkerIsGivenUp(t *testing.T) {
	t.Parallel()
	const deadline = 500 * time.Millisecond
	p := newPool(t, nil)
	starve(t, p.pid(t))
	begin := time.Now()
	if _, err := p.Do(t.Context(), Job{Op: "work", Deadline: deadline}); !errors.Is(err, ErrDeadline) {
		t.Error(err)
	}
	if took := time.Since(begin); took < maxDeadlines*deadline {
		t.Errorf("it was given up after %v", took)
	}
}

// A worker is runnable while it works or waits for a processor, not while it sleeps, and its
// processor time rises by what it uses.
func TestUsageOf(t *testing.T) {
	p := newPool(t, nil)
	pid := p.pid(t)
	until(t, "an idle worker sleeps", func() bool { return !isRunnable(pid) })
	before, _ := usageOf(pid)
	if _, err := p.Do(t.Context(), Job{Op: "work"}); err != nil {
		t.Fatal(err)
	}
	after, ok := usageOf(pid)
	if used := after.cpu - before.cpu; !ok || used < workTime-20*time.Millisecond || used > time.Minute {
		t.Errorf("%v of processor time, want at least %v", used, workTime)
	}
	starve(t, pid)
	go p.Do(t.Context(), Job{Op: "work"})
	until(t, "a starved worker is runnable", func() bool { return isRunnable(pid) })
	if _, ok := usageOf(1 << 30); ok {
		t.Error("a process that does not exist is known")
	}
}
