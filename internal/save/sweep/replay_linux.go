//go:build !fsys_portable

package sweep

import (
	"errors"
	"io"
	"path/filepath"

	"golang.org/x/sys/unix"

	"github.com/fsmcp/fsmcp/internal/fsys"
	"github.com/fsmcp/fsmcp/internal/save/disk"
	"github.com/fsmcp/fsmcp/internal/save/journal"
	"github.com/fsmcp/fsmcp/internal/save/lock"
	"github.com/fsmcp/fsmcp/internal/save/statedir"
	"github.com/fsmcp/fsmcp/internal/save/tempname"
)

// errChanged: another program has changed the file since it was compared.
var errChanged = errors.New("the file was changed by another program meanwhile")

// journal finishes a write in place, or finds that there is nothing to finish.
func (w *sweep) journal(dir, fd int, name string) (done bool, err error) {
	j, complete, err := journal.Open(w.o.Sys, dir, fd, name)
	if err != nil || !complete {
		return err == nil, err
	}
	unlock, err := w.lockPath(j.Path)
	if err == nil {
		defer unlock()
		done, err = w.settle(j)
	}
	if disk.Is(err, unix.ENOENT, unix.ENOTDIR, unix.ELOOP) {
		err = nil
		done = w.keepBoth(j)
	}
	if err != nil || !done {
		w.report.Pending = append(w.report.Pending, j.Path)
		return false, nil
	}
	return true, nil
}

// lockPath locks a file by its absolute name, as a writer does.
func (w *sweep) lockPath(path string) (unlock func(), err error) {
	stamp, err := w.o.Sys.Fstatat(unix.AT_FDCWD, filepath.Dir(path))
	if err != nil {
		return nil, err
	}
	return w.o.Lock(w.ctx, lock.KeyIn(stamp.Dev, stamp.Ino, filepath.Base(path)))
}

// open opens a file, no link, and stamps it.
func (w *sweep) open(path string, access int) (fd int, now fsys.Stamp, err error) {
	sys := w.o.Sys
	fd, err = sys.Openat(unix.AT_FDCWD, path, access|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0)
	if err != nil {
		return -1, now, err
	}
	if now, err = sys.Fstat(fd); err != nil {
		sys.Close(fd)
	}
	return fd, now, err
}

// settle compares the file with its journal and acts on it. The file is not
// opened for writing before it is known to be a mix.
func (w *sweep) settle(j *journal.Journal) (done bool, err error) {
	fd, stamp, err := w.open(j.Path, unix.O_RDONLY)
	if err != nil {
		return false, err
	}
	how, at := journal.Neither, int64(0)
	if j.SameFile(stamp) {
		how, at, err = j.Mixed(fd, stamp.Size)
	}
	w.o.Sys.Close(fd) // before replay, which is to have the file alone
	switch {
	case err != nil:
		return false, err
	case how == journal.AllOld || how == journal.AllNew:
		return true, nil
	case how == journal.SomeNew:
		return w.replay(j, stamp, at)
	}
	return w.keepBoth(j), nil
}

// replay writes the new content from where it ends. A write lease keeps other programs from
// opening the file meanwhile, where there is one to be had.
func (w *sweep) replay(j *journal.Journal, was fsys.Stamp, at int64) (done bool, err error) {
	sys := w.o.Sys
	fd, now, err := w.open(j.Path, unix.O_RDWR)
	if err != nil {
		return false, err
	}
	defer sys.Close(fd)
	if sys.SetLease(fd, unix.F_WRLCK) == nil {
		defer sys.SetLease(fd, unix.F_UNLCK)
		now, err = sys.Fstat(fd)
	}
	if err != nil {
		return false, err
	}
	if !now.Same(was) {
		return false, errChanged
	}
	if err := j.Put(fd, j.Old, at, j.New); err != nil {
		return false, err
	}
	if j.New < was.Size {
		if now, err := sys.Fstat(fd); err != nil || now.Size != was.Size {
			return false, errors.Join(err, errChanged)
		}
		if err := sys.Truncate(fd, j.New); err != nil {
			return false, err
		}
	}
	if err := sys.Sync(fd); err != nil {
		return false, err
	}
	w.report.Replayed = append(w.report.Replayed, j.Path)
	return true, nil
}

// keepBoth has both contents of a journal kept, or writes them into the state
// folder, for the user to choose, and touches nothing else. It reports whether it
// could.
func (w *sweep) keepBoth(j *journal.Journal) bool {
	sys := w.o.Sys
	if ids, ok := w.rescueBoth(j); ok {
		w.report.Torn = append(w.report.Torn, j.Path)
		w.report.Rescued = append(w.report.Rescued, ids...)
		return true
	}
	dir, err := w.o.State.OpenPart(w.path, statedir.SavedDir)
	if err != nil {
		return false
	}
	defer sys.Close(dir)
	before, err := w.keep(j, dir, "before", 0, j.Old)
	if err != nil {
		return false
	}
	after, err := w.keep(j, dir, "after", j.Old, j.New)
	if err != nil {
		disk.Remove(w.o.Sys, dir, before)
		return false
	}
	if sys.Sync(dir) != nil {
		return false
	}
	folder := filepath.Join(w.path, statedir.SavedDir)
	w.report.Torn = append(w.report.Torn, j.Path)
	w.report.Saved = append(w.report.Saved, filepath.Join(folder, before), filepath.Join(folder, after))
	return true
}

// keep writes one content of a journal into a file of its own.
func (w *sweep) keep(j *journal.Journal, dir int, which string, base, size int64) (string, error) {
	sys := w.o.Sys
	for n := 1; ; n++ {
		name := tempname.Saved(filepath.Base(j.Path)[:min(len(filepath.Base(j.Path)), tempname.BaseMax)]+"."+which, n)
		fd, err := sys.Openat(dir, name, unix.O_RDWR|unix.O_CREAT|unix.O_EXCL|unix.O_NOFOLLOW, 0o600)
		if disk.Is(err, unix.EEXIST) && n < tempname.SavedMax {
			continue
		}
		if err != nil {
			return "", err
		}
		defer sys.Close(fd)
		if err = j.Put(fd, base, 0, size); err == nil {
			err = sys.Sync(fd)
		}
		if err != nil {
			disk.Remove(w.o.Sys, dir, name)
		}
		return name, err
	}
}

// rescueBoth hands over both contents of a journal.
func (w *sweep) rescueBoth(j *journal.Journal) (ids []string, ok bool) {
	if w.o.Rescue.Hand == nil {
		return nil, false
	}
	before, after := j.Contents()
	for _, content := range []*io.SectionReader{before, after} {
		id, err := w.o.Rescue.Hand(j.Path, content, content.Size())
		if err != nil {
			return nil, false
		}
		ids = append(ids, id)
	}
	return ids, true
}
