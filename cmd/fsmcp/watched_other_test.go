//go:build !linux

package main

// watchTempParents does nothing: see watched_linux_test.go.
func watchTempParents() (end func()) { return func() {} }
