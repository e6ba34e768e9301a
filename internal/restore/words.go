package restore

import (
	"errors"
	"fmt"
	"unicode/utf8"

	"github.com/fsmcp/fsmcp/internal/fsys"
	"github.com/fsmcp/fsmcp/internal/history"
	"github.com/fsmcp/fsmcp/internal/tools"
)

// Fault says why the restore of e, or of another change of its file, failed, and how a user
// restores by hand. conflict is the reason alone, "" for an error that is no conflict.
func Fault(e history.Entry, err error) (text, conflict string) {
	name := fsys.Printable(e.Path)
	if bad := (history.Damage{}); errors.As(err, &bad) {
		return fmt.Sprintf("%v. Nothing was changed in %s", bad, name), ""
	}
	no := (*history.ConflictError)(nil)
	if !errors.As(err, &no) {
		return tools.Explain(e.Path, err), ""
	}
	if in := (*changeError)(nil); errors.As(err, &in) {
		e = in.change
	}
	next := "show %s prints the old text"
	switch {
	case e.Operation != history.OpEdit:
		return fmt.Sprintf("%s: %s. Nothing was changed", name, no.Why), no.Why
	case e.Partial():
		next = "diff %s prints the old text of the places"
	case e.Before == nil:
		next = "diff %s prints what it created"
	}
	return fmt.Sprintf("%s: %s. Nothing was changed. fsmcp history "+next, name, no.Why, e.ID), no.Why
}

// Lines says which files the restore of a session changed.
func Lines(files []RestoredFile) (lines []string) {
	for _, f := range files {
		changes := "1 change is"
		if n := len(f.Entries); n > 1 {
			changes = fmt.Sprintf("%d changes are", n)
		}
		e := f.Entries[0]
		switch {
		case f.Changed && e.Operation == history.OpMove:
			lines = append(lines, fmt.Sprintf("Moved %s back to %s.", fsys.Printable(e.To), fsys.Printable(e.Path)))
		case f.Changed && e.Operation == history.OpDelete:
			lines = append(lines, fmt.Sprintf("Restored %s, which was deleted.", fsys.Printable(f.Path)))
		case f.Changed && e.Operation == history.OpCopy:
			lines = append(lines, fmt.Sprintf("Removed %s, a copy.", fsys.Printable(e.To)))
		case f.Changed:
			lines = append(lines, fmt.Sprintf("Restored %s: %s no longer in it.", fsys.Printable(f.Path), changes))
		}
	}
	return lines
}

// Stopped says why the restore of a session stopped, and how far it came.
func Stopped(files []RestoredFile, err error) string {
	why := err.Error()
	if stopped := (*FileError)(nil); errors.As(err, &stopped) {
		why, _ = Fault(stopped.File.Entries[0], stopped.Err)
	}
	if n := len(Lines(files)); n > 0 {
		return fmt.Sprintf("%d of %d files are restored: %s", n, len(files), why)
	}
	return "no file is restored: " + why
}

// JSON returns the object that history restore --session --json prints, without the session.
func JSON(files []RestoredFile, err error) map[string]any {
	type file struct {
		Path    string   `json:"path"`
		Bytes   []byte   `json:"pathBase64,omitempty"`
		IDs     []string `json:"ids"`
		Changed bool     `json:"changed"`
	}
	list := make([]file, len(files))
	for i, f := range files {
		list[i] = file{Path: f.Path, Changed: f.Changed}
		if !utf8.ValidString(f.Path) {
			list[i].Bytes = []byte(f.Path)
		}
		for _, e := range f.Entries {
			list[i].IDs = append(list[i].IDs, e.ID)
		}
	}
	object := map[string]any{"changed": len(Lines(files)) > 0, "files": list}
	if stopped := (*FileError)(nil); errors.As(err, &stopped) {
		if _, conflict := Fault(stopped.File.Entries[0], stopped.Err); conflict != "" {
			object["conflict"] = conflict
		}
	}
	return object
}
