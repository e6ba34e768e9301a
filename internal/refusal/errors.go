package refusal

import (
	"context"
	"errors"
	"io"
	"io/fs"

	"github.com/fsmcp/fsmcp/internal/access"
	"github.com/fsmcp/fsmcp/internal/edit"
	"github.com/fsmcp/fsmcp/internal/fsys"
	"github.com/fsmcp/fsmcp/internal/history"
	"github.com/fsmcp/fsmcp/internal/notebook"
	"github.com/fsmcp/fsmcp/internal/phrase"
	"github.com/fsmcp/fsmcp/internal/save"
	"github.com/fsmcp/fsmcp/internal/text"
)

// ErrStopping is the cause of a call's context that ends with the server.
var ErrStopping = errors.New("the server is stopping")

// AuditError: a change has to be audited, and the audit file cannot be written.
type AuditError struct{ Err error }

func (e *AuditError) Error() string { return e.Err.Error() }
func (e *AuditError) Unwrap() error { return e.Err }

// Of words an error of a call whose file argument was raw.
func Of(raw string, err error) *Refusal {
	path := fsys.InSentence(raw)
	if r := (*Refusal)(nil); errors.As(err, &r) {
		return r
	}
	if e := (*fsys.PathError)(nil); errors.As(err, &e) {
		return refuse(SlugBadArgument, "file_path %s cannot be used: it %s. Give the absolute path of one file.", phrase.Quote(raw), e.Reason)
	}
	for _, words := range []func(path string, err error) *Refusal{ofHistory, ofEdit, ofFile, ofSaving, ofCall} {
		if r := words(path, err); r != nil {
			return r
		}
	}
	if e := (*save.IOError)(nil); errors.As(err, &e) {
		if e.Mixed {
			return refuse(SlugIO, "I/O error while saving %s (%s): %s. The old text could not be put back, so that the file may hold parts of both until fsmcp starts again and finishes the change. Read the file before going on.", path, e.Op, phrase.Cause(e.Err))
		}
		if e.Changed {
			return refuse(SlugIO, "I/O error while saving %s (%s): %s. The new text is in place, but what followed failed: read the file before going on.", path, e.Op, phrase.Cause(e.Err))
		}
		return refuse(SlugIO, "I/O error while saving %s (%s): %s. Nothing was changed.", path, e.Op, phrase.Cause(e.Err))
	}
	return refuse(SlugIO, "I/O error on %s: %s. Nothing was changed.", path, phrase.Cause(err))
}

// ofHistory words why a change could not be recorded or made safe.
func ofHistory(path string, err error) *Refusal {
	if e := (*save.BusyError)(nil); errors.As(err, &e) {
		return refuse(SlugBusy, "The file %s is busy: %s. Nothing was changed. Wait a moment, then make the same call again.", path, e.Why)
	}
	if e := (*history.KeepError)(nil); errors.As(err, &e) {
		return refuse(SlugIO, "Nothing was changed in %s: its old text could not be kept in fsmcp's history (%s). Ask the user to make room in fsmcp's state folder, or to set history.required to false.", path, phrase.Cause(e.Err))
	}
	if e := (*save.NoStateError)(nil); errors.As(err, &e) {
		return refuse(SlugIO, "Nothing was changed in %s: fsmcp has no folder for its locks. %s, and %s is not used either: %s. Ask the user to make one of them theirs alone and writable.",
			path, NoState(e.State), fsys.InSentence(e.Dir), fsys.InSentence(phrase.Cause(e.Temp)))
	}
	if e := (*save.NoJournalError)(nil); errors.As(err, &e) {
		why := "it has several hard links, and keepHardLinks is set"
		if e.Why != nil {
			why = phrase.Cause(e.Why)
		}
		return refuse(SlugIO, "Nothing was changed in %s: it can be written in place only (%s), and a journal against a crash cannot be kept. %s. Tell the user.", path, why, NoState(e.State))
	}
	if e := (*AuditError)(nil); errors.As(err, &e) {
		return refuse(SlugIO, "Nothing was changed in %s: audit.required is set, and the audit file cannot be written (%s). Tell the user.", path, phrase.Cause(e.Err))
	}
	return nil
}

