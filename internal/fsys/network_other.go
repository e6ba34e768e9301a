//go:build !linux && !darwin

package fsys

// OnNetwork cannot tell here, and says no: UNC paths are refused by the lexer.
func OnNetwork(int) bool { return false }
