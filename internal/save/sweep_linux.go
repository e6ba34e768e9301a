//go:build !fsys_portable

package save

import (
	"context"
	"errors"
	"math"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/fsmcp/fsmcp/internal/fsys"
	"github.com/fsmcp/fsmcp/internal/owndir"
)

// Sweep tidies up after processes that died: it removes their temporary files, finishes
// their writes in place, and keeps unknown bytes. Call it at start; it leaves the files of
// running processes alone. Without a state folder it does nothing, and makes none. It
// reports what other users may have written, and leaves it alone, and no journal is looked
// for in the temp directory.
func (s *Saver) Sweep(ctx context.Context) (SweepReport, error) {
	w := &sweep{s: s, ctx: ctx}
	for _, path := range []string{s.o.StateDir, s.temp} {
		if path != "" {
			w.state(path)
		}
	}
	return w.report, errors.Join(w.errs...)
}

type sweep struct {
	s      *Saver
	ctx    context.Context
	report SweepReport
	errs   []error
	path   string // of the state folder at hand
}

// fail notes an error: in the report, where others may have written a file.
func (w *sweep) fail(op, path string, err error) {
	if own := (*owndir.Error)(nil); errors.As(err, &own) {
		w.report.Untrusted = append(w.report.Untrusted, own)
		return
	}
	w.errs = append(w.errs, &IOError{Op: op, Path: path, Err: err})
}

func (w *sweep) state(path string) {
	sys := w.s.sys
	top, err := sys.Openat(unix.AT_FDCWD, path, openFolder|w.s.noLink(path), 0)
	if is(err, unix.ENOENT, unix.ENOTDIR, unix.ELOOP) {
		return
	}
	if err != nil {
		w.fail("open", path, err)
		return
	}
	defer sys.Close(top)
	if err := w.s.checkTop(top, path); err != nil {
		w.fail("stat", path, err)
		return
	}
	w.path = path
	w.dead(top, flightDir, w.note)
	if path != w.s.temp {
		w.dead(top, journalDir, w.journal)
	}
}

// dead calls a function for each file in a folder of the state whose process is
// gone, and removes the file if that says so.
func (w *sweep) dead(top int, name string, each func(dir, fd int, name string) (done bool, err error)) {
	sys, path := w.s.sys, filepath.Join(w.path, name)
	dir, err := sys.Openat(top, name, openFolder|unix.O_NOFOLLOW, 0)
	if is(err, unix.ENOENT) {
		return
	}
	if err != nil {
		w.fail("open", path, err)
		return
	}
	defer sys.Close(dir)
	names, err := sys.Names(dir)
	if err != nil {
		w.fail("list", path, err)
		return
	}
	for _, entry := range names {
		if err := w.ctx.Err(); err != nil {
			w.errs = append(w.errs, err)
			return
		}
		at := filepath.Join(path, entry)
		if err := w.entry(dir, at, each); err != nil {
			w.fail("sweep", at, err)
		}
	}
}

// entry looks at the file's owner before it opens it: the file of another user may
// not be opened at all.
func (w *sweep) entry(dir int, path string, each func(dir, fd int, name string) (bool, error)) error {
	sys, name := w.s.sys, filepath.Base(path)
	now, err := sys.Fstatat(dir, name)
	if err == nil {
		err = checkStamp(path, now)
	}
	fd := -1
	if err == nil {
		fd, err = sys.Openat(dir, name, unix.O_RDWR|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0)
	}
	if is(err, unix.ENOENT) {
		return nil
	}
	if err != nil {
		return err
	}
	defer sys.Close(fd)
	err = sys.Flock(fd, unix.LOCK_EX|unix.LOCK_NB)
	if is(err, unix.EWOULDBLOCK) {
		return nil // its process lives
	}
	if err != nil {
		return err
	}
	done, err := each(dir, fd, name)
	if done && err == nil {
		err = w.s.remove(dir, name)
	}
	return err
}

// note searches the folders that a dead process worked in.
func (w *sweep) note(_, fd int, _ string) (done bool, err error) {
	text, err := readAll(w.s.sys, fd)
	if err != nil {
		return false, err
	}
	done = true
	for _, line := range strings.Split(string(text), "\n") {
		folder, err := strconv.Unquote(line)
		if err != nil { // the end, or half a line: its folder was not used yet
			continue
		}
		if !w.folder(folder) {
			done = false
			w.report.Pending = append(w.report.Pending, folder)
		}
	}
	return done, nil
}

