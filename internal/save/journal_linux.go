//go:build !fsys_portable

package save

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/fsmcp/fsmcp/internal/fsys"
	"github.com/fsmcp/fsmcp/internal/span"
)

// journal holds both contents of a file that is written in place, old then new,
// and after them what it is about:
//
//	fsmcp journal 1 DEV INO OLDSIZE NEWSIZE SHA256-OF-BOTH "PATH" LENGTH-OF-THIS
//
// This comes last, so a journal that has it is complete; one that has not was
// never acted upon.
type journal struct {
	sys  Sys
	dir  int
	name string
	fd   int

	dev, ino uint64
	old, new int64 // sizes
	sum      string
	path     string
}

const (
	journalMagic = "fsmcp journal 1 "
	journalTail  = 6 // letters of the length at the very end, with the newline
	journalMax   = 40 << 10
)

// startJournal writes both contents down and syncs them.
func (x *Txn) startJournal(c []span.Splice) (*journal, error) {
	dir, err := x.st.openPart(journalDir)
	if err != nil {
		return nil, err
	}
	j := &journal{sys: x.s.sys, dir: dir, fd: -1, path: x.path,
		dev: x.was.Dev, ino: x.was.Ino, old: x.was.Size, new: x.was.Size + span.Growth(c)}
	if err := x.fillJournal(j, c); err != nil {
		j.drop()
		j.close()
		return nil, err
	}
	return j, nil
}

func (x *Txn) fillJournal(j *journal, c []span.Splice) (err error) {
	made, err := x.s.createLocked(j.dir, 0o600, func() (string, error) { return x.s.random(10) })
	if j.fd, j.name = made.fd, made.name; err != nil {
		return err
	}
	if made.lockErr != nil { // a sweeper could remove the journal before it is complete
		return made.lockErr
	}
	sum := sha256.New()
	f := newFiller(j.sys, j.fd, x.fd, nil, j.old+j.new, sum)
	if err := f.fill(j.old, nil); err != nil {
		return err
	}
	if err := f.fill(j.old, c); err != nil {
		return err
	}
	j.sum = hex.EncodeToString(sum.Sum(nil))
	if err := writeAll(j.sys, j.fd, j.trailer(), j.old+j.new); err != nil {
		return err
	}
	if x.s.o.Durability == None {
		return j.mustExist()
	}
	if err := j.sys.Sync(j.fd); err != nil {
		return err
	}
	if err := j.sys.Sync(j.dir); err != nil {
		return err
	}
	return j.mustExist()
}

func (j *journal) mustExist() error {
	now, err := j.sys.Fstat(j.fd)
	if err == nil && now.Nlink == 0 {
		err = unix.ENOENT
	}
	return err
}

func (j *journal) trailer() []byte {
	s := fmt.Sprintf("%s%d %d %d %d %s %s ", journalMagic, j.dev, j.ino, j.old, j.new, j.sum, strconv.Quote(j.path))
	return fmt.Appendf([]byte(s), "%05d\n", len(s)+journalTail)
}

// openJournal reads what a journal is about and proves that it is complete. ok is
// false for one that is not.
func openJournal(sys Sys, dir, fd int, name string) (j *journal, ok bool, err error) {
	j = &journal{sys: sys, dir: dir, fd: fd, name: name}
	stamp, err := sys.Fstat(fd)
	if err != nil {
		return j, false, err
	}
	tail, err := readAt(sys, fd, stamp.Size-journalTail, journalTail)
	if err != nil {
		return j, false, err
	}
	n, perr := strconv.Atoi(strings.TrimSuffix(string(tail), "\n"))
	if perr != nil || n < journalTail || n > journalMax || int64(n) > stamp.Size {
		return j, false, nil
	}
	text, err := readAt(sys, fd, stamp.Size-int64(n), n-journalTail)
	if err != nil {
		return j, false, err
	}
	if !j.parse(string(text)) || j.old < 0 || j.new < 0 || j.old+j.new+int64(n) != stamp.Size {
		return j, false, nil
	}
	sum, err := digestOf(sys, fd, j.old+j.new)
	if err != nil {
		return j, false, err
	}
	return j, hex.EncodeToString(sum[:]) == j.sum, nil
}

