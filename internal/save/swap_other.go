//go:build !darwin && (!linux || fsys_portable)

package save

import (
	"errors"
	"os"
)

// canSwap: whether swapNames is worth trying.
const canSwap = false

// swapNames exchanges two files of a folder in one step, where that can be done.
func swapNames(*os.Root, string, string) error { return errors.ErrUnsupported }
