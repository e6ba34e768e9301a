//go:build !linux || fsys_portable

package fsys

import (
	"errors"
	"io/fs"
	"os"
	"runtime"
	"strings"
	"syscall"
)

const onWindows = runtime.GOOS == "windows"

// Resolver finds what paths lead to. It keeps nothing open and is safe for
// concurrent use.
type Resolver struct {
	roots []string
}

// NewResolver makes a resolver for absolute, cleaned workspace directories.
// Nothing is opened before first use.
func NewResolver(roots []string) *Resolver {
	return &Resolver{roots: append([]string(nil), roots...)}
}

// Absent reports nothing here: false proves nothing.
func (r *Resolver) Absent(Path) bool { return false }

// Resolve finds out what a path leads to, and every name it has on the way.
// Links are read as text, and one that leads to nothing ends in a Missing
// target. The error is ErrLoop, ErrNotDir, or what the system said, as
// *fs.PathError; beside it comes a target with the names so far.
func (r *Resolver) Resolve(p Path) (*Target, error) {
	t := &Target{Asked: p, Path: p.name}
	t.Names = append(t.namesRoom[:0], p.name)
	if p.name == "" {
		return t, fault("resolve", p.given, fs.ErrInvalid)
	}
	rt := route{windows: onWindows, name: p.name, clean: true}
	return t, t.follow(rt, func(name string, _ bool) (lookup, error) { return look(name) })
}

func (t *Target) settle(s lookup, wantFolder bool) error {
	t.Path, t.pin.info = s.done, s.info
	t.note(s.done)
	stamp, err := lstamp(s.done)
	if err != nil {
		return fault("stat", s.done, err)
	}
	t.Stamp = stamp
	switch mode := s.info.Mode(); {
	case mode.IsRegular():
		t.Kind = Regular
	case mode.IsDir():
		t.Kind = Directory
	default:
		t.Kind = Special
	}
	if wantFolder && t.Kind != Directory {
		return fault("resolve", s.done, ErrNotDir)
	}
	return nil
}

func (t *Target) settleMissing(s lookup) error {
	t.pin.deepest = s.done
	return t.noteMissing(s.done, s.rest, onWindows)
}

// lookup is the state of one look at a name.
type lookup struct {
	end  spotEnd
	info fs.FileInfo
	done string // how far the name exists and is free of links
	rest string // what follows; begins with the missing name, or comes after the link or ".."
	text string // atLink: where the link leads
}

// look goes down a name one segment at a time and follows nothing.
func look(name string) (lookup, error) {
	root := rootOf(name, onWindows)
	info, err := os.Lstat(root)
	if err != nil {
		return lookup{}, err
	}
	here, todo := lookup{info: info, done: root}, segments{separator(onWindows), name[len(root):]}
	for {
		segment, more := todo.next()
		if !more {
			return here, nil
		}
		if !here.info.IsDir() {
			return lookup{}, fault("resolve", here.done, ErrNotDir)
		}
		if segment == ".." {
			return lookup{end: atParent, done: here.done, rest: todo.rest}, nil
		}
		below, err := here.enter(segment, todo.rest)
		if err != nil || below.end != atObject {
			return below, err
		}
		here = below
	}
}

func (here lookup) enter(segment, rest string) (lookup, error) {
	whole := joinName(here.done, segment, onWindows)
	info, err := os.Lstat(whole)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		if rest != "" {
			segment += string(separator(onWindows)) + rest
		}
		return lookup{end: atNothing, done: here.done, rest: segment}, nil
	case errors.Is(err, syscall.ENOTDIR):
		return lookup{}, fault("resolve", here.done, ErrNotDir)
	case err != nil:
		return lookup{}, err
	}
	// A Windows junction is no ModeSymlink, but it leads elsewhere all the same.
	if info.Mode()&(fs.ModeSymlink|fs.ModeIrregular) == 0 {
		return lookup{info: info, done: whole}, nil
	}
	text, err := os.Readlink(whole)
	if err != nil && info.Mode()&fs.ModeSymlink == 0 {
		return lookup{info: info, done: whole}, nil
	}
	if err == nil && onWindows {
		text, err = windowsLink(text)
	}
	if err != nil {
		return lookup{}, err
	}
	return lookup{end: atLink, done: here.done, rest: rest, text: text}, nil
}

// windowsLink refuses links to places that a path argument could not name.
func windowsLink(text string) (string, error) {
	text = strings.TrimPrefix(text, `\\?\`)
	if strings.HasPrefix(text, `\`) && !strings.HasPrefix(text, `\\`) {
		return text, nil // from the root of the same drive
	}
	if reason := windowsFault(text); reason != "" {
		return "", &PathError{Raw: text, Reason: reason}
	}
	return text, nil
}
