package save

import (
	"bytes"
	"context"
	"crypto/sha256"
	"io"
	"path/filepath"
	"runtime"
	"syscall"

	"github.com/fsmcp/fsmcp/internal/fsys"
	"github.com/fsmcp/fsmcp/internal/save/sys"
	"github.com/fsmcp/fsmcp/internal/span"
)

// Item is a name that a removal takes away.
type Item struct {
	Path  string // absolute
	Kind  fsys.Kind
	Stamp fsys.Stamp
}

// Kept holds an item as a history needs it to restore it.
type Kept struct {
	Item
	Meta    Meta
	Content io.ReaderAt // of a file, Stamp.Size bytes; nil of others. It is valid while keep runs.
	Raw     []byte      // what Content has, of a file of at most maxRaw bytes; nil of others
}

// maxRaw bounds the files that are read as a whole.
const maxRaw = 1 << 20

// Deposit is a folder of the same file system, and a free name in it, that a removed file is
// moved to, since it is too large to be stored otherwise. The zero Deposit is none.
type Deposit struct{ Folder, Name string }

// Removal is one name that a call removes, with everything below it.
type Removal struct {
	n      *NamesTxn
	items  []*removed // a folder before what it holds
	moving bool       // what goes was copied elsewhere: read-only files go, too
	err    error
}

// removed is one item of a Removal.
type removed struct {
	Item
	of      *Removal
	in      *namesFolder
	name    string
	sum     *sys.Digest // of the content, if the stamp alone would not show a change
	held    *oldFile    // open since Keep, with a lease that shows every change since; nil: it is opened again
	deposit Deposit
	gone    bool
}

// Count returns how many items are removed.
func (r *Removal) Count() int { return len(r.items) }

// Gone reports, after NamesTxn.Finish, whether the item of that index was removed.
func (r *Removal) Gone(i int) bool { return r.items[i].gone }

// Err is why not all of it was removed; it is complete after NamesTxn.Finish. ErrModified: another
// program has changed something, which is there.
func (r *Removal) Err() error { return r.err }

// maxItems bounds what one Removal lists.
const maxItems = 200_000

// Look lists what a removal of t takes away: the name itself, and if recursive is set,
// everything below it. visit is called for each before its folder is entered; an error of it
// ends the walk. A folder that is not empty is else ErrNotEmpty, a read-only file ErrReadOnly.
// Nothing is changed.
func (n *NamesTxn) Look(ctx context.Context, t *fsys.Target, recursive bool, visit func(Item) error) (*Removal, error) {
	if t.Kind == fsys.Missing {
		return nil, ErrVanished
	}
	in, err := n.folder(t)
	if err != nil {
		return nil, err
	}
	r := &Removal{n: n}
	return r, r.look(ctx, &removed{Item: Item{t.Path, t.Kind, t.Stamp}, of: r, in: in, name: t.Base()}, recursive, visit)
}

func (r *Removal) look(ctx context.Context, m *removed, recursive bool, visit func(Item) error) error {
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case len(r.items) == maxItems:
		return ErrTooMuch
	case m.Kind == fsys.Special:
		return ErrSpecial
	case m.Kind == fsys.Directory && m.Stamp.Dev != m.in.stamp.Dev:
		return ErrMountPoint
	case m.Kind == fsys.Regular && !r.moving && ReadOnly(m.Stamp):
		return ErrReadOnly
	}
	if err := visit(m.Item); err != nil {
		return err
	}
	r.items = append(r.items, m)
	if m.Kind != fsys.Directory {
		return nil
	}
	inner, err := r.n.open(m.in.fd, m.name, m.Path)
	if err != nil {
		return err
	}
	if !inner.stamp.SameFile(m.Stamp) {
		return ErrModified
	}
	names, err := r.n.sys.Names(inner.fd)
	if err != nil {
		return r.n.fail("list", m.Path, err)
	}
	if len(names) > 0 && !recursive {
		return ErrNotEmpty
	}
	for _, name := range names {
		path := filepath.Join(m.Path, name)
		stamp, err := r.n.sys.Fstatat(inner.fd, name)
		if sys.Is(err, syscall.ENOENT) {
			continue
		}
		if err != nil {
			return r.n.fail("stat", path, err)
		}
		below := &removed{Item: Item{path, kindOf(stamp), stamp}, of: r, in: inner, name: name}
		if err := r.look(ctx, below, true, visit); err != nil {
			return err
		}
	}
	return nil
}

