//go:build !darwin

package sys

import (
	"os"
	"syscall"
)

// exchange is not offered.
func exchange(*os.Root, string, string) error { return syscall.EINVAL }
