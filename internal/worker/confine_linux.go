package worker

import (
	"os"
	"os/signal"
	"strconv"
	"time"

	"golang.org/x/sys/unix"
)

const (
	// jobTime is how much processor time one job may take, all threads together:
	// more than any deadline allows. It bounds a worker whose parent is no more.
	jobTime = 300
	// lower is how far a worker stands behind the server when both want to run.
	lower = 10
)

// Confine takes from this process what a worker does not need: core files, new
// privileges, the right to be looked into, endless processor time, and half of
// its turns. What cannot be taken is left.
func Confine() {
	unix.Setrlimit(unix.RLIMIT_CORE, &unix.Rlimit{})
	unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
	unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0)
	over := make(chan os.Signal, 1)
	signal.Notify(over, unix.SIGXCPU)
	go func() {
		<-over
		os.Exit(3)
	}()
	extendTime()
	for range 10 { // a thread that was being made may be none of those seen
		if !stepBack() {
			return
		}
	}
}

// stepBack lowers the priority of all threads, each of which has its own; those
// to come take it over. It tells whether there was one to lower.
func stepBack() (some bool) {
	tasks, err := os.ReadDir("/proc/self/task")
	if err != nil {
		return false
	}
	for _, t := range tasks {
		id, err := strconv.Atoi(t.Name())
		if err != nil {
			continue
		}
		// The system call counts from 20 down.
		if now, err := unix.Getpriority(unix.PRIO_PROCESS, id); err == nil && 20-now < lower {
			some = unix.Setpriority(unix.PRIO_PROCESS, id, lower) == nil || some
		}
	}
	return some
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
