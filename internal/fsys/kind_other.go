//go:build !linux || fsys_portable

package fsys

import (
	"errors"
	"io"
	"io/fs"
	"os"
)

func kindOfMode(mode fs.FileMode) Kind {
	switch {
	case mode.IsDir():
		return Directory
	case mode.IsRegular():
		return Regular
	}
	return Special
}

// eachIn calls f for every name in an open folder, until f returns false.
func eachIn(folder *os.File, f func(name string, kind Kind) bool) error {
	for {
		batch, err := folder.ReadDir(500)
		for _, e := range batch {
			if !f(e.Name(), kindOfMode(e.Type())) {
				return nil
			}
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// isAway reports whether the content of a file is not on this machine. It is replaced in tests.
var isAway = awayBySystem