// NoState says why the state folder is not used.
func NoState(e *save.StateError) string { return fsys.InSentence(e.Error()) }

// ofEdit words what the new text cannot be.
func ofEdit(path string, err error) *Refusal {
	if e := (*text.UnencodableError)(nil); errors.As(err, &e) {
		return refuse(SlugNotEncodable, "The file's encoding cannot hold the character %s (U+%04X, line %d of the new text). Nothing was changed. Leave that character out or write it in another way.",
			text.Visible(string(e.Rune)), e.Rune, e.Line)
	}
	if e := (*edit.StrippedToSameError)(nil); errors.As(err, &e) {
		return refuse(SlugNoChange, "No changes to make: old_string and new_string are the same once %s was stripped from new_string (trailing white space at line ends is not kept here).", e.What)
	}
	switch {
	case errors.Is(err, notebook.ErrSource):
		return refuse(SlugBadArgument, "new_source is not valid UTF-8. Nothing was changed in %s.", path)
	case errors.Is(err, text.ErrBinary):
		return refuse(SlugBinary, "%s appears to be a binary file from some place on: it holds bytes there that are no text. Nothing was changed. Please use appropriate tools for binary files.", path)
	case errors.Is(err, edit.ErrSame):
		return refuse(SlugNoChange, "No changes to make: old_string and new_string are exactly the same.")
	}
	return nil
}

// ofFile words what became of the file or of the way to it.
func ofFile(path string, err error) *Refusal {
	switch {
	case errors.Is(err, fsys.ErrLoop):
		return refuse(SlugNotFound, "Too many symbolic links (more than 40) on the way to %s: they may form a loop. Name the file itself.", path)
	case errors.Is(err, fsys.ErrNotDir):
		return refuse(SlugNotFound, "File does not exist. A part of the path %s that should be a folder is a file.", path)
	case errors.Is(err, access.ErrElsewhere), errors.Is(err, fsys.ErrMoved):
		return refuse(SlugBusy, "The file %s is busy: other programs keep renaming it, or the folders and links on the way to it. Nothing was changed. Wait a moment, then make the same call again.", path)
	case errors.Is(err, fs.ErrNotExist):
		return refuse(SlugNotFound, "File does not exist. Nothing is at %s any more: it was moved or deleted, or a link on the way leads nowhere.", path)
	case errors.Is(err, fsys.ErrUnstable), errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return refuse(SlugBusy, "The file %s is being written to by another program right now. Wait a moment, then make the same call again.", path)
	}
	return nil
}

// ofSaving words what another program did while the call was saving.
func ofSaving(path string, err error) *Refusal {
	switch {
	case errors.Is(err, save.ErrModified):
		return refuse(SlugModified, "%s Another program wrote to %s while this call was saving; its text was kept and nothing of yours was written.", modified, path)
	case errors.Is(err, save.ErrExists):
		return refuse(SlugExists, "The file %s appeared while this call was creating it: another program made it. Nothing was changed. Read it first.", path)
	case errors.Is(err, save.ErrVanished):
		return refuseAs(codeGone, SlugNotFound, "The file %s was there when it was read and is gone now: it was moved or deleted by another program. Nothing was changed. Write can create it again.", path)
	case errors.Is(err, save.ErrReadOnly):
		return refuse(SlugReadOnly, "The file %s is read-only (its mode has no write permission). Nothing was changed. Ask the user to make it writable (chmod u+w) if it should be edited.", path)
	}
	return nil
}

// ofCall words why a call was given up.
func ofCall(path string, err error) *Refusal {
	switch {
	case errors.Is(err, ErrStopping):
		return refuse(SlugBusy, "The server is stopping, and the call was given up. Nothing was changed in %s.", path)
	case errors.Is(err, context.Canceled):
		return refuse(SlugBusy, "The call was cancelled. Nothing was changed in %s.", path)
	case errors.Is(err, context.DeadlineExceeded):
		return refuse(SlugBusy, "%s could not be served in time: another call is working on it, or its disk does not answer. Nothing was changed. Make the same call again later.", path)
	}
	return nil
}

// codeGone is the number for a file that was there before: the same in every tool,
// beside the one for a file that never was.
const codeGone = 19
