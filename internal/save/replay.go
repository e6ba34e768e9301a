package save

import (
	"errors"
	"io"
	"path/filepath"
	"syscall"

	"github.com/fsmcp/fsmcp/internal/fsys"
	"github.com/fsmcp/fsmcp/internal/save/sys"
)

// finishJournal finishes a write in place, or finds that there is nothing to finish.
func (w *sweep) finishJournal(dir, fd int, name string) (done bool, err error) {
	j, complete, err := w.s.openJournal(dir, fd, name)
	if err != nil || !complete {
		return err == nil, err
	}
	unlock, err := w.lockPath(j.path)
	if err == nil {
		defer unlock()
		done, err = w.examine(j)
	}
	if sys.Is(err, syscall.ENOENT, syscall.ENOTDIR, syscall.ELOOP) {
		err = nil
		done = w.keepBoth(j)
	}
	if err != nil || !done {
		w.report.Pending = append(w.report.Pending, j.path)
		return false, nil
	}
	return true, nil
}

// lockPath locks a file by its absolute name, as a writer does.
func (w *sweep) lockPath(path string) (unlock func(), err error) {
	stamp, err := w.sys.Fstatat(sys.CWD, filepath.Dir(path))
	if err != nil {
		return nil, err
	}
	l, err := w.s.lockKey(w.ctx, lockKeyIn(stamp.Dev, stamp.Ino, filepath.Base(path)))
	if err != nil {
		return nil, err
	}
	return l.Unlock, nil
}

// open opens a file, no link, and stamps it.
func (w *sweep) open(path string, how int) (fd int, now fsys.Stamp, err error) {
	fd, err = w.sys.Openat(sys.CWD, path, how, 0)
	if err != nil {
		return -1, now, err
	}
	if now, err = w.sys.Fstat(fd); err != nil {
		w.sys.Close(fd)
	}
	return fd, now, err
}

// examine compares the file with its journal and acts on it. The file is not
// opened for writing before it is known to be a mix.
func (w *sweep) examine(j *journal) (done bool, err error) {
	fd, stamp, err := w.open(j.path, sys.Read)
	if err != nil {
		return false, err
	}
	how, at := neither, int64(0)
	if j.sameFile(stamp) {
		how, at, err = j.mixed(fd, stamp.Size)
	}
	w.sys.Close(fd) // before replay, which is to have the file alone
	switch {
	case err != nil:
		return false, err
	case how == allOld || how == allNew:
		return true, nil
	case how == someNew:
		return w.replay(j, stamp, at)
	}
	return w.keepBoth(j), nil
}

// replay writes the new content from where it ends. A write lease keeps other programs from
// opening the file meanwhile, where there is one to be had.
func (w *sweep) replay(j *journal, was fsys.Stamp, at int64) (done bool, err error) {
	fd, now, err := w.open(j.path, sys.ReadWrite|sys.NoFollow)
	if err != nil {
		return false, err
	}
	defer w.sys.Close(fd)
	if w.sys.SetLease(fd, sys.WriteLease) == nil {
		defer w.sys.SetLease(fd, sys.NoLease)
		now, err = w.sys.Fstat(fd)
	}
	if err != nil {
		return false, err
	}
	if !now.Same(was) {
		return false, ErrModified
	}
	if err := j.put(fd, j.oldSize, at, j.newSize); err != nil {
		return false, err
	}
	if j.newSize < was.Size {
		if now, err := w.sys.Fstat(fd); err != nil || now.Size != was.Size {
			return false, errors.Join(err, ErrModified)
		}
		if err := w.sys.Truncate(fd, j.newSize); err != nil {
			return false, err
		}
	}
	if err := w.sys.Sync(fd); err != nil {
		return false, err
	}
	w.report.Replayed = append(w.report.Replayed, j.path)
	return true, nil
}

// keepBoth has both contents of a journal kept, or writes them into the state
// folder, for the user to choose, and touches nothing else. It reports whether it
// could.
func (w *sweep) keepBoth(j *journal) bool {
	if ids, ok := w.rescueBoth(j); ok {
		w.report.Torn = append(w.report.Torn, j.path)
		w.report.Rescued = append(w.report.Rescued, ids...)
		return true
	}
	dir, err := w.s.state.openPart(w.path, savedDir)
	if err != nil {
		return false
	}
	defer w.sys.Close(dir)
	before, err := w.keep(j, dir, "before", 0, j.oldSize)
	if err != nil {
		return false
	}
	after, err := w.keep(j, dir, "after", j.oldSize, j.newSize)
	if err != nil {
		sys.Remove(w.sys, dir, before)
		return false
	}
	if w.sys.Sync(dir) != nil {
		return false
	}
	folder := filepath.Join(w.path, savedDir)
	w.report.Torn = append(w.report.Torn, j.path)
	w.report.Saved = append(w.report.Saved, filepath.Join(folder, before), filepath.Join(folder, after))
	return true
}

// keep writes one content of a journal into a file of its own.
func (w *sweep) keep(j *journal, dir int, which string, base, size int64) (string, error) {
	for n := 1; ; n++ {
		name := savedName(filepath.Base(j.path)[:min(len(filepath.Base(j.path)), baseMax)]+"."+which, n)
		fd, err := w.sys.Openat(dir, name, sys.Create, 0o600)
		if sys.Is(err, syscall.EEXIST) && n < savedMax {
			continue
		}
		if err != nil {
			return "", err
		}
		defer w.sys.Close(fd)
		if err = j.put(fd, base, 0, size); err == nil {
			err = w.sys.Sync(fd)
		}
		if err != nil {
			sys.Remove(w.sys, dir, name)
		}
		return name, err
	}
}

// rescueBoth hands over both contents of a journal.
func (w *sweep) rescueBoth(j *journal) (ids []string, ok bool) {
	if w.s.o.Rescue == nil {
		return nil, false
	}
	before, after := j.contents()
	for _, content := range []*io.SectionReader{before, after} {
		id, err := w.s.o.Rescue(j.path, content, content.Size())
		if err != nil {
			return nil, false
		}
		ids = append(ids, id)
	}
	return ids, true
}