func readAll(sys Sys, fd int) ([]byte, error) {
	stamp, err := sys.Fstat(fd)
	if err != nil {
		return nil, err
	}
	return readAt(sys, fd, 0, int(min(stamp.Size, math.MaxInt32)))
}

// folder judges the temporary files in one folder. It reports whether all could
// be judged; a folder that is gone has none.
func (w *sweep) folder(path string) bool {
	sys := w.s.sys
	dir, err := sys.Openat(unix.AT_FDCWD, path, openFolder|unix.O_NOFOLLOW, 0)
	if err != nil {
		return is(err, unix.ENOENT, unix.ENOTDIR, unix.ELOOP)
	}
	defer sys.Close(dir)
	names, err := sys.Names(dir)
	if err != nil {
		return false
	}
	all, some := true, false
	for _, name := range names {
		if n, ok := parseTemp(name); ok {
			all = w.temp(dir, path, name, n) && all
			some = true
		}
	}
	if some && w.s.o.Durability != None {
		all = sys.Sync(dir) == nil && all
	}
	return all
}

// temp judges one temporary file: removed if it holds nothing of worth, kept under another
// name if its bytes are unknown, left alone if its maker lives. It reports whether it
// could.
func (w *sweep) temp(dir int, folder, name string, n tempName) bool {
	sys := w.s.sys
	fd, err := sys.Openat(dir, name, unix.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0)
	if err != nil {
		return is(err, unix.ENOENT, unix.ELOOP)
	}
	defer sys.Close(fd)
	switch err := w.claim(fd); {
	case is(err, unix.EWOULDBLOCK):
		return true
	case err != nil:
		return false
	}
	stamp, err := sys.Fstat(fd)
	if err != nil {
		return false
	}
	there, err := sys.Fstatat(dir, name)
	if err != nil || !there.SameFile(stamp) || stamp.Mode&unix.S_IFMT != unix.S_IFREG {
		return is(err, unix.ENOENT) || err == nil
	}
	worthless, err := w.worthless(fd, n, stamp)
	if err != nil {
		return false
	}
	if worthless {
		if w.s.remove(dir, name) != nil {
			return false
		}
		w.report.Removed++
		return true
	}
	out, err := w.s.putAway(dir, folder, name, n.base)
	w.keepReport(out)
	return err == nil
}

func (w *sweep) keepReport(out Outcome) {
	w.report.Saved = append(w.report.Saved, out.Saved...)
	w.report.Rescued = append(w.report.Rescued, out.Rescued...)
}

// claim takes a temporary file's lock. (A network file system may want a file open
// for writing for that. It has no exchange either, so the only names there are of
// new files, whose makers hold the other kind of lock.)
func (w *sweep) claim(fd int) error {
	err := w.s.sys.Flock(fd, unix.LOCK_EX|unix.LOCK_NB)
	if is(err, unix.EBADF) {
		err = w.s.sys.Flock(fd, unix.LOCK_SH|unix.LOCK_NB)
	}
	return err
}

// worthless reports that a file is our own, never published, or the displaced one
// that had been compared. One that a program has open for writing is neither: it
// was held back by the lease of the process that died, and is about to write.
func (w *sweep) worthless(fd int, n tempName, stamp fsys.Stamp) (bool, error) {
	if is(w.s.sys.SetLease(fd, unix.F_RDLCK), unix.EAGAIN) {
		return false, nil
	}
	if n.kind == kindNamed || fingerprint(n.id, stamp, nil) == n.new {
		return true, nil
	}
	var sum *digest
	if n.kind == kindDigest {
		var err error
		if sum, err = digestOf(w.s.sys, fd, stamp.Size); err != nil {
			return false, err
		}
	}
	return fingerprint(n.id, stamp, sum) == n.old, nil
}

// journal finishes a write in place, or finds that there is nothing to finish.
func (w *sweep) journal(dir, fd int, name string) (done bool, err error) {
	j, complete, err := openJournal(w.s.sys, dir, fd, name)
	if err != nil || !complete {
		return err == nil, err
	}
	lock, err := w.lockPath(j.path)
	if err == nil {
		defer lock.Unlock()
		done, err = w.settle(j)
	}
	if is(err, unix.ENOENT, unix.ENOTDIR, unix.ELOOP) {
		err = nil
		done = w.keepBoth(j)
	}
	if err != nil || !done {
		w.report.Pending = append(w.report.Pending, j.path)
		return false, nil
	}
	return true, nil
}

