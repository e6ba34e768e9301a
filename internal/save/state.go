package save

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"runtime"
	"sync"
	"sync/atomic"
	"syscall"

	"github.com/fsmcp/fsmcp/internal/fsys"
	"github.com/fsmcp/fsmcp/internal/owndir"
	"github.com/fsmcp/fsmcp/internal/save/sys"
)

// The parts of a state folder.
const (
	locksDir   = "locks"
	notesDir   = "flight"  // notes of processes, living or dead
	journalDir = "journal" // of writes in place
	renamesDir = "renames" // of names that are missing for a moment
	savedDir   = "saved"   // what could not be kept beside its file
)

// stateFolder is the folder in which processes that save files find each other. It is safe
// for concurrent use.
type stateFolder struct {
	s       *Saver
	temp    string        // the folder that serves if Options.StateDir cannot be used
	opening chan struct{} // one at a time makes the folder
	current atomic.Pointer[state]
}

// state is an open state folder:
//
//	locks/00 ... locks/ff   one lock file per stripe, never deleted
//	flight/NAME             one note per living process: the folders it works in
//	journal/NAME            one per write in place that is going on
//	renames/NAME            one per replacement by two renames that is going on
//	saved/NAME.fsmcp-saved  what could not be kept beside its file
//
// The one in the temp directory has the first two alone: what lies there is never
// replayed onto a file.
type state struct {
	f       *stateFolder
	path    string
	lost    *StateError // why it is the one in the temp directory; nil if it is not
	locks   *stripes
	locksFD int
	note    note
	renames renamesFolder
}

// renamesFolder is the folder of entries for two renames, opened when it is first needed.
type renamesFolder struct {
	mu   sync.Mutex
	open bool
	fd   int
}

func newStateFolder(s *Saver) *stateFolder {
	return &stateFolder{s: s, temp: owndir.InTemp(s.o.TempDir), opening: make(chan struct{}, 1)}
}

// paths lists the folders that may hold state: the configured one, if any, and the one in
// the temp directory.
func (f *stateFolder) paths() []string {
	if f.s.o.StateDir == "" {
		return []string{f.temp}
	}
	return []string{f.s.o.StateDir, f.temp}
}

// find returns the name of the configured folder, "" if there is none yet, and a
// *StateError if it exists and is not used. It makes nothing.
func (f *stateFolder) find() (string, error) {
	path := f.s.o.StateDir
	if path == "" {
		return "", nil
	}
	switch err := owndir.Find(path, 1); {
	case err == nil:
		return path, nil
	case errors.Is(err, fs.ErrNotExist):
		return "", nil
	default:
		return "", &StateError{path, err}
	}
}

