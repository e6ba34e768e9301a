//go:build unix

package fsys

import "golang.org/x/sys/unix"

func stampFrom(st *unix.Stat_t) Stamp {
	return Stamp{
		Dev:   uint64(st.Dev),
		Ino:   st.Ino,
		Size:  st.Size,
		Mtime: st.Mtim.Nano(),
		Ctime: st.Ctim.Nano(),
		Mode:  uint32(st.Mode),
		Nlink: uint64(st.Nlink),
		UID:   st.Uid,
		GID:   st.Gid,
	}
}

func kindOf(s Stamp) Kind {
	switch s.Mode & unix.S_IFMT {
	case unix.S_IFREG:
		return Regular
	case unix.S_IFDIR:
		return Directory
	}
	return Special
}

// fstat is unix.Fstat, again when a signal came between.
func fstat(fd int) (Stamp, error) {
	var st unix.Stat_t
	for {
		err := unix.Fstat(fd, &st)
		if err == nil {
			return stampFrom(&st), nil
		}
		if err != unix.EINTR {
			return Stamp{}, err
		}
	}
}
