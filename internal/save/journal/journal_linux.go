//go:build !fsys_portable

package journal

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/fsmcp/fsmcp/internal/fsys"
	"github.com/fsmcp/fsmcp/internal/save/disk"
	"github.com/fsmcp/fsmcp/internal/span"
)

// Journal holds both contents of a file that is written in place, old then new,
// and after them what it is about:
//
//	fsmcp journal 1 DEV INO OLDSIZE NEWSIZE SHA256-OF-BOTH "PATH" LENGTH-OF-THIS
//
// This comes last, so a journal that has it is complete; one that has not was
// never acted upon.
type Journal struct {
	sys  disk.Sys
	dir  int
	name string
	fd   int

	dev, ino uint64
	sum      string

	Old, New int64 // sizes of the contents
	Path     string
}

const (
	journalMagic = "fsmcp journal 1 "
	journalTail  = 6 // letters of the length at the very end, with the newline
	journalMax   = 40 << 10
)

// Target is a file that is to be written in place.
type Target struct {
	Path string
	FD   int        // open for reading
	Was  fsys.Stamp // as it is
}

// Writer makes journals in one folder.
type Writer struct {
	Sys    disk.Sys
	Dir    int // the journal that is made takes this descriptor over
	Sync   bool
	Random func(n int) (string, error)
}

// Start writes both contents of a file down and syncs them: as it is, and with the splices
// applied. It returns disk.ErrEnded where the file is shorter by now.
func (w Writer) Start(t Target, c []span.Splice) (*Journal, error) {
	j := &Journal{sys: w.Sys, dir: w.Dir, fd: -1, dev: t.Was.Dev, ino: t.Was.Ino,
		Path: t.Path, Old: t.Was.Size, New: t.Was.Size + span.Growth(c)}
	if err := w.fill(j, t.FD, c); err != nil {
		j.Drop()
		j.Close()
		return nil, err
	}
	return j, nil
}

func (w Writer) fill(j *Journal, from int, c []span.Splice) error {
	made, err := disk.CreateLocked(j.sys, j.dir, 0o600, func() (string, error) { return w.Random(10) })
	if j.fd, j.name = made.FD, made.Name; err != nil {
		return err
	}
	if made.LockErr != nil { // a sweeper could remove the journal before it is complete
		return made.LockErr
	}
	sum := sha256.New()
	f := disk.Writer{Sys: j.sys, FD: j.fd, Sum: sum}
	if err := f.Fill(from, j.Old, nil); err != nil {
		return err
	}
	if err := f.Fill(from, j.Old, c); err != nil {
		return err
	}
	j.sum = hex.EncodeToString(sum.Sum(nil))
	if err := disk.WriteAll(j.sys, j.fd, j.trailer(), j.Old+j.New); err != nil {
		return err
	}
	if w.Sync {
		if err := j.sys.Sync(j.fd); err != nil {
			return err
		}
		if err := j.sys.Sync(j.dir); err != nil {
			return err
		}
	}
	now, err := j.sys.Fstat(j.fd)
	if err == nil && now.Nlink == 0 {
		err = unix.ENOENT
	}
	return err
}

func (j *Journal) trailer() []byte {
	s := fmt.Sprintf("%s%d %d %d %d %s %s ", journalMagic, j.dev, j.ino, j.Old, j.New, j.sum, strconv.Quote(j.Path))
	return fmt.Appendf([]byte(s), "%05d\n", len(s)+journalTail)
}

// Open reads what a journal is about and proves that it is complete. ok is
// false for one that is not.
func Open(sys disk.Sys, dir, fd int, name string) (j *Journal, ok bool, err error) {
	j = &Journal{sys: sys, dir: dir, fd: fd, name: name}
	stamp, err := sys.Fstat(fd)
	if err != nil {
		return j, false, err
	}
	tail, err := disk.ReadAt(sys, fd, max(stamp.Size-journalTail, 0), journalTail)
	if err != nil {
		return j, false, err
	}
	n, perr := strconv.Atoi(strings.TrimSuffix(string(tail), "\n"))
	if perr != nil || n < journalTail || n > journalMax || int64(n) > stamp.Size {
		return j, false, nil
	}
	text, err := disk.ReadAt(sys, fd, stamp.Size-int64(n), n-journalTail)
	if err != nil {
		return j, false, err
	}
	if !j.parse(string(text)) || j.Old < 0 || j.New < 0 || j.Old+j.New+int64(n) != stamp.Size {
		return j, false, nil
	}
	sum, err := disk.Digest(sys, fd, j.Old+j.New)
	if err != nil {
		return j, false, err
	}
	return j, hex.EncodeToString(sum[:]) == j.sum, nil
}

