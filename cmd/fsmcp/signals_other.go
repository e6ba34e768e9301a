//go:build !unix

package main

// onFatalSignal does nothing where no signal ends a process at once.
func onFatalSignal(func()) (stop func()) { return func() {} }
