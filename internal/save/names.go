package save

import (
	"context"
	"errors"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"syscall"

	"github.com/fsmcp/fsmcp/internal/fsys"
	"github.com/fsmcp/fsmcp/internal/save/sys"
)

var (
	// ErrSpecial: a device, a pipe or a socket is neither moved nor removed.
	ErrSpecial = errors.New("it is neither a file, nor a folder, nor a link")
	// ErrMountPoint: another file system is mounted there.
	ErrMountPoint = errors.New("it is a mount point")
	// ErrInside: a folder cannot be moved into itself.
	ErrInside = errors.New("a folder cannot be moved into itself")
	// ErrTooMuch: what would have to be copied to another file system exceeds maxAcross or
	// maxAcrossEntries.
	ErrTooMuch = errors.New("it lies on another file system, and is more than is copied there")
	// ErrNoExclusive: the file system cannot move a name without the risk of replacing another.
	ErrNoExclusive = errors.New("the file system cannot move it without the risk of replacing another file")
	// ErrNotEmpty: a folder that is not empty.
	ErrNotEmpty = errors.New("the folder is not empty")
)

// NamesTxn makes the moves, copies and removals of one call. It is for one goroutine, and the
// caller holds the locks of all names. Folders are synced together, by Finish.
type NamesTxn struct {
	s       *Saver
	sys     sys.Sys
	st      *state
	folders map[folderID]*namesFolder
	unsaved []*namesFolder // to be synced by Finish
	away    []*awayFile
	held    map[*removed]bool // files that are open since Removal.Keep
	closing []int             // files that are removed and still open
	closed  chan struct{}     // closed once those before are closed; nil: there were none
	network map[uint64]bool   // by device
	remade  []remade
	unknown bool
}

// remade is a folder that was made again, which gets its mode and time once it is filled.
type remade struct {
	in   *namesFolder
	name string
	meta Meta
}

// folderID is the identity of a folder.
type folderID struct{ dev, ino uint64 }

// namesFolder is a folder that a call works in.
type namesFolder struct {
	fd      int
	path    string
	stamp   fsys.Stamp
	noted   bool
	unsaved bool
}

// Moved describes a move or a copy.
type Moved struct {
	Stamp       fsys.Stamp // of what has the new name
	CreatedDirs []string   // absolute, outermost first
	Across      bool       // it was copied to another file system, and then removed
	OtherNames  int        // hard links that stay where they are
	// Left are files that could not be removed after they were copied.
	Left []string
}

// Names begins to change names. Call Finish and Close.
func (s *Saver) Names(ctx context.Context) (*NamesTxn, error) {
	st, err := s.state.get(ctx)
	if err != nil {
		return nil, err
	}
	return &NamesTxn{s: s, sys: s.sys, st: st, folders: make(map[folderID]*namesFolder), held: make(map[*removed]bool), network: make(map[uint64]bool)}, nil
}

// NoState returns why the state folder is not used, and the folder that serves in its place;
// nil if it is used.
func (n *NamesTxn) NoState() (*StateError, string) { return n.st.lost, n.st.path }

// DurabilityUnknown reports whether a sync has failed: the names are as they were reported,
// but may not survive a loss of power.
func (n *NamesTxn) DurabilityUnknown() bool { return n.unknown }

// Close gives everything back. What was removed and not finished is finished.
func (n *NamesTxn) Close() {
	n.settle()
	for m := range n.held {
		m.letGo()
	}
	for _, f := range n.folders {
		n.sys.Close(f.fd)
	}
	clear(n.folders)
}

// Finish removes what Remove took away, and makes all changes of names last.
func (n *NamesTxn) Finish() {
	n.settle()
	for _, r := range slices.Backward(n.remade) {
		if fd, err := n.sys.Openat(r.in.fd, r.name, sys.Folder|sys.NoFollow, 0); err == nil {
			r.meta.give(n.sys, fd)
			n.sys.SetTimes(r.in.fd, r.name, r.meta.Mtime)
			n.sys.Close(fd)
		}
	}
	n.remade = nil
	for _, f := range n.unsaved {
		f.unsaved = false
		if n.s.o.Durability == Full && sys.SyncFolder(n.sys, f.fd, ".") != nil {
			n.unknown = true
		}
	}
	n.unsaved = nil
}

// touch has Finish sync a folder.
func (n *NamesTxn) touch(f *namesFolder) {
	if !f.unsaved {
		f.unsaved = true
		n.unsaved = append(n.unsaved, f)
	}
}

