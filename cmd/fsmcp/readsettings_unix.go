//go:build unix

package main

import (
	"golang.org/x/sys/unix"

	"github.com/fsmcp/fsmcp/internal/fsys"
	"github.com/fsmcp/fsmcp/internal/settings"
)

// readSettings never waits, whatever stands under the name: a pipe there must not
// hang the start. It makes five system calls where os.File makes eight: before calls
// all settings files are read again.
func readSettings(name string) settings.Content {
	fd, err := fsys.RetryEINTR2(func() (int, error) {
		return unix.Open(name, unix.O_RDONLY|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	})
	switch {
	case err == unix.ENOENT || err == unix.ENOTDIR:
		return settings.Content{Missing: true}
	case err != nil:
		return settings.Content{Why: cannotRead(err), Safe: true}
	}
	defer unix.Close(fd)
	var stat unix.Stat_t
	if err := unix.Fstat(fd, &stat); err != nil {
		return settings.Content{Why: cannotRead(err), Safe: true}
	}
	if stat.Mode&unix.S_IFMT != unix.S_IFREG {
		return settings.Content{Why: "is not a regular file", Safe: true}
	}
	safe := stat.Uid == 0 && stat.Mode&0o022 == 0
	b, err := readAll(fd, int(min(stat.Size, settings.MaxFileBytes)))
	if err != nil {
		return settings.Content{Why: cannotRead(err), Safe: safe}
	}
	return settings.Content{Bytes: b, Safe: safe}
}

// readAll reads a file that has about size bytes, as far as a settings file may go.
func readAll(fd, size int) ([]byte, error) {
	b := make([]byte, 0, size+1)
	for len(b) <= settings.MaxFileBytes {
		if len(b) == cap(b) {
			b = append(b, 0)[:len(b)]
		}
		n, err := fsys.RetryEINTR2(func() (int, error) { return unix.Read(fd, b[len(b):cap(b)]) })
		if err != nil || n == 0 {
			return b, err
		}
		b = b[:len(b)+n]
	}
	return b, nil
}
