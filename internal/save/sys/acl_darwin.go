package sys

import (
	"syscall"
	_ "unsafe" // for go:linkname
)

// copyACL gives a file the access list of another one. x/sys has no call for access lists, so
// this calls fcopyfile of libSystem the way x/sys calls the others: without cgo.
func copyACL(from, to int) error {
	const onlyACL = 1 << 0 // COPYFILE_ACL (source: copyfile.h)
	r, _, err := syscall6(fcopyfileAddr, uintptr(from), uintptr(to), 0, onlyACL, 0, 0)
	if int32(r) != 0 {
		return err
	}
	return nil
}

var fcopyfileAddr uintptr // of the trampoline in acl_darwin.s

//go:cgo_import_dynamic libc_fcopyfile fcopyfile "/usr/lib/libSystem.B.dylib"

//go:linkname syscall6 syscall.syscall6
func syscall6(fn, a1, a2, a3, a4, a5, a6 uintptr) (r1, r2 uintptr, err syscall.Errno)
