package main

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"syscall"

	"github.com/fsmcp/fsmcp/internal/config"
)

// onDisk gives the settings what they need of the disk.
func onDisk(s config.Surroundings) config.Surroundings {
	s.OS, s.Read, s.List, s.Real = runtime.GOOS, readSettings, listFolder, realName
	return s
}

// readSettings never waits, whatever stands under the name: a pipe there must
// not hang the start.
func readSettings(name string) config.Content {
	f, err := os.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	switch {
	case errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR):
		return config.Content{Missing: true}
	case err != nil:
		return config.Content{Why: cannotRead(err), Safe: true}
	}
	defer f.Close()
	info, err := f.Stat()
	switch {
	case err != nil:
		return config.Content{Why: cannotRead(err), Safe: true}
	case !info.Mode().IsRegular():
		return config.Content{Why: "is not a regular file", Safe: true}
	}
	b, err := io.ReadAll(io.LimitReader(f, config.MaxFileBytes+1))
	if err != nil {
		return config.Content{Why: cannotRead(err), Safe: rootsOwn(info)}
	}
	return config.Content{Bytes: b, Safe: rootsOwn(info)}
}

// cannotRead leaves out the name, which is told beside it anyway.
func cannotRead(err error) string {
	if e := (*fs.PathError)(nil); errors.As(err, &e) {
		err = e.Err
	}
	return "cannot be read: " + err.Error()
}

func listFolder(dir string) (names []string) {
	entries, _ := os.ReadDir(dir) // what cannot be listed holds nothing
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

// realName resolves links as far as the name exists.
func realName(name string) string {
	for dir, rest := name, ""; ; dir, rest = filepath.Dir(dir), filepath.Join(filepath.Base(dir), rest) {
		if real, err := filepath.EvalSymlinks(dir); err == nil {
			return filepath.Join(real, rest)
		} else if dir == filepath.Dir(dir) {
			return name
		}
	}
}