func (j *Journal) parse(text string) bool {
	text, ok := strings.CutPrefix(text, journalMagic)
	if !ok {
		return false
	}
	var quoted string
	n, err := fmt.Sscanf(text, "%d %d %d %d %s %q", &j.dev, &j.ino, &j.Old, &j.New, &j.sum, &quoted)
	j.Path = quoted
	return err == nil && n == 6
}

// Put writes the bytes [from, to) of one of the contents, which begins at base in
// the journal, into a file at the same place.
func (j *Journal) Put(file int, base, from, to int64) error {
	for from < to {
		n := min(to-from, disk.BufferSize)
		p, err := disk.ReadAt(j.sys, j.fd, base+from, int(n))
		if err != nil {
			return err
		}
		if int64(len(p)) < n {
			return disk.ErrShort
		}
		if err := disk.WriteAll(j.sys, file, p, from); err != nil {
			return err
		}
		from += n
	}
	return nil
}

// Extended returns where the new bytes behind the end of the old content end. What follows
// up to size was appended by another program.
func (j *Journal) Extended(file int, size int64) (end int64, err error) {
	return j.common(file, j.Old, j.Old, max(j.Old, min(size, j.New)))
}

// MixedAt reports whether the file begins with new bytes up to at, and with old ones behind
// that up to their end.
func (j *Journal) MixedAt(file int, at int64) (bool, error) {
	same, err := j.common(file, j.Old, 0, at)
	if err != nil || same < at {
		return false, err
	}
	same, err = j.common(file, 0, at, j.Old)
	return same >= j.Old, err
}

// Mixed tells how the file's content relates to the journal's two. For a mix, at
// is where the new part ends.
func (j *Journal) Mixed(file int, size int64) (is Mixture, at int64, err error) {
	at, err = j.common(file, j.Old, 0, min(size, j.New))
	if err != nil {
		return Neither, 0, err
	}
	if at == size && size == j.New {
		return AllNew, at, nil
	}
	same, err := j.common(file, 0, 0, min(size, j.Old))
	if err != nil {
		return Neither, 0, err
	}
	if same == size && size == j.Old {
		return AllOld, 0, nil
	}
	switch {
	case size > j.Old && at == size:
		return SomeNew, at, nil // past the old end, nothing old is left
	case size == j.Old:
		rest, err := j.common(file, 0, at, size)
		if err == nil && rest == size {
			return SomeNew, at, nil
		}
		return Neither, 0, err
	}
	return Neither, 0, nil
}

// Mixture tells a file's relation to the two contents of its journal.
type Mixture int

// The mixtures.
const (
	Neither Mixture = iota
	AllOld
	AllNew
	SomeNew // new up to some offset, old behind it
)

// common is the first offset in [from, to) at which the file and the content that
// begins at base in the journal differ, or to.
func (j *Journal) common(file int, base, from, to int64) (int64, error) {
	for from < to {
		n := int(min(to-from, 64<<10))
		a, err := disk.ReadAt(j.sys, file, from, n)
		if err != nil {
			return from, err
		}
		b, err := disk.ReadAt(j.sys, j.fd, base+from, n)
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

// Drop removes the journal, so that it lasts: one that came back after a loss of
// power would speak of a file that was changed since.
func (j *Journal) Drop() error {
	if j.name == "" {
		return nil
	}
	if err := disk.Remove(j.sys, j.dir, j.name); err != nil {
		return err
	}
	return j.sys.Sync(j.dir)
}

// Close gives the descriptors back.
func (j *Journal) Close() {
	if j.fd >= 0 {
		j.sys.Close(j.fd)
	}
	j.sys.Close(j.dir)
}

// SameFile reports that a file is the one that the journal is about. The device's
// number may be another one after a restart, so the inode and, above all, the
// content must do.
func (j *Journal) SameFile(s fsys.Stamp) bool {
	return s.Ino == j.ino && s.Mode&unix.S_IFMT == unix.S_IFREG
}

// Contents gives both contents to read.
func (j *Journal) Contents() (before, after *io.SectionReader) {
	r := disk.Reader{Sys: j.sys, FD: j.fd}
	return io.NewSectionReader(r, 0, j.Old), io.NewSectionReader(r, j.Old, j.New)
}
