//go:build unix

package pdf

import (
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"
)

// How a folder is held.
const (
	alone  = unix.LOCK_EX
	beside = unix.LOCK_SH // with others who only look
)

// lockFolder waits for its turn at a folder, but not for longer than it may, and
// returns what lets others go on. The lock ends with the process that has it.
// Where none can be had, all go ahead at once, which costs time alone: files are
// put in their place whole.
func lockFolder(dir string, how int, within time.Duration) (unlock func()) {
	const again = 20 * time.Millisecond
	if dir == "" || os.MkdirAll(filepath.Dir(dir), 0o700) != nil {
		return func() {}
	}
	f, err := os.OpenFile(dir+".lock", os.O_CREATE|os.O_RDWR|unix.O_CLOEXEC, 0o600)
	if err != nil {
		return func() {}
	}
	for end := time.Now().Add(within); unix.Flock(int(f.Fd()), how|unix.LOCK_NB) != nil && time.Now().Before(end); {
		time.Sleep(again)
	}
	return func() { f.Close() }
}
