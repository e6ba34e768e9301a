package worker

import (
	"bytes"
	"os"
	"slices"
	"strconv"
	"syscall"
	"time"
)

// usageOf returns what a process uses; ok is false if that cannot be read.
func usageOf(pid int) (u usage, ok bool) {
	fields := stat("/proc/" + strconv.Itoa(pid))
	if len(fields) < 22 {
		return usage{}, false
	}
	var numbers [3]int64
	for i, at := range []int{11, 12, 21} { // user and system time, resident pages
		n, err := strconv.ParseInt(string(fields[at]), 10, 64)
		if err != nil {
			return usage{}, false
		}
		numbers[i] = n
	}
	const clockTick = time.Second / 100 // for programs, on every processor that Go knows
	state := string(fields[0])
	return usage{
		resident: numbers[2] * int64(os.Getpagesize()),
		cpu:      time.Duration(numbers[0]+numbers[1]) * clockTick,
		stopped:  state == "T" || state == "t",
	}, true
}

// isRunnable reports whether a thread of a process runs or waits for a processor.
func isRunnable(pid int) bool {
	dir := "/proc/" + strconv.Itoa(pid) + "/task/"
	return slices.ContainsFunc(threads(pid), func(id int) bool {
		fields := stat(dir + strconv.Itoa(id))
		return len(fields) > 0 && string(fields[0]) == "R"
	})
}

// stat returns what the kernel tells of a process or thread behind its name, the state first
// (source: proc_pid_stat(5)).
func stat(dir string) [][]byte {
	b, err := os.ReadFile(dir + "/stat")
	if err != nil {
		return nil
	}
	return bytes.Fields(b[bytes.LastIndexByte(b, ')')+1:]) // the name may hold anything
}

// forbidden reports whether the kernel ended a process for a system call.
func forbidden(p *os.ProcessState) bool {
	if p == nil {
		return false
	}
	status, ok := p.Sys().(syscall.WaitStatus)
	return ok && status.Signaled() && status.Signal() == syscall.SIGSYS
}
