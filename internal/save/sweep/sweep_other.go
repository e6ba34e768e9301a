//go:build !linux || fsys_portable

package sweep

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/fsmcp/fsmcp/internal/filelock"
	"github.com/fsmcp/fsmcp/internal/owndir"
	"github.com/fsmcp/fsmcp/internal/save/disk"
	"github.com/fsmcp/fsmcp/internal/save/statedir"
	"github.com/fsmcp/fsmcp/internal/save/tempname"
)

// Run removes the temporary files of processes that died. A folder that a running process
// works in is left for another time.
func Run(ctx context.Context, o Options) (Report, error) {
	w := &sweep{o: o, alive: make(map[string]bool)}
	var errs []error
	for _, path := range o.State.Paths() {
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
	o      Options
	report Report
	alive  map[string]bool // folders that living processes work in
	dead   []deadNote
}

type deadNote struct {
	name    string
	folders []string
}

// state looks at the notes of a state folder, unless others may have written them.
func (w *sweep) state(path string) error {
	err := w.o.State.CheckAt(path)
	if own := (*owndir.Error)(nil); errors.As(err, &own) {
		w.report.Untrusted = append(w.report.Untrusted, own)
		return nil
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return &disk.IOError{Op: "open", Path: path, Err: err}
	}
	return w.notes(filepath.Join(path, statedir.Flight))
}

// notes tells the living from the dead.
func (w *sweep) notes(dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return &disk.IOError{Op: "list", Path: dir, Err: err}
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
			return &disk.IOError{Op: "read", Path: name, Err: err}
		}
		folders := statedir.Noted(text)
		for _, folder := range folders {
			w.alive[folder] = w.alive[folder] || !died
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
		return &disk.IOError{Op: "remove", Path: n.name, Err: err}
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
		if n, ok := tempname.Parse(name); ok {
			err = errors.Join(err, w.temp(root, path, name, n))
		}
	}
	return err == nil
}

// temp removes what holds new content or the compared old one, and keeps the rest.
func (w *sweep) temp(root *os.Root, folder, name string, n tempname.Name) error {
	info, err := root.Lstat(name)
	if err != nil || !info.Mode().IsRegular() {
		return nil
	}
	if n.Kind != tempname.Named {
		sum, err := disk.DigestIn(root, name)
		if err != nil {
			return err
		}
		if is := tempname.Content(n.ID, &sum); is != n.New && is != n.Old {
			kept := tempname.Saved(n.Base, 1)
			for i := 2; i < tempname.SavedMax && exists(root, kept); i++ {
				kept = tempname.Saved(n.Base, i)
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
