package worker

import (
	"encoding/json"
	"testing"

	"golang.org/x/sys/unix"
)

// schedule describes a thread's scheduling.
type schedule struct {
	Policy, Nice int
	Turn         uint64 // in nanoseconds; 0 where the kernel does not tell
}

// schedules tells it of all threads of a process.
func schedules(t *testing.T, pid int) (out []schedule) {
	t.Helper()
	for _, id := range threads(pid) {
		now, err := unix.SchedGetAttr(id, 0)
		if err != nil {
			continue // it has ended
		}
		out = append(out, schedule{int(now.Policy), int(now.Nice), now.Runtime})
	}
	return out
}

// A worker's threads, including those that a job made, have a lower priority than the
// server's and a short time slice.
func TestAllThreadsStandBack(t *testing.T) {
	own, err := unix.SchedGetAttr(0, 0)
	if err != nil || own.Policy != unix.SCHED_NORMAL || own.Nice >= niceness {
		t.Skipf("!!! NOT TESTED: the tests themselves stand back: %+v %v !!!", own, err)
	}
	p := newPool(t, nil)
	r, err := p.Do(t.Context(), Job{Op: "crowd"})
	if err != nil {
		t.Fatal(err)
	}
	var worker struct{ PID int }
	if err := json.Unmarshal(r.Result, &worker); err != nil {
		t.Fatal(err)
	}
	all := schedules(t, worker.PID)
	if len(all) < crowd {
		t.Fatalf("%d threads: the test shows nothing of those that a job makes", len(all))
	}
	for _, s := range all {
		if s.Policy != unix.SCHED_NORMAL || s.Nice != niceness {
			t.Errorf("%+v among %d threads", s, len(all))
		}
	}
	if own.Runtime == 0 {
		t.Skip("!!! NOT TESTED: this kernel knows no turns of a length that was asked for !!!")
	}
	for _, s := range all {
		if s.Turn != uint64(timeSlice) {
			t.Errorf("a turn of %d ns among %d threads", s.Turn, len(all))
		}
	}
}
