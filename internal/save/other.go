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
	"github.com/fsmcp/fsmcp/internal/span"
)

// Where there are neither leases nor unnamed files, a file is written beside its
// target under a name of its own, the target looked at once more, and the two
// renamed. Folders are reached through os.Root, so that no link leads astray.

func system(o Sys) Sys { return o }

// Txn is one write: from the look at the old file to the new one in its place.
// It is for one goroutine, and its target must stay open as long as it.
type Txn struct {
	s       *Saver
	st      *state
	path    string
	base    string
	root    *os.Root // the folder, or the deepest that exists; the target's
	missing []string
	old     *fsys.File
	was     fsys.Stamp
	sum     digest // of old
	newSum  digest // of what was written
	ahead   func() error
	used    bool
}

// Begin opens the file that t leads to. Compare it with what you expect through
// Old, then Replace. Hold the Lock. A new name gives a transaction without Old.
func (s *Saver) Begin(ctx context.Context, t *fsys.Target) (*Txn, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	st, err := s.openState(ctx)
	if err != nil {
		return nil, err
	}
	root, err := t.ParentRoot()
	if err != nil {
		return nil, moved(err)
	}
	x := &Txn{s: s, st: st, path: t.Path, base: t.Base(), root: root, missing: t.MissingDirs()}
	if t.Kind == fsys.Missing {
		return x, nil
	}
	if x.old, err = t.Open(); err != nil {
		return nil, moved(err)
	}
	if err := x.begin(); err != nil {
		x.Close()
		return nil, err
	}
	return x, nil
}

func moved(err error) error {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return errors.Join(ErrVanished, err)
	case errors.Is(err, fsys.ErrMoved):
		return errors.Join(ErrModified, err)
	}
	return err
}

func (x *Txn) begin() error {
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

// Old is the file as it is, nil for a new name. It belongs to the transaction,
// and is closed by Replace.
func (x *Txn) Old() *fsys.File { return x.old }

// Known would spare reading the old file again; here that has been done by
// Begin, as no lease holds others off.
func (x *Txn) Known([]byte, func() [32]byte) {}

// Before has f called once the new bytes are on disk beside the old ones, before
// anything shows: what has to be finished by then can be done meanwhile. An error
// of f is returned as it is, and nothing is changed.
func (x *Txn) Before(f func() error) { x.ahead = f }

// ready waits for what the caller wants done before.
func (x *Txn) ready() error {
	if x.ahead == nil {
		return nil
	}
	return x.ahead()
}

// Close ends the transaction, done or not. It may be called again.
func (x *Txn) Close() {
	x.used = true
	if x.old != nil {
		x.old.Close()
		x.old = nil
	}
}

func (x *Txn) fail(op string, err error) error {
	return &IOError{Op: op, Path: x.path, Err: err}
}

// Replace puts the old content with the splices applied in place of the old one
// and reports what it did. A ctx that is done stops it before it begins, never
// halfway. A transaction is good for one Replace.
func (x *Txn) Replace(ctx context.Context, c []span.Splice) (Outcome, error) {
	if err := ctx.Err(); err != nil {
		return Outcome{}, err
	}
	if x.used {
		return Outcome{}, errUsed
	}
	x.used = true
	if !span.Fit(c, x.was.Size) {
		return Outcome{}, errSplices
	}
	replace := x.swap
	if x.old == nil {
		replace = x.create
	}
	out, err := replace(c)
	x.st.tell(&out)
	return out, err
}

// Remove takes the file away, after another look at it.
func (x *Txn) Remove(ctx context.Context) (Outcome, error) {
	if err := ctx.Err(); err != nil {
		return Outcome{}, err
	}
	if x.used {
		return Outcome{}, errUsed
	}
	x.used = true
	if x.old == nil {
		return Outcome{}, ErrVanished
	}
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
	x.st.tell(&out)
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
	n, _ := parseTemp(temp)
	n.kind, n.base = kindDigest, x.base
	n.new, n.old = contentPrint(n.id, &x.newSum), contentPrint(n.id, &x.sum)
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

// contentPrint is a fingerprint of bytes alone.
func contentPrint(id string, sum *digest) string { return fingerprint(id, fsys.Stamp{}, sum) }

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
	sum, err := digestIn(x.root, name)
	if err != nil {
		return x.fail("read", err)
	}
	if sum != x.sum {
		return ErrModified
	}
	return nil
}

func digestIn(root *os.Root, name string) (sum digest, err error) {
	f, err := root.Open(name)
	if err != nil {
		return sum, err
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return sum, err
	}
	h.Sum(sum[:0])
	return sum, nil
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
	if err := x.st.remember(filepath.Dir(x.path)); err != nil {
		return "", x.fail("note", err)
	}
	id, err := x.s.random(5)
	if err != nil {
		return "", x.fail("random", err)
	}
	name = tempName{base: x.base, kind: kindNamed, id: id}.String()
	f, err := root.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return "", x.fail("create", err)
	}
	h := sha256.New()
	err = x.fill(io.MultiWriter(f, h), c)
	h.Sum(x.newSum[:0])
	if err == nil && x.s.o.Durability != None {
		err = f.Sync()
	}
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err != nil {
		x.drop(root, name)
		return "", x.fail("write", err)
	}
	return name, nil
}

func (x *Txn) fill(w io.Writer, c []span.Splice) error {
	at := int64(0)
	for _, s := range append(c[:len(c):len(c)], span.Splice{Start: x.was.Size, End: x.was.Size}) {
		if s.Start > at {
			if _, err := io.Copy(w, io.NewSectionReader(x.old, at, s.Start-at)); err != nil {
				return err
			}
		}
		if _, err := w.Write(s.New); err != nil {
			return err
		}
		at = s.End
	}
	return nil
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
	out.Stamp, _ = stampOf(x.path)
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

// stampOf asks for a file by name, by the one way that knows how on every system.
func stampOf(path string) (fsys.Stamp, error) {
	p, err := fsys.Lexer{OS: runtime.GOOS}.Parse(path)
	if err != nil {
		return fsys.Stamp{}, err
	}
	t, err := fsys.NewResolver(nil).Resolve(p)
	defer t.Close()
	return t.Stamp, err
}
