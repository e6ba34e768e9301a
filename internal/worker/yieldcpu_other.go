//go:build !linux

package worker

// cpuSet is empty: on this system threads cannot be bound to processors.
type cpuSet struct{}

func allowedCPUs() (cpuSet, bool) { return cpuSet{}, false }
func otherCPUs() (cpuSet, bool)   { return cpuSet{}, false }

func (w *process) runOn(cpuSet) {}
