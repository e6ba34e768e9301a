//go:build !linux || fsys_portable

package statedir

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"sync"

	"github.com/fsmcp/fsmcp/internal/filelock"
	"github.com/fsmcp/fsmcp/internal/owndir"
	"github.com/fsmcp/fsmcp/internal/save/disk"
	"github.com/fsmcp/fsmcp/internal/save/lock"
)

// parts holds what is open of a state folder.
type parts struct {
	mu      sync.Mutex
	note    *os.File
	folders map[string]bool
}

// openAt opens a state folder, made if missing. lost says why it is the one
// in the temp directory, which anybody could have made before.
func (f *Folder) openAt(path string, lost *Error) (*State, error) {
	if err := os.MkdirAll(path, 0o700); err != nil {
		return nil, plain(err)
	}
	if err := f.CheckAt(path); err != nil {
		return nil, err
	}
	for _, dir := range []string{locksDir, Flight} {
		if err := os.Mkdir(filepath.Join(path, dir), 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
			return nil, plain(err)
		}
	}
	name, err := f.o.Random(10)
	if err != nil {
		return nil, err
	}
	st := &State{f: f, Path: path, Lost: lost, parts: parts{folders: make(map[string]bool)}}
	st.Stripes = lock.NewStripes(st.openLock)
	if st.note, err = os.OpenFile(filepath.Join(path, Flight, name), os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600); err != nil {
		return nil, err
	}
	if _, err := filelock.Try(st.note); err != nil {
		st.note.Close()
		return nil, err
	}
	return st, nil
}

// plain returns the reason without the path: sentences name the folder themselves.
func plain(err error) error {
	if named, ok := errors.AsType[*fs.PathError](err); ok {
		return named.Err
	}
	return err
}

// CheckAt returns an *owndir.Error where another user may have written a state
// folder or one of its entries.
func (f *Folder) CheckAt(path string) error {
	if path != f.temp {
		return owndir.Find(path, 1)
	}
	info, err := os.Lstat(path)
	switch {
	case err != nil:
		return err
	case !info.IsDir():
		return &owndir.Error{Path: path, Why: "is not a folder"}
	}
	return cmp.Or(owndir.CheckPrivate(path, info), owndir.Find(path, 1))
}

// lockedFile is a lock file.
type lockedFile struct{ *os.File }

// openLock opens a lock file, made if missing.
func (st *State) openLock(n int) (lock.File, error) {
	f, err := os.OpenFile(filepath.Join(st.Path, locksDir, fmt.Sprintf("%02x", n)), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, &disk.IOError{Op: "lock", Path: st.Path, Err: err}
	}
	info, err := f.Stat()
	if err == nil {
		err = owndir.Check(f.Name(), info)
	}
	if err != nil {
		f.Close()
		return nil, &disk.IOError{Op: "lock", Path: f.Name(), Err: err}
	}
	return lockedFile{f}, nil
}

func (l lockedFile) Try() (bool, error) {
	got, err := filelock.Try(l.File)
	if err != nil {
		return false, &disk.IOError{Op: "lock", Path: l.Name(), Err: err}
	}
	return got, nil
}

func (l lockedFile) Unlock() error { return filelock.Unlock(l.File) }

func (l lockedFile) Close() { l.File.Close() }

// Remember notes a folder, once. The note would survive a loss of power when it returns;
// there is nothing to wait for.
func (st *State) Remember(folder string) (wait func() error, err error) {
	wait = func() error { return nil }
	st.mu.Lock()
	defer st.mu.Unlock()
	if st.folders[folder] {
		return wait, nil
	}
	if _, err := st.note.WriteString(strconv.Quote(folder) + "\n"); err != nil {
		return nil, err
	}
	if st.f.o.Sync {
		if err := st.note.Sync(); err != nil {
			return nil, err
		}
	}
	st.folders[folder] = true
	return wait, nil
}

// end closes the folder, and removes the note unless keep is set.
func (st *State) end(keep bool) error {
	st.Stripes.CloseIdle()
	st.note.Close()
	if keep {
		return nil
	}
	return os.Remove(st.note.Name())
}

// alive: a folder that is open cannot be deleted, or is not looked at again.
func (st *State) alive() bool { return true }

// lasting: no error is tried again.
func lasting(error) bool { return true }
