package refusal

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"runtime"

	"github.com/fsmcp/fsmcp/internal/access"
	"github.com/fsmcp/fsmcp/internal/clipboard"
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
	if r, ok := reword(err, errorRows(raw, path)...).(*Refusal); ok {
		return r
	}
	return New(otherError, path, err).guarded(raw, err)
}

// guarded adds what may guard the file's folder, if access to it was denied.
func (r *Refusal) guarded(raw string, err error) *Refusal {
	if why := phrase.GuardedFile(runtime.GOOS, raw); why != "" && errors.Is(err, fs.ErrPermission) {
		r.Text += " " + why
	}
	return r
}

// reword returns the refusal by the first of some rows that is about err. Any other error
// stays as it is.
func reword(err error, rows ...errorRow) error {
	for _, row := range rows {
		if r := row(err); r != nil {
			return r
		}
	}
	return err
}

// errorRow returns the refusal of one kind of error, and nil for others.
type errorRow func(error) *Refusal

// is is for an error without facts of its own.
func is(target error, row string, facts ...any) errorRow {
	return func(err error) *Refusal {
		if !errors.Is(err, target) {
			return nil
		}
		return New(row, facts...)
	}
}

// as is for a type of errors, whose facts a function puts into a row.
func as[E error](word func(E) *Refusal) errorRow {
	return func(err error) *Refusal {
		if e, ok := errors.AsType[E](err); ok {
			return word(e)
		}
		return nil
	}
}

// errorRows lists the errors of other packages. The first that fits counts: an error of
// saving that has a better-known cause is worded by the cause.
func errorRows(raw, path string) []errorRow {
	return []errorRow{
		as(func(r *Refusal) *Refusal { return r }),
		as(func(e *fsys.PathError) *Refusal { return New(badPath, raw, e.Reason) }),

		is(clipboard.ErrEmpty, clipboardEmpty),
		is(clipboard.ErrTooLong, clipboardLate),
		as(func(e *clipboard.TooLargeError) *Refusal { return New(clipboardLarge, phrase.Bytes(e.Limit)) }),
		as(noClipboardProgram),
		as(func(e *clipboard.FailedError) *Refusal { return New(clipboardFailed, e.Program.Name, e.Said) }),

		as(func(e *save.BusyError) *Refusal { return New(saveBusy, path, e.Why) }),
		as(func(e *fsys.HeldError) *Refusal { return New(heldOpen, path, e) }),
		as(func(e *history.KeepError) *Refusal { return New(noHistory, path, e.Err) }),
		as(func(e *save.NoStateError) *Refusal {
			return New(noLocks, path, NoState(e.State), fsys.InSentence(e.Dir), fsys.InSentence(phrase.Cause(e.Temp)))
		}),
		as(func(e *save.NoJournalError) *Refusal {
			return New(noJournal, path, onlyWay(e), inPlaceOnly(e), NoState(e.State))
		}),
		as(func(e *AuditError) *Refusal { return New(noAudit, path, e.Err) }),

		as(func(e *text.UnencodableError) *Refusal {
			return New(unencodable, text.Visible(string(e.Rune)), e.Rune, e.Line)
		}),
		as(func(e *edit.StrippedToSameError) *Refusal { return New(strippedToSame, e.What) }),
		is(notebook.ErrSource, badSource, path),
		is(text.ErrBinary, binaryInPart, path),
		is(edit.ErrSame, sameStrings),

		is(fsys.ErrLoop, linkLoop, path),
		is(fsys.ErrNotDir, fileInPath, path),
		is(access.ErrElsewhere, keptBusy, path),
		is(fsys.ErrMoved, keptBusy, path),
		is(fs.ErrNotExist, nothingThere, path),
		is(fsys.ErrNotHere, notHere, path),
		is(fsys.ErrUnstable, beingWritten, path),
		is(io.EOF, beingWritten, path),
		is(io.ErrUnexpectedEOF, beingWritten, path),

		is(save.ErrModified, changedWhileSaving, path),
		is(save.ErrExists, appeared, path),
		is(save.ErrVanished, vanished, path),
		is(save.ErrReadOnly, readOnlyOn(runtime.GOOS), path),
		is(save.ErrLocked, lockedFlag, path),
		is(save.ErrSpecial, Special, path),
		is(save.ErrMountPoint, mountPoint, path),
		is(save.ErrInside, IntoItself, path, path),
		is(save.ErrTooMuch, acrossTooMuch, path),
		is(save.ErrNoExclusive, noExclusive, path),
		is(save.ErrNotEmpty, NotEmpty, path),
		is(ErrStopping, stopping, path),
		is(context.Canceled, cancelled, path),
		is(context.DeadlineExceeded, deadline, path),
		as(func(e *save.IOError) *Refusal { return notSaved(path, e) }),
	}
}

func noClipboardProgram(e *clipboard.MissingError) *Refusal {
	if e.Program.Package == "" {
		return New(clipboardNoProgram, e.Program.Name)
	}
	return New(clipboardNoPackage, e.Program.Name, e.Program.Package)
}

// onlyWay names the way in which a file can be changed.
func onlyWay(e *save.NoJournalError) string {
	if e.Renames {
		return "replaced only by two renames, between which its name is missing"
	}
	return "written in place only"
}

// inPlaceOnly says why a file cannot be replaced in one step.
func inPlaceOnly(e *save.NoJournalError) string {
	if e.Why == nil {
		return "it has several hard links, and keepHardLinks is set"
	}
	return phrase.Cause(e.Why)
}

// NoState says why the state folder is not used.
func NoState(e *save.StateError) string { return fsys.InSentence(e.Error()) }

// notSaved words an error of the file system while a change was saved.
func notSaved(path string, e *save.IOError) *Refusal {
	switch {
	case e.Mixed:
		return New(saveMixed, path, e.Op, e.Err)
	case e.Missing:
		return New(saveMissing, path, e.Op, e.Err)
	case e.Changed:
		return New(saveChanged, path, e.Op, e.Err)
	}
	return New(saveFailed, path, e.Op, e.Err).guarded(path, e.Err)
}

// readOnlyOn returns the row of a read-only file on a system.
func readOnlyOn(system string) string {
	if system == "windows" {
		return readOnlySet
	}
	return readOnly
}