// kindOf returns the kind of a stamp; of a link its own.
func kindOf(s fsys.Stamp) fsys.Kind {
	switch {
	case sys.IsRegular(s):
		return fsys.Regular
	case sys.IsLink(s):
		return fsys.Link
	case sys.IsFolder(s):
		return fsys.Directory
	}
	return fsys.Special
}

// Keep hands each item to keep, a folder before what it holds, with what is needed to restore
// it. A file that another program has open for writing is a *BusyError, and one that has
// changed since Look is ErrModified. Nothing is changed.
func (r *Removal) Keep(ctx context.Context, keep func(Kept) (Deposit, error)) error {
	for _, m := range r.items {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := m.keep(ctx, keep); err != nil {
			return err
		}
	}
	return nil
}

func (m *removed) keep(ctx context.Context, keep func(Kept) (Deposit, error)) (err error) {
	n, k := m.of.n, Kept{Item: m.Item}
	switch m.Kind {
	case fsys.Regular:
		return m.keepFile(ctx, keep)
	case fsys.Link:
		if k.Meta, err = readLinkMeta(n.sys, m.in.fd, m.name, m.Stamp); err == nil {
			_, err = keep(k)
		}
		return err
	}
	fd, now, err := sys.Open(n.sys, m.in.fd, m.name, sys.Folder|sys.NoFollow)
	if err != nil {
		return n.fail("open", m.Path, err)
	}
	defer n.sys.Close(fd)
	if !now.SameFile(m.Stamp) {
		return ErrModified
	}
	if k.Meta, err = readMeta(n.sys, fd, m.Stamp); err != nil {
		return n.fail("stat", m.Path, err)
	}
	_, err = keep(k)
	return err
}

// keepFile hands a file to keep. It stays open if a lease shows from here on whether another
// program opens it to write.
func (m *removed) keepFile(ctx context.Context, keep func(Kept) (Deposit, error)) error {
	n, k := m.of.n, Kept{Item: m.Item}
	old, now, err := m.open(ctx)
	if err != nil {
		return err
	}
	defer func() {
		if m.held == nil {
			m.close(old)
		}
	}()
	switch {
	case m.Stamp.Nlink == 1 && now.Nlink != 1: // the caller may decide on other names of it, too
		return ErrModified
	case !m.of.moving && ReadOnly(now):
		return ErrReadOnly
	}
	m.Stamp, old.was, k.Stamp = now, now, now // it may be a while since Look
	if k.Meta, err = readMeta(n.sys, old.fd, m.Stamp); err != nil {
		return n.fail("stat", m.Path, err)
	}
	if err := m.read(&k, old); err != nil {
		return err
	}
	if m.deposit, err = keep(k); err != nil {
		return err
	}
	if old.leased && len(n.held) < sys.MaxHeld() {
		n.held[m], m.held = true, old
		return nil
	}
	if now, err := n.sys.Fstat(old.fd); err != nil || !sameContent(now, m.Stamp) {
		return ErrModified
	}
	return nil
}

// read gives k the content of the open file, and takes its digest if the stamp alone would not
// show a change.
func (m *removed) read(k *Kept, old *oldFile) (err error) {
	n := m.of.n
	unproved := !old.leased || !m.Stamp.Settled(n.s.o.Now())
	if m.Stamp.Size > maxRaw {
		k.Content = sys.Reader{Sys: n.sys, FD: old.fd}
		if unproved {
			m.sum, err = sys.DigestOf(n.sys, old.fd, m.Stamp.Size)
		}
	} else {
		k.Raw = make([]byte, m.Stamp.Size)
		k.Content = bytes.NewReader(k.Raw)
		err = span.ReadFull(sys.Reader{Sys: n.sys, FD: old.fd}, k.Raw, 0)
		if unproved {
			sum := sys.Digest(sha256.Sum256(k.Raw))
			m.sum = &sum
		}
	}
	if err != nil {
		return n.fail("read", m.Path, err)
	}
	old.sum = m.sum
	return nil
}