// note has the next start search a folder, where a file may get a temporary name.
func (n *NamesTxn) note(f *namesFolder) error {
	if f.noted {
		return nil
	}
	if err := n.st.note.add(f.path)(); err != nil {
		return &IOError{Op: "note", Path: f.path, Err: err}
	}
	f.noted = true
	return nil
}

// folder returns the folder that holds t, the deepest that exists.
func (n *NamesTxn) folder(t *fsys.Target) (*namesFolder, error) {
	dev, ino, err := t.ParentID()
	if err != nil {
		return nil, moved(err)
	}
	if f := n.folders[folderID{dev, ino}]; f != nil {
		return f, nil
	}
	dir, _, err := n.sys.Adopt(t, nil)
	if err != nil {
		return nil, moved(err)
	}
	defer n.sys.Forget(dir, -1)
	path := filepath.Dir(t.Path)
	for range t.MissingDirs() {
		path = filepath.Dir(path)
	}
	return n.open(dir, ".", path)
}

// open opens a folder, or returns the one that is open already.
func (n *NamesTxn) open(dir int, name, path string) (*namesFolder, error) {
	fd, stamp, err := sys.Open(n.sys, dir, name, sys.Place)
	if err != nil {
		return nil, n.fail("open", path, err)
	}
	id := folderID{stamp.Dev, stamp.Ino}
	if f := n.folders[id]; f != nil {
		n.sys.Close(fd)
		return f, nil
	}
	f := &namesFolder{fd: fd, path: path, stamp: stamp}
	n.folders[id] = f
	return f, nil
}

// leave closes a folder that is about to be removed: on some volumes of Windows its name stays as
// long as it is open.
func (n *NamesTxn) leave(folder fsys.Stamp) {
	id := folderID{folder.Dev, folder.Ino}
	f := n.folders[id]
	if f == nil {
		return
	}
	n.unsaved = slices.DeleteFunc(n.unsaved, func(u *namesFolder) bool { return u == f })
	delete(n.folders, id)
	n.sys.Close(f.fd)
}

// fail returns an error of the system, as one of the errors of this package where it has a
// meaning of its own.
func (n *NamesTxn) fail(op, path string, err error) error {
	switch {
	case sys.Is(err, syscall.ENOENT):
		return ErrVanished
	case sys.Is(err, syscall.ETXTBSY):
		return (&place{s: n.s, sys: n.sys, path: path}).busy(busyShared)
	}
	return &IOError{Op: op, Path: path, Err: err}
}

// Move gives what from leads to the name that to leads to: a file, a folder, or a link itself.
// It never replaces anything: a name that is there is ErrExists, unless it is that of from in
// another case. Missing folders are made. It is made when Move returns, and lasts after
// Finish. With an error nothing has moved, unless an *IOError says otherwise.
func (n *NamesTxn) Move(ctx context.Context, from, to *fsys.Target) (m Moved, err error) {
	if err := ctx.Err(); err != nil {
		return m, err
	}
	v, err := n.newMove(from, to)
	if err != nil {
		return m, err
	}
	if v.kind == fsys.Directory {
		v.leave()
	}
	if err := v.makeDirs(to); err != nil {
		return m, err
	}
	if !v.dirs.syncMade() { // a sync of the old folder could make the move last without them
		n.unknown = true
	}
	defer v.hold()()
	err = v.rename()
	if sys.Is(err, syscall.EXDEV) {
		m.Across = true
		m.Left, err = v.across(ctx)
	} else if err == nil {
		err = v.arrived()
	}
	if err = v.end(err); err != nil {
		return m, err
	}
	n.touch(v.to)
	n.touch(v.from)
	m.Stamp, m.CreatedDirs = v.stamp, v.made
	if m.Across {
		if now, err := n.sys.Fstatat(v.to.fd, v.newName); err == nil {
			m.Stamp = now
		}
	}
	if from.Kind == fsys.Regular {
		m.OtherNames = int(from.Stamp.Nlink) - 1
	}
	return m, nil
}

// move is one move or copy under way.
type move struct {
	n                *NamesTxn
	from, to         *namesFolder
	oldName, newName string
	oldPath, newPath string
	kind             fsys.Kind
	stamp            fsys.Stamp // of what is moved, as it was looked at
	itself           bool       // to is from in another case
	held             int        // what is moved, open; -1: it is not
	exclusive        bool       // one call has moved it
	dirs             *madeDirs
	made             []string
}

