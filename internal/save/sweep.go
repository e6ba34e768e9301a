package save

import (
	"context"
	"errors"
	"path/filepath"
	"syscall"

	"github.com/fsmcp/fsmcp/internal/fsys"
	"github.com/fsmcp/fsmcp/internal/owndir"
	"github.com/fsmcp/fsmcp/internal/save/sys"
)

// SweepReport describes the files of dead processes.
type SweepReport struct {
	Removed  int      // temporary files that held nothing of worth
	Saved    []string // files with bytes known nowhere else, as they are named now
	Rescued  []string // what Options.Rescue has kept such bytes as
	Replayed []string // files whose write in place was finished
	Torn     []string // files that are neither old, nor new, nor a mix of them; their journals are among Saved or Rescued
	Pending  []string // files and folders that could not be examined now; the next Sweep tries again
	// Untrusted are the folders and files that were left alone, since others may
	// have written them.
	Untrusted []error
}

// Sweep cleans up after processes that died: it removes their temporary files, finishes
// their writes in place, and keeps unknown bytes. Call it at start; it leaves the files of
// running processes alone. Without a state folder it does nothing, and makes none. It
// reports files that other users may have written, and leaves them alone; no journal is
// read in the temp directory.
func (s *Saver) Sweep(ctx context.Context) (SweepReport, error) {
	w := &sweep{s: s, sys: s.sys, ctx: ctx}
	for _, path := range s.state.paths() {
		w.state(path)
	}
	return w.report, errors.Join(w.errs...)
}

type sweep struct {
	s      *Saver
	sys    sys.Sys
	ctx    context.Context
	report SweepReport
	errs   []error
	path   string // of the state folder at hand
}

// fail notes an error: in the report, if other users may have written the file.
func (w *sweep) fail(op, path string, err error) {
	if own := (*owndir.Error)(nil); errors.As(err, &own) {
		w.report.Untrusted = append(w.report.Untrusted, own)
		return
	}
	w.errs = append(w.errs, &IOError{Op: op, Path: path, Err: err})
}

func (w *sweep) state(path string) {
	top, err := w.s.state.openTop(path)
	if sys.Is(err, syscall.ENOENT, syscall.ENOTDIR, syscall.ELOOP) {
		return
	}
	if err != nil {
		w.fail("open", path, err)
		return
	}
	defer w.sys.Close(top)
	if err := w.s.state.checkTop(top, path); err != nil {
		w.fail("stat", path, err)
		return
	}
	w.path = path
	if path != w.s.state.temp { // first: a note's sweep removes the file that is to get its name back
		w.dead(top, renamesDir, w.finishRename)
	}
	w.dead(top, notesDir, w.note)
	if path != w.s.state.temp {
		w.dead(top, journalDir, w.finishJournal)
	}
}