// open opens a file with a lease, if the system grants one, and checks that it is as Look has
// found it.
func (m *removed) open(ctx context.Context) (old *oldFile, now fsys.Stamp, err error) {
	n := m.of.n
	fd, err := n.sys.Openat(m.in.fd, m.name, sys.Read, 0)
	if err != nil {
		return nil, now, n.fail("open", m.Path, err)
	}
	old = m.old(fd)
	if err = old.lease(ctx, n.s.o.OpenWait); err == nil {
		now, err = n.sys.Fstat(fd)
		switch {
		case err != nil:
			err = n.fail("stat", m.Path, err)
		case !sameContent(now, m.Stamp):
			err = ErrModified
		}
	}
	if err != nil {
		m.close(old)
		return nil, now, err
	}
	return old, now, nil
}

func (m *removed) close(old *oldFile) {
	old.release()
	m.of.n.sys.Close(old.fd)
}

// letGo closes a file that is open since Keep.
func (m *removed) letGo() {
	if m.held != nil {
		m.close(m.held)
		m.held = nil
		delete(m.of.n.held, m)
	}
}

// openFlags returns how a file or a folder is opened to read it.
func openFlags(kind fsys.Kind) int {
	if kind == fsys.Directory {
		return sys.Folder | sys.NoFollow
	}
	return sys.Read
}

// old returns the item's file, which is open, as the other ways of changing a file know it.
func (m *removed) old(fd int) *oldFile {
	n := m.of.n
	at := &place{s: n.s, sys: n.sys, st: n.st, dir: m.in.fd, path: m.Path, base: m.name}
	network, known := n.network[m.Stamp.Dev]
	if !known {
		network = n.sys.Network(fd)
		n.network[m.Stamp.Dev] = network
	}
	at.network = network
	return &oldFile{at: at, fd: fd, was: m.Stamp, sum: m.sum}
}

// awayFile is a removed file that has a temporary name, or lies in its deposit, until it was
// looked at once more. A folder is removed in its turn.
type awayFile struct {
	m    *removed
	old  *oldFile // nil for a folder and a link
	in   int      // the folder where it is now
	name string
}

// maxAway bounds the files that have a temporary name at a time, and are open.
const maxAway = 256

// Remove takes the names of a removal away, in the order that is possible: what a folder holds
// before the folder. Keep has been called, and what it handed out is safe. Files have a
// temporary name or lie in their deposit when it returns; Finish looks at each once more and
// removes it. A file that another program has changed or put there meanwhile stays.
func (n *NamesTxn) Remove(ctx context.Context, r *Removal) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	for i := len(r.items) - 1; i >= 0 && r.err == nil; i-- {
		m := r.items[i]
		if len(n.away) >= maxAway {
			n.settle()
		}
		switch m.Kind {
		case fsys.Directory:
			n.away = append(n.away, &awayFile{m: m})
		case fsys.Link:
			r.fail(m.takeLink())
		default:
			r.fail(m.takeFile(ctx))
		}
	}
	return r.err
}

// fail notes the first error.
func (r *Removal) fail(err error) {
	if r.err == nil {
		r.err = err
	}
}

// takeFile gives a file its temporary name, or moves it to its deposit.
func (m *removed) takeFile(ctx context.Context) error {
	old, err := m.again(ctx)
	if err == nil {
		if err = m.takeAway(old); err != nil {
			m.close(old)
		}
	}
	return err
}

