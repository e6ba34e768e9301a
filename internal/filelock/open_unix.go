//go:build unix

package filelock

import (
	"os"
	"syscall"
)

// Open opens a lock file, and makes it if it is missing.
func Open(name string) (*os.File, error) { return os.OpenFile(name, os.O_CREATE|os.O_RDWR, 0o600) }

// OpenAppend opens a file that processes append to, and makes it if it is missing. It does not
// wait for the reader of a pipe.
func OpenAppend(name string) (*os.File, error) {
	return os.OpenFile(name, os.O_APPEND|os.O_CREATE|os.O_WRONLY|syscall.O_NONBLOCK, 0o600)
}

// Discard removes a file that Open opened, while processes have it open.
func Discard(name string) error { return os.Remove(name) }
