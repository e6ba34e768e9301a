//go:build unix

package owndir

import (
	"fmt"
	"io/fs"
	"os"
	"strconv"
	"syscall"
)

// euid is the effective user, asked for once: the check is made at each write.
var euid = uint32(os.Geteuid())

// user returns the effective user's number.
func user() string { return strconv.FormatUint(uint64(euid), 10) }

// Check returns an *Error unless the effective user owns a file and no other user
// may write it.
func Check(path string, info fs.FileInfo) error {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return &Error{path, "has no known owner"}
	}
	return CheckStat(path, st.Uid, uint32(st.Mode), false) //nolint:unconvert // not so wide everywhere
}

// CheckStat is Check for an owner and a mode. If private, no other user may even look into
// the folder, as one in a directory that all may write has to be. An access list that lets another user write shows in the bits of the group (source:
// acl(5), "Correspondence between ACL entries and file permission bits").
func CheckStat(path string, uid, mode uint32, private bool) error {
	switch {
	case uid != euid:
		return &Error{path, fmt.Sprintf("belongs to another user, uid %d", uid)}
	case mode&0o022 != 0:
		return &Error{path, fmt.Sprintf("may be written by other users, mode %04o", mode&0o7777)}
	case private && mode&0o077 != 0:
		return &Error{path, fmt.Sprintf("is open to other users, mode %04o", mode&0o7777)}
	}
	return nil
}
