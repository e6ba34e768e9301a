//go:build unix

package fsys

import "golang.org/x/sys/unix"

// RetryEINTR calls f again for as long as a signal interrupts it.
func RetryEINTR(f func() error) error {
	for {
		if err := f(); err != unix.EINTR {
			return err
		}
	}
}

// RetryEINTR2 is RetryEINTR for a call with a result.
func RetryEINTR2[T any](f func() (T, error)) (T, error) {
	for {
		if v, err := f(); err != unix.EINTR {
			return v, err
		}
	}
}
