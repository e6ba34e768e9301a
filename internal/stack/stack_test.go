package stack

import (
	"runtime/debug"
	"testing"
	"unsafe"
)

// TestGrow: after grow no deep call moves the stack of a goroutine; without it one does.
func TestGrow(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(-1)) // a collection could shrink a stack
	moves := func(prepare func()) bool {
		moved := make(chan bool)
		go func() {
			prepare()
			var here byte
			before := uintptr(unsafe.Pointer(&here))
			deep(30)
			moved <- before != uintptr(unsafe.Pointer(&here))
		}()
		return <-moved
	}
	if !moves(func() {}) {
		t.Error("the stack has room for 30 KB without grow: nothing was tested")
	}
	if moves(func() { grow() }) {
		t.Error("the stack was moved after grow")
	}
}

// deep uses 1 KB of stack for each level.
//
//go:noinline
func deep(levels int) byte {
	var frame [900]byte
	if levels > 0 {
		frame[index] = deep(levels - 1)
	}
	return frame[index]
}
