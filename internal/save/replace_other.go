//go:build !linux || fsys_portable

package save

import (
	"context"
	"crypto/sha256"
	"errors"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"github.com/fsmcp/fsmcp/internal/fsys"
	"github.com/fsmcp/fsmcp/internal/save/disk"
	"github.com/fsmcp/fsmcp/internal/save/tempname"
	"github.com/fsmcp/fsmcp/internal/span"
)

// Where there are neither leases nor unnamed files, a file is written beside its
// target under a name of its own, the target looked at once more, and the two
// renamed. Folders are reached through os.Root, so that no link leads astray.

// platform holds the parts of a write on these systems.
type platform struct {
	root   *os.Root        // the folder, or the deepest that exists; the target's
	sum    tempname.Digest // of old
	newSum tempname.Digest // of what was written
}

func (x *Txn) openFolder(t *fsys.Target) (err error) {
	x.root, err = t.ParentRoot()
	return err
}

func (x *Txn) begin(context.Context) error {
	var err error
	if x.was, err = x.old.Stamp(); err != nil {
		return x.fail("stat", err)
	}
	if ReadOnly(x.was) {
		return ErrReadOnly
	}
	h := sha256.New()
	if _, err := io.Copy(h, io.NewSectionReader(x.old, 0, math.MaxInt64)); err != nil {
		return x.fail("read", err)
	}
	h.Sum(x.sum[:0])
	return nil
}

// ReadOnly reports whether a file's mode forbids writing.
func ReadOnly(s fsys.Stamp) bool { return s.Mode&0o222 == 0 }

// Known would spare reading the old file again; here that has been done by
// Begin, as no lease holds others off.
func (x *Txn) Known(int64, func() [32]byte) {}

func (x *Txn) closeOld() {
	x.old.Close()
	x.old = nil
}

// release: no lease holds others off.
func (x *Txn) release() {}

func (x *Txn) replace(c []span.Splice) (Outcome, error) {
	if x.old == nil {
		return x.create(c)
	}
	return x.swap(c)
}

// takeAway removes the file, after another look at it.
func (x *Txn) takeAway() (Outcome, error) {
	if err := x.ready(); err != nil {
		return Outcome{}, err
	}
	x.old.Close() // some systems remove no open file
	if err := x.still(x.base); err != nil {
		return Outcome{}, err
	}
	if err := patiently(func() error { return x.root.Remove(x.base) }); err != nil {
		return Outcome{}, x.fail("remove", err)
	}
	out, err := x.outcome(x.root, Outcome{OtherNames: max(int(x.was.Nlink)-1, 0)})
	out.Stamp = fsys.Stamp{}
	return out, err
}

// swap replaces an existing file.
func (x *Txn) swap(c []span.Splice) (Outcome, error) {
	temp, err := x.prepare(x.root, c, 0o600)
	if err != nil {
		return Outcome{}, err
	}
	defer x.drop(x.root, temp)
	if err := x.copyMeta(temp); err != nil {
		return Outcome{}, err
	}
	if err := x.ready(); err != nil {
		return Outcome{}, err
	}
	x.old.Close() // some systems rename over no open file
	if err := x.still(x.base); err != nil {
		return Outcome{}, err
	}
	rename := x.renameOver
	if canSwap {
		rename = x.exchange
	}
	if err := rename(temp); err != nil {
		return Outcome{}, err
	}
	return x.outcome(x.root, Outcome{OtherNames: max(int(x.was.Nlink)-1, 0)})
}

// exchange swaps the two and looks at what came out. Killed in between, it leaves
// the old file under the temporary name, so that name tells both contents.
func (x *Txn) exchange(temp string) error {
	n, _ := tempname.Parse(temp)
	n.Kind, n.Base = tempname.ByDigest, x.base
	n.New, n.Old = tempname.Content(n.ID, &x.newSum), tempname.Content(n.ID, &x.sum)
	digestName := n.String()
	if err := x.root.Rename(temp, digestName); err != nil {
		return x.fail("rename", err)
	}
	err := swapNames(x.root, digestName, x.base)
	if errors.Is(err, errors.ErrUnsupported) {
		return x.renameOver(digestName)
	}
	if err != nil {
		x.drop(x.root, digestName)
		return x.fail("exchange", err)
	}
	if err := x.still(digestName); err != nil {
		if back := swapNames(x.root, digestName, x.base); back != nil {
			return &IOError{Op: "exchange", Path: x.path, Err: back, Changed: true}
		}
		x.drop(x.root, digestName)
		return err
	}
	x.drop(x.root, digestName)
	return nil
}

func (x *Txn) renameOver(temp string) error {
	if err := patiently(func() error { return x.root.Rename(temp, x.base) }); err != nil {
		x.drop(x.root, temp)
		return x.fail("rename", err)
	}
	return nil
}

// still compares what lies under a name with what Begin saw, byte for byte.
func (x *Txn) still(name string) error {
	info, err := x.root.Lstat(name)
	if errors.Is(err, fs.ErrNotExist) {
		return ErrVanished
	}
	if err != nil {
		return x.fail("stat", err)
	}
	if !info.Mode().IsRegular() || info.Size() != x.was.Size {
		return ErrModified
	}
	sum, err := disk.DigestIn(x.root, name)
	if err != nil {
		return x.fail("read", err)
	}
	if sum != x.sum {
		return ErrModified
	}
	return nil
}

