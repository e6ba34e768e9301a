//go:build !linux || fsys_portable

package save

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"

	"github.com/fsmcp/fsmcp/internal/filelock"
	"github.com/fsmcp/fsmcp/internal/owndir"
)

// state is the open state folder: lock files, and one note per living process
// that lists the folders it works in.
type state struct {
	s       *Saver
	path    string
	lost    *StateError // why it is the one in the temp directory; nil where it is not
	stripes stripes
	mu      sync.Mutex
	note    *os.File
	folders map[string]bool
}

const (
	locksDir  = "locks"
	flightDir = "flight"
)

func (s *Saver) openState(ctx context.Context) (*state, error) {
	if st := s.state.Load(); st != nil {
		return st, nil
	}
	select {
	case s.opening <- struct{}{}:
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	defer func() { <-s.opening }()
	if st := s.state.Load(); st != nil {
		return st, nil
	}
	st, err := s.makeState()
	if err == nil {
		s.state.Store(st)
	}
	return st, err
}

// makeState tries the configured folder, then the one in the temp directory.
func (s *Saver) makeState() (*state, error) {
	lost := &StateError{Dir: s.o.StateDir}
	if s.o.StateDir != "" {
		st, err := s.openStateAt(s.o.StateDir, nil)
		if err == nil {
			return st, nil
		}
		lost.Err = err
	}
	if s.o.Lost != nil {
		s.o.Lost(lost)
	}
	st, err := s.openStateAt(s.temp, lost)
	if err != nil {
		return nil, &NoStateError{State: lost, Dir: s.temp, Temp: err}
	}
	return st, nil
}

// openStateAt opens a state folder, made if missing. lost says why it is the one
// in the temp directory, which anybody could have made before.
func (s *Saver) openStateAt(path string, lost *StateError) (*state, error) {
	for _, dir := range []string{locksDir, flightDir} {
		if err := os.MkdirAll(filepath.Join(path, dir), 0o700); err != nil {
			return nil, err
		}
	}
	if err := s.checkAt(path); err != nil {
		return nil, err
	}
	name, err := s.random(10)
	if err != nil {
		return nil, err
	}
	st := &state{s: s, path: path, lost: lost, folders: make(map[string]bool)}
	st.stripes.open, st.stripes.most = st.openLock, lockFiles()
	if st.note, err = os.OpenFile(filepath.Join(path, flightDir, name), os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600); err != nil {
		return nil, err
	}
	if _, err := filelock.Try(st.note); err != nil {
		st.note.Close()
		return nil, err
	}
	return st, nil
}

// checkAt returns an *owndir.Error where another user may have written a state
// folder or one of its entries.
func (s *Saver) checkAt(path string) error {
	if path != s.temp {
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

// tell adds to an outcome that the state folder is not used.
func (st *state) tell(out *Outcome) {
	if st.lost != nil {
		out.NoState, out.StateInTemp = st.lost, st.path
	}
}

// lockedFile is a lock file.
type lockedFile struct{ *os.File }

// openLock opens a lock file, made if missing.
func (st *state) openLock(n int) (lockFile, error) {
	f, err := os.OpenFile(filepath.Join(st.path, locksDir, fmt.Sprintf("%02x", n)), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, &IOError{Op: "lock", Path: st.path, Err: err}
	}
	info, err := f.Stat()
	if err == nil {
		err = owndir.Check(f.Name(), info)
	}
	if err != nil {
		f.Close()
		return nil, &IOError{Op: "lock", Path: f.Name(), Err: err}
	}
	return lockedFile{f}, nil
}

func (l lockedFile) try() (bool, error) {
	got, err := filelock.Try(l.File)
	if err != nil {
		return false, &IOError{Op: "lock", Path: l.Name(), Err: err}
	}
	return got, nil
}

func (l lockedFile) unlock() error { return filelock.Unlock(l.File) }

func (l lockedFile) close() { l.Close() }

// remember notes a folder, once.
func (st *state) remember(folder string) error {
	st.mu.Lock()
	defer st.mu.Unlock()
	if st.folders[folder] {
		return nil
	}
	if _, err := st.note.WriteString(strconv.Quote(folder) + "\n"); err != nil {
		return err
	}
	if st.s.o.Durability != None {
		if err := st.note.Sync(); err != nil {
			return err
		}
	}
	st.folders[folder] = true
	return nil
}

// Close forgets the folders noted: call it when no write is going on. Without
// it, or when it fails, the next Sweep looks into them.
func (s *Saver) Close() error {
	st := s.state.Swap(nil)
	if st == nil {
		return nil
	}
	st.stripes.closeIdle()
	st.note.Close()
	if s.leftover.Load() {
		return nil
	}
	return os.Remove(st.note.Name())
}

// Sweep removes the temporary files of processes that died. Call it at start;
// other processes may be at work meanwhile, and a folder that one of them works in
// is left for another time.
func (s *Saver) Sweep(ctx context.Context) (SweepReport, error) {
	w := &sweep{s: s, alive: make(map[string]bool)}
	var errs []error
	for _, path := range []string{s.o.StateDir, s.temp} {
		errs = append(errs, w.state(path))
	}
	for _, note := range w.dead {
		if err := ctx.Err(); err != nil {
			return w.report, err
		}
		errs = append(errs, w.note(note))
	}
	return w.report, errors.Join(errs...)
}

type sweep struct {
	s      *Saver
	report SweepReport
	alive  map[string]bool // folders that living processes work in
	dead   []deadNote
}

type deadNote struct {
	name    string
	folders []string
}

// state looks at the notes of a state folder, unless others may have written them.
func (w *sweep) state(path string) error {
	if path == "" {
		return nil
	}
	err := w.s.checkAt(path)
	if own := (*owndir.Error)(nil); errors.As(err, &own) {
		w.report.Untrusted = append(w.report.Untrusted, own)
		return nil
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return &IOError{Op: "open", Path: path, Err: err}
	}
	return w.notes(filepath.Join(path, flightDir))
}

// notes tells the living from the dead.
func (w *sweep) notes(dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return &IOError{Op: "list", Path: dir, Err: err}
	}
	for _, e := range entries {
		name := filepath.Join(dir, e.Name())
		f, err := os.OpenFile(name, os.O_RDWR, 0)
		if err != nil {
			continue // gone by now
		}
		info, err := f.Stat()
		if err == nil {
			err = owndir.Check(name, info)
		}
		if err != nil {
			f.Close()
			w.report.Untrusted = append(w.report.Untrusted, err)
			continue
		}
		died, err := filelock.Try(f)
		text, rerr := io.ReadAll(f)
		f.Close()
		if err = errors.Join(err, rerr); err != nil {
			return &IOError{Op: "read", Path: name, Err: err}
		}
		var folders []string
		for line := range strings.Lines(string(text)) {
			if folder, err := strconv.Unquote(strings.TrimSuffix(line, "\n")); err == nil {
				folders = append(folders, folder)
				w.alive[folder] = w.alive[folder] || !died
			}
		}
		if died {
			w.dead = append(w.dead, deadNote{name, folders})
		}
	}
	return nil
}

func (w *sweep) note(n deadNote) error {
	done := true
	for _, folder := range n.folders {
		if w.alive[folder] || !w.folder(folder) {
			w.report.Pending = append(w.report.Pending, folder)
			done = false
		}
	}
	if !done {
		return nil
	}
	if err := os.Remove(n.name); err != nil {
		return &IOError{Op: "remove", Path: n.name, Err: err}
	}
	return nil
}

// folder judges the temporary files of one folder, and reports whether it could.
func (w *sweep) folder(path string) bool {
	root, err := os.OpenRoot(path)
	if err != nil {
		return errors.Is(err, fs.ErrNotExist)
	}
	defer root.Close()
	dir, err := root.Open(".")
	if err != nil {
		return false
	}
	defer dir.Close()
	names, err := dir.Readdirnames(-1)
	for _, name := range names {
		if n, ok := parseTemp(name); ok {
			err = errors.Join(err, w.temp(root, path, name, n))
		}
	}
	return err == nil
}

// temp removes what holds new content or the compared old one, and keeps the rest.
func (w *sweep) temp(root *os.Root, folder, name string, n tempName) error {
	info, err := root.Lstat(name)
	if err != nil || !info.Mode().IsRegular() {
		return nil
	}
	if n.kind != kindNamed {
		sum, err := digestIn(root, name)
		if err != nil {
			return err
		}
		if is := contentPrint(n.id, &sum); is != n.new && is != n.old {
			kept := savedName(n.base, 1)
			for i := 2; i < savedMax && exists(root, kept); i++ {
				kept = savedName(n.base, i)
			}
			w.report.Saved = append(w.report.Saved, filepath.Join(folder, kept))
			return root.Rename(name, kept)
		}
	}
	if err := root.Remove(name); err != nil {
		return err
	}
	w.report.Removed++
	return nil
}

func exists(root *os.Root, name string) bool {
	_, err := root.Lstat(name)
	return !errors.Is(err, fs.ErrNotExist)
}

// folderID is the identity of a folder by name.
func folderID(path string) (dev, ino uint64, err error) {
	s, err := stampOf(path)
	return s.Dev, s.Ino, err
}
