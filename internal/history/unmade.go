package history

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"io"
	"os"
	"slices"
	"syscall"

	"github.com/fsmcp/fsmcp/internal/fsys"
)

// made returns the entries without those whose change was not made. entries are those of all
// segments, newest first. An entry is written before its change, and a line after it says that
// the change was made. Without that line a process died between the two, or is between them
// now: then the next change of the file tells which of its states was there, else the file
// itself. If neither of them tells, the entry stays.
func (a *Archive) made(entries []Entry) []Entry {
	if !slices.ContainsFunc(entries, func(e Entry) bool { return e.line.Pending }) {
		return entries
	}
	var fine []Entry
	for _, e := range entries {
		if !e.line.Pending || a.happened(e, fine) {
			fine = append(fine, e)
		}
	}
	return fine
}

// happened reports whether a change was made, as far as that can be told. later are the changes
// after it, newest first.
func (a *Archive) happened(e Entry, later []Entry) bool {
	switch e.Operation {
	case OpMove:
		return !e.stayed()
	case OpCopy:
		_, err := fsys.Lstat(Follow(e, later))
		return err == nil || slices.ContainsFunc(later, func(l Entry) bool { return l.Path == e.To })
	case OpDelete:
		return !e.remains()
	}
	path := e.Path
	for _, l := range slices.Backward(later) {
		switch {
		case l.Operation == OpMove:
			path = movedBy(l, path)
		case l.Path != path || l.Tool == ToolOutside || l.Operation == OpCopy:
		case e.Partial():
			return true
		case same(l.Before, e.After):
			return true
		case same(l.Before, e.Before):
			return false
		default:
			return true
		}
	}
	if e.Partial() {
		return !a.placesRemain(e, path)
	}
	now, known := stateOf(path)
	return !known || same(now, e.After) || !same(now, e.Before)
}

func same(a, b *Sum) bool { return a == b || a != nil && b != nil && *a == *b }

// stayed reports whether what was to be moved still has its old name, and none has the new one.
func (e Entry) stayed() bool {
	old, err := fsys.Lstat(e.Path)
	if err != nil || e.line.Ino != 0 && old.Ino != e.line.Ino {
		return false
	}
	_, err = fsys.Lstat(e.To)
	return err != nil
}

// remains reports whether what was to be deleted is there as it was. A folder counts if it is
// there: what it held may be gone.
func (e Entry) remains() bool {
	info, err := os.Lstat(e.Path)
	switch {
	case err != nil || e.Meta == nil:
		return false
	case e.Meta.Kind == fsys.Directory:
		return info.IsDir()
	case info.Mode().IsRegular() != (e.Meta.Kind == fsys.Regular):
		return false
	}
	return info.ModTime().UnixNano() == e.Meta.Mtime
}

// stateOf returns the hash of the file at path, nil if there is none. known is false if that
// cannot be told.
func stateOf(path string) (sum *Sum, known bool) {
	info, err := os.Lstat(path)
	if os.IsNotExist(err) {
		return nil, true
	}
	if err != nil || !info.Mode().IsRegular() || info.Size() > WholeLimit {
		return nil, false
	}
	f, err := openAt(path)
	if err != nil {
		return nil, false
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, io.LimitReader(f, WholeLimit)); err != nil {
		return nil, false
	}
	return (*Sum)(h.Sum(nil)), true
}

// openAt opens a regular file, and never waits for one.
func openAt(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = errors.New("it is no regular file")
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// placesRemain reports whether the first place of a change is as it was before it.
func (a *Archive) placesRemain(e Entry, path string) bool {
	places, err := a.places(e)
	if err != nil || len(places) == 0 {
		return false
	}
	f, err := openAt(path)
	if err != nil {
		return false
	}
	defer f.Close()
	before, after := places[0].sides()
	found := make([]byte, max(len(before), len(after)))
	n, err := f.ReadAt(found, places[0].At-places[0].Lead)
	if err != nil && err != io.EOF {
		return false
	}
	return bytes.HasPrefix(found[:n], before) && !bytes.HasPrefix(found[:n], after)
}
