// Package sandbox restricts a process that decodes hostile files. On Linux Landlock limits
// the files that it can open and closes the network, and a filter of system calls (seccomp)
// ends it at calls that no decoder makes: to start a program or a process, to open a socket,
// to trace, to load code into the kernel. Calls that are not on the list fail as unknown.
//
// On Windows the process gives up its privileges and lowers its integrity, so that it can
// change nothing of the user's; its job, which package procgroup makes, lets it start no
// program. It can still read and connect: only a container for apps would forbid that, which
// reads no programs and caches in the user's folders. A token that is restricted before the
// start was not taken either: the process fills the cache of compiled code before its first
// input, and lowers itself then.
//
// On macOS a process can only be started in a sandbox, by sandbox-exec with a Profile, as
// package worker does; the call that a process could enter one by is in a C library.
// No real Windows and no Mac has run any of it.
//
// It promises that a process works as before where the kernel lacks one or both, refuses
// them, or is another system's; Enter then reports what holds. What is open stays open.
//
// Landlock binds one thread. Enter binds all of them, which Go can do only in a program
// without C code. fsmcp-vips has C code, so a constructor, vips.c, binds its only thread
// before Go starts. To start the same program again would load its hundred libraries twice:
// 31 million cycles in the dynamic loader alone.
//
// go-landlock v0.11.0 and go-seccomp-bpf v1.6.0 would do the same with four modules more,
// one of them (psx) C code in each program with cgo; the system calls take 300 lines.
package sandbox

import (
	_ "embed"
	"strconv"
	"strings"
)

// State says what the kernel enforces on a process.
type State struct {
	ABI   int  `json:"abi"`   // the version of the kernel's Landlock; 0: it has none
	Files bool `json:"files"` // the files that it can open are limited
	Calls bool `json:"calls"` // the system calls that it can make are limited
	Cgo   bool `json:"cgo"`   // it has C code: Enter cannot limit files

	// On Windows and macOS.
	Writes     bool `json:"writes,omitempty"`     // it can change nothing of the user's
	Privileges bool `json:"privileges,omitempty"` // it has given its privileges up
	Programs   bool `json:"programs,omitempty"`   // it can start none
	Network    bool `json:"network,omitempty"`    // it can connect to nothing
}

// reads lists what a decoder may read, a C string and a comma on each line.
//
//go:embed reads.h
var reads string

// readable returns the files and folders that a decoder may read: libraries, fonts, time
// zones, and what the Go runtime and libraries ask about processors and memory.
func readable() (paths []string) {
	for line := range strings.Lines(reads) {
		if path, err := strconv.Unquote(strings.TrimRight(line, ",\n")); err == nil {
			paths = append(paths, path)
		}
	}
	return paths
}
