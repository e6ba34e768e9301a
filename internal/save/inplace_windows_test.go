package save

import (
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/windows"

	"github.com/fsmcp/fsmcp/internal/save/sys"
)

// undeletable is Windows where an access list forbids to delete files, and so to rename them.
// (Wine keeps no such list.) written is called before each write into a file that is written
// in place, that is after the journal's.
type undeletable struct {
	*sys.Windows
	name    string
	fd      int // of the file, opened to be written in place
	written func() error
}

func (u *undeletable) Rename(dir int, from, to string, flags uint) error {
	if from == u.name || to == u.name {
		return syscall.EACCES
	}
	return u.Windows.Rename(dir, from, to, flags)
}

func (u *undeletable) Openat(dir int, name string, flags int, mode uint32) (int, error) {
	fd, err := u.Windows.Openat(dir, name, flags, mode)
	if err == nil && flags&sys.Alone != 0 {
		u.fd = fd
	}
	return fd, err
}

func (u *undeletable) Pwrite(fd int, b []byte, off int64) (int, error) {
	if fd == u.fd && u.written != nil {
		if err := u.written(); err != nil {
			return 0, err
		}
	}
	return u.Windows.Pwrite(fd, b, off)
}

// A file that may not be deleted is written in place. Meanwhile no other program can open it
// for writing, and one that reads can.
func TestInPlaceOnWindows(t *testing.T) {
	d := newTestFolder(t)
	path := d.put("f", "old\n"+strings.Repeat("a line\n", 3000))
	denied, read := false, false
	u := &undeletable{Windows: sys.New(nil).(*sys.Windows), name: "f", written: func() error {
		_, err := openForeign(path, windows.GENERIC_WRITE, shareRead|shareWrite|shareDel)
		denied = err == windows.ERROR_SHARING_VIOLATION
		h, err := openForeign(path, windows.GENERIC_READ, shareRead|shareWrite)
		if read = err == nil; read {
			windows.CloseHandle(h)
		}
		return nil
	}}
	d.open(func(o *Options) { o.Sys = u })
	out, err := whole(d.save, path, "new, and longer\n"+strings.Repeat("a line\n", 3000))
	if err != nil || !out.InPlace || !denied || !read {
		t.Fatalf("%+v, %v; a writer was kept out: %v, a reader was let in: %v", out, err, denied, read)
	}
	d.want("f", "new, and longer\n"+strings.Repeat("a line\n", 3000))
	if now, err := u.Fstatat(sys.CWD, path); err != nil || !now.Same(out.Stamp) {
		t.Errorf("the stamp %+v is not that of the file, %+v", out.Stamp, now)
	}
	h, err := openForeign(path, windows.GENERIC_WRITE, shareRead|shareWrite|shareDel)
	if err != nil {
		t.Fatal("after the change the file is still held: ", err)
	}
	defer windows.CloseHandle(h)
	if _, err := whole(d.save, path, "newer"); err == nil || !strings.Contains(err.Error(), "holds it open for writing") {
		t.Errorf("beside a writer: %v", err)
	}
}

// A write in place that fails is undone; one that dies half-way is finished by the next start.
func TestInPlaceFailsOnWindows(t *testing.T) {
	old, changed := strings.Repeat("an old line\n", 60_000), strings.Repeat("a new one\n", 80_000) // written in four steps
	for _, dies := range []bool{false, true} {
		d := newTestFolder(t)
		path := d.put("f", old)
		writes := 0
		u := &undeletable{Windows: sys.New(nil).(*sys.Windows), name: "f", written: func() error {
			if writes++; writes == 3 || dies && writes > 3 {
				return syscall.EIO
			}
			return nil
		}}
		d.open(func(o *Options) { o.Sys, o.Durability = u, Data })
		if _, err := whole(d.save, path, changed); err == nil {
			t.Fatal("the write did not fail")
		}
		if !dies {
			d.want("f", old)
			continue
		}
		d.save.Close()
		d.open()
		report, err := d.save.Sweep(t.Context())
		if err != nil || len(report.Replayed) != 1 {
			t.Fatalf("%+v, %v", report, err)
		}
		d.want("f", changed)
	}
}
