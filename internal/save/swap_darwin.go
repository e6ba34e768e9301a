package save

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// canSwap: whether swapNames is worth trying.
const canSwap = true

// swapNames exchanges two files of a folder in one step.
func swapNames(root *os.Root, a, b string) error {
	dir, err := root.Open(".")
	if err != nil {
		return err
	}
	defer dir.Close()
	fd := int(dir.Fd())
	err = unix.RenameatxNp(fd, a, fd, b, unix.RENAME_SWAP)
	if err == unix.ENOTSUP || err == unix.EINVAL {
		return errors.ErrUnsupported
	}
	return err
}
