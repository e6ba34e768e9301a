// Package stack gives goroutines of the start as much stack as they need in one step.
//
// The runtime doubles a stack of 2 KB when it is full, and finds each frame on it in the
// tables of the program, which lie far apart: each frame costs page faults and keeps 64 KB of
// the program in memory. Early there are few frames. With this package a start takes 0.2 to 0.3
// of 3.7 ms less, and the idle server 1.1 of 13.7 MB. The runtime has no option for it.
//
// A stack that is larger than needed shrinks at a garbage collection.
package stack

// The main goroutine makes room before the other packages are initialised: this one imports none,
// so that it is among the first.
var _ = grow()

// Go runs f on a goroutine of its own.
func Go(f func()) {
	go func() {
		grow()
		f()
	}()
}

// grow makes room for 33 KB on the stack of the calling goroutine. It returns true.
//
//go:noinline
func grow() bool {
	var room [33 << 10]byte
	return room[index] == 0
}

var index uint8 // unknown to the compiler, which would leave out the room else
