package tools

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"

	"github.com/fsmcp/fsmcp/internal/edit"
	"github.com/fsmcp/fsmcp/internal/fsys"
	"github.com/fsmcp/fsmcp/internal/history"
	"github.com/fsmcp/fsmcp/internal/notebook"
	"github.com/fsmcp/fsmcp/internal/phrase"
	"github.com/fsmcp/fsmcp/internal/save"
	"github.com/fsmcp/fsmcp/internal/text"
)

// Slugs name the kinds of failure; they are stable and equal across tools
// (source: the specification of the tools, "Error codes").
const (
	slugDenied        = "denied"
	slugNotFound      = "not_found"
	slugNotRead       = "not_read"
	slugPartlyRead    = "partly_read"
	slugModified      = "modified"
	slugBinary        = "binary"
	slugSpecialFile   = "special_file"
	slugTooLarge      = "too_large"
	slugTooManyTokens = "too_many_tokens"
	slugBadArgument   = "bad_argument"
	slugNotUnique     = "not_unique"
	slugNoMatch       = "no_match"
	slugNoChange      = "no_change"
	slugExists        = "exists"
	slugIsDirectory   = "is_directory"
	slugNotebook      = "notebook"
	slugNotNotebook   = "not_notebook"
	slugNoSuchCell    = "no_such_cell"
	slugBrokenFile    = "broken_file"
	slugNotEncodable  = "not_encodable"
	slugIO            = "io"
	slugBusy          = "busy"
	slugReadOnly      = "read_only"
	slugPlanMode      = "plan_mode"
	slugHook          = "hook"
)

// refusal is a failure that already has its words.
type refusal struct {
	slug string
	text string
	code int // 0: by the table
}

func (r *refusal) Error() string { return r.text }

func refuse(slug, format string, a ...any) error { return refused(slug, format, a...) }

func refused(slug, format string, a ...any) *refusal {
	return &refusal{slug: slug, text: fmt.Sprintf(format, a...)}
}

// vanished is the refusal for a file that was there before: the same code in
// every tool, beside the one for a file that never was.
func vanished(format string, a ...any) *refusal {
	r := refused(slugNotFound, format, a...)
	r.code = 19
	return r
}

// codeOf is the table of error codes: the same slug has another number in
// another tool.
func codeOf(tool, slug string) int {
	byTool := func(read, write, edit, notebookEdit int) int {
		switch tool {
		case nameRead:
			return read
		case nameWrite:
			return write
		case nameEdit:
			return edit
		}
		return notebookEdit
	}
	switch slug {
	case slugDenied:
		return byTool(1, 1, 2, 11)
	case slugNotFound:
		return byTool(2, 19, 4, 19)
	case slugNotRead, slugPartlyRead:
		return byTool(12, 2, 6, 9)
	case slugModified:
		return byTool(21, 3, 7, 10)
	case slugExists:
		return 3
	case slugNotebook:
		return byTool(8, 18, 5, 18)
	case slugNotNotebook:
		return 1
	case slugBinary:
		return byTool(4, 18, 18, 18)
	case slugTooLarge, slugTooManyTokens:
		return byTool(6, 6, 10, 10)
	case slugBrokenFile:
		return byTool(8, 8, 8, 6)
	case slugIsDirectory:
		return byTool(9, 9, 20, 20)
	case slugNoChange:
		return 1
	case slugNoMatch, slugNoSuchCell:
		return 8
	case slugNotUnique:
		return 9
	case slugIO:
		return byTool(11, 11, 11, 21)
	case slugPlanMode:
		return 13
	case slugReadOnly:
		return 14
	case slugHook:
		return 15
	case slugBusy:
		return 16
	case slugNotEncodable:
		return 17
	case slugSpecialFile:
		return 18
	}
	return 12
}

// explain is the one place where facts become the words a model reads: what
// was wrong, with the path, and the next step.
func explain(tool, raw string, err error) *Result {
	r := worded(raw, err)
	code := r.code
	if code == 0 {
		code = codeOf(tool, r.slug)
	}
	return Failure(code, r.slug, r.text)
}

// ErrStopping is the cause of a call's context that ends with the server.
var ErrStopping = errors.New("the server is stopping")

// endOf returns why a call's context ended where err only says that it did: a deadline
// is no cancelling.
func endOf(ctx context.Context, err error) error {
	if cause := context.Cause(ctx); cause != nil && errors.Is(err, context.Canceled) {
		return cause
	}
	return err
}