func (x *Txn) copyMeta(temp string) error {
	if runtime.GOOS != "windows" {
		if err := x.root.Chown(temp, int(x.was.UID), int(x.was.GID)); err != nil {
			return x.fail("chown", err)
		}
	}
	if err := x.root.Chmod(temp, fs.FileMode(x.was.Mode&0o777)); err != nil {
		return x.fail("chmod", err)
	}
	return nil
}

// create makes a new file and the folders on the way to it.
func (x *Txn) create(c []span.Splice) (out Outcome, err error) {
	root, cleanUp, err := x.makeDirs(&out)
	if err != nil {
		return Outcome{}, err
	}
	defer func() { cleanUp(err != nil) }()
	temp, err := x.prepare(root, c, 0o666)
	if err != nil {
		return Outcome{}, err
	}
	defer x.drop(root, temp)
	if err := x.ready(); err != nil {
		return Outcome{}, err
	}
	if err := x.enterNew(root, temp); err != nil {
		return Outcome{}, err
	}
	out.Created = true
	return x.outcome(root, out)
}

// enterNew gives the file its name, which must be free. Without links the look
// and the rename are two steps.
func (x *Txn) enterNew(root *os.Root, temp string) error {
	err := root.Link(temp, x.base)
	if err == nil {
		return nil
	}
	if _, there := root.Lstat(x.base); !errors.Is(there, fs.ErrNotExist) {
		return ErrExists
	}
	if err := patiently(func() error { return root.Rename(temp, x.base) }); err != nil {
		return x.fail("rename", err)
	}
	return nil
}

func (x *Txn) makeDirs(out *Outcome) (root *os.Root, cleanUp func(failed bool), err error) {
	roots, made := []*os.Root{x.root}, []bool{}
	cleanUp = func(failed bool) {
		for n := len(roots) - 1; n > 0; n-- {
			roots[n].Close()
			if failed && made[n-1] {
				roots[n-1].Remove(x.missing[n-1])
			}
		}
	}
	path := filepath.Dir(x.path)
	for range x.missing {
		path = filepath.Dir(path)
	}
	for _, name := range x.missing {
		path = filepath.Join(path, name)
		last := roots[len(roots)-1]
		err := last.Mkdir(name, 0o777)
		if err != nil && !errors.Is(err, fs.ErrExist) {
			cleanUp(true)
			return nil, nil, x.fail("mkdir", err)
		}
		if err == nil {
			out.CreatedDirs = append(out.CreatedDirs, path)
		}
		next, oerr := last.OpenRoot(name)
		if oerr != nil {
			if err == nil {
				last.Remove(name)
			}
			cleanUp(true)
			return nil, nil, x.fail("open", oerr)
		}
		roots, made = append(roots, next), append(made, err == nil)
	}
	return roots[len(roots)-1], cleanUp, nil
}

// prepare writes the new content to a file beside the target.
func (x *Txn) prepare(root *os.Root, c []span.Splice, mode fs.FileMode) (name string, err error) {
	if err := x.st.Remember(x.folder())(); err != nil {
		return "", x.fail("note", err)
	}
	id, err := x.s.random(5)
	if err != nil {
		return "", x.fail("random", err)
	}
	name = tempname.Name{Base: x.base, Kind: tempname.Named, ID: id}.String()
	f, err := root.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return "", x.fail("create", err)
	}
	h := sha256.New()
	err = span.Copy(io.MultiWriter(f, h), x.old, x.was.Size, c, span.Span{End: x.was.Size + span.Growth(c)})
	h.Sum(x.newSum[:0])
	if err == nil && x.s.o.Durability != None {
		err = f.Sync()
	}
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err != nil {
		x.drop(root, name)
		if errors.Is(err, io.ErrUnexpectedEOF) { // the old file is shorter by now
			return "", ErrModified
		}
		return "", x.fail("write", err)
	}
	return name, nil
}

func (x *Txn) drop(root *os.Root, name string) {
	err := root.Remove(name)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		x.s.leftover.Store(true)
	}
}

func (x *Txn) outcome(root *os.Root, out Outcome) (Outcome, error) {
	if x.s.o.Durability == Full && runtime.GOOS != "windows" {
		dir, err := root.Open(".")
		if err == nil {
			err = dir.Sync()
			dir.Close()
		}
		out.DurabilityUnknown = err != nil
	}
	out.Stamp, _ = fsys.Lstat(x.path)
	return out, nil
}

// patiently repeats a call that a virus scanner or an indexer may block: on Windows an open
// file cannot be replaced.
func patiently(f func() error) error {
	const timeout, step = 2 * time.Second, 10 * time.Millisecond
	for end := time.Now().Add(timeout); ; time.Sleep(step) {
		err := f()
		if err == nil || runtime.GOOS != "windows" || time.Now().After(end) {
			return err
		}
	}
}
