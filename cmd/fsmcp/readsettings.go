package main

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"syscall"

	"github.com/fsmcp/fsmcp/internal/settings"
)

// readSettings reads a settings file. It never waits, whatever stands under the name: a pipe
// there must not hang the start.
func readSettings(name string) settings.Content {
	f, err := os.OpenFile(name, os.O_RDONLY|doNotBlock, 0)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		return settings.Content{Missing: true}
	}
	found := settings.Content{Safe: true}
	if err != nil {
		found.Why = cannotRead(err)
		return found
	}
	defer f.Close()
	info, err := f.Stat()
	switch {
	case err != nil:
	case !info.Mode().IsRegular():
		found.Why = "is not a regular file"
		return found
	default:
		found.Safe = onlyRootWrites(info)
		found.Bytes, err = io.ReadAll(io.LimitReader(f, settings.MaxFileBytes+1))
	}
	if err != nil {
		found.Bytes, found.Why = nil, cannotRead(err)
	}
	return found
}
