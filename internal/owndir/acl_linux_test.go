package owndir

import (
	"encoding/binary"
	"os"
	"testing"

	"golang.org/x/sys/unix"
)

// An access list lets another user write, although the mode's bits for others do not.
func TestAccessList(t *testing.T) {
	dir := tree(t)
	const owner, user, group, mask, other, anyone = 0x01, 0x02, 0x04, 0x10, 0x20, 0xffffffff
	set := func(rights uint16) {
		t.Helper()
		list := binary.LittleEndian.AppendUint32(nil, 2) // the version
		for _, e := range []struct {
			tag, rights uint16
			id          uint32
		}{{owner, 7, anyone}, {user, rights, 65534}, {group, 0, anyone}, {mask, rights, anyone}, {other, 0, anyone}} {
			list = binary.LittleEndian.AppendUint16(list, e.tag)
			list = binary.LittleEndian.AppendUint16(list, e.rights)
			list = binary.LittleEndian.AppendUint32(list, e.id)
		}
		if err := unix.Setxattr(dir, "system.posix_acl_access", list, 0); err != nil {
			t.Skipf("!!! NOT TESTED: no access lists here: %v !!!", err)
		}
	}
	set(5)
	wantError(t, "may read", Find(dir, 0), "")
	set(7)
	wantError(t, "may write", Find(dir, 0), dir)
	if info, err := os.Stat(dir); err != nil || checkPrivate(dir, info) == nil {
		t.Error("it passes for private")
	}
}