// again returns the open file, which is as Keep has read it.
func (m *removed) again(ctx context.Context) (*oldFile, error) {
	if old := m.held; old != nil && old.leaseUnbroken() == nil {
		m.held = nil
		delete(m.of.n.held, m)
		return old, nil
	}
	m.letGo() // a program that opens it to write gets its turn
	old, _, err := m.open(ctx)
	if err != nil {
		return nil, err
	}
	if old.sum != nil {
		err = old.sameBytes()
	} else if !old.leased {
		err = ErrModified // there was a lease before, and there is none now: it cannot be compared
	}
	if err != nil {
		m.close(old)
		return nil, err
	}
	return old, nil
}

func (m *removed) takeAway(old *oldFile) (err error) {
	n := m.of.n
	a := &awayFile{m: m, old: old, in: m.in.fd}
	if m.deposit != (Deposit{}) {
		to, err := n.sys.Openat(sys.CWD, m.deposit.Folder, sys.Folder|sys.NoFollow, 0)
		if err != nil {
			return n.fail("open", m.deposit.Folder, err)
		}
		if a.in, a.name = to, m.deposit.Name; err == nil {
			err = a.moveTo(to)
		}
		if err != nil {
			n.sys.Close(to)
			return err
		}
	} else {
		if err := n.note(m.in); err != nil {
			return err
		}
		if a.name, err = old.at.newTempName(nil, old); err != nil {
			return err
		}
		n.sys.Flock(old.fd, sys.LockShared)
		if err := a.moveTo(m.in.fd); err != nil {
			return err
		}
	}
	n.away = append(n.away, a)
	return nil
}

// moveTo renames the item to its new place.
func (a *awayFile) moveTo(dir int) error {
	calls, m := a.m.of.n.sys, a.m
	rename := func(flags uint) error {
		return appear(calls, dir, m.Stamp, a.name, func() error { return calls.MoveName(m.in.fd, m.name, dir, a.name, flags) })
	}
	err := rename(sys.NoReplace)
	if sys.Is(err, syscall.EINVAL, syscall.ENOSYS, syscall.EOPNOTSUPP) {
		err = rename(0)
	}
	if err != nil {
		return m.of.n.fail("rename", m.Path, err)
	}
	return nil
}

// takeLink removes a link by way of a temporary name.
func (m *removed) takeLink() error {
	n := m.of.n
	if err := n.note(m.in); err != nil {
		return err
	}
	now, err := sys.Stat(n.sys, m.in.fd, m.name)
	if err != nil {
		return n.fail("stat", m.Path, err)
	}
	if !now.SameFile(m.Stamp) {
		return ErrModified
	}
	at := &place{s: n.s, sys: n.sys, st: n.st, dir: m.in.fd, path: m.Path, base: m.name}
	name, err := at.linkTempName(m.Stamp)
	if err != nil {
		return err
	}
	a := &awayFile{m: m, in: m.in.fd, name: name}
	if err := a.moveTo(m.in.fd); err != nil {
		return err
	}
	n.touch(m.in)
	return a.finish() // at once: a link cannot be locked, and a sweep may come across it
}

// settle syncs the folders of what has a temporary name, looks at each once more and removes
// it, and the folders that are empty then.
func (n *NamesTxn) settle() {
	if len(n.away) == 0 {
		return
	}
	synced := make(map[int]bool)
	for _, a := range n.away {
		if fd := a.m.in.fd; a.m.Kind != fsys.Directory && !synced[fd] && n.s.o.Durability == Full {
			synced[fd] = true
			n.unknown = sys.SyncFolder(n.sys, fd, ".") != nil || n.unknown
		}
	}
	for _, a := range n.away {
		if a.m.Kind == fsys.Directory {
			a.m.of.fail(a.removeFolder())
			continue
		}
		a.m.of.fail(a.finish())
	}
	n.away = nil
	n.closeSoon()
}

// closeLater has closeSoon close a file that is removed. Elsewhere than on Linux it is closed at
// once: its folder may not be empty before that.
func (n *NamesTxn) closeLater(fd int) {
	if runtime.GOOS == "linux" {
		n.closing = append(n.closing, fd)
	} else {
		n.sys.Close(fd)
	}
}

