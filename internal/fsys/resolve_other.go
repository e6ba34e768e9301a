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
type Resolver struct{ trueName trueNamer }

// NewResolver makes a resolver.
func NewResolver() *Resolver { return &Resolver{trueName: systemNamer} }

// Absent reports nothing here: false proves nothing.
func (r *Resolver) Absent(Path) bool { return false }

// spot describes an object.
type spot = fs.FileInfo

func (t *Target) pinFound(s lookup) (Stamp, Kind, error) {
	t.pin.info = s.spot
	stamp, name, err := t.pin.trueName(s.done)
	t.Path = name
	t.note(name)
	return stamp, kindOfMode(s.spot.Mode()), err
}

// pinEntry takes over a link itself, and returns the true name of its folder.
func (t *Target) pinEntry(s lookup) (stamp Stamp, folder string, err error) {
	t.pin.info = s.spot
	if _, folder, err = t.pin.trueName(s.done); err == nil {
		stamp, err = Lstat(joinName(folder, baseOf(t.Asked.name, onWindows), onWindows))
	}
	return stamp, folder, err
}

// close does nothing: on these systems a lookup opens no file.
func (here lookup) close() {}

// pinFolder notes the folder in which a name is missing, and returns its true name.
func (t *Target) pinFolder(s lookup) string {
	t.pin.above, t.pin.deepest, _ = t.pin.trueName(s.done)
	return t.pin.deepest
}

// lookUp goes down a name one segment at a time and follows nothing. The root of a drive, which
// has to be opened for that, is looked at only if nothing is found in it.
func (r *Resolver) lookUp(name string, _ bool) (lookup, error) {
	root := rootOf(name, onWindows)
	here := lookup{done: root}
	if todo := name[len(root):]; todo == "" || !onWindows {
		info, err := os.Lstat(root)
		if err != nil {
			return lookup{}, err
		}
		here.spot = info
	}
	for todo := name[len(root):]; todo != ""; {
		segment, rest, _ := strings.Cut(todo, string(separator(onWindows)))
		if here.spot != nil && !here.spot.IsDir() {
			return lookup{}, fault("resolve", here.done, ErrNotDir)
		}
		if segment == ".." {
			return lookup{end: atParent, done: here.done, rest: rest}, nil
		}
		below, err := here.enter(segment, rest)
		if err == nil && below.end == atNothing && here.spot == nil {
			_, err = os.Lstat(root) // there may be no such drive
		}
		if err != nil || below.end != atObject {
			return below, err
		}
		here, todo = below, rest
	}
	return here, nil
}

func (here lookup) enter(segment, rest string) (lookup, error) {
	whole := joinName(here.done, segment, onWindows)
	info, err := os.Lstat(whole)
	if onWindows && rest == "" && errors.Is(err, fs.ErrNotExist) {
		info, err = awaitName(whole)
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return here.missing(segment, rest), nil
	case errors.Is(err, syscall.ENOTDIR):
		return lookup{}, fault("resolve", here.done, ErrNotDir)
	case err != nil:
		return lookup{}, err
	}
	// A Windows junction is no ModeSymlink, but it leads elsewhere all the same.
	if info.Mode()&(fs.ModeSymlink|fs.ModeIrregular) == 0 {
		return lookup{spot: info, done: whole}, nil
	}
	text, err := os.Readlink(whole)
	if err != nil && info.Mode()&fs.ModeSymlink == 0 {
		return lookup{spot: info, done: whole}, nil
	}
	if err == nil && onWindows {
		text, err = windowsLink(text)
	}
	if err != nil {
		return lookup{}, err
	}
	return lookup{end: atLink, spot: info, done: here.done, rest: rest, text: text}, nil
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
