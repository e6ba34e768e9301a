//go:build unix

package lock

import "syscall"

// mostFiles returns how many lock files may stay open: a quarter of the
// descriptors that this process may have.
func mostFiles() int {
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		return StripeCount
	}
	return int(min(uint64(limit.Cur)/4, StripeCount)) //nolint:unconvert // signed on some systems
}
