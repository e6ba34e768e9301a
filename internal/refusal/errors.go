package refusal

import (
	"context"
	"errors"
	"io"
	"io/fs"

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

// sentinels are the rows of errors without facts; their sentences take the path. The first
// that fits counts.
var sentinels = []struct {
	err error
	row string
}{
	{notebook.ErrSource, badSource},
	{text.ErrBinary, binaryInPart},
	{fsys.ErrLoop, linkLoop},
	{fsys.ErrNotDir, fileInPath},
	{access.ErrElsewhere, keptBusy},
	{fsys.ErrMoved, keptBusy},
	{fs.ErrNotExist, nothingThere},
	{fsys.ErrUnstable, beingWritten},
	{io.EOF, beingWritten},
	{io.ErrUnexpectedEOF, beingWritten},
	{save.ErrModified, changedWhileSaving},
	{save.ErrExists, appeared},
	{save.ErrVanished, vanished},
	{save.ErrReadOnly, readOnly},
	{ErrStopping, stopping},
	{context.Canceled, cancelled},
	{context.DeadlineExceeded, deadline},
}

// Of words an error of a call whose file argument was raw.
func Of(raw string, err error) *Refusal {
	if r := (*Refusal)(nil); errors.As(err, &r) {
		return r
	}
	if e := (*fsys.PathError)(nil); errors.As(err, &e) {
		return New(badPath, raw, e.Reason)
	}
	path := fsys.InSentence(raw)
	for _, find := range []func(path string, err error) *Refusal{ofClipboard, ofHistory, ofEdit, ofSentinel, ofSaving} {
		if r := find(path, err); r != nil {
			return r
		}
	}
	return New(otherError, path, err)
}

func ofSentinel(path string, err error) *Refusal {
	for _, s := range sentinels {
		if errors.Is(err, s.err) {
			return New(s.row, path)
		}
	}
	return nil
}

func ofClipboard(_ string, err error) *Refusal {
	var missing *clipboard.MissingError
	var failed *clipboard.FailedError
	var large *clipboard.TooLargeError
	switch {
	case errors.Is(err, clipboard.ErrEmpty):
		return New(clipboardEmpty)
	case errors.Is(err, clipboard.ErrTooLong):
		return New(clipboardLate)
	case errors.As(err, &large):
		return New(clipboardLarge, phrase.Bytes(large.Limit))
	case errors.As(err, &missing) && missing.Program.Package != "":
		return New(clipboardNoPackage, missing.Program.Name, missing.Program.Package)
	case errors.As(err, &missing):
		return New(clipboardNoProgram, missing.Program.Name)
	case errors.As(err, &failed):
		return New(clipboardFailed, failed.Program.Name, failed.Said)
	}
	return nil
}

// ofHistory words why a change could not be recorded or made safe.
func ofHistory(path string, err error) *Refusal {
	var busy *save.BusyError
	var keep *history.KeepError
	var locks *save.NoStateError
	var journal *save.NoJournalError
	var audit *AuditError
	switch {
	case errors.As(err, &busy):
		return New(saveBusy, path, busy.Why)
	case errors.As(err, &keep):
		return New(noHistory, path, keep.Err)
	case errors.As(err, &locks):
		return New(noLocks, path, NoState(locks.State), fsys.InSentence(locks.Dir), fsys.InSentence(phrase.Cause(locks.Temp)))
	case errors.As(err, &journal):
		why := "it has several hard links, and keepHardLinks is set"
		if journal.Why != nil {
			why = phrase.Cause(journal.Why)
		}
		return New(noJournal, path, why, NoState(journal.State))
	case errors.As(err, &audit):
		return New(noAudit, path, audit.Err)
	}
	return nil
}

// NoState says why the state folder is not used.
func NoState(e *save.StateError) string { return fsys.InSentence(e.Error()) }

// ofEdit words what the new text cannot be.
func ofEdit(_ string, err error) *Refusal {
	var char *text.UnencodableError
	var same *edit.StrippedToSameError
	switch {
	case errors.As(err, &char):
		return New(unencodable, text.Visible(string(char.Rune)), char.Rune, char.Line)
	case errors.As(err, &same):
		return New(strippedToSame, same.What)
	case errors.Is(err, edit.ErrSame):
		return New(sameStrings)
	}
	return nil
}

// ofSaving words an error of the file system while a change was saved.
func ofSaving(path string, err error) *Refusal {
	var e *save.IOError
	switch {
	case !errors.As(err, &e):
		return nil
	case e.Mixed:
		return New(saveMixed, path, e.Op, e.Err)
	case e.Changed:
		return New(saveChanged, path, e.Op, e.Err)
	}
	return New(saveFailed, path, e.Op, e.Err)
}