// get returns the open state folder, and makes it on first use.
func (f *stateFolder) get(ctx context.Context) (*state, error) {
	if st := f.current.Load(); st != nil && st.usable() {
		return st, nil
	}
	select {
	case f.opening <- struct{}{}:
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	defer func() { <-f.opening }()
	if st := f.current.Load(); st != nil && st.usable() {
		return st, nil
	}
	st, err := f.open()
	if err != nil {
		return nil, err
	}
	f.current.Store(st) // one before it, deleted under us, stays open for its last users
	return st, nil
}

// open tries the configured folder, then one in the temp directory. It turns to the second
// only for reasons that last: processes with different state folders would not see each
// other's locks.
func (f *stateFolder) open() (*state, error) {
	path := f.s.o.StateDir
	lost := &StateError{Dir: path}
	if path != "" {
		st, err := f.openAt(path, nil)
		if err == nil {
			return st, nil
		}
		if !lasting(err) {
			return nil, &IOError{Op: "state", Path: path, Err: err}
		}
		lost.Err = err
	}
	if f.s.o.Lost != nil {
		f.s.o.Lost(lost)
	}
	st, err := f.openAt(f.temp, lost)
	if err == nil {
		return st, nil
	}
	if !lasting(err) {
		return nil, &IOError{Op: "state", Path: f.temp, Err: err}
	}
	return nil, &NoStateError{State: lost, Dir: f.temp, Temp: err}
}

func lasting(err error) bool {
	return runtime.GOOS == "windows" || errors.As(err, new(*owndir.Error)) || sys.Is(err,
		syscall.EACCES, syscall.EPERM, syscall.EROFS, syscall.ENOTDIR, syscall.ENOENT, syscall.ELOOP,
		syscall.ENAMETOOLONG, syscall.ENOSPC, syscall.EDQUOT, syscall.ENOLCK, syscall.ENOSYS, syscall.EOPNOTSUPP,
		syscall.EINVAL, syscall.ENODEV, syscall.EEXIST, syscall.EMLINK)
}

// openAt opens a state folder, and makes it if it is missing. lost says why it is the one in
// the temp directory.
func (f *stateFolder) openAt(path string, lost *StateError) (_ *state, err error) {
	top, err := f.openTop(path)
	if sys.Is(err, syscall.ENOENT) {
		if err := f.makeAll(path); err != nil {
			return nil, err
		}
		top, err = f.openTop(path)
	}
	if err != nil {
		return nil, err
	}
	defer f.s.sys.Close(top)
	if err := f.checkTop(top, path); err != nil {
		return nil, err
	}
	st := &state{f: f, path: path, lost: lost, locksFD: -1, note: note{s: f.s, dir: -1, fd: -1}}
	st.locks = newStripes(st.tryLock)
	st.locksFD, err = f.openSub(top, path, locksDir)
	if err == nil {
		st.note.dir, err = f.openSub(top, path, notesDir)
	}
	if err == nil {
		err = st.note.start()
	}
	if err != nil {
		st.close()
		return nil, err
	}
	return st, nil
}

// openTop opens the state folder at path, which is not made. The one in the temp directory
// may be no link: any user could make one there.
func (f *stateFolder) openTop(path string) (int, error) {
	flags := sys.Folder
	if path == f.temp {
		flags |= sys.NoFollow
	}
	return f.s.sys.Openat(sys.CWD, path, flags, 0)
}

func (f *stateFolder) makeAll(path string) error {
	err := f.s.sys.Mkdir(sys.CWD, path, 0o700)
	if up := filepath.Dir(path); sys.Is(err, syscall.ENOENT) && up != path {
		if err := f.makeAll(up); err != nil {
			return err
		}
		err = f.s.sys.Mkdir(sys.CWD, path, 0o700)
	}
	if sys.Is(err, syscall.EEXIST) {
		return nil
	}
	if err == nil && f.s.o.Durability != None {
		// A note or a journal lasts only with all folders that lead to it. A folder of another
		// user that cannot be read cannot be synced either.
		sys.SyncFolder(f.s.sys, sys.CWD, filepath.Dir(path))
	}
	return err
}

// checkTop returns an *owndir.Error if another user may have written the state folder or
// one of its entries.
func (f *stateFolder) checkTop(top int, path string) error {
	now, err := f.s.sys.Fstat(top)
	if err == nil {
		err = owndir.CheckStat(path, now.UID, now.Mode, path == f.temp)
	}
	if err != nil {
		return err
	}
	names, err := f.s.sys.Names(top)
	if err != nil {
		return err
	}
	for _, name := range names {
		now, err := f.s.sys.Fstatat(top, name)
		if sys.Is(err, syscall.ENOENT) || err == nil && sys.IsLink(now) {
			continue // a link is opened nowhere
		}
		if err == nil {
			err = checkOwn(filepath.Join(path, name), now)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// checkOwn returns an *owndir.Error if another user may have written the file.
func checkOwn(path string, now fsys.Stamp) error {
	return owndir.CheckStat(path, now.UID, now.Mode, false)
}

// checkOpen returns an *owndir.Error if another user may have written an open file or
// folder.
func (f *stateFolder) checkOpen(fd int, path string) error {
	now, err := f.s.sys.Fstat(fd)
	if err != nil {
		return err
	}
	return checkOwn(path, now)
}

// openSub opens a folder below the state folder, and makes it if it is missing.
func (f *stateFolder) openSub(top int, path, name string) (int, error) {
	fd, err := f.s.sys.Openat(top, name, sys.Folder|sys.NoFollow, 0)
	if sys.Is(err, syscall.ENOENT) {
		err = f.s.sys.Mkdir(top, name, 0o700)
		if err == nil && f.s.o.Durability != None {
			err = f.s.sys.Sync(top)
		}
		if err != nil && !sys.Is(err, syscall.EEXIST) {
			return -1, err
		}
		fd, err = f.s.sys.Openat(top, name, sys.Folder|sys.NoFollow, 0)
	}
	if err != nil {
		return -1, err
	}
	if err := f.checkOpen(fd, filepath.Join(path, name)); err != nil {
		f.s.sys.Close(fd)
		return -1, err
	}
	return fd, nil
}

// openPart opens a part of the state folder at path that is rarely needed, and makes it if
// it is missing.
func (f *stateFolder) openPart(path, name string) (int, error) {
	top, err := f.s.sys.Openat(sys.CWD, path, sys.Folder, 0)
	if err != nil {
		return -1, err
	}
	defer f.s.sys.Close(top)
	if err := f.checkTop(top, path); err != nil {
		return -1, err
	}
	return f.openSub(top, path, name)
}

// end closes the folder and forgets the noted folders, unless keep is set: then, and if it
// fails, the next sweep searches them. Call it when no write is going on.
func (f *stateFolder) end(keep bool) error {
	st := f.current.Swap(nil)
	if st == nil {
		return nil
	}
	defer st.close()
	if keep {
		return nil
	}
	return st.note.remove()
}

// usable reports whether the state folder still exists and no other user can write it.
// Locks in a deleted one would keep no other process out.
func (st *state) usable() bool {
	now, err := st.f.s.sys.Fstat(st.locksFD)
	return err == nil && now.Nlink > 0 && checkOwn(st.path, now) == nil
}

// openRenames returns the folder of entries for two renames. It stays open, and it is looked at
// each time, as usable looks at that of the locks.
func (st *state) openRenames() (int, error) {
	r := &st.renames
	r.mu.Lock()
	defer r.mu.Unlock()
	path := filepath.Join(st.path, renamesDir)
	if r.open {
		now, err := st.f.s.sys.Fstat(r.fd)
		if err == nil && now.Nlink > 0 && checkOwn(path, now) == nil {
			return r.fd, nil
		}
		r.open = false
		st.f.s.sys.Close(r.fd)
	}
	fd, err := st.f.openPart(st.path, renamesDir)
	if err != nil {
		return -1, err
	}
	r.open, r.fd = true, fd
	return fd, nil
}

func (st *state) close() {
	if st.renames.open {
		st.f.s.sys.Close(st.renames.fd)
	}
	for _, fd := range []int{st.note.fd, st.note.dir, st.locksFD} {
		if fd >= 0 {
			st.f.s.sys.Close(fd)
		}
	}
}

// tryLock takes a lock file, made if it is missing, unless another process has it; then
// unlock is nil. Unlocking is not left to closing: a process that is being started may hold
// a copy of the descriptor for a moment.
func (st *state) tryLock(n int) (unlock func(), err error) {
	calls, name := st.f.s.sys, fmt.Sprintf("%02x", n)
	path := filepath.Join(st.path, locksDir, name)
	fd, err := calls.Openat(st.locksFD, name, sys.Lock, 0o600)
	if err != nil {
		return nil, &IOError{Op: "lock", Path: path, Err: err}
	}
	if err = st.f.checkOpen(fd, path); err == nil {
		err = calls.Flock(fd, sys.LockExclusive)
	}
	if err == nil {
		return func() { calls.Flock(fd, sys.Unlock); calls.Close(fd) }, nil
	}
	calls.Close(fd)
	if sys.Is(err, syscall.EWOULDBLOCK) {
		return nil, nil
	}
	return nil, &IOError{Op: "lock", Path: path, Err: err}
}
