//go:build unix

package doctor

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// writable returns why files cannot be made in a directory, as the rest of a sentence. It
// asks the kernel and writes nothing; known is false if the system cannot tell.
func writable(dir string) (known bool, err error) {
	if err := unix.Access(dir, unix.W_OK|unix.X_OK); err != nil {
		return true, fmt.Errorf("cannot be written: %w", err)
	}
	return true, nil
}
