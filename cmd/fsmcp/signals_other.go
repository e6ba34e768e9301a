//go:build !unix

package main

// beforeDeath does nothing where no signal ends a process at once.
func beforeDeath(func()) (stop func()) { return func() {} }