// dead calls a function for each file in a part of the state folder whose process is
// gone, and removes the file if the function returns true.
func (w *sweep) dead(top int, name string, each func(dir, fd int, name string) (done bool, err error)) {
	path := filepath.Join(w.path, name)
	dir, err := w.sys.Openat(top, name, sys.Folder|sys.NoFollow, 0)
	if sys.Is(err, syscall.ENOENT) {
		return
	}
	if err != nil {
		w.fail("open", path, err)
		return
	}
	defer w.sys.Close(dir)
	names, err := w.sys.Names(dir)
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

// entry checks the file's owner before it opens it: the file of another user may
// not be opened at all.
func (w *sweep) entry(dir int, path string, each func(dir, fd int, name string) (bool, error)) error {
	name := filepath.Base(path)
	now, err := w.sys.Fstatat(dir, name)
	if err == nil {
		err = checkOwn(path, now)
	}
	fd := -1
	if err == nil {
		fd, err = w.sys.Openat(dir, name, sys.ReadWrite|sys.NoFollow, 0)
	}
	if sys.Is(err, syscall.ENOENT) {
		return nil
	}
	if err != nil {
		return err
	}
	defer w.sys.Close(fd)
	err = w.sys.Flock(fd, sys.LockExclusive)
	if sys.Is(err, syscall.EWOULDBLOCK) {
		return nil // its process lives
	}
	if err != nil {
		return err
	}
	done, err := each(dir, fd, name)
	if done && err == nil {
		err = sys.Remove(w.sys, dir, name)
	}
	return err
}

// note searches the folders that a dead process worked in.
func (w *sweep) note(_, fd int, _ string) (done bool, err error) {
	text, err := sys.ReadAll(w.sys, fd)
	if err != nil {
		return false, err
	}
	done = true
	for _, folder := range notedFolders(text) {
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
	dir, err := w.sys.Openat(sys.CWD, path, sys.Folder|sys.NoFollow, 0)
	if err != nil {
		return sys.Is(err, syscall.ENOENT, syscall.ENOTDIR, syscall.ELOOP)
	}
	defer w.sys.Close(dir)
	names, err := w.sys.Names(dir)
	if err != nil {
		return false
	}
	all, some := true, false
	for _, name := range names {
		if n, ok := parseTempName(name); ok {
			all = w.temp(dir, path, name, n) && all
			some = true
		}
	}
	if some && w.s.o.Durability != None {
		all = w.sys.Sync(dir) == nil && all
	}
	return all
}

// temp judges one temporary file: removed if it holds nothing of worth, kept under another
// name if its bytes are unknown, left alone if its maker lives. It reports whether it
// could.
func (w *sweep) temp(dir int, folder, name string, n tempName) bool {
	how := sys.Read
	if now, err := w.sys.Fstatat(dir, name); err == nil && sys.IsLink(now) {
		return w.link(dir, folder, name, n, now)
	} else if err == nil && sys.IsFolder(now) {
		how = sys.Folder | sys.NoFollow
	}
	fd, err := w.sys.Openat(dir, name, how, 0)
	if err != nil {
		return sys.Is(err, syscall.ENOENT, syscall.ELOOP, syscall.ETXTBSY) // ETXTBSY: its maker lives
	}
	defer w.sys.Close(fd)
	switch err := w.claim(fd); {
	case sys.Is(err, syscall.EWOULDBLOCK):
		return true
	case err != nil:
		return false
	}
	stamp, err := w.sys.Fstat(fd)
	if err != nil {
		return false
	}
	there, err := w.sys.Fstatat(dir, name)
	if err == nil && there.SameFile(stamp) && sys.IsFolder(stamp) && n.Kind == newOnly {
		return w.copy(dir, name) // of a folder, on its way to another file system
	}
	if err != nil || !there.SameFile(stamp) || !sys.IsRegular(stamp) {
		return sys.Is(err, syscall.ENOENT) || err == nil
	}
	worthless, err := w.worthless(fd, n, stamp)
	if err != nil {
		return false
	}
	if worthless {
		if sys.Remove(w.sys, dir, name) != nil {
			return false
		}
		w.report.Removed++
		return true
	}
	kept, err := w.s.keepUnknown(dir, folder, name, n.Base)
	w.report.Saved = append(w.report.Saved, kept.saved...)
	w.report.Rescued = append(w.report.Rescued, kept.rescued...)
	return err == nil
}

// copy removes an unfinished copy of a folder.
func (w *sweep) copy(dir int, name string) bool {
	if removeTree(w.sys, dir, name) != nil {
		return false
	}
	w.report.Removed++
	return true
}

// link judges a link under a temporary name: the one that a dead process was about to remove
// goes, and any other is kept under another name.
func (w *sweep) link(dir int, folder, name string, n tempName, now fsys.Stamp) bool {
	if n.Kind == newOnly || fingerprint(n.ID, now, nil) == n.Old {
		return w.copy(dir, name)
	}
	to, err := w.s.setAside(dir, name, n.Base)
	w.report.Saved = append(w.report.Saved, filepath.Join(folder, to))
	return err == nil
}

// claim takes a temporary file's lock. (A network file system may want a file open
// for writing for that. It has no exchange either, so the only names there are of
// new files, whose makers hold the other kind of lock.)
func (w *sweep) claim(fd int) error {
	err := w.sys.Flock(fd, sys.LockExclusive)
	if sys.Is(err, syscall.EBADF) {
		err = w.sys.Flock(fd, sys.LockShared)
	}
	return err
}

// worthless reports that a file is our own, never published, or the displaced one
// that had been compared. One that a program has open for writing is neither: it
// was held back by the lease of the process that died, and is about to write.
func (w *sweep) worthless(fd int, n tempName, stamp fsys.Stamp) (bool, error) {
	if sys.IsOpen(w.sys.SetLease(fd, sys.ReadLease)) {
		return false, nil
	}
	if n.Kind == newOnly || fingerprint(n.ID, stamp, nil) == n.New {
		return true, nil
	}
	var sum *sys.Digest
	if n.Kind == byDigest {
		var err error
		if sum, err = sys.DigestOf(w.sys, fd, stamp.Size); err != nil {
			return false, err
		}
	}
	return fingerprint(n.ID, stamp, sum) == n.Old, nil
}
