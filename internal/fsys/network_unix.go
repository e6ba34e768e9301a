//go:build linux || darwin

package fsys

import "golang.org/x/sys/unix"

// OnNetwork reports that an open file is on a network, FUSE, virtiofs or hypervisor mount.
// Such a system's report on a write should be checked. It returns true for a file system
// that it cannot query.
func OnNetwork(fd int) bool {
	var st unix.Statfs_t
	err := RetryEINTR(func() error { return unix.Fstatfs(fd, &st) })
	return err != nil || remote(&st)
}
