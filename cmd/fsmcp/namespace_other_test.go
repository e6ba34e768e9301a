//go:build unix && !linux

package main

import "syscall"

// ownLimits are nowhere else.
func ownLimits() *syscall.SysProcAttr { return nil }
