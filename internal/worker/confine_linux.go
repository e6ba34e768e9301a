package worker

import (
	"os"
	"os/signal"
	"runtime"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

const (
	// niceness lets the server run first. With 10 reads beside a decoder are no quicker, and
	// beside programs that keep all processors busy decoding takes three times as long.
	niceness = 5
	// oomScore makes the kernel kill a worker sooner than others when memory runs out, in
	// thousandths of the memory. A worker can be replaced; a client cannot.
	oomScore = 500
	// timeSlice bounds how long a worker's thread runs on after another thread woke. Linux
	// 6.6 no longer interrupts a time slice and gives up to 3 ms, ten times what the
	// server needs for an answer. Since 6.12 a thread may ask for less. With much less, a
	// worker's deadline would come before those of threads with whole slices. A longer
	// slice for the server's threads, to let them preempt, measured no better: a thread
	// that has just run may not preempt.
	timeSlice = 400 * time.Microsecond
)

// Confine restricts this process as far as the system allows: no core files, no new
// privileges, no tracing, bounded CPU time, low priority, half of its time slice, and an
// early end when memory runs out.
func Confine() {
	raiseOOMScore() // before PR_SET_DUMPABLE, which makes the process's files in /proc root's
	unix.Setrlimit(unix.RLIMIT_CORE, &unix.Rlimit{})
	unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
	unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0)
	over := make(chan os.Signal, 1)
	signal.Notify(over, unix.SIGXCPU)
	go func() {
		<-over
		os.Exit(3)
	}()
	runtime.GOMAXPROCS(runtime.GOMAXPROCS(0)) // keeps its value when YieldCPU takes a processor away for a moment
	extendTime()
	for range 10 { // a thread that is being made may be missing from the list
		if !lowerPriority() {
			return
		}
	}
}

// raiseOOMScore makes the kernel kill this process sooner than others when memory runs
// out.
func raiseOOMScore() {
	const name = "/proc/self/oom_score_adj"
	b, err := os.ReadFile(name)
	if err != nil {
		return
	}
	if now, err := strconv.Atoi(strings.TrimSpace(string(b))); err == nil && now < oomScore {
		os.WriteFile(name, []byte(strconv.Itoa(oomScore)), 0)
	}
}

// lowerPriority lowers the priority of all threads; each has its own, and new threads
// inherit it. It reports whether it lowered any.
func lowerPriority() (some bool) {
	for _, id := range threads(os.Getpid()) {
		now, err := unix.SchedGetAttr(id, 0)
		if err != nil || now.Policy != unix.SCHED_NORMAL || now.Nice >= niceness {
			continue
		}
		now.Nice, now.Runtime = niceness, uint64(timeSlice)
		some = unix.SchedSetAttr(id, now, 0) == nil || some
	}
	return some
}

// threads returns the ids of a process's threads, and nil if the system does not list
// them.
func threads(pid int) (out []int) {
	tasks, err := os.ReadDir("/proc/" + strconv.Itoa(pid) + "/task")
	if err != nil {
		return nil
	}
	for _, t := range tasks {
		if id, err := strconv.Atoi(t.Name()); err == nil {
			out = append(out, id)
		}
	}
	return out
}

// extendTime grants the next job its CPU time.
func extendTime() {
	var used unix.Rusage
	var limit unix.Rlimit
	if unix.Getrusage(unix.RUSAGE_SELF, &used) != nil || unix.Getrlimit(unix.RLIMIT_CPU, &limit) != nil {
		return
	}
	spent := time.Duration(used.Utime.Nano() + used.Stime.Nano())
	limit.Cur = min(uint64(spent/time.Second)+jobTime, limit.Max)
	unix.Setrlimit(unix.RLIMIT_CPU, &limit)
}
