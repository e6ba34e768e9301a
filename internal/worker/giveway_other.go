//go:build !linux

package worker

// processors are some of the machine's: elsewhere nobody says who runs on which.
type processors struct{}

func allOfThem() (processors, bool)  { return processors{}, false }
func allButThis() (processors, bool) { return processors{}, false }

func (w *process) runOn(processors) {}
