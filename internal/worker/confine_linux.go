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
	// jobTime is how much processor time one job may take, all threads together:
	// more than any deadline allows. It bounds a worker whose parent is no more.
	jobTime = 300
	// niceness is how far a worker stands behind the server when both want to run.
	niceness = 10
	// oomScore is how much sooner than others, in thousandths of the memory there is,
	// a worker is ended where memory runs out: it can be had again, who asks cannot.
	oomScore = 500
	// timeSlice is how long a worker's thread goes on before somebody else who has woken.
	// Linux, which no longer interrupts a turn (6.6), gives up to 3 ms, ten times what
	// the server needs to answer; a thread may ask for less (6.12). With much less it
	// would be due before those who have whole turns. To ask for more than they have,
	// so that they may cut in at once, measured no better: who has just run may not.
	timeSlice = 400 * time.Microsecond
)

// Confine takes from this process what a worker does not need: core files, new
// privileges, the right to be looked into, endless processor time, half of its
// turns, and its life before others' where memory runs out. What cannot be taken is
// left.
func Confine() {
	raiseOOMScore() // while this process's own files in /proc are its own
	unix.Setrlimit(unix.RLIMIT_CORE, &unix.Rlimit{})
	unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
	unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0)
	over := make(chan os.Signal, 1)
	signal.Notify(over, unix.SIGXCPU)
	go func() {
		<-over
		os.Exit(3)
	}()
	runtime.GOMAXPROCS(runtime.GOMAXPROCS(0)) // to give way for a moment makes it no smaller
	extendTime()
	for range 10 { // a thread that was being made may be none of those seen
		if !lowerPriority() {
			return
		}
	}
}

// raiseOOMScore has the system end this process sooner than others where memory runs out.
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

// lowerPriority lowers the priority of all threads, each of which has its own; those
// to come take it over. It tells whether there was one to lower.
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

// threads are the ids of a process's threads; none where that cannot be told.
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

// extendTime allows the next job its processor time.
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
