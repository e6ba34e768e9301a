//go:build !fsys_portable

package sweep

import (
	"context"
	"errors"
	"path/filepath"

	"golang.org/x/sys/unix"

	"github.com/fsmcp/fsmcp/internal/fsys"
	"github.com/fsmcp/fsmcp/internal/owndir"
	"github.com/fsmcp/fsmcp/internal/save/disk"
	"github.com/fsmcp/fsmcp/internal/save/rescue"
	"github.com/fsmcp/fsmcp/internal/save/statedir"
	"github.com/fsmcp/fsmcp/internal/save/tempname"
)

// Run tidies up in every state folder; see the package comment.
func Run(ctx context.Context, o Options) (Report, error) {
	w := &sweep{o: o, ctx: ctx}
	for _, path := range o.State.Paths() {
		w.state(path)
	}
	return w.report, errors.Join(w.errs...)
}

type sweep struct {
	o      Options
	ctx    context.Context
	report Report
	errs   []error
	path   string // of the state folder at hand
}

// fail notes an error: in the report, where others may have written a file.
func (w *sweep) fail(op, path string, err error) {
	if own := (*owndir.Error)(nil); errors.As(err, &own) {
		w.report.Untrusted = append(w.report.Untrusted, own)
		return
	}
	w.errs = append(w.errs, &disk.IOError{Op: op, Path: path, Err: err})
}

func (w *sweep) state(path string) {
	sys := w.o.Sys
	top, err := w.o.State.OpenTop(path)
	if disk.Is(err, unix.ENOENT, unix.ENOTDIR, unix.ELOOP) {
		return
	}
	if err != nil {
		w.fail("open", path, err)
		return
	}
	defer sys.Close(top)
	if err := w.o.State.CheckTop(top, path); err != nil {
		w.fail("stat", path, err)
		return
	}
	w.path = path
	w.dead(top, statedir.Flight, w.note)
	if !w.o.State.InTemp(path) {
		w.dead(top, statedir.Journals, w.journal)
	}
}

// dead calls a function for each file in a folder of the state whose process is
// gone, and removes the file if that says so.
func (w *sweep) dead(top int, name string, each func(dir, fd int, name string) (done bool, err error)) {
	sys, path := w.o.Sys, filepath.Join(w.path, name)
	dir, err := sys.Openat(top, name, disk.OpenFolder|unix.O_NOFOLLOW, 0)
	if disk.Is(err, unix.ENOENT) {
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
	sys, name := w.o.Sys, filepath.Base(path)
	now, err := sys.Fstatat(dir, name)
	if err == nil {
		err = statedir.CheckStamp(path, now)
	}
	fd := -1
	if err == nil {
		fd, err = sys.Openat(dir, name, unix.O_RDWR|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0)
	}
	if disk.Is(err, unix.ENOENT) {
		return nil
	}
	if err != nil {
		return err
	}
	defer sys.Close(fd)
	err = sys.Flock(fd, unix.LOCK_EX|unix.LOCK_NB)
	if disk.Is(err, unix.EWOULDBLOCK) {
		return nil // its process lives
	}
	if err != nil {
		return err
	}
	done, err := each(dir, fd, name)
	if done && err == nil {
		err = disk.Remove(w.o.Sys, dir, name)
	}
	return err
}

// note searches the folders that a dead process worked in.
func (w *sweep) note(_, fd int, _ string) (done bool, err error) {
	text, err := disk.ReadAll(w.o.Sys, fd)
	if err != nil {
		return false, err
	}
	done = true
	for _, folder := range statedir.Noted(text) {
		if !w.folder(folder) {
			done = false
			w.report.Pending = append(w.report.Pending, folder)
		}
	}
	return done, nil
}

// folder judges the temporary files in one folder. It reports whether all could
// be judged; a folder that is gone has none.
func (w *sweep) folder(path string) bool {
	sys := w.o.Sys
	dir, err := sys.Openat(unix.AT_FDCWD, path, disk.OpenFolder|unix.O_NOFOLLOW, 0)
	if err != nil {
		return disk.Is(err, unix.ENOENT, unix.ENOTDIR, unix.ELOOP)
	}
	defer sys.Close(dir)
	names, err := sys.Names(dir)
	if err != nil {
		return false
	}
	all, some := true, false
	for _, name := range names {
		if n, ok := tempname.Parse(name); ok {
			all = w.temp(dir, path, name, n) && all
			some = true
		}
	}
	if some && w.o.Sync {
		all = sys.Sync(dir) == nil && all
	}
	return all
}

// temp judges one temporary file: removed if it holds nothing of worth, kept under another
// name if its bytes are unknown, left alone if its maker lives. It reports whether it
// could.
func (w *sweep) temp(dir int, folder, name string, n tempname.Name) bool {
	sys := w.o.Sys
	fd, err := sys.Openat(dir, name, unix.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0)
	if err != nil {
		return disk.Is(err, unix.ENOENT, unix.ELOOP)
	}
	defer sys.Close(fd)
	switch err := w.claim(fd); {
	case disk.Is(err, unix.EWOULDBLOCK):
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
		return disk.Is(err, unix.ENOENT) || err == nil
	}
	worthless, err := w.worthless(fd, n, stamp)
	if err != nil {
		return false
	}
	if worthless {
		if disk.Remove(w.o.Sys, dir, name) != nil {
			return false
		}
		w.report.Removed++
		return true
	}
	kept, err := w.o.Rescue.PutAway(dir, folder, name, n.Base)
	w.keepReport(kept)
	return err == nil
}

func (w *sweep) keepReport(k rescue.Kept) {
	w.report.Saved = append(w.report.Saved, k.Saved...)
	w.report.Rescued = append(w.report.Rescued, k.Rescued...)
}

// claim takes a temporary file's lock. (A network file system may want a file open
// for writing for that. It has no exchange either, so the only names there are of
// new files, whose makers hold the other kind of lock.)
func (w *sweep) claim(fd int) error {
	err := w.o.Sys.Flock(fd, unix.LOCK_EX|unix.LOCK_NB)
	if disk.Is(err, unix.EBADF) {
		err = w.o.Sys.Flock(fd, unix.LOCK_SH|unix.LOCK_NB)
	}
	return err
}

// worthless reports that a file is our own, never published, or the displaced one
// that had been compared. One that a program has open for writing is neither: it
// was held back by the lease of the process that died, and is about to write.
func (w *sweep) worthless(fd int, n tempname.Name, stamp fsys.Stamp) (bool, error) {
	if disk.Is(w.o.Sys.SetLease(fd, unix.F_RDLCK), unix.EAGAIN) {
		return false, nil
	}
	if n.Kind == tempname.Named || tempname.Fingerprint(n.ID, stamp, nil) == n.New {
		return true, nil
	}
	var sum *tempname.Digest
	if n.Kind == tempname.ByDigest {
		var err error
		if sum, err = disk.Digest(w.o.Sys, fd, stamp.Size); err != nil {
			return false, err
		}
	}
	return tempname.Fingerprint(n.ID, stamp, sum) == n.Old, nil
}
