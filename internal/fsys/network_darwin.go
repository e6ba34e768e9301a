package fsys

import "golang.org/x/sys/unix"

func remote(st *unix.Statfs_t) bool { return st.Flags&unix.MNT_LOCAL == 0 }
