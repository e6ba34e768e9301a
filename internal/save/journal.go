package save

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"strconv"
	"strings"
	"syscall"

	"github.com/fsmcp/fsmcp/internal/fsys"
	"github.com/fsmcp/fsmcp/internal/save/sys"
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
	s    *Saver
	dir  int
	name string
	fd   int

	dev, ino uint64
	sum      string

	oldSize, newSize int64
	path             string
}

const (
	journalMagic = "fsmcp journal 1 "
	journalTail  = 6 // letters of the length at the very end, with the newline
	journalMax   = 40 << 10
)

// startJournal writes both contents of a file to a journal in dir and syncs them: as it is,
// and with the splices applied. The journal takes dir over. The error is sys.ErrEnded if the
// file is shorter by now.
func startJournal(dir int, old *oldFile, c []span.Splice) (*journal, error) {
	j := &journal{s: old.at.s, dir: dir, fd: -1, dev: old.was.Dev, ino: old.was.Ino,
		path: old.at.path, oldSize: old.was.Size, newSize: old.was.Size + span.Growth(c)}
	if err := j.write(old.fd, c); err != nil {
		j.remove()
		j.close()
		return nil, err
	}
	return j, nil
}

func (j *journal) write(from int, c []span.Splice) error {
	made, err := sys.CreateLocked(j.s.sys, j.dir, 0o600, func() (string, error) { return j.s.random(10) })
	if j.fd, j.name = made.FD, made.Name; err != nil {
		return err
	}
	if made.LockErr != nil { // a sweep could remove the journal before it is complete
		return made.LockErr
	}
	sum := sha256.New()
	f := sys.Writer{Sys: j.s.sys, FD: j.fd, Sum: sum}
	if err := f.CopySpliced(from, j.oldSize, nil); err != nil {
		return err
	}
	if err := f.CopySpliced(from, j.oldSize, c); err != nil {
		return err
	}
	j.sum = hex.EncodeToString(sum.Sum(nil))
	if err := sys.WriteAll(j.s.sys, j.fd, j.trailer(), j.oldSize+j.newSize); err != nil {
		return err
	}
	if j.s.o.Durability != None {
		if err := j.s.sys.Sync(j.fd); err != nil {
			return err
		}
		if err := j.s.sys.Sync(j.dir); err != nil {
			return err
		}
	}
	now, err := j.s.sys.Fstat(j.fd)
	if err == nil && now.Nlink == 0 {
		err = syscall.ENOENT
	}
	return err
}

func (j *journal) trailer() []byte {
	s := fmt.Sprintf("%s%d %d %d %d %s %s ", journalMagic, j.dev, j.ino, j.oldSize, j.newSize, j.sum, strconv.Quote(j.path))
	return fmt.Appendf([]byte(s), "%05d\n", len(s)+journalTail)
}

// openJournal reads what a journal is about and proves that it is complete. ok is
// false for one that is not.
func (s *Saver) openJournal(dir, fd int, name string) (j *journal, ok bool, err error) {
	j = &journal{s: s, dir: dir, fd: fd, name: name}
	stamp, err := s.sys.Fstat(fd)
	if err != nil {
		return j, false, err
	}
	tail, err := sys.ReadAt(s.sys, fd, max(stamp.Size-journalTail, 0), journalTail)
	if err != nil {
		return j, false, err
	}
	n, perr := strconv.Atoi(strings.TrimSuffix(string(tail), "\n"))
	if perr != nil || n < journalTail || n > journalMax || int64(n) > stamp.Size {
		return j, false, nil
	}
	text, err := sys.ReadAt(s.sys, fd, stamp.Size-int64(n), n-journalTail)
	if err != nil {
		return j, false, err
	}
	if !j.parse(string(text)) || j.oldSize < 0 || j.newSize < 0 || j.oldSize+j.newSize+int64(n) != stamp.Size {
		return j, false, nil
	}
	sum, err := sys.DigestOf(s.sys, fd, j.oldSize+j.newSize)
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
	n, err := fmt.Sscanf(text, "%d %d %d %d %s %q", &j.dev, &j.ino, &j.oldSize, &j.newSize, &j.sum, &quoted)
	j.path = quoted
	return err == nil && n == 6
}

// copyTo writes the bytes [from, to) of one of the contents, which begins at base in
// the journal, into a file at the same place.
func (j *journal) copyTo(file int, base, from, to int64) error {
	for from < to {
		n := min(to-from, sys.BufferSize)
		p, err := sys.ReadAt(j.s.sys, j.fd, base+from, int(n))
		if err != nil {
			return err
		}
		if int64(len(p)) < n {
			return sys.ErrShort
		}
		if err := sys.WriteAll(j.s.sys, file, p, from); err != nil {
			return err
		}
		from += n
	}
	return nil
}

// extended returns where the new bytes behind the end of the old content end. What follows
// up to size was appended by another program.
func (j *journal) extended(file int, size int64) (end int64, err error) {
	return j.common(file, j.oldSize, j.oldSize, max(j.oldSize, min(size, j.newSize)))
}

// mixedAt reports whether the file begins with new bytes up to at, and with old ones behind
// that up to their end.
func (j *journal) mixedAt(file int, at int64) (bool, error) {
	same, err := j.common(file, j.oldSize, 0, at)
	if err != nil || same < at {
		return false, err
	}
	same, err = j.common(file, 0, at, j.oldSize)
	return same >= j.oldSize, err
}

// sector is the part of a file that a disk writes whole or not at all.
const sector = 512