func (j *journal) parse(text string) bool {
	text, ok := strings.CutPrefix(text, journalMagic)
	if !ok {
		return false
	}
	var quoted string
	n, err := fmt.Sscanf(text, "%d %d %d %d %s %q", &j.dev, &j.ino, &j.old, &j.new, &j.sum, &quoted)
	j.path = quoted
	return err == nil && n == 6
}

// readAt reads n bytes, fewer at the end of the file.
func readAt(sys Sys, fd int, off int64, n int) ([]byte, error) {
	p := make([]byte, n)
	if off < 0 {
		return nil, nil
	}
	for got := 0; got < n; {
		m, err := sys.Pread(fd, p[got:], off+int64(got))
		if err != nil {
			return nil, err
		}
		if m <= 0 {
			return p[:got], nil
		}
		got += m
	}
	return p, nil
}

// put writes the bytes [from, to) of one of the contents, which begins at base in
// the journal, into a file at the same place. every > 0 syncs after so many bytes.
func (j *journal) put(file int, base, from, to, every int64) error {
	buf := make([]byte, min(max(to-from, 1), fillBuffer))
	unsynced := int64(0)
	for from < to {
		n := min(to-from, int64(len(buf)))
		if every > 0 {
			n = min(n, every-from%every)
		}
		p, err := readAt(j.sys, j.fd, base+from, int(n))
		if err != nil {
			return err
		}
		if int64(len(p)) < n {
			return errShort
		}
		if err := writeAll(j.sys, file, p, from); err != nil {
			return err
		}
		from, unsynced = from+n, unsynced+n
		if every > 0 && unsynced >= every && from < to {
			if err := j.sys.Sync(file); err != nil {
				return err
			}
			unsynced = 0
		}
	}
	return nil
}

// mixed tells how the file's content relates to the journal's two. For a mix, at
// is where the new part ends.
func (j *journal) mixed(file int, size int64) (is mixture, at int64, err error) {
	at, err = j.common(file, j.old, 0, min(size, j.new))
	if err != nil {
		return neither, 0, err
	}
	if at == size && size == j.new {
		return allNew, at, nil
	}
	same, err := j.common(file, 0, 0, min(size, j.old))
	if err != nil {
		return neither, 0, err
	}
	if same == size && size == j.old {
		return allOld, 0, nil
	}
	switch {
	case size > j.old && at == size:
		return someNew, at, nil // past the old end, nothing old is left
	case size == j.old:
		rest, err := j.common(file, 0, at, size)
		if err == nil && rest == size {
			return someNew, at, nil
		}
		return neither, 0, err
	}
	return neither, 0, nil
}

type mixture int

const (
	neither mixture = iota
	allOld
	allNew
	someNew // new up to some offset, old behind it
)

// common is the first offset in [from, to) at which the file and the content that
// begins at base in the journal differ, or to.
func (j *journal) common(file int, base, from, to int64) (int64, error) {
	for from < to {
		n := int(min(to-from, 64<<10))
		a, err := readAt(j.sys, file, from, n)
		if err != nil {
			return from, err
		}
		b, err := readAt(j.sys, j.fd, base+from, n)
		if err != nil {
			return from, err
		}
		for i := range min(len(a), len(b)) {
			if a[i] != b[i] {
				return from + int64(i), nil
			}
		}
		if len(a) < n || len(b) < n {
			return from + int64(min(len(a), len(b))), nil
		}
		from += int64(n)
	}
	return to, nil
}

// drop removes the journal, so that it lasts: one that came back after a loss of
// power would speak of a file that was changed since.
func (j *journal) drop() error {
	if j.name == "" {
		return nil
	}
	err := j.sys.Unlink(j.dir, j.name, 0)
	if err != nil && !is(err, unix.ENOENT) {
		if err = j.sys.Unlink(j.dir, j.name, 0); err != nil {
			return err
		}
	}
	return j.sys.Sync(j.dir)
}

func (j *journal) close() {
	if j.fd >= 0 {
		j.sys.Close(j.fd)
	}
	j.sys.Close(j.dir)
}

// sameFile reports that a file is the one that the journal is about. The device's
// number may be another one after a restart, so the inode and, above all, the
// content must do.
func (j *journal) sameFile(s fsys.Stamp) bool {
	return s.Ino == j.ino && s.Mode&unix.S_IFMT == unix.S_IFREG
}
