//go:build !fsys_portable

package save

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"sync"

	"golang.org/x/sys/unix"

	"github.com/fsmcp/fsmcp/internal/fsys"
	"github.com/fsmcp/fsmcp/internal/owndir"
)

// state is the open state folder:
//
//	locks/00 ... locks/ff   one lock file per stripe, never deleted
//	flight/NAME             one note per living process: the folders it works in
//	journal/NAME            one per write in place that is going on
//	saved/NAME.fsmcp-saved  what could not be kept beside its file
//
// The one in the temp directory has the first two alone: what lies there is never
// replayed onto a file.
type state struct {
	s       *Saver
	path    string
	lost    *StateError // why it is the one in the temp directory; nil where it is not
	locks   int         // descriptors of the folders
	flight  int
	stripes stripes
	note    note
}

// The folders of the state.
const (
	locksDir   = "locks"
	flightDir  = "flight"
	journalDir = "journal"
	savedDir   = "saved"
)

const openFolder = unix.O_RDONLY | unix.O_DIRECTORY

// openState gives the state folder, making it on first use.
func (s *Saver) openState(ctx context.Context) (*state, error) {
	if st := s.state.Load(); st != nil && st.alive() {
		return st, nil
	}
	select {
	case s.opening <- struct{}{}:
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	defer func() { <-s.opening }()
	if st := s.state.Load(); st != nil && st.alive() {
		return st, nil
	}
	st, err := s.makeState()
	if err != nil {
		return nil, err
	}
	if old := s.state.Swap(st); old != nil { // deleted under us, it stays open for its last users
		old.stripes.closeIdle()
	}
	return st, nil
}

// alive reports that the state folder was not deleted, nor opened to others. Locks
// in a deleted one would keep no other process out.
func (st *state) alive() bool {
	now, err := st.s.sys.Fstat(st.locks)
	return err == nil && now.Nlink > 0 && checkStamp(st.path, now) == nil
}

// makeState tries the configured folder, then one in the temp directory, and
// turns to the second only for reasons that last: processes with different state
// folders would not see each other's locks.
func (s *Saver) makeState() (*state, error) {
	lost := &StateError{Dir: s.o.StateDir}
	if s.o.StateDir != "" {
		st, err := s.openStateAt(s.o.StateDir, nil)
		if err == nil {
			return st, nil
		}
		if !lasting(err) {
			return nil, &IOError{Op: "state", Path: s.o.StateDir, Err: err}
		}
		lost.Err = err
	}
	if s.o.Lost != nil {
		s.o.Lost(lost)
	}
	st, err := s.openStateAt(s.temp, lost)
	if err == nil {
		return st, nil
	}
	if !lasting(err) {
		return nil, &IOError{Op: "state", Path: s.temp, Err: err}
	}
	return nil, &NoStateError{State: lost, Dir: s.temp, Temp: err}
}

func lasting(err error) bool {
	own := (*owndir.Error)(nil)
	return errors.As(err, &own) || is(err, unix.EACCES, unix.EPERM, unix.EROFS, unix.ENOTDIR, unix.ENOENT, unix.ELOOP,
		unix.ENAMETOOLONG, unix.ENOSPC, unix.EDQUOT, unix.ENOLCK, unix.ENOSYS, unix.EOPNOTSUPP,
		unix.EINVAL, unix.ENODEV, unix.EEXIST, unix.EMLINK)
}

// is reports that err is one of the error numbers.
func is(err error, numbers ...unix.Errno) bool {
	var n unix.Errno
	if !errors.As(err, &n) {
		return false
	}
	for _, one := range numbers {
		if n == one {
			return true
		}
	}
	return false
}

// openStateAt opens a state folder, made if missing. lost says why it is the one
// in the temp directory.
func (s *Saver) openStateAt(path string, lost *StateError) (*state, error) {
	top, err := s.openMade(path)
	if err != nil {
		return nil, err
	}
	defer s.sys.Close(top)
	if err := s.checkTop(top, path); err != nil {
		return nil, err
	}
	st := &state{s: s, path: path, lost: lost, locks: -1, flight: -1, note: note{fd: -1}}
	st.stripes.open, st.stripes.most = st.openLock, lockFiles()
	if err := st.openParts(top); err != nil {
		st.close()
		return nil, err
	}
	return st, nil
}

// checkTop returns an *owndir.Error where another user may have written the state
// folder or one of its entries.
func (s *Saver) checkTop(top int, path string) error {
	now, err := s.sys.Fstat(top)
	if err == nil {
		err = owndir.CheckStat(path, now.UID, now.Mode, path == s.temp)
	}
	if err != nil {
		return err
	}
	names, err := s.sys.Names(top)
	if err != nil {
		return err
	}
	for _, name := range names {
		now, err := s.sys.Fstatat(top, name)
		if is(err, unix.ENOENT) || err == nil && now.Mode&unix.S_IFMT == unix.S_IFLNK {
			continue // a link is opened nowhere
		}
		if err == nil {
			err = checkStamp(filepath.Join(path, name), now)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func checkStamp(path string, now fsys.Stamp) error {
	return owndir.CheckStat(path, now.UID, now.Mode, false)
}

// checkOpen returns an *owndir.Error where another user may have written an open
// file or folder.
func (s *Saver) checkOpen(fd int, path string) error {
	now, err := s.sys.Fstat(fd)
	if err != nil {
		return err
	}
	return checkStamp(path, now)
}

func (st *state) openParts(top int) (err error) {
	if st.locks, err = st.openSub(top, locksDir); err != nil {
		return err
	}
	if st.flight, err = st.openSub(top, flightDir); err != nil {
		return err
	}
	return st.startNote()
}

func (st *state) close() {
	st.stripes.closeIdle()
	for _, fd := range []int{st.note.fd, st.flight, st.locks} {
		if fd >= 0 {
			st.s.sys.Close(fd)
		}
	}
}

// openMade opens a folder, making it and those above it where they are missing.
// The last step follows no link: in the temp directory anybody could plant one.
func (s *Saver) openMade(path string) (int, error) {
	fd, err := s.sys.Openat(unix.AT_FDCWD, path, openFolder|s.noLink(path), 0)
	if !is(err, unix.ENOENT) {
		return fd, err
	}
	if err := s.makeAll(path); err != nil {
		return -1, err
	}
	return s.sys.Openat(unix.AT_FDCWD, path, openFolder|s.noLink(path), 0)
}

func (s *Saver) noLink(path string) int {
	if path == s.temp {
		return unix.O_NOFOLLOW
	}
	return 0
}

func (s *Saver) makeAll(path string) error {
	err := s.sys.Mkdir(unix.AT_FDCWD, path, 0o700)
	if up := filepath.Dir(path); is(err, unix.ENOENT) && up != path {
		if err := s.makeAll(up); err != nil {
			return err
		}
		err = s.sys.Mkdir(unix.AT_FDCWD, path, 0o700)
	}
	if is(err, unix.EEXIST) {
		return nil
	}
	return err
}

// openSub opens a folder below the state folder, made if missing.
func (st *state) openSub(top int, name string) (int, error) {
	sys := st.s.sys
	fd, err := sys.Openat(top, name, openFolder|unix.O_NOFOLLOW, 0)
	if is(err, unix.ENOENT) {
		if err := sys.Mkdir(top, name, 0o700); err != nil && !is(err, unix.EEXIST) {
			return -1, err
		}
		fd, err = sys.Openat(top, name, openFolder|unix.O_NOFOLLOW, 0)
	}
	if err != nil {
		return -1, err
	}
	if err := st.s.checkOpen(fd, filepath.Join(st.path, name)); err != nil {
		sys.Close(fd)
		return -1, err
	}
	return fd, nil
}

// openPart opens a folder of the state that is rarely needed.
func (st *state) openPart(name string) (int, error) {
	top, err := st.s.sys.Openat(unix.AT_FDCWD, st.path, openFolder, 0)
	if err != nil {
		return -1, err
	}
	defer st.s.sys.Close(top)
	if err := st.s.checkTop(top, st.path); err != nil {
		return -1, err
	}
	return st.openSub(top, name)
}

// lockFD is a lock file by its descriptor.
type lockFD struct {
	sys  Sys
	fd   int
	path string
}

// openLock opens a lock file, made if missing.
func (st *state) openLock(n int) (lockFile, error) {
	name := fmt.Sprintf("%02x", n)
	l := lockFD{sys: st.s.sys, path: filepath.Join(st.path, locksDir, name)}
	var err error
	l.fd, err = l.sys.Openat(st.locks, name, unix.O_RDWR|unix.O_CREAT|unix.O_NOFOLLOW, 0o600)
	if err != nil {
		return nil, &IOError{Op: "lock", Path: l.path, Err: err}
	}
	if err := st.s.checkOpen(l.fd, l.path); err != nil {
		l.close()
		return nil, &IOError{Op: "lock", Path: l.path, Err: err}
	}
	return l, nil
}

func (l lockFD) try() (bool, error) {
	err := l.sys.Flock(l.fd, unix.LOCK_EX|unix.LOCK_NB)
	if is(err, unix.EWOULDBLOCK) {
		return false, nil
	}
	if err != nil {
		return false, &IOError{Op: "lock", Path: l.path, Err: err}
	}
	return true, nil
}

func (l lockFD) unlock() error { return l.sys.Flock(l.fd, unix.LOCK_UN) }

func (l lockFD) close() { l.sys.Close(l.fd) }

// tell adds to an outcome that the state folder is not used.
func (st *state) tell(out *Outcome) {
	if st.lost != nil {
		out.NoState, out.StateInTemp = st.lost, st.path
	}
}

// note is this process's list of the folders that it may leave a temporary file
// in, for the Sweep after its death: one quoted name a line. The lock on the file
// tells others that the process lives.
type note struct {
	mu      sync.Mutex
	fd      int
	name    string
	size    int64
	folders map[string]bool
}

// startNote makes the note. A Sweep elsewhere may take a note for dead in the
// moment before it is locked; then its name is gone, and another one is made.
func (st *state) startNote() error {
	sys := st.s.sys
	for {
		name, err := st.s.random(10)
		if err != nil {
			return err
		}
		fd, err := sys.Openat(st.flight, name, unix.O_RDWR|unix.O_CREAT|unix.O_EXCL|unix.O_NOFOLLOW, 0o600)
		if err != nil {
			return err
		}
		lock := sys.Flock(fd, unix.LOCK_EX|unix.LOCK_NB)
		stamp, err := sys.Fstat(fd)
		if lock == nil && err == nil && stamp.Nlink > 0 {
			st.note.fd, st.note.name, st.note.folders = fd, name, make(map[string]bool)
			return nil
		}
		sys.Close(fd)
		st.s.remove(st.flight, name)
		if err := errors.Join(lock, err); err != nil && !is(lock, unix.EWOULDBLOCK) {
			return err
		}
	}
}

// remember notes a folder, once. What it returns waits until the note would
// survive a loss of power; the caller has a sync of its own to do meanwhile.
// The cost of a second note in one folder is nothing.
func (st *state) remember(folder string) (wait func() error, err error) {
	st.note.mu.Lock()
	defer st.note.mu.Unlock()
	if st.note.folders[folder] {
		return func() error { return nil }, nil
	}
	line := strconv.Quote(folder) + "\n"
	n := &st.note
	if err := writeAll(st.s.sys, n.fd, []byte(line), n.size); err != nil {
		return nil, err
	}
	n.size += int64(len(line))
	if st.s.o.Durability == None {
		n.folders[folder] = true
		return func() error { return nil }, nil
	}
	synced := make(chan error, 1)
	go func() { synced <- st.syncNote() }()
	return func() error {
		err := <-synced
		if err == nil {
			n.mu.Lock()
			n.folders[folder] = true
			n.mu.Unlock()
		}
		return err
	}, nil
}

func (st *state) syncNote() error {
	if err := st.s.sys.Sync(st.note.fd); err != nil {
		return err
	}
	return st.s.sys.Sync(st.flight)
}

// writeAll writes all of p, or says why not.
func writeAll(sys Sys, fd int, p []byte, off int64) error {
	for len(p) > 0 {
		n, err := sys.Pwrite(fd, p, off)
		if err != nil {
			return err
		}
		if n <= 0 {
			return errShort
		}
		p, off = p[n:], off+int64(n)
	}
	return nil
}

// remove deletes a name, which must not fail for a passing reason: it is tried
// twice. A name that is gone already is as good.
func (s *Saver) remove(dir int, name string) error {
	err := s.sys.Unlink(dir, name, 0)
	if err != nil && !is(err, unix.ENOENT) {
		err = s.sys.Unlink(dir, name, 0)
	}
	if is(err, unix.ENOENT) {
		return nil
	}
	return err
}

// stat tries twice, for the sake of what hangs on the answer.
func (s *Saver) stat(dir int, name string) (fsys.Stamp, error) {
	now, err := s.sys.Fstatat(dir, name)
	if err != nil && !is(err, unix.ENOENT) {
		return s.sys.Fstatat(dir, name)
	}
	return now, err
}

// Close forgets the folders noted: call it when no write is going on. Without
// it, or when it fails, the next Sweep looks into them.
func (s *Saver) Close() error {
	st := s.state.Swap(nil)
	if st == nil {
		return nil
	}
	defer st.close()
	if s.leftover.Load() {
		return nil
	}
	for folder := range st.note.folders {
		if err := s.syncPath(folder); err != nil {
			return err
		}
	}
	return s.remove(st.flight, st.note.name)
}

// syncPath makes the removal of temporary files in a folder last; one that is
// gone needs nothing.
func (s *Saver) syncPath(folder string) error {
	if s.o.Durability == None {
		return nil
	}
	fd, err := s.sys.Openat(unix.AT_FDCWD, strings.TrimSuffix(folder, "/")+"/", openFolder, 0)
	if is(err, unix.ENOENT, unix.ENOTDIR) {
		return nil
	}
	if err != nil {
		return err
	}
	defer s.sys.Close(fd)
	return s.sys.Sync(fd)
}

// folderID is the identity of a folder by name.
func folderID(path string) (dev, ino uint64, err error) {
	s, err := kernel{}.Fstatat(unix.AT_FDCWD, path)
	return s.Dev, s.Ino, err
}
