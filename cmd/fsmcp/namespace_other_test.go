//go:build unix && !linux

package main

import "syscall"

// ownLimits are nowhere else.
func ownLimits() *syscall.SysProcAttr { return nil }

// after skips the test: there are no namespaces to set limits in.
func (f *fort) after(string) {
	f.t.Helper()
	f.t.Skip("!!! NOT TESTED: the limits of watching cannot be set for one process here !!!")
}