// closeSoon closes the files that are removed. To free their blocks takes a third of the time of a
// removal, so the caller does not wait for it; at most maxAway files are open for that.
func (n *NamesTxn) closeSoon() {
	if n.closed != nil {
		<-n.closed
	}
	fds, closed := n.closing, make(chan struct{})
	n.closing, n.closed = nil, closed
	n.s.closing.Go(func() {
		defer close(closed)
		for _, fd := range fds {
			n.sys.Close(fd)
		}
	})
}

// removeFolder removes a folder unless something is in it.
func (a *awayFile) removeFolder() error {
	m, n := a.m, a.m.of.n
	if m.of.err != nil {
		return nil
	}
	now, err := sys.Stat(n.sys, m.in.fd, m.name)
	if err == nil && !now.SameFile(m.Stamp) {
		return ErrModified
	}
	if err == nil {
		n.leave(now)
		err = n.sys.Unlink(m.in.fd, m.name, sys.RemoveFolder)
		if err == syscall.EINTR || err == syscall.EIO {
			err = n.sys.Unlink(m.in.fd, m.name, sys.RemoveFolder)
		}
	}
	switch {
	case err == nil, sys.Is(err, syscall.ENOENT):
		m.gone = true
		n.touch(m.in)
		return nil
	case sys.Is(err, syscall.ENOTEMPTY, syscall.EEXIST):
		return ErrModified
	}
	return n.fail("rmdir", m.Path, err)
}

// finish looks at a file once more, and removes it; one that another program has changed gets
// its name back.
func (a *awayFile) finish() error {
	m, n := a.m, a.m.of.n
	err := a.verify()
	if a.old != nil {
		a.old.release()
		defer n.closeLater(a.old.fd)
	}
	deposited := a.in != m.in.fd
	if deposited {
		defer n.sys.Close(a.in)
	}
	switch {
	case err == nil && deposited:
		if n.s.o.Durability == Full && n.sys.Sync(a.in) != nil {
			n.unknown = true
		}
	case err == nil:
		if sys.Remove(n.sys, a.in, a.name) != nil {
			n.s.leftover.Store(true)
		}
	default:
		return a.giveBack(err)
	}
	m.gone = true
	return nil
}

// verify checks that the file that was renamed is the one that was kept.
func (a *awayFile) verify() error {
	calls := a.m.of.n.sys
	now, err := sys.Stat(calls, a.in, a.name)
	switch {
	case a.old == nil && sys.Is(err, syscall.ENOENT):
		return nil // a sweep has removed the link
	case err != nil:
		return a.m.of.n.fail("stat", a.m.Path, err)
	case !sameContent(now, a.m.Stamp):
		return ErrModified
	case a.old == nil:
		return nil
	case a.old.leased:
		return a.old.leaseHolds()
	}
	return a.old.sameBytes()
}

// giveBack gives a file its name back, unless that is taken by now: then it is kept beside it.
func (a *awayFile) giveBack(cause error) error {
	m, n := a.m, a.m.of.n
	now, err := sys.Stat(n.sys, a.in, a.name)
	if err == nil {
		err = appear(n.sys, m.in.fd, now, m.name, func() error {
			return n.sys.MoveName(a.in, a.name, m.in.fd, m.name, sys.NoReplace)
		})
	}
	if sys.Is(err, syscall.EINVAL, syscall.ENOSYS, syscall.EOPNOTSUPP) {
		if _, free := n.sys.Fstatat(m.in.fd, m.name); sys.Is(free, syscall.ENOENT) {
			err = n.sys.MoveName(a.in, a.name, m.in.fd, m.name, 0)
		}
	}
	if err == nil {
		n.touch(m.in)
		return cause
	}
	if a.in == m.in.fd {
		if _, lost := n.s.keepUnknown(a.in, m.in.path, a.name, m.name); lost == nil {
			return cause
		}
	}
	return &IOError{Op: "rename", Path: m.Path, Err: err, Changed: true, Missing: true}
}
