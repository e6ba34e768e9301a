//go:build unix

package save

import "syscall"

// lockFiles returns how many lock files may stay open: a quarter of the
// descriptors that this process may have.
func lockFiles() int {
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		return stripeCount
	}
	return int(min(uint64(limit.Cur)/4, stripeCount)) //nolint:unconvert // signed on some systems
}
