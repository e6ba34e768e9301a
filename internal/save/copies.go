package save

import (
	"context"
	"errors"
	"io"
	"path/filepath"
	"slices"
	"syscall"

	"github.com/fsmcp/fsmcp/internal/fsys"
	"github.com/fsmcp/fsmcp/internal/save/sys"
)

// The bounds of what is copied to another file system.
const (
	maxAcross        = 1 << 30
	maxAcrossEntries = 10_000
)

// errFolder: a folder is not copied.
var errFolder = errors.New("a folder is not copied")

// Copy makes a copy of a file under the name that to leads to: the same bytes, mode and times,
// sharing its content where the file system can. Like Move it replaces nothing.
func (n *NamesTxn) Copy(ctx context.Context, from, to *fsys.Target) (m Moved, err error) {
	if err := ctx.Err(); err != nil {
		return m, err
	}
	if from.Kind == fsys.Directory {
		return m, errFolder
	}
	v, err := n.newMove(from, to)
	if err != nil {
		return m, err
	}
	if v.itself {
		return m, ErrExists
	}
	if err := v.makeDirs(to); err != nil {
		return m, err
	}
	c := copying{n: n, what: "copy"}
	err = c.publish(v, func(fd int, name string) error {
		return c.entry(v.from.fd, Item{v.oldPath, v.kind, v.stamp}, v.oldName, fd, name)
	})
	if err = v.end(err); err != nil {
		return m, err
	}
	n.touch(v.to)
	m.CreatedDirs = v.made
	m.Stamp, _ = n.sys.Fstatat(v.to.fd, v.newName)
	return m, nil
}

// Remains hold the metadata and the content of a removed item.
type Remains struct {
	Meta
	Content io.Reader // of a file
}

// Recreate makes a removed item again under the name that t leads to, which must be free. A
// folder comes back empty, and gets its mode and time by Finish, after it is filled.
func (n *NamesTxn) Recreate(ctx context.Context, t *fsys.Target, r Remains) (m Moved, err error) {
	if err := ctx.Err(); err != nil {
		return m, err
	}
	if t.Kind != fsys.Missing {
		return m, ErrExists
	}
	v := &move{n: n, newName: t.Base(), newPath: t.Path, kind: r.Kind}
	if v.to, err = n.folder(t); err != nil {
		return m, err
	}
	if err := v.makeDirs(t); err != nil {
		return m, err
	}
	meta := r.Meta
	if r.Kind == fsys.Directory {
		r.Mode |= 0o700 // until it is filled
	}
	c := copying{n: n, what: "restore"}
	err = v.end(c.publish(v, func(fd int, name string) error { return c.make(r, fd, name) }))
	if err != nil {
		return m, err
	}
	n.touch(v.to)
	if r.Kind == fsys.Directory {
		n.remade = append(n.remade, remade{v.to, v.newName, meta})
	}
	m.CreatedDirs = v.made
	m.Stamp, _ = n.sys.Fstatat(v.to.fd, v.newName)
	return m, nil
}

// make makes an item anew.
func (c *copying) make(r Remains, dir int, name string) error {
	calls := c.n.sys
	switch r.Kind {
	case fsys.Link:
		if err := calls.Symlink(string(r.Link), dir, name, r.UID, r.GID); err != nil {
			return err
		}
		return calls.SetTimes(dir, name, r.Mtime)
	case fsys.Directory:
		return c.folder(r.Meta, dir, name, func(int) error { return nil })
	}
	fd, err := calls.Openat(dir, name, sys.Create, 0o600)
	if err != nil {
		return err
	}
	defer calls.Close(fd)
	calls.Flock(fd, sys.LockExclusive)
	w := sys.Writer{Sys: calls, FD: fd}
	if _, err := io.Copy(&w, r.Content); err != nil {
		return err
	}
	return c.finish(r.Meta, fd, dir, name)
}

// copying copies files to another place.
type copying struct {
	n     *NamesTxn
	what  string
	links map[uint64]*copied     // copies of files with several names, by inode
	sums  map[uint64]*sys.Digest // of copies whose source is not proved by its stamp, by its inode
}

// copied is the copy of a file that has several names.
type copied struct {
	dir  int
	name string
}

