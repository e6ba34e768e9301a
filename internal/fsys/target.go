package fsys

import (
	"io/fs"
	"slices"
	"strings"
	"syscall"
)

// Kind is the kind of object that a name leads to.
type Kind int

// The kinds that matter here; a Special file is a pipe, a socket or a device.
const (
	Missing Kind = iota
	Regular
	Directory
	Special
	Link // a symbolic link itself; only ResolveEntry returns it
)

// Target is the object that a path led to when it was resolved. It holds descriptors until
// Close, and is for one goroutine at a time.
type Target struct {
	Asked Path
	Names []string // every absolute name of the file on the way: as asked, after each link, resolved; no duplicates
	Path  string   // the resolved absolute name: the key of all state
	Kind  Kind
	Stamp Stamp // of what exists; zero for Missing

	entry     bool      // a link at the last step is the object
	namesRoom [3]string // keeps the usual Names from the heap
	missing   []string
	pin       pin
}

// note adds a name that the file has on the way.
func (t *Target) note(name string) {
	if !slices.Contains(t.Names, name) {
		t.Names = append(t.Names, name)
	}
}

// Base is the last segment of Path.
func (t *Target) Base() string { return baseOf(t.Path, t.Asked.windows) }

// dir is the folder of Path.
func (t *Target) dir() string { return dirOf(t.Path, t.Asked.windows) }

// MissingDirs lists the folders between the deepest existing one (ParentFD) and
// Base that are not there yet, outermost first; empty when the parent exists.
func (t *Target) MissingDirs() []string { return t.missing }

// CheckNewNames refuses names that no new file should get: control, bidi and tag
// characters, bytes that are not UTF-8, and names of only dots (or text that folds to
// dots). It checks the names that a Missing target needs, including links' texts.
func (t *Target) CheckNewNames() error {
	if t.Kind != Missing {
		return nil
	}
	if reason := newNameFault(append(slices.Clone(t.missing), t.Base())); reason != "" {
		return &PathError{Raw: t.Asked.given, Reason: reason}
	}
	return nil
}

// fault wraps an error of the system with the operation and the name.
func fault(op, name string, err error) error {
	if err == nil {
		return nil
	}
	return &fs.PathError{Op: op, Path: name, Err: err}
}

// pinMissing takes over the deepest existing folder, and the missing names below it.
func (t *Target) pinMissing(s lookup) error {
	folder := t.pinFolder(s)
	names := strings.Split(s.rest, string(separator(onWindows)))
	// Only a link's text can hold ".." here: it climbs out of a folder
	// that does not exist, and that leads nowhere in the system's eyes.
	if slices.Contains(names, "..") {
		return fault("resolve", t.Asked.name, syscall.ENOENT)
	}
	t.note(joinName(s.done, s.rest, onWindows))
	t.Path = joinName(folder, s.rest, onWindows)
	t.note(t.Path)
	if len(names) > 1 {
		t.missing = names[:len(names)-1]
	}
	return nil
}
