//go:build !fsys_portable

package fsys

import (
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"

	"golang.org/x/sys/unix"
)

const onWindows = false

// RealName returns the name, without links, of what an absolute name leads to.
func RealName(name string) (string, error) { return filepath.EvalSymlinks(name) }

// Resolver finds what paths lead to. It keeps nothing open: every name is
// resolved from "/" by one openat2 that follows no link at all, which costs a
// few dozen nanoseconds a segment more than from an open workspace directory,
// and in return cannot be left behind by a workspace that was removed, replaced
// or renamed. It is safe for concurrent use.
type Resolver struct {
	sys calls

	// noOpenat2 is set once the call is known to be missing or forbidden.
	noOpenat2 atomic.Bool
	procOnce  sync.Once
	procFine  bool
}

// calls holds the system calls that tests replace to imitate an older system.
type calls struct {
	openat2 func(name string, flags uint64) (int, error)
	procFD  string // where open descriptors have names
}

// NewResolver makes a resolver. It opens nothing before its first use.
func NewResolver() *Resolver {
	return &Resolver{sys: calls{openat2: openNoLinks, procFD: "/proc/self/fd/"}}
}

// Absent reports whether nothing bears the name and no link lies on the way to it,
// by one system call; Resolve takes several for each segment of a missing name.
// False proves nothing.
func (r *Resolver) Absent(p Path) bool {
	if p.name == "" || r.noOpenat2.Load() {
		return false
	}
	fd, err := r.sys.openat2(p.name, unix.O_PATH)
	if err == nil {
		unix.Close(fd)
	}
	return err == unix.ENOENT // a link, also one that leads nowhere, is ELOOP
}

// spot is an O_PATH descriptor.
type spot int

func (t *Target) pinFound(s lookup) (Stamp, Kind, error) {
	t.pin.object = int(s.spot)
	stamp, err := Fstat(t.pin.object)
	return stamp, kindOf(stamp), err
}

// pinEntry takes over a link itself, and returns the name of its folder.
func (t *Target) pinEntry(s lookup) (Stamp, string, error) {
	t.pin.object = int(s.spot)
	stamp, err := Fstat(t.pin.object)
	return stamp, s.done, err
}

func (t *Target) pinFolder(s lookup) string {
	t.pin.folder = int(s.spot)
	return s.done
}

// lookUp follows a name until it ends or reaches a link. Mostly that is one call; when that
// call fails, the walk finds the reason.
func (r *Resolver) lookUp(name string, clean bool) (lookup, error) {
	if !clean || r.noOpenat2.Load() {
		return walk(name)
	}
	fd, err := r.sys.openat2(name, unix.O_PATH)
	if err == nil {
		return lookup{end: atObject, spot: spot(fd), done: name}, nil
	}
	if err == unix.ENOENT {
		if s, ok := r.lookUpMissing(name); ok {
			return s, nil
		}
	}
	s, walkErr := walk(name)
	// ENOSYS is an old kernel. EPERM, if the walk succeeded, is a container that forbids
	// system calls that it does not know.
	if err == unix.ENOSYS || err == unix.EPERM && walkErr == nil {
		r.noOpenat2.Store(true)
	}
	return s, walkErr
}

// lookUpMissing looks at a name that does not exist from the deepest folder on the way that
// does, so that it takes time for what is missing and not for what is there. It tells nothing
// of a name with a link on the way, or of one that has come into being.
func (r *Resolver) lookUpMissing(name string) (s lookup, ok bool) {
	for end := strings.LastIndexByte(name, '/'); end >= 0; end = strings.LastIndexByte(name[:end], '/') {
		dir := name[:max(end, 1)]
		fd, err := r.sys.openat2(dir, unix.O_PATH|unix.O_DIRECTORY)
		if err == unix.ENOENT {
			continue
		}
		if err != nil {
			return s, false
		}
		segment, rest, _ := strings.Cut(name[end+1:], "/")
		s, err = lookup{end: atObject, spot: spot(fd), done: dir}.enter(segment, rest)
		if err == nil && s.end == atNothing {
			return s, true
		}
		if err == nil {
			s.close()
		}
		unix.Close(fd)
		return s, false
	}
	return s, false
}

