package save

import (
	"io"
	"runtime"
	"strconv"
	"syscall"
	"time"

	"github.com/fsmcp/fsmcp/internal/save/sys"
	"github.com/fsmcp/fsmcp/internal/span"
)

// inPlace is the strategy for a file that cannot be replaced, or that must not be, because
// of its other names. Both contents are written to a journal first, then the new one over
// the old one from front to back, so that the next start can finish what was interrupted.
// From the last check of the old content to the end of the write, a write lease keeps other
// programs from opening the file. If no lease can be had (another program has the file open,
// or it has another owner), the size shows before each step that an appended line would not
// survive whether there is one; a line that is appended between that check and the step is
// lost.
type inPlace struct {
	at      *place
	old     *oldFile
	why     error // why the file cannot be replaced; nil: Options.KeepHardLinks
	c       []span.Splice
	fd      int      // the file, for writing; 0 until it is open
	journal *journal // nil until it is written
	begun   bool     // bytes of the file may have been written
	written span.Span
}

func (s *inPlace) stage(c []span.Splice) (err error) {
	s.c = c
	if _, err := s.old.checkName(); err != nil {
		return err
	}
	if err := s.old.ensureDigest(); err != nil {
		return err
	}
	s.old.release() // opening for writing would wait for our own lease
	if s.fd, err = s.openAgain(); err != nil {
		return err
	}
	if s.at.st.lost != nil {
		return &NoJournalError{Why: s.why, State: s.at.st.lost}
	}
	dir, err := s.at.st.f.openPart(s.at.st.path, journalDir)
	if err == nil {
		s.journal, err = startJournal(dir, s.old, c)
	}
	if err != nil {
		return s.failUnlessModified("journal", err)
	}
	return nil
}

func (s *inPlace) publish() error {
	s.leaseAlone()
	if err := s.checkUndisturbed(); err != nil {
		return err
	}
	s.begun = true
	from, to := s.changedRange()
	at, err := s.writeOver(from, to)
	s.written = span.Span{Start: from, End: at}
	return err
}

func (s *inPlace) verify() error { return nil }

func (s *inPlace) finish() Written {
	defer s.close()
	s.restoreMode()
	out := Written{InPlace: true, Stamp: s.old.was}
	if s.why == nil {
		out.SharedNames = int(s.old.was.Nlink) - 1
	}
	if s.at.s.o.Durability != None {
		// After a failed sync the journal stays: the next start can tell
		// what became of the file.
		out.DurabilityUnknown = s.at.sys.Sync(s.fd) != nil
	}
	now, err := s.at.sys.Fstat(s.fd)
	if runtime.GOOS == "windows" { // a file gets its times when it is closed
		s.at.sys.Close(s.fd)
		s.fd = 0
		now, err = s.at.sys.Fstatat(s.at.dir, s.at.base)
	}
	if err == nil {
		out.Stamp = now
	}
	if !out.DurabilityUnknown {
		s.journal.remove()
	}
	return out
}

// rollBack puts the old bytes back. If that fails too, the journal stays for the next start.
// It also stays if another program has changed more than the end: its bytes are not written
// over.
func (s *inPlace) rollBack(cause error) (Written, error) {
	defer s.close()
	modified := cause == ErrModified
	if !s.begun || modified && s.written.Len() == 0 {
		if s.begun && s.old.was.Mode&sys.SetIDBits != 0 {
			s.restoreMode()
		}
		if s.journal != nil {
			s.journal.remove()
		}
		return Written{}, cause
	}
	failed := &IOError{Op: "write", Path: s.at.path, Err: cause}
	var err error
	if modified {
		if mixed, merr := s.journal.mixedAt(s.fd, s.written.End); merr != nil || !mixed {
			err = ErrModified
		}
	}
	if err == nil {
		err = s.writeOld(modified)
	}
	if err == nil && s.at.s.o.Durability != None {
		err = s.at.sys.Sync(s.fd) // before the journal goes
	}
	if err != nil {
		failed.Changed, failed.Mixed = true, true // the journal stays: the next start finishes the write
		return Written{}, failed
	}
	if s.old.was.Mode&sys.SetIDBits != 0 {
		s.restoreMode()
	}
	s.journal.remove()
	if modified {
		return Written{}, ErrModified
	}
	return Written{}, failed
}

func (s *inPlace) close() {
	s.old.release()
	if s.fd > 0 {
		s.at.sys.Close(s.fd)
	}
	if s.journal != nil {
		s.journal.close()
	}
}

// aloneWait is the patience with other programs that have the file open.
const aloneWait = 20 * time.Millisecond

// leaseAlone takes a write lease on the file. The kernel grants it if the file is not open
// anywhere else, so it is read by the descriptor for writing, too, from here on. A program
// that opens the file waits until release, or for as long as the kernel lets us keep a
// lease: 45 seconds.
func (s *inPlace) leaseAlone() {
	s.old.file.Close()
	s.old.fd = s.fd
	for begun := time.Now(); ; time.Sleep(leaseStep) {
		err := s.at.sys.SetLease(s.fd, sys.WriteLease)
		s.old.leased = err == nil
		if !sys.Is(err, syscall.EAGAIN) || s.at.network || time.Since(begun) > aloneWait {
			return
		}
	}
}

