//go:build !linux

package worker

import "os"

// Confine does nothing on this system.
func Confine() {}

func extendTime() {}

// usage is not available on this system: the worker's own limits apply.
func usage(int) (resident int64, stopped, ok bool) { return 0, false, false }

// cpuSet is empty: on this system threads cannot be bound to processors.
type cpuSet struct{}

func allowedCPUs() (cpuSet, bool) { return cpuSet{}, false }
func otherCPUs() (cpuSet, bool)   { return cpuSet{}, false }

func (w *process) runOn(cpuSet) {}

// forbidden reports false: this system has no filter of system calls.
func forbidden(*os.ProcessState) bool { return false }