// openNoLinks opens an absolute clean name in which nothing is a link.
func openNoLinks(name string, flags uint64) (int, error) {
	return openat2(unix.AT_FDCWD, name, flags, 0)
}

// openat2 follows no link; bounds are further RESOLVE flags.
func openat2(dir int, name string, flags, bounds uint64) (int, error) {
	how := unix.OpenHow{Flags: flags | unix.O_CLOEXEC, Resolve: unix.RESOLVE_NO_SYMLINKS | unix.RESOLVE_NO_MAGICLINKS | bounds}
	return RetryEINTR2(func() (int, error) { return unix.Openat2(dir, name, &how) })
}

// walk goes down a name from "/" one segment at a time with O_PATH|O_NOFOLLOW:
// it opens nothing for reading and follows nothing.
func walk(name string) (lookup, error) {
	fd, err := openat(unix.AT_FDCWD, "/", unix.O_PATH|unix.O_DIRECTORY)
	if err != nil {
		return lookup{}, fault("open", "/", err)
	}
	here := lookup{end: atObject, spot: spot(fd), done: "/"}
	for todo := name[1:]; todo != ""; {
		segment, rest, _ := strings.Cut(todo, "/")
		if segment == ".." {
			return here.climb(rest)
		}
		below, err := here.enter(segment, rest)
		if err != nil || below.end != atObject {
			if below.end != atNothing {
				here.close()
			}
			return below, err
		}
		here.close()
		here, todo = below, rest
	}
	return here, nil
}

func (here lookup) close() { unix.Close(int(here.spot)) }

// enter looks at one name in the folder here, and leaves here open.
func (here lookup) enter(segment, rest string) (lookup, error) {
	whole := joinName(here.done, segment, false)
	fd, err := openat(int(here.spot), segment, unix.O_PATH|unix.O_NOFOLLOW)
	switch err {
	case nil:
	case unix.ENOENT:
		return here.missing(segment, rest), nil
	case unix.ENOTDIR:
		return lookup{}, fault("resolve", here.done, ErrNotDir)
	default:
		return lookup{}, fault("open", whole, err)
	}
	text, isLink, err := readLink(fd)
	if err == nil && !isLink {
		return lookup{end: atObject, spot: spot(fd), done: whole}, nil
	}
	if err == nil && text == "" {
		err = unix.ENOENT
	}
	if err != nil {
		unix.Close(fd)
		return lookup{}, fault("readlink", whole, err)
	}
	return lookup{end: atLink, spot: spot(fd), done: here.done, rest: rest, text: text}, nil
}

// climb ends a look before "..", which only a folder has.
func (here lookup) climb(rest string) (lookup, error) {
	defer here.close()
	stamp, err := Fstat(int(here.spot))
	if err != nil {
		return lookup{}, fault("stat", here.done, err)
	}
	if kindOf(stamp) != Directory {
		return lookup{}, fault("resolve", here.done, ErrNotDir)
	}
	return lookup{end: atParent, done: here.done, rest: rest}, nil
}

func openat(dir int, name string, flags int) (int, error) {
	return RetryEINTR2(func() (int, error) { return unix.Openat(dir, name, flags|unix.O_CLOEXEC, 0) })
}

// readLink reads the text of a link that is open with O_PATH; for anything
// else the kernel says ENOENT to the empty name.
func readLink(fd int) (text string, isLink bool, err error) {
	for size := 256; ; size *= 4 {
		buf := make([]byte, size)
		n, err := RetryEINTR2(func() (int, error) { return unix.Readlinkat(fd, "", buf) })
		switch {
		case err == unix.ENOENT || err == unix.EINVAL:
			return "", false, nil
		case err != nil:
			return "", false, err
		case n < size:
			return string(buf[:n]), true, nil
		}
	}
}