// openAgain opens the very file that was compared for writing.
func (s *inPlace) openAgain() (int, error) {
	fd, err := s.at.sys.Openat(sys.CWD, "/proc/self/fd/"+strconv.Itoa(s.old.fd), sys.ReadWrite, 0)
	if sys.Is(err, syscall.ENOENT) {
		fd, err = s.at.sys.Openat(s.at.dir, s.at.base, sys.ReadWrite|sys.NoFollow|sys.Alone, 0)
	}
	if runtime.GOOS == "windows" && sys.Is(err, syscall.ETXTBSY) {
		return -1, s.at.busy(busyUnshared)
	}
	if sys.Is(err, syscall.EAGAIN) {
		return -1, s.at.busy(busyOpen)
	}
	if err != nil {
		return -1, s.at.fail("open", err)
	}
	now, err := s.at.sys.Fstat(fd)
	if err == nil && !now.SameFile(s.old.was) {
		err = ErrModified
	}
	if err != nil {
		s.at.sys.Close(fd)
		return -1, s.failUnlessModified("stat", err)
	}
	return fd, nil
}

func (s *inPlace) failUnlessModified(op string, err error) error {
	if err == ErrModified || err == sys.ErrEnded {
		return ErrModified
	}
	return s.at.fail(op, err)
}

// checkUndisturbed checks the old file for the last time, by its name. Here the change
// time counts: nothing of ours has touched the file.
func (s *inPlace) checkUndisturbed() error {
	now, err := s.at.sys.Fstatat(s.at.dir, s.at.base)
	switch {
	case sys.Is(err, syscall.ENOENT):
		return ErrVanished
	case err != nil:
		return s.at.fail("stat", err)
	case !now.Same(s.old.was):
		return ErrModified
	}
	if s.old.sum != nil {
		return s.old.sameBytes()
	}
	return nil
}

// changedRange returns where the new content may differ from the old one.
func (s *inPlace) changedRange() (from, to int64) {
	if len(s.c) == 0 {
		return 0, 0
	}
	from, to = s.c[0].Start, s.journal.newSize
	if s.journal.newSize == s.journal.oldSize {
		to = s.c[len(s.c)-1].End
	}
	return from, to
}

// writeOver makes the content new, and returns how far it has written.
func (s *inPlace) writeOver(from, to int64) (at int64, err error) {
	if mode := keptMode(s.old.was); mode != s.old.was.Mode&sys.PermBits {
		if err := s.at.sys.Chmod(s.fd, mode); err != nil {
			return from, err
		}
	}
	j := s.journal
	if at, err = j.writeNew(s.fd, span.Span{Start: from, End: to}, j.oldSize); err == nil && j.newSize < j.oldSize {
		err = s.truncate(j.newSize)
	}
	return at, err
}

// truncate cuts the file once the new bytes are on the disk: a file that has its new size and
// old bytes would be neither old, nor new, nor a mix that the next start finishes.
func (s *inPlace) truncate(size int64) error {
	if s.at.s.o.Durability != None {
		if err := s.at.sys.Sync(s.fd); err != nil {
			return err
		}
	}
	if err := s.journal.checkSize(s.fd, s.journal.oldSize); err != nil {
		return err
	}
	return s.at.sys.Truncate(s.fd, size)
}

// restoreMode gives back to a file of our own the bits that writing took away.
func (s *inPlace) restoreMode() {
	mode := keptMode(s.old.was)
	now, err := s.at.sys.Fstat(s.fd)
	if err == nil && now.Mode&sys.PermBits != mode {
		s.at.sys.Chmod(s.fd, mode)
	}
}

// writeOld writes the old bytes again. What another program has appended behind the new ones
// moves behind the old ones.
func (s *inPlace) writeOld(exact bool) error {
	now, err := s.at.sys.Fstat(s.fd)
	if err != nil {
		return err
	}
	end := max(s.journal.oldSize, s.written.End)
	if !exact { // the step that failed may have written more
		end, err = s.journal.extended(s.fd, now.Size)
	}
	if err == nil {
		err = s.journal.copyTo(s.fd, 0, min(s.written.Start, s.journal.oldSize), s.journal.oldSize)
	}
	if err != nil || end == s.journal.oldSize {
		return err
	}
	w := sys.Writer{Sys: s.at.sys, FD: s.fd, Off: s.journal.oldSize}
	if _, err := io.Copy(&w, io.NewSectionReader(sys.Reader{Sys: s.at.sys, FD: s.fd}, end, max(0, now.Size-end))); err != nil {
		return err
	}
	return s.at.sys.Truncate(s.fd, w.Off)
}