// publish makes a copy under a temporary name, and gives it its own once it is whole and
// synced. A sweep removes what a dead process left of it.
func (c *copying) publish(v *move, fill func(dir int, name string) error) (err error) {
	calls, dir := c.n.sys, v.dirs.last()
	if v.kind == fsys.Link { // made in one step, which fails if the name is taken
		err := fill(dir, v.newName)
		if sys.Is(err, syscall.EEXIST) {
			return ErrExists
		}
		return c.system(v, err)
	}
	folder := &namesFolder{path: filepath.Dir(v.newPath)}
	if err := c.n.note(folder); err != nil {
		return err
	}
	at := &place{s: c.n.s, sys: calls, st: c.n.st, dir: dir, path: v.newPath, base: v.newName}
	temp, err := at.copyTempName()
	if err != nil {
		return err
	}
	err = fill(dir, temp)
	var now fsys.Stamp
	if err == nil {
		now, err = sys.Stat(calls, dir, temp)
	}
	if err == nil {
		w := &move{n: c.n, from: &namesFolder{fd: dir}, oldName: temp, newName: v.newName, kind: kindOf(now), stamp: now, dirs: &madeDirs{at: at, fds: []int{dir}}, oldPath: v.newPath, newPath: v.newPath}
		err = w.rename()
	}
	if err == nil {
		return nil
	}
	if removeTree(calls, dir, temp) != nil {
		c.n.s.leftover.Store(true)
	}
	return c.system(v, err)
}

// system makes an error number an error of this package.
func (c *copying) system(v *move, err error) error {
	if errno := syscall.Errno(0); errors.As(err, &errno) && !errors.As(err, new(*IOError)) {
		return c.n.fail(c.what, v.newPath, err)
	}
	return err
}

// entry copies one item of the folder from, and what is below it.
func (c *copying) entry(from int, it Item, name string, to int, newName string) error {
	calls := c.n.sys
	switch it.Kind {
	case fsys.Special:
		return ErrSpecial
	case fsys.Link:
		meta, err := readLinkMeta(calls, from, name, it.Stamp)
		if err == nil {
			err = c.make(Remains{Meta: meta}, to, newName)
		}
		return err
	}
	fd, now, err := sys.Open(calls, from, name, openFlags(it.Kind))
	if err != nil {
		return err
	}
	defer calls.Close(fd)
	if !now.SameFile(it.Stamp) || it.Kind == fsys.Regular && !sameContent(now, it.Stamp) {
		return ErrModified
	}
	meta, err := readMeta(calls, fd, now)
	if err != nil {
		return err
	}
	if it.Kind == fsys.Directory {
		return c.folder(meta, to, newName, func(copy int) error { return c.below(fd, it, copy) })
	}
	return c.file(fd, it.Stamp, meta, to, newName)
}

// below copies what a folder holds.
func (c *copying) below(from int, folder Item, to int) error {
	names, err := c.n.sys.Names(from)
	if err != nil {
		return err
	}
	slices.Sort(names)
	for _, name := range names {
		stamp, err := c.n.sys.Fstatat(from, name)
		if err != nil {
			return err
		}
		it := Item{filepath.Join(folder.Path, name), kindOf(stamp), stamp}
		if sys.IsFolder(stamp) && stamp.Dev != folder.Stamp.Dev {
			return ErrMountPoint
		}
		if err := c.entry(from, it, name, to, name); err != nil {
			return err
		}
	}
	return nil
}

// folder makes a folder, fills it, and gives it its metadata.
func (c *copying) folder(meta Meta, dir int, name string, fill func(fd int) error) error {
	calls := c.n.sys
	if err := calls.Mkdir(dir, name, 0o700); err != nil {
		return err
	}
	fd, err := calls.Openat(dir, name, sys.Folder|sys.NoFollow, 0)
	if err != nil {
		return err
	}
	defer calls.Close(fd)
	calls.Flock(fd, sys.LockExclusive) // its maker lives
	if err := fill(fd); err != nil {
		return err
	}
	return c.finish(meta, fd, dir, name)
}

