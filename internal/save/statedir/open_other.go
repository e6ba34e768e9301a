//go:build !linux || fsys_portable

package statedir

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
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
	st.Stripes = lock.NewStripes(st.tryLock)
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

// tryLock takes a lock file, made if missing, unless another process has it; then unlock is
// nil.
func (st *State) tryLock(n int) (unlock func(), err error) {
	path := filepath.Join(st.Path, locksDir, fmt.Sprintf("%02x", n))
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, &disk.IOError{Op: "lock", Path: path, Err: err}
	}
	info, err := f.Stat()
	if err == nil {
		err = owndir.Check(path, info)
	}
	got := false
	if err == nil {
		got, err = filelock.Try(f)
	}
	if got {
		return func() { filelock.Unlock(f); f.Close() }, nil
	}
	f.Close()
	if err != nil {
		return nil, &disk.IOError{Op: "lock", Path: path, Err: err}
	}
	return nil, nil
}

// Remember notes a folder, once. What it returns says whether the note would survive a loss
// of power; there is nothing to wait for.
func (st *State) Remember(folder string) (noted func() error) {
	st.mu.Lock()
	defer st.mu.Unlock()
	var err error
	if !st.folders[folder] {
		_, err = st.note.WriteString(noteLine(folder))
		if err == nil && st.f.o.Sync {
			err = st.note.Sync()
		}
		st.folders[folder] = err == nil
	}
	return func() error { return err }
}

// end closes the folder, and removes the note unless keep is set.
func (st *State) end(keep bool) error {
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
