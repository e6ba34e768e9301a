//go:build !unix

package procgroup

// OnFatalSignal does nothing where no signal ends a process at once.
func OnFatalSignal(func()) (stop func()) { return func() {} }
