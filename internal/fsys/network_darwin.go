package fsys

import "golang.org/x/sys/unix"

// OnNetwork reports that an open file does not lie on a local mount. One that
// cannot be asked counts as such.
func OnNetwork(fd int) bool {
	var st unix.Statfs_t
	for {
		err := unix.Fstatfs(fd, &st)
		if err == unix.EINTR {
			continue
		}
		return err != nil || st.Flags&unix.MNT_LOCAL == 0
	}
}
