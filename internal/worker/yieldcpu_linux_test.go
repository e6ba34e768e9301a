package worker

import (
	"context"
	"os"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// processorsOf counts those that the threads of a process may run on: the fewest
// and the most of any.
func processorsOf(pid int) (fewest, most int) {
	fewest = 1 << 20
	for _, id := range threads(pid) {
		var set unix.CPUSet
		if unix.SchedGetaffinity(id, &set) == nil {
			fewest, most = min(fewest, set.Count()), max(most, set.Count())
		}
	}
	return fewest, most
}

// A busy worker leaves one processor to callers, with all its threads, and gets it back
// when the calls end. An idle worker has nothing to leave.
func TestWorkersGiveWay(t *testing.T) {
	all, _ := processorsOf(os.Getpid())
	if all < 2 {
		t.Skip("!!! NOT TESTED: there is one processor !!!")
	}
	p := newPool(t, func(o *Options) { o.Deadline = time.Hour })
	if _, err := p.Do(t.Context(), Job{Op: "crowd"}); err != nil {
		t.Fatal(err)
	}
	pid := p.PIDs()[0]
	p.YieldCPU()
	if fewest, _ := processorsOf(pid); fewest != all {
		t.Fatalf("without a job it runs on %d processors of %d", fewest, all)
	}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		p.Do(ctx, Job{Op: "spin"})
	}()
	defer func() { stop(); <-ended }()
	until(t, "a worker is at work", func() bool { return p.yield.jobs.Load() == 1 })
	// Looked at at once: it may be over where the machine held up the test meanwhile.
	givesWay := func() bool {
		p.YieldCPU()
		_, most := processorsOf(pid)
		return most == all-1
	}
	until(t, "it gives way", givesWay)
	for range 20 { // as long as there are calls
		time.Sleep(yieldTime / 10)
		p.YieldCPU()
	}
	until(t, "it still gives way after a while", givesWay)
	until(t, "it has all processors again", func() bool { fewest, _ := processorsOf(pid); return fewest == all })
}

// A worker that is started while others give way does so from the start.
func TestNewWorkersGiveWay(t *testing.T) {
	all, _ := processorsOf(os.Getpid())
	if all < 2 {
		t.Skip("!!! NOT TESTED: there is one processor !!!")
	}
	p := newPool(t, func(o *Options) { o.Size, o.Deadline = 2, time.Hour })
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan struct{}, 2)
	spin := func() { p.Do(ctx, Job{Op: "spin"}); ended <- struct{}{} }
	defer func() { stop(); <-ended; <-ended }()
	go spin()
	until(t, "a worker is at work", func() bool { return p.yield.jobs.Load() == 1 })
	go spin()
	until(t, "two are, and both give way", func() bool {
		p.YieldCPU()
		pids := p.PIDs()
		for _, pid := range pids {
			if _, most := processorsOf(pid); most != all-1 {
				return false
			}
		}
		return len(pids) == 2
	})
}