// mixed tells how the content of a file of that size relates to the journal's two. A kill leaves new
// bytes up to some offset. A loss of power, which leaves each sector as it was at some time, leaves
// the sectors behind it so, too: new up to an offset in the sector, and old behind that. at is
// where the file first differs from the new content. (Another program that after a kill puts exactly
// the old bytes of some sectors back is taken for such a mix.)
func (j *journal) mixed(file int, size int64) (is mixture, at int64, err error) {
	at, err = j.common(file, j.oldSize, 0, min(size, j.newSize))
	if err != nil {
		return neither, 0, err
	}
	if at == size && size == j.newSize {
		return allNew, at, nil
	}
	same, err := j.common(file, 0, 0, min(size, j.oldSize))
	if err != nil {
		return neither, 0, err
	}
	if same == size && size == j.oldSize {
		return allOld, 0, nil
	}
	if ok, err := j.eachMixed(file, at, size); err != nil || !ok {
		return neither, 0, err
	}
	return someNew, at, nil
}

// eachMixed reports whether each sector from at to the end of a file of that size is new up to some
// offset, and old behind it. A file that is to grow may have zeros behind its old end: its size
// reached the disk first. One that is to shrink keeps its old size until all new bytes are there.
func (j *journal) eachMixed(file int, at, size int64) (bool, error) {
	if size < j.oldSize || size > max(j.oldSize, j.newSize) {
		return false, nil
	}
	for at < size {
		n := int(min(size-at, sys.BufferSize-at%sys.BufferSize))
		is, err := sys.ReadAt(j.s.sys, file, at, n)
		if err != nil || len(is) < n {
			return false, err
		}
		before, after, err := j.bothAt(at, n)
		if err != nil {
			return false, err
		}
		for from := 0; from < n; {
			to := min(n, from+sector-int((at+int64(from))%sector))
			for from < to && is[from] == after[from] {
				from++
			}
			if !bytes.Equal(is[from:to], before[from:to]) {
				return false, nil
			}
			from = to
		}
		at += int64(n)
	}
	return true, nil
}

// bothAt returns n bytes of both contents: of the old one with zeros behind it, of the new one with what
// the old one has behind it.
func (j *journal) bothAt(off int64, n int) (before, after []byte, err error) {
	before, err = sys.ReadAt(j.s.sys, j.fd, off, int(max(0, min(int64(n), j.oldSize-off))))
	if err != nil {
		return nil, nil, err
	}
	before = append(before, make([]byte, n-len(before))...)
	after, err = sys.ReadAt(j.s.sys, j.fd, j.oldSize+off, int(max(0, min(int64(n), j.newSize-off))))
	return before, append(after, before[len(after):]...), err
}

// writeNew writes a part of the new bytes into a file of that size, and returns how far it has
// written.
func (j *journal) writeNew(file int, part span.Span, size int64) (at int64, err error) {
	if j.newSize > size {
		err := j.s.sys.Reserve(file, size, j.newSize-size)
		if sys.Is(err, syscall.ENOSPC, syscall.EDQUOT, syscall.EFBIG, syscall.EIO) {
			return part.Start, err
		}
	}
	for at = part.Start; at < part.End; {
		next := min(part.End, at+sys.BufferSize-at%sys.BufferSize)
		if next > size {
			if err := j.checkSize(file, max(at, size)); err != nil {
				return at, err
			}
		}
		if err := j.copyTo(file, j.oldSize, at, next); err != nil {
			return at, err
		}
		at = next
	}
	return at, nil
}

// checkSize returns ErrModified if a file does not end where a write left it.
func (j *journal) checkSize(file int, size int64) error {
	now, err := j.s.sys.Fstat(file)
	if err == nil && now.Size != size {
		err = ErrModified
	}
	return err
}

// mixture tells a file's relation to the two contents of its journal.
type mixture int

// The mixtures.
const (
	neither mixture = iota
	allOld
	allNew
	someNew // each sector is new up to some offset, and old behind it
)

// common is the first offset in [from, to) at which the file and the content that
// begins at base in the journal differ, or to.
func (j *journal) common(file int, base, from, to int64) (int64, error) {
	for from < to {
		n := int(min(to-from, 64<<10))
		a, err := sys.ReadAt(j.s.sys, file, from, n)
		if err != nil {
			return from, err
		}
		b, err := sys.ReadAt(j.s.sys, j.fd, base+from, n)
		if err != nil {
			return from, err
		}
		same := 0
		for same < min(len(a), len(b)) && a[same] == b[same] {
			same++
		}
		if from += int64(same); same < n {
			return from, nil
		}
	}
	return to, nil
}

// remove removes the journal, so that it lasts: one that came back after a loss of
// power would speak of a file that was changed since.
func (j *journal) remove() error {
	if j.name == "" {
		return nil
	}
	if err := sys.Remove(j.s.sys, j.dir, j.name); err != nil {
		return err
	}
	return j.s.sys.Sync(j.dir)
}

// close gives the descriptors back.
func (j *journal) close() {
	if j.fd >= 0 {
		j.s.sys.Close(j.fd)
	}
	j.s.sys.Close(j.dir)
}

// sameFile reports that a file is the one that the journal is about. The device's
// number may be another one after a restart, so the inode and, above all, the
// content must do.
func (j *journal) sameFile(s fsys.Stamp) bool {
	return s.Ino == j.ino && sys.IsRegular(s)
}

// contents gives both contents to read.
func (j *journal) contents() (before, after *io.SectionReader) {
	r := sys.Reader{Sys: j.s.sys, FD: j.fd}
	return io.NewSectionReader(r, 0, j.oldSize), io.NewSectionReader(r, j.oldSize, j.newSize)
}