func (n *NamesTxn) newMove(from, to *fsys.Target) (v *move, err error) {
	v = &move{n: n, oldName: from.Base(), newName: to.Base(), oldPath: from.Path, newPath: to.Path, kind: from.Kind, stamp: from.Stamp, held: -1}
	switch {
	case from.Kind == fsys.Missing:
		return nil, ErrVanished
	case from.Kind == fsys.Special:
		return nil, ErrSpecial
	case from.Kind == fsys.Directory && fsys.Within(from.Path, to.Path) && from.Path != to.Path:
		return nil, ErrInside
	}
	if v.from, err = n.folder(from); err != nil {
		return nil, err
	}
	if v.to, err = n.folder(to); err != nil {
		return nil, err
	}
	if v.kind == fsys.Directory && v.stamp.Dev != v.from.stamp.Dev {
		return nil, ErrMountPoint
	}
	if to.Kind != fsys.Missing {
		v.newName = filepath.Base(to.Asked.String())
		if v.itself = v.isItself(to); !v.itself {
			return nil, ErrExists
		}
	}
	return v, nil
}

// isItself reports whether the new name leads to what is moved, in a folder that folds names:
// it is not listed as it was asked for.
func (v *move) isItself(to *fsys.Target) bool {
	if !to.Stamp.SameFile(v.stamp) || v.from != v.to || foldName(v.newName) != foldName(v.oldName) || v.newName == v.oldName {
		return false
	}
	names, err := v.n.sys.Names(v.to.fd)
	return err == nil && !slices.Contains(names, v.newName)
}

// makeDirs makes the folders that are missing on the way to the new name.
func (v *move) makeDirs(to *fsys.Target) (err error) {
	p := &place{s: v.n.s, sys: v.n.sys, st: v.n.st, dir: v.to.fd, path: to.Path, base: v.newName}
	if v.dirs, err = p.makeDirs(to.MissingDirs()); err != nil {
		return err
	}
	v.made = v.dirs.paths
	return nil
}

// end ends the making of folders: after an error they are removed again.
func (v *move) end(err error) error {
	if err == nil {
		path := v.to.path
		for i, name := range v.dirs.names {
			v.n.touch(v.to)
			path = filepath.Join(path, name)
			if f, err := v.n.open(v.dirs.fds[i+1], ".", path); err == nil {
				v.to = f
			} else {
				v.n.unknown = true
			}
		}
	}
	v.dirs.close(err != nil)
	return err
}

// leave syncs and closes what the call has open of a folder that is about to be moved, and of
// folders below it: they get other paths, Windows moves no folder in which one is open, and Wine
// finds nothing more in it. What Finish needs stays open.
func (v *move) leave() {
	n := v.n
	needed := map[*namesFolder]bool{v.to: true}
	for _, r := range n.remade {
		needed[r.in] = true
	}
	for _, a := range n.away {
		needed[a.m.in] = true
	}
	for m := range n.held {
		needed[m.in] = true
	}
	for _, f := range n.folders {
		if !fsys.Within(v.oldPath, f.path) || needed[f] {
			continue
		}
		if f.unsaved && n.s.o.Durability == Full && sys.SyncFolder(n.sys, f.fd, ".") != nil {
			n.unknown = true
		}
		n.leave(f.stamp)
	}
}

// rename gives the file its new name, which must be free.
func (v *move) rename() error {
	flags := uint(sys.NoReplace)
	if v.itself {
		flags = 0
	}
	if v.itself {
		if err := v.unchanged(); err != nil {
			return err
		}
	}
	err := v.appear(func() error {
		return v.n.sys.MoveName(v.from.fd, v.oldName, v.dirs.last(), v.newName, flags)
	})
	if v.exclusive = err == nil; v.exclusive {
		return nil // arrived checks which file it was
	}
	if otherwise := sys.Is(err, syscall.EINVAL, syscall.ENOSYS, syscall.EOPNOTSUPP) && !v.itself; otherwise || sys.Is(err, syscall.EXDEV) {
		if err := v.unchanged(); err != nil {
			return err
		}
		if otherwise {
			err = v.renameOtherwise()
		}
	}
	switch {
	case err == nil, sys.Is(err, syscall.EXDEV), err == ErrNoExclusive:
		return err
	case sys.Is(err, syscall.EEXIST, syscall.ENOTEMPTY):
		return ErrExists
	case sys.Is(err, syscall.EBUSY) && v.kind != fsys.Link:
		return ErrMountPoint
	}
	return v.n.fail("rename", v.oldPath, err)
}

