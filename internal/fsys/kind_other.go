//go:build !linux || fsys_portable

package fsys

import "io/fs"

func kindOfMode(mode fs.FileMode) Kind {
	switch {
	case mode.IsDir():
		return Directory
	case mode.IsRegular():
		return Regular
	}
	return Special
}

// isAway reports whether the content of a file is not on this machine. It is replaced in tests.
var isAway = awayBySystem
