//go:build unix

package pdf

import (
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// lockFolder waits for other processes that compile into the same folder, and
// returns what lets them go on. Where that cannot be done, all compile at once.
func lockFolder(dir string) (unlock func()) {
	if dir == "" || os.MkdirAll(dir, 0o700) != nil {
		return func() {}
	}
	f, err := os.OpenFile(filepath.Join(dir, "..", lockName), os.O_CREATE|os.O_RDWR|unix.O_CLOEXEC, 0o600)
	if err != nil {
		return func() {}
	}
	if unix.Flock(int(f.Fd()), unix.LOCK_EX) != nil {
		f.Close()
		return func() {}
	}
	return func() { f.Close() }
}
