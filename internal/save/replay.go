package save

import (
	"io"
	"path/filepath"
	"syscall"

	"github.com/fsmcp/fsmcp/internal/fsys"
	"github.com/fsmcp/fsmcp/internal/save/sys"
	"github.com/fsmcp/fsmcp/internal/span"
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

// examine compares the file with its journal and acts on it. The file is not
// opened for writing before it is known to be a mix.
func (w *sweep) examine(j *journal) (done bool, err error) {
	fd, stamp, err := sys.Open(w.sys, sys.CWD, j.path, sys.Read)
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
// opening the file meanwhile, if the system grants one.
func (w *sweep) replay(j *journal, was fsys.Stamp, at int64) (done bool, err error) {
	fd, now, err := sys.Open(w.sys, sys.CWD, j.path, sys.ReadWrite|sys.NoFollow|sys.Alone)
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
	if _, err := j.writeNew(fd, span.Span{Start: at, End: j.newSize}, was.Size); err != nil {
		return false, err
	}
	if j.newSize < was.Size {
		if err := w.sys.Sync(fd); err != nil { // as a write in place does
			return false, err
		}
		if err := j.checkSize(fd, was.Size); err != nil {
			return false, err
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

// keepBoth keeps both contents of a journal, for the user to choose, and changes nothing
// else: by Options.Rescue, or as files in the state folder. It reports whether it could.
func (w *sweep) keepBoth(j *journal) bool {
	var saved []string
	rescued, ok := w.rescueBoth(j)
	if !ok {
		saved, ok = w.saveBoth(j)
	}
	if ok {
		w.report.Torn = append(w.report.Torn, j.path)
		w.report.Rescued = append(w.report.Rescued, rescued...)
		w.report.Saved = append(w.report.Saved, saved...)
	}
	return ok
}

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

// saveBoth writes both contents of a journal into files of the state folder.
func (w *sweep) saveBoth(j *journal) (paths []string, ok bool) {
	dir, err := w.s.state.openPart(w.path, savedDir)
	if err != nil {
		return nil, false
	}
	defer w.sys.Close(dir)
	before, err := w.saveContent(dir, j, "before")
	if err != nil {
		return nil, false
	}
	after, err := w.saveContent(dir, j, "after")
	if err != nil {
		sys.Remove(w.sys, dir, before)
		return nil, false
	}
	folder := filepath.Join(w.path, savedDir)
	return []string{filepath.Join(folder, before), filepath.Join(folder, after)}, w.sys.Sync(dir) == nil
}

// saveContent writes one content of a journal, before or after, into a file of its own.
func (w *sweep) saveContent(dir int, j *journal, which string) (name string, err error) {
	start, size := int64(0), j.oldSize
	if which == "after" {
		start, size = j.oldSize, j.newSize
	}
	base := filepath.Base(j.path)
	base = base[:min(len(base), baseMax)] + "." + which
	fd, err := -1, error(syscall.EEXIST)
	for n := 1; sys.Is(err, syscall.EEXIST) && n <= savedMax; n++ {
		name = savedName(base, n)
		fd, err = w.sys.Openat(dir, name, sys.Create, 0o600)
	}
	if err != nil {
		return "", err
	}
	defer w.sys.Close(fd)
	if err = j.copyTo(fd, start, 0, size); err == nil {
		err = w.sys.Sync(fd)
	}
	if err != nil {
		sys.Remove(w.sys, dir, name)
	}
	return name, err
}
