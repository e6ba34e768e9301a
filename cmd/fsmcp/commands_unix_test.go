//go:build unix

package main

import (
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"syscall"

	"github.com/rogpeppe/go-internal/testscript"
)

// forge JOURNAL FILE OLD NEW writes the journal of a write in place that was cut
// short, from OLD to NEW: the next start finishes it where FILE is a mix of both.
func forge(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, args, 4, "forge JOURNAL FILE OLD NEW")
	journal, file := ts.MkAbs(args[0]), ts.MkAbs(args[1])
	info, err := os.Stat(file)
	ts.Check(err)
	st := info.Sys().(*syscall.Stat_t)
	both := args[2] + args[3]
	about := fmt.Sprintf("fsmcp journal 1 %d %d %d %d %x %q ", st.Dev, st.Ino, len(args[2]), len(args[3]), sha256.Sum256([]byte(both)), file)
	ts.Check(os.MkdirAll(filepath.Dir(journal), 0o700))
	ts.Check(os.WriteFile(journal, fmt.Appendf(nil, "%s%s%05d\n", both, about, len(about)+6), 0o600))
}

// mode FILE 0640 compares the permission bits.
func wantMode(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, args, 2, "mode FILE OCTAL")
	info, err := os.Stat(ts.MkAbs(args[0]))
	ts.Check(err)
	stat := info.Sys().(*syscall.Stat_t)
	if got := fmt.Sprintf("%04o", stat.Mode&0o7777); got != args[1] {
		ts.Fatalf("%s has mode %s, not %s", args[0], got, args[1])
	}
}

// mkfifo makes a FIFO, also in the place of each file that a pattern names.
func mkfifo(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, args, 1, "mkfifo FILE")
	files, err := filepath.Glob(ts.MkAbs(args[0]))
	ts.Check(err)
	for _, name := range files {
		ts.Check(os.Remove(name))
	}
	if len(files) == 0 {
		files = []string{ts.MkAbs(args[0])}
	}
	for _, name := range files {
		ts.Check(syscall.Mkfifo(name, 0o666))
	}
}

// mksock makes a socket. It is bound by a short relative name in its folder,
// since a socket's path may have 107 bytes only.
func mksock(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, args, 1, "mksock FILE")
	fd, err := syscall.Socket(syscall.AF_UNIX, syscall.SOCK_STREAM, 0)
	ts.Check(err)
	defer syscall.Close(fd)
	dir, err := os.MkdirTemp("", "sock")
	ts.Check(err)
	defer os.RemoveAll(dir)
	ts.Check(syscall.Bind(fd, &syscall.SockaddrUnix{Name: filepath.Join(dir, "s")}))
	ts.Check(os.Rename(filepath.Join(dir, "s"), ts.MkAbs(args[0])))
}

// credential starts a process under another user's id.
func credential(uid int) *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(uid), Gid: uint32(uid)}}
}
