//go:build !unix

package main

import (
	"errors"
	"io"
	"io/fs"
	"os"

	"github.com/fsmcp/fsmcp/internal/settings"
)

// readSettings calls every file safe: below the administrator's folder only
// administrators may write.
func readSettings(name string) settings.Content {
	f, err := os.OpenFile(name, os.O_RDONLY, 0)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return settings.Content{Missing: true}
	case err != nil:
		return settings.Content{Why: cannotRead(err), Safe: true}
	}
	defer f.Close()
	info, err := f.Stat()
	switch {
	case err != nil:
		return settings.Content{Why: cannotRead(err), Safe: true}
	case !info.Mode().IsRegular():
		return settings.Content{Why: "is not a regular file", Safe: true}
	}
	b, err := io.ReadAll(io.LimitReader(f, settings.MaxFileBytes+1))
	if err != nil {
		return settings.Content{Why: cannotRead(err), Safe: true}
	}
	return settings.Content{Bytes: b, Safe: true}
}