// worded finds the words of an error.
func worded(raw string, err error) *refusal {
	say := func(slug, format string, a ...any) *refusal {
		return &refusal{slug: slug, text: fmt.Sprintf(format, a...)}
	}
	path := fsys.InSentence(raw)

	if r := (*refusal)(nil); errors.As(err, &r) {
		return r
	}
	if e := (*fsys.PathError)(nil); errors.As(err, &e) {
		return say(slugBadArgument, "file_path %s cannot be used: it %s. Give the absolute path of one file.", phrase.Quote(raw), e.Reason)
	}
	if e := (*save.BusyError)(nil); errors.As(err, &e) {
		return say(slugBusy, "The file %s is busy: %s. Nothing was changed. Wait a moment, then make the same call again.", path, e.Why)
	}
	if e := (*history.KeepError)(nil); errors.As(err, &e) {
		return say(slugIO, "Nothing was changed in %s: its old text could not be kept in fsmcp's history (%s). Ask the user to make room in fsmcp's state folder, or to set history.required to false.", path, phrase.Cause(e.Err))
	}
	if e := (*save.NoStateError)(nil); errors.As(err, &e) {
		return say(slugIO, "Nothing was changed in %s: fsmcp has no folder for its locks. %s, and %s is not used either: %s. Ask the user to make one of them theirs alone and writable.",
			path, lost(e.State), fsys.InSentence(e.Dir), fsys.InSentence(phrase.Cause(e.Temp)))
	}
	if e := (*save.NoJournalError)(nil); errors.As(err, &e) {
		return say(slugIO, "Nothing was changed in %s: it can be written in place only (%s), and a journal against a crash cannot be kept. %s. Tell the user.", path, inPlaceReason(e.Why), lost(e.State))
	}
	if e := (*untoldError)(nil); errors.As(err, &e) {
		return say(slugIO, "Nothing was changed in %s: audit.required is set, and the audit file cannot be written (%s). Tell the user.", path, phrase.Cause(e.error))
	}
	if e := (*text.UnencodableError)(nil); errors.As(err, &e) {
		return say(slugNotEncodable, "The file's encoding cannot hold the character %s (U+%04X, line %d of the new text). Nothing was changed. Leave that character out or write it in another way.",
			text.Visible(string(e.Rune)), e.Rune, e.Line)
	}
	if e := (*edit.StrippedToSameError)(nil); errors.As(err, &e) {
		return say(slugNoChange, "No changes to make: old_string and new_string are the same once %s was stripped from new_string (trailing white space at line ends is not kept here).", e.What)
	}
	switch {
	case errors.Is(err, notebook.ErrSource):
		return say(slugBadArgument, "new_source is not valid UTF-8. Nothing was changed in %s.", path)
	case errors.Is(err, text.ErrBinary):
		return say(slugBinary, "This tool cannot read binary files. The file appears to be a binary file from some place on: %s holds bytes there that are no text. Please use appropriate tools for binary file analysis.", path)
	case errors.Is(err, edit.ErrSame):
		return say(slugNoChange, "No changes to make: old_string and new_string are exactly the same.")
	case errors.Is(err, fsys.ErrLoop):
		return say(slugNotFound, "Too many symbolic links (more than 40) on the way to %s: they may form a loop. Name the file itself.", path)
	case errors.Is(err, fsys.ErrNotDir):
		return say(slugNotFound, "File does not exist. A part of the path %s that should be a folder is a file.", path)
	case errors.Is(err, errElsewhere), errors.Is(err, fsys.ErrMoved):
		return say(slugBusy, "The file %s is busy: other programs keep renaming it, or the folders and links on the way to it. Nothing was changed. Wait a moment, then make the same call again.", path)
	case errors.Is(err, fs.ErrNotExist):
		return say(slugNotFound, "File does not exist. Nothing is at %s any more: it was moved or deleted, or a link on the way leads nowhere.", path)
	case errors.Is(err, fsys.ErrUnstable), errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return say(slugBusy, "The file %s is being written to by another program right now. Wait a moment, then make the same call again.", path)
	case errors.Is(err, save.ErrModified):
		return say(slugModified, "%s Another program wrote to %s while this call was saving; its text was kept and nothing of yours was written.", modifiedWords, path)
	case errors.Is(err, save.ErrExists):
		return say(slugExists, "The file %s appeared while this call was creating it: another program made it. Nothing was changed. Read it first.", path)
	case errors.Is(err, save.ErrVanished):
		return vanished("The file %s was there when it was read and is gone now: it was moved or deleted by another program. Nothing was changed. Write can create it again.", path)
	case errors.Is(err, save.ErrReadOnly):
		return say(slugReadOnly, "The file %s is read-only (its mode has no write permission). Nothing was changed. Ask the user to make it writable (chmod u+w) if it should be edited.", path)
	case errors.Is(err, ErrStopping):
		return say(slugBusy, "The server is stopping, and the call was given up. Nothing was changed in %s.", path)
	case errors.Is(err, context.Canceled):
		return say(slugBusy, "The call was cancelled. Nothing was changed in %s.", path)
	case errors.Is(err, context.DeadlineExceeded):
		return say(slugBusy, "%s could not be served in time: another call is working on it, or its disk does not answer. Nothing was changed. Make the same call again later.", path)
	}
	if e := (*save.IOError)(nil); errors.As(err, &e) {
		if e.Changed {
			return say(slugIO, "I/O error while saving %s (%s): %s. The new text is in place, but what followed failed: read the file before going on.", path, e.Op, phrase.Cause(e.Err))
		}
		return say(slugIO, "I/O error while saving %s (%s): %s. Nothing was changed.", path, e.Op, phrase.Cause(e.Err))
	}
	return say(slugIO, "I/O error on %s: %s. Nothing was changed.", path, phrase.Cause(err))
}

// lost says why the state folder is not used.
func lost(e *save.StateError) string { return fsys.InSentence(e.Error()) }

// inPlaceReason says why a file cannot be replaced.
func inPlaceReason(err error) string {
	if err == nil {
		return "it has several hard links, and keepHardLinks is set"
	}
	return phrase.Cause(err)
}

// modifiedWords is the sentence of the reference for a file that changed.
const modifiedWords = "File has been modified since read, either by the user or by a linter. Read it again before attempting to write it."