// unchanged checks that the old name still has what was looked at.
func (v *move) unchanged() error {
	now, err := sys.Stat(v.n.sys, v.from.fd, v.oldName)
	if err != nil {
		return v.n.fail("stat", v.oldPath, err)
	}
	if !now.SameFile(v.stamp) {
		return ErrModified
	}
	return nil
}

// renameOtherwise moves without an exclusive rename: a file by a second link, a folder over an
// empty one that it makes itself.
func (v *move) renameOtherwise() error {
	calls, to := v.n.sys, v.dirs.last()
	if v.kind == fsys.Directory {
		if err := calls.Mkdir(to, v.newName, 0o700); err != nil {
			return err
		}
		err := v.appear(func() error { return calls.MoveName(v.from.fd, v.oldName, to, v.newName, 0) })
		if err != nil {
			calls.Unlink(to, v.newName, sys.RemoveFolder)
		}
		return err
	}
	err := v.appear(func() error { return calls.LinkName(v.from.fd, v.oldName, to, v.newName) })
	if sys.Is(err, syscall.EPERM, syscall.EOPNOTSUPP, syscall.ENOSYS, syscall.EMLINK, syscall.EINVAL) {
		return ErrNoExclusive
	}
	if err == nil {
		if err = sys.Remove(calls, v.from.fd, v.oldName); err != nil {
			sys.Remove(calls, to, v.newName) // both names are of one file
		}
	}
	return err
}

// appear is the function of that name for two folders.
func (v *move) appear(call func() error) error {
	for {
		err := call()
		if err == nil {
			return nil
		}
		if !v.itself && hasName(v.n.sys, v.dirs.last(), v.stamp, v.newName) && !hasName(v.n.sys, v.from.fd, v.stamp, v.oldName) {
			return nil
		}
		if err != syscall.EINTR {
			return err
		}
	}
}

// isMoved reports whether the file that was looked at has the new name. It was not held open
// since, so another one may have got its number. The rules decide on links by their count: a
// file with another count is another one.
func (v *move) isMoved(now fsys.Stamp) bool {
	return now.SameFile(v.stamp) && (v.kind != fsys.Regular || !v.exclusive || now.Nlink == v.stamp.Nlink)
}

// hold keeps what is moved open until the function that it returns is called, if the system
// tells later under which name it was removed.
func (v *move) hold() (release func()) {
	if runtime.GOOS != "linux" || v.kind == fsys.Directory {
		return func() {}
	}
	if fd, err := v.n.sys.Openat(v.from.fd, v.oldName, sys.Itself, 0); err == nil {
		v.held = fd
	}
	return func() {
		if v.held >= 0 {
			v.n.sys.Close(v.held)
		}
	}
}

// wasReplaced reports whether what was looked at got the new name before another program put
// something else there. Linux keeps the last name of a file that is open and has none any more
// (source: proc_pid_fd(5)).
func (v *move) wasReplaced() bool {
	if v.held < 0 {
		return false
	}
	now, err := v.n.sys.Fstat(v.held)
	if err != nil || !now.SameFile(v.stamp) {
		return false
	}
	nameOf := func(fd int) string {
		name, _ := v.n.sys.Readlink(sys.CWD, "/proc/self/fd/"+strconv.Itoa(fd))
		return name
	}
	folder := nameOf(v.dirs.last())
	return folder != "" && nameOf(v.held) == filepath.Join(folder, v.newName)+" (deleted)"
}

// arrived withdraws the new name if what has it is not what was looked at, and not what another
// program has put there since.
func (v *move) arrived() error {
	now, err := sys.Stat(v.n.sys, v.dirs.last(), v.newName)
	switch {
	case err == nil && v.isMoved(now):
		v.stamp = now // renaming changes a time of it
		return nil
	case err == nil && v.wasReplaced():
		return nil
	case sys.Is(err, syscall.ENOENT):
		return ErrVanished // another program has moved it on
	case err != nil:
		return &IOError{Op: "stat", Path: v.newPath, Err: err, Changed: true}
	}
	back := v.n.sys.MoveName(v.dirs.last(), v.newName, v.from.fd, v.oldName, sys.NoReplace)
	if sys.Is(back, syscall.EINVAL, syscall.ENOSYS, syscall.EOPNOTSUPP) {
		if _, err := v.n.sys.Fstatat(v.from.fd, v.oldName); sys.Is(err, syscall.ENOENT) {
			back = v.n.sys.MoveName(v.dirs.last(), v.newName, v.from.fd, v.oldName, 0)
		}
	}
	if back != nil {
		return &IOError{Op: "rename", Path: v.newPath, Err: errors.Join(back, ErrModified), Changed: true}
	}
	return ErrModified
}
