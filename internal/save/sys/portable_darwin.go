package sys

import (
	"os"

	"golang.org/x/sys/unix"
)

// exchange swaps two files of a folder in one step.
func exchange(root *os.Root, a, b string) error {
	dir, err := root.Open(".")
	if err != nil {
		return number(err)
	}
	defer dir.Close()
	fd := int(dir.Fd())
	err = unix.RenameatxNp(fd, a, fd, b, unix.RENAME_SWAP)
	if err == unix.ENOTSUP {
		return unix.EINVAL
	}
	return err
}
