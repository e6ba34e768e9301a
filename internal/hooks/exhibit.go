package hooks

import (
	"context"
	"crypto/rand"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/fsmcp/fsmcp/internal/filelock"
)

// Folder is the place in the state folder where old bytes are shown, each file in
// a folder of its own.
const Folder = "before"

// unlocked is the age from which a file is taken for a dead process's where locks
// are not to be had; no command has that much time.
const unlocked = 24 * time.Hour

// exhibit is a file with old bytes, for commands to look at. It is locked as long
// as its maker lives.
type exhibit struct {
	root   *os.Root // of Folder
	folder string
	file   *os.File
	name   string // absolute
}

// exhibit shows the old bytes of the file at path, under its own name: an editor
// goes by that.
func (r *Runner) exhibit(ctx context.Context, path string, old []byte) (*exhibit, error) {
	dir, err := r.o.Dir(ctx)
	if err != nil {
		return nil, err
	}
	root, err := openFolder(dir)
	if err != nil {
		return nil, err
	}
	e := &exhibit{root: root}
	base := filepath.Base(path)
	if err := e.create(base); err != nil {
		root.Close()
		return nil, err
	}
	e.name = filepath.Join(dir, Folder, e.folder, base)
	if _, err := e.file.Write(old); err != nil {
		e.remove()
		return nil, err
	}
	return e, nil
}

// openFolder opens Folder, made if missing. A link in its place would lead out of
// what is private.
func openFolder(dir string) (*os.Root, error) {
	top, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	defer top.Close()
	if err := top.Mkdir(Folder, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, err
	}
	return openFound(top)
}

var errNoFolder = errors.New("not a folder")

func openFound(top *os.Root) (*os.Root, error) {
	info, err := top.Lstat(Folder)
	if err == nil && !info.IsDir() {
		err = &fs.PathError{Op: "open", Path: filepath.Join(top.Name(), Folder), Err: errNoFolder}
	}
	if err != nil {
		return nil, err
	}
	return top.OpenRoot(Folder)
}

// create makes the file and locks it. What is not locked yet may be swept away by
// another process, so that it takes another try.
func (e *exhibit) create(base string) (err error) {
	const tries = 10
	for range tries {
		e.folder = strings.ToLower(rand.Text()[:10])
		if err = e.root.Mkdir(e.folder, 0o700); err != nil {
			return err
		}
		name := filepath.Join(e.folder, base)
		if e.file, err = e.root.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600); err == nil {
			if e.locked(name) {
				return nil
			}
			e.file.Close()
			err = fs.ErrExist
		}
		_ = e.root.RemoveAll(e.folder)
		if !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, fs.ErrExist) {
			return err
		}
	}
	return err
}

// locked locks the new file and tells whether it is still there.
func (e *exhibit) locked(name string) bool {
	if got, err := filelock.Try(e.file); !got && err == nil {
		return false
	}
	is, err := e.file.Stat()
	if err != nil {
		return false
	}
	there, err := e.root.Stat(name)
	return err == nil && os.SameFile(is, there)
}

// remove ends the showing. What cannot be removed, since somebody still looks at
// it, is left for the next Sweep.
func (e *exhibit) remove() {
	e.file.Close()
	_ = e.root.RemoveAll(e.folder)
	e.root.Close()
}

// Sweep removes what processes that died have left in these state folders. What
// cannot be removed is left for the next one.
func Sweep(stateDirs ...string) {
	for _, dir := range stateDirs {
		top, err := os.OpenRoot(dir)
		if err != nil {
			continue
		}
		if root, err := openFound(top); err == nil {
			sweep(root)
			root.Close()
		}
		top.Close()
	}
}

func sweep(root *os.Root) {
	list, err := fs.ReadDir(root.FS(), ".")
	if err != nil {
		return
	}
	for _, e := range list {
		if e.IsDir() && root.Remove(e.Name()) != nil && abandoned(root, e.Name()) {
			_ = root.RemoveAll(e.Name())
		}
	}
}

// abandoned tells whether nobody who lives shows what is in a folder.
func abandoned(root *os.Root, folder string) bool {
	files, err := fs.ReadDir(root.FS(), folder)
	if err != nil {
		return false
	}
	for _, f := range files {
		if info, err := f.Info(); err != nil || info.Mode().IsRegular() && !dead(root, filepath.Join(folder, f.Name()), info) {
			return false
		}
	}
	return true
}

// dead tells whether nobody holds the lock of a file.
func dead(root *os.Root, name string, info fs.FileInfo) bool {
	f, err := root.Open(name)
	if err != nil {
		return false
	}
	defer f.Close()
	got, err := filelock.Try(f)
	if err != nil {
		return time.Since(info.ModTime()) > unlocked
	}
	return got
}
