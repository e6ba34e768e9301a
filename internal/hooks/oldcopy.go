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

// Folder is the place in the state folder where old bytes are shown, each file in
// a folder of its own.
const Folder = "before"

// orphanAge is the age from which a file is taken for a dead process's where locks
// are not to be had; no command has that much time.
const orphanAge = 24 * time.Hour

// oldCopy is a file with old bytes, for commands to look at. It is locked as long
// as its maker lives.
type oldCopy struct {
	root   *os.Root // of Folder
	folder string
	file   *os.File
	name   string // absolute
}

// copyOld shows the old bytes of the file at path, under its own name: an editor
// goes by that.
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

// create makes the file and locks it. What is not locked yet may be swept away by
// another process, so that it takes another try: every second one, beside one that
// sweeps without end.
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

// locked locks the new file and tells whether it is still there.
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

// remove ends the showing. What cannot be removed, since somebody still looks at
// it, is left for the next Sweep.
func (e *oldCopy) remove() {
	e.file.Close()
	_ = e.root.RemoveAll(e.folder)
	e.root.Close()
}

// Sweep removes what processes that died have left in a state folder. What cannot
// be removed is left for the next one.
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

// sweepFolder removes a folder unless somebody who lives shows what is in it. It holds
// the locks of the files until they are gone: who has made one, and not locked it yet,
// must not come to have it in between.
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
		release, dead := claim(root, filepath.Join(folder, f.Name()), info)
		if !dead {
			return
		}
		defer release()
	}
	_ = root.RemoveAll(folder)
}

// claim takes the lock of a file that nobody who lives shows.
func claim(root *os.Root, name string, info fs.FileInfo) (release func(), dead bool) {
	f, err := root.Open(name)
	if err != nil {
		return nil, false
	}
	got, err := filelock.Try(f)
	if err != nil {
		got = time.Since(info.ModTime()) > orphanAge
	}
	if !got {
		f.Close()
		return nil, false
	}
	return func() { f.Close() }, true
}
