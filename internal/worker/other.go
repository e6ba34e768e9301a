//go:build !linux

package worker

import "os"

// Confine does nothing on this system.
func Confine() {}

func extendTime() {}

// usageOf is not available on this system: the worker's own limits apply.
func usageOf(int) (usage, bool) { return usage{}, false }

// isRunnable reports false: on this system the time for which a worker waits counts.
func isRunnable(int) bool { return false }

// cpuSet is empty: on this system threads cannot be bound to processors.
type cpuSet struct{}

func allowedCPUs() (cpuSet, bool) { return cpuSet{}, false }
func otherCPUs() (cpuSet, bool)   { return cpuSet{}, false }

func (w *process) runOn(cpuSet) {}

// forbidden reports false: this system has no filter of system calls.
func forbidden(*os.ProcessState) bool { return false }