// lockPath locks a file by its absolute name, as Lock does for a target.
func (w *sweep) lockPath(path string) (*Lock, error) {
	stamp, err := w.s.sys.Fstatat(unix.AT_FDCWD, filepath.Dir(path))
	if err != nil {
		return nil, err
	}
	return w.s.lockKey(w.ctx, keyIn(stamp.Dev, stamp.Ino, filepath.Base(path)))
}

// settle compares the file with its journal and acts on it. The file is not
// opened for writing before it is known to be a mix.
func (w *sweep) settle(j *journal) (done bool, err error) {
	sys := w.s.sys
	fd, err := sys.Openat(unix.AT_FDCWD, j.path, unix.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0)
	if err != nil {
		return false, err
	}
	defer sys.Close(fd)
	stamp, err := sys.Fstat(fd)
	if err != nil {
		return false, err
	}
	if !j.sameFile(stamp) {
		return w.keepBoth(j), nil
	}
	switch how, at, err := j.mixed(fd, stamp.Size); {
	case err != nil:
		return false, err
	case how == allOld || how == allNew:
		return true, nil
	case how == someNew:
		return w.replay(j, stamp, at)
	}
	return w.keepBoth(j), nil
}

// replay writes the new content from where it ends.
func (w *sweep) replay(j *journal, was fsys.Stamp, at int64) (done bool, err error) {
	sys := w.s.sys
	fd, err := sys.Openat(unix.AT_FDCWD, j.path, unix.O_RDWR|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0)
	if err != nil {
		return false, err
	}
	defer sys.Close(fd)
	now, err := sys.Fstat(fd)
	if err != nil {
		return false, err
	}
	if !now.Same(was) {
		return false, ErrModified
	}
	if err := j.put(fd, j.old, at, j.new, 0); err != nil {
		return false, err
	}
	if err := sys.Truncate(fd, j.new); err != nil {
		return false, err
	}
	if err := sys.Sync(fd); err != nil {
		return false, err
	}
	w.report.Replayed = append(w.report.Replayed, j.path)
	return true, nil
}

// keepBoth has both contents of a journal kept, or writes them into the state
// folder, for the user to choose, and touches nothing else. It reports whether it
// could.
func (w *sweep) keepBoth(j *journal) bool {
	sys := w.s.sys
	if ids, ok := w.s.rescueBoth(j); ok {
		w.report.Torn = append(w.report.Torn, j.path)
		w.report.Rescued = append(w.report.Rescued, ids...)
		return true
	}
	st := &state{s: w.s, path: w.path}
	dir, err := st.openPart(savedDir)
	if err != nil {
		return false
	}
	defer sys.Close(dir)
	before, err := w.keep(j, dir, "before", 0, j.old)
	if err != nil {
		return false
	}
	after, err := w.keep(j, dir, "after", j.old, j.new)
	if err != nil {
		w.s.remove(dir, before)
		return false
	}
	if sys.Sync(dir) != nil {
		return false
	}
	folder := filepath.Join(w.path, savedDir)
	w.report.Torn = append(w.report.Torn, j.path)
	w.report.Saved = append(w.report.Saved, filepath.Join(folder, before), filepath.Join(folder, after))
	return true
}

// keep writes one content of a journal into a file of its own.
func (w *sweep) keep(j *journal, dir int, which string, base, size int64) (string, error) {
	sys := w.s.sys
	for n := 1; ; n++ {
		name := savedName(filepath.Base(j.path)[:min(len(filepath.Base(j.path)), tempBase)]+"."+which, n)
		fd, err := sys.Openat(dir, name, unix.O_RDWR|unix.O_CREAT|unix.O_EXCL|unix.O_NOFOLLOW, 0o600)
		if is(err, unix.EEXIST) && n < savedMax {
			continue
		}
		if err != nil {
			return "", err
		}
		defer sys.Close(fd)
		if err = j.put(fd, base, 0, size, 0); err == nil {
			err = sys.Sync(fd)
		}
		if err != nil {
			w.s.remove(dir, name)
		}
		return name, err
	}
}
