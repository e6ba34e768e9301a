package worker

import (
	"bytes"
	"os"
	"strconv"
	"syscall"
)

// usage returns a process's resident memory in bytes, and whether it is stopped; ok is
// false if that cannot be read.
func usage(pid int) (resident int64, stopped, ok bool) {
	b, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return 0, false, false
	}
	// The name, in brackets, may hold anything.
	fields := bytes.Fields(b[bytes.LastIndexByte(b, ')')+1:])
	if len(fields) < 22 {
		return 0, false, false
	}
	pages, err := strconv.ParseInt(string(fields[21]), 10, 64)
	state := string(fields[0])
	return pages * int64(os.Getpagesize()), state == "T" || state == "t", err == nil
}

// forbidden reports whether the kernel ended a process for a system call.
func forbidden(p *os.ProcessState) bool {
	if p == nil {
		return false
	}
	status, ok := p.Sys().(syscall.WaitStatus)
	return ok && status.Signaled() && status.Signal() == syscall.SIGSYS
}