// file copies a file's bytes.
func (c *copying) file(from int, was fsys.Stamp, meta Meta, dir int, name string) error {
	calls := c.n.sys
	if first := c.links[was.Ino]; first != nil {
		return calls.LinkName(first.dir, first.name, dir, name)
	}
	fd, err := calls.Openat(dir, name, sys.Create, 0o600)
	if err != nil {
		return err
	}
	defer calls.Close(fd)
	calls.Flock(fd, sys.LockExclusive)
	w := sys.Writer{Sys: calls, FD: fd}
	if err := w.CopySpliced(from, was.Size, nil); errors.Is(err, sys.ErrEnded) {
		return ErrModified
	} else if err != nil {
		return err
	}
	if now, err := calls.Fstat(from); err != nil || !sameContent(now, was) {
		return ErrModified
	}
	if c.sums != nil {
		if c.sums[was.Ino], err = sys.DigestOf(calls, fd, was.Size); err != nil {
			return err
		}
	}
	if err := c.finish(meta, fd, dir, name); err != nil {
		return err
	}
	if was.Nlink > 1 && c.links != nil {
		again, err := calls.Openat(dir, ".", sys.Place, 0)
		if err != nil {
			return err
		}
		c.links[was.Ino] = &copied{again, name}
	}
	return nil
}

// finish gives a copy its metadata and syncs it.
func (c *copying) finish(meta Meta, fd, dir int, name string) error {
	calls := c.n.sys
	err := meta.give(calls, fd)
	if err == nil {
		err = calls.SetTimes(dir, name, meta.Mtime)
	}
	if err == nil && c.n.s.o.Durability != None {
		err = calls.Sync(fd)
	}
	return err
}

// across copies to another file system, and removes the source if it is still what was copied.
// left are files of it that could not be removed: both are there then.
func (v *move) across(ctx context.Context) (left []string, err error) {
	n := v.n
	source := &Removal{n: n, moving: true}
	top := &removed{Item: Item{v.oldPath, v.kind, v.stamp}, of: source, in: v.from, name: v.oldName}
	total := int64(0)
	err = source.look(ctx, top, true, func(it Item) error {
		if it.Kind == fsys.Regular {
			total += it.Stamp.Size
		}
		if total > maxAcross || len(source.items) >= maxAcrossEntries {
			return ErrTooMuch
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	c := copying{n: n, what: "copy", links: make(map[uint64]*copied), sums: make(map[uint64]*sys.Digest)}
	defer func() {
		for _, l := range c.links {
			n.sys.Close(l.dir)
		}
	}()
	err = c.publish(v, func(dir int, name string) error {
		err := c.entry(v.from.fd, top.Item, v.oldName, dir, name)
		if err == nil { // the second look: what was copied is still all there is
			err = source.same(ctx, c.sums)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	if n.s.o.Durability == Full && sys.SyncFolder(n.sys, v.dirs.last(), ".") != nil {
		n.unknown = true
		return []string{v.oldPath}, nil // the copy may not last: both stay
	}
	n.Remove(ctx, source)
	n.settle()
	for i := range source.items {
		if !source.Gone(i) {
			left = append(left, source.items[i].Path)
		}
	}
	return left, nil
}

// same checks that everything is as it was listed, and has the bytes that were copied.
func (r *Removal) same(ctx context.Context, sums map[uint64]*sys.Digest) error {
	again := &Removal{n: r.n, moving: true}
	top := r.items[0]
	err := again.look(ctx, &removed{Item: top.Item, of: again, in: top.in, name: top.name}, true, func(Item) error { return nil })
	if err != nil {
		return err
	}
	if len(again.items) != len(r.items) {
		return ErrModified
	}
	for i, m := range again.items {
		if m.Path != r.items[i].Path || !m.Stamp.SameFile(r.items[i].Stamp) || m.Kind == fsys.Regular && !sameContent(m.Stamp, r.items[i].Stamp) {
			return ErrModified
		}
	}
	err = r.Keep(ctx, func(Kept) (Deposit, error) { return Deposit{}, nil })
	for _, m := range r.items {
		if sum := sums[m.Stamp.Ino]; err == nil && m.sum != nil && sum != nil && *sum != *m.sum {
			err = ErrModified
		}
	}
	return err
}

// removeTree removes a copy, with all that is below it.
func removeTree(calls sys.Sys, dir int, name string) error {
	now, err := calls.Fstatat(dir, name)
	if sys.Is(err, syscall.ENOENT) {
		return nil
	}
	if err != nil {
		return err
	}
	if !sys.IsFolder(now) {
		return sys.Remove(calls, dir, name)
	}
	fd, err := calls.Openat(dir, name, sys.Folder|sys.NoFollow, 0)
	if err != nil {
		return err
	}
	defer calls.Close(fd)
	calls.Chmod(fd, 0o700)
	names, err := calls.Names(fd)
	for _, inner := range names {
		if err == nil {
			err = removeTree(calls, fd, inner)
		}
	}
	if err == nil {
		err = calls.Unlink(dir, name, sys.RemoveFolder)
	}
	return err
}
