//go:build !fsys_portable

package fsys

import (
	"slices"

	"golang.org/x/sys/unix"
)

// Folders resolves names as Resolver.ResolveEntry does, but each folder only once: until Close
// the name of a folder leads to where it led first, whatever other programs do with the folders
// and links on the way. It serves one step of a call with many names, and is for one goroutine.
//
// A name takes one system call instead of six, its folder and its folder's identity included.
type Folders struct {
	resolver *Resolver
	held     map[string]*heldFolder // by the name as asked; nil: names in it are resolved alone
}

// heldFolder is an open folder that targets share.
type heldFolder struct {
	fd    int // O_PATH
	stamp Stamp
	names []string // all names on the way to it, the resolved one last
	users int      // Folders, and targets
}

// Folders begins a step. Close it.
func (r *Resolver) Folders() *Folders {
	return &Folders{resolver: r, held: make(map[string]*heldFolder)}
}

// Close lets the folders go. Targets keep theirs until they are closed.
func (f *Folders) Close() {
	for _, h := range f.held {
		h.release()
	}
	clear(f.held)
}

func (h *heldFolder) release() {
	if h == nil {
		return
	}
	if h.users--; h.users == 0 {
		unix.Close(h.fd)
	}
}

// ResolveEntry resolves as Resolver.ResolveEntry does.
func (f *Folders) ResolveEntry(p Path) (*Target, error) {
	if h := f.folder(p); h != nil {
		if t := h.entry(f.resolver, p); t != nil {
			return t, nil
		}
	}
	return f.resolver.ResolveEntry(p)
}

// SameFolder reports whether the name of a target leads to the folder where the target was found,
// by the same names. The target is of a Folders, and not closed. What the folder has under the
// name is not looked at.
func (f *Folders) SameFolder(t *Target) bool {
	was := t.pin.held
	if was == nil {
		return false
	}
	now := f.folder(t.Asked)
	return now != nil && (now == was || now.stamp.SameFile(was.stamp) && slices.Equal(now.names, was.names))
}

// SameFile reports whether the name of a target leads to the same file as before, by the same
// names, and the file has as many hard links: what the rules decide on. It is false for what is
// no regular file.
func (f *Folders) SameFile(t *Target) bool {
	if t.Kind != Regular || !f.SameFolder(t) {
		return false
	}
	now, err := Fstatat(t.pin.folder, t.Base())
	return err == nil && now.Mode&unix.S_IFMT == unix.S_IFREG && now.SameFile(t.Stamp) && now.Nlink == t.Stamp.Nlink
}

// folder returns the folder of a name, nil if it is not there or the name has none.
func (f *Folders) folder(p Path) *heldFolder {
	dir := p.Dir()
	if p.name == "" || dir == p.name {
		return nil
	}
	h, known := f.held[dir]
	if !known {
		h = f.open(dir)
		f.held[dir] = h
	}
	return h
}

func (f *Folders) open(dir string) *heldFolder {
	t, err := f.resolver.Resolve(Path{given: dir, name: dir})
	if err != nil {
		return nil
	}
	defer t.Close()
	if t.Kind != Directory {
		return nil
	}
	h := &heldFolder{fd: t.pin.object, stamp: t.Stamp, names: append([]string(nil), t.Names...), users: 1}
	t.pin.object = -1 // it is the folder's now
	return h
}

// entry looks at a name in the folder. It returns nil for a folder, which has to be held open
// itself, for what is neither a file nor a link, and after an error.
func (h *heldFolder) entry(r *Resolver, p Path) *Target {
	base := p.Base()
	kind, stamp := Missing, Stamp{}
	switch s, err := Fstatat(h.fd, base); {
	case err == unix.ENOENT:
	case err == nil && s.Mode&unix.S_IFMT == unix.S_IFREG:
		kind, stamp = Regular, s
	case err == nil && s.Mode&unix.S_IFMT == unix.S_IFLNK:
		kind, stamp = Link, s
	default:
		return nil
	}
	t := &Target{Asked: p, Kind: kind, Stamp: stamp, pin: newPin(r), entry: true}
	t.Names = t.namesRoom[:0]
	for _, dir := range h.names {
		t.Path = joinName(dir, base, false)
		t.note(t.Path)
	}
	t.pin.folder, t.pin.held = h.fd, h
	h.users++
	return t
}
