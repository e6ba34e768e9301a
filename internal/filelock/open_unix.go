//go:build unix

package filelock

import "os"

// Open opens a lock file, and makes it if it is missing.
func Open(name string) (*os.File, error) { return os.OpenFile(name, os.O_CREATE|os.O_RDWR, 0o600) }

// Discard removes a file that Open opened, while processes have it open.
func Discard(name string) error { return os.Remove(name) }
