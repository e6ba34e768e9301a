package disk

import (
	"encoding/binary"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/fsmcp/fsmcp/internal/perm"
	"github.com/fsmcp/fsmcp/internal/settings"
)

func TestPrivateGroup(t *testing.T) {
	dir := t.TempDir()
	passwdFile, groupFile = filepath.Join(dir, "passwd"), filepath.Join(dir, "group")
	t.Cleanup(func() { passwdFile, groupFile = "/etc/passwd", "/etc/group" })
	const passwd = "root:x:0:0::/root:/bin/sh\nann:x:1000:1000::/home/ann:/bin/sh\nbob:x:1001:1001::/:/bin/sh\ncid:x:1002:100::/:/bin/sh\ndan:x:1003:100::/:/bin/sh\nbroken\n"
	const group = "root:x:0:\nann:x:1000:\nbob:x:1001:ann\nusers:x:100:\ndev:x:50:ann\n"
	for _, c := range []struct {
		name     string
		gid, uid int
		passwd   string
		group    string
		want     bool
	}{
		{"a group of one's own", 1000, 1000, passwd, group, true},
		{"named in it, too", 1000, 1000, passwd, group + "ann:x:1000:ann\n", true},
		{"root is in it", 1000, 1000, passwd, group + "ann:x:1000:ann,root\n", true},
		{"a group that is not the primary one", 50, 1000, passwd, group, false},
		{"another is a member", 1001, 1001, passwd, group, false},
		{"another's primary group", 100, 1002, passwd, group, false},
		{"no entry for the group", 1000, 1000, passwd, "", true},
		{"root", 0, 0, passwd, group, true},
		{"a system user in root's group", 0, 0, passwd + "sync:x:5:0::/:/bin/sync\n", group, false},
	} {
		for file, text := range map[string]string{passwdFile: c.passwd, groupFile: c.group} {
			if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if got := privateGroup(c.gid, c.uid); got != c.want {
			t.Errorf("%s: %v", c.name, got)
		}
	}
}

// An access list lets another user write, although the group has no other member.
func TestAccessList(t *testing.T) {
	home := t.TempDir()
	file := filepath.Join(home, "settings.json")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	owned := func() settings.Ownership {
		return Owned(home)(settings.SettingsFile{Name: file, Level: perm.User}, nil)
	}
	if err := os.Chmod(file, 0o660); err != nil {
		t.Fatal(err)
	}
	if o := owned(); o.Foreign != "" {
		t.Skipf("!!! NOT TESTED: the user's group has other members here: %s !!!", o.Foreign)
	}
	const owner, user, group, mask, other, anyone = 0x01, 0x02, 0x04, 0x10, 0x20, 0xffffffff
	list := binary.LittleEndian.AppendUint32(nil, 2) // the version
	for _, e := range []struct {
		tag, rights uint16
		id          uint32
	}{{owner, 6, anyone}, {user, 6, 65534}, {group, 0, anyone}, {mask, 6, anyone}, {other, 0, anyone}} {
		list = binary.LittleEndian.AppendUint16(list, e.tag)
		list = binary.LittleEndian.AppendUint16(list, e.rights)
		list = binary.LittleEndian.AppendUint32(list, e.id)
	}
	if err := unix.Setxattr(file, "system.posix_acl_access", list, 0); err != nil {
		t.Skipf("!!! NOT TESTED: no access lists here: %v !!!", err)
	}
	if o := owned(); !strings.Contains(o.Foreign, "by an access list") {
		t.Errorf("%+v", o)
	}
}

// TestLinksThatNeverEnd: the look ends.
// TestLinksThatClimb: ".." behind a link is above the folder that the link leads to, and that
// file is looked at.
func TestLinksThatClimb(t *testing.T) {
	home, other := t.TempDir(), t.TempDir()
	file := filepath.Join(other, "s.json")
	for _, err := range []error{
		os.Mkdir(filepath.Join(other, "sub"), 0o755), os.WriteFile(file, nil, 0o600), os.Chmod(file, 0o666),
		os.Symlink(filepath.Join(other, "sub"), filepath.Join(home, "d")), os.Symlink("d/../s.json", filepath.Join(home, "settings.json")),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	o := Owned(home)(settings.SettingsFile{Name: filepath.Join(home, "settings.json"), Level: perm.User}, nil)
	if !strings.Contains(o.Foreign, "mode 0666") {
		t.Errorf("%+v", o)
	}
}

func TestLinksThatNeverEnd(t *testing.T) {
	home := t.TempDir()
	a, b := filepath.Join(home, "a"), filepath.Join(home, "b")
	if os.Symlink(a, b) != nil || os.Symlink(b, a) != nil {
		t.Fatal("no links")
	}
	if o := Owned(home)(settings.SettingsFile{Name: a, Level: perm.User}, nil); o.Foreign != "" {
		t.Errorf("%+v", o)
	}
}
