//go:build !windows

package nativetest

// Wine reports whether the tests run under Wine.
func Wine() bool { return false }
