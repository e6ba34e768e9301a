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
	"github.com/fsmcp/fsmcp/internal/owndir"
)

// Folder is the folder in the state folder for copies of old bytes. Each copy has a folder
// of its own.
const Folder = "before"

// orphanAge is the age at which a copy counts as a dead process's on a file system without
// locks; no command runs that long.
const orphanAge = 24 * time.Hour

// oldCopy is a file with the old bytes of a change, for commands to read. It is locked
// while its maker lives.
type oldCopy struct {
	root   *os.Root // of Folder
	folder string
	file   *os.File
	name   string // absolute
}

// copyOld writes the old bytes of the file at path, under the same base name: editors go
// by that.
func (r *Runner) copyOld(ctx context.Context, path string, old []byte) (*oldCopy, error) {
	dir, err := r.o.Dir(ctx)
	if err != nil {
		return nil, err
	}
	root, err := owndir.MakeSub(dir, Folder)
	if err != nil {
		return nil, err
	}
	e := &oldCopy{root: root}
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

// create makes the file and locks it. Another process may sweep the file before it is
// locked; create then tries again. About half of the tries fail while another process sweeps
// all the time.
func (e *oldCopy) create(base string) (err error) {
	const tries = 100
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

// locked locks the new file and reports whether it still exists.
func (e *oldCopy) locked(name string) bool {
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

// remove deletes the copy. If that fails, because a process still reads it, the next Sweep
// deletes it.
func (e *oldCopy) remove() {
	e.file.Close()
	_ = e.root.RemoveAll(e.folder)
	e.root.Close()
}

// Sweep removes the copies of dead processes from a state folder. What it cannot remove
// stays for the next Sweep.
func Sweep(stateDir string) {
	if root, err := owndir.Sub(stateDir, Folder); err == nil {
		sweep(root)
		root.Close()
	}
}

func sweep(root *os.Root) {
	list, err := fs.ReadDir(root.FS(), ".")
	if err != nil {
		return
	}
	for _, e := range list {
		if e.IsDir() && root.Remove(e.Name()) != nil {
			sweepFolder(root, e.Name())
		}
	}
}

// sweepFolder removes a folder unless a living process owns a file in it. It holds the
// locks of the files until they are gone, so that a maker that has not locked its file yet
// cannot lock it in between.
func sweepFolder(root *os.Root, folder string) {
	files, err := fs.ReadDir(root.FS(), folder)
	if err != nil {
		return
	}
	for _, f := range files {
		info, err := f.Info()
		if err != nil {
			return
		}
		if !info.Mode().IsRegular() {
			continue
		}
		lock := claim(root, filepath.Join(folder, f.Name()), info)
		if lock == nil {
			return
		}
		defer lock.Close()
	}
	_ = root.RemoveAll(folder)
}

// claim locks the file of a dead process; nil: the process lives, or the file cannot be opened.
func claim(root *os.Root, name string, info fs.FileInfo) *os.File {
	f, err := root.Open(name)
	if err != nil {
		return nil
	}
	got, err := filelock.Try(f)
	if got && err == nil || err != nil && time.Since(info.ModTime()) > orphanAge {
		return f
	}
	f.Close()
	return nil
}
