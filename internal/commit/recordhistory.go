package commit

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"sync"

	"github.com/fsmcp/fsmcp/internal/fsys"
	"github.com/fsmcp/fsmcp/internal/history"
	"github.com/fsmcp/fsmcp/internal/phrase"
	"github.com/fsmcp/fsmcp/internal/save"
	"github.com/fsmcp/fsmcp/internal/span"
	"github.com/fsmcp/fsmcp/internal/state"
	"github.com/fsmcp/fsmcp/internal/toolcall"
)

// HistoryRecorder records changes in the history. It is asked under the file's lock,
// before the bytes are replaced; an error stops the change. A Mark is then
// Done, or Void before that; nil is a mark that says nothing.
type HistoryRecorder interface {
	Keep(ctx context.Context, c history.PendingChange) (*history.Mark, error)
	// Secret reports whether nothing of a file with these names is kept.
	Secret(names []string) bool
}

// batchRecorder records changes that are made together: none of them may be made before Flush
// has returned. Discard gives up what waits (history.Batch).
type batchRecorder interface {
	Keep(ctx context.Context, c history.PendingChange) (*history.Mark, error)
	Flush() error
	Discard()
}

// batch begins to record changes that are made together.
func (c *Committer) batch() batchRecorder {
	if store, ok := c.History.(interface{ Batch() *history.Batch }); ok {
		return store.Batch()
	}
	return oneByOne{c.History}
}

// oneByOne records each change at once.
type oneByOne struct{ HistoryRecorder }

func (oneByOne) Flush() error { return nil }
func (oneByOne) Discard()     {}

// waitForMark waits until a change is recorded.
type waitForMark func() (*history.Mark, error)

// startRecording records what a change is about to replace while the new bytes are written:
// the disk is busy with those anyway. The caller waits for the mark before the change
// shows and before it closes the old file.
func (c *Committer) startRecording(ctx context.Context, describe func() (history.PendingChange, error)) waitForMark {
	wait := sync.OnceValues(func() (*history.Mark, error) {
		change, err := describe()
		if err != nil {
			return nil, err
		}
		return c.History.Keep(ctx, change)
	})
	go func() {
		defer func() { _ = recover() }() // a panic comes out again where it is waited for
		wait()
	}()
	return wait
}

// synced also waits until the record would survive a loss of power: once a file is removed, the
// record has its only bytes.
func synced(recorded waitForMark) waitForMark {
	return sync.OnceValues(func() (*history.Mark, error) {
		mark, err := recorded()
		if err == nil {
			if err = history.SyncMarks([]*history.Mark{mark}); err != nil {
				err = &history.KeepError{Err: err}
			}
		}
		return mark, err
	})
}

// describe describes a change to the history.
func (c *Committer) describe(call toolcall.Call, s *toolcall.Target, old *fsys.File, change *Plan) (k history.PendingChange, err error) {
	if s.Stamp.Nlink > 1 {
		s.Links = c.Opener.Access.Links(s.AllowedFile, func(name string) bool { return c.History.Secret([]string{name}) })
	}
	k = history.PendingChange{Names: s.KnownNames(), Session: call.Session.ID, Tool: s.Op.String(), Call: call.ID, Group: call.Group, Splices: change.Splices, Gone: change.Remove}
	if old == nil {
		k.NewDirs = len(s.MissingDirs())
	}
	if call.Restoring {
		k.Tool = history.ToolRestore
	}
	if old != nil {
		stamp, err := old.Stamp()
		if err != nil {
			return k, err
		}
		k.Old, k.Size = old, stamp.Size
		if change.From != nil && k.Size <= history.WholeLimit { // of a larger file it is not used
			k.From, k.Was = change.From.Raw, sumOf(change.From.Sum())
		}
	}
	if change.Now != nil && k.Size <= history.WholeLimit {
		k.Is = sumOf(change.Now.Sum())
	}
	return k, nil
}

// hookChange describes the change that hooks made to the history.
func hookChange(call toolcall.Call, s *toolcall.Target, was []byte, now *state.KnownFile) history.PendingChange {
	return history.PendingChange{
		Names: s.KnownNames(), Session: call.Session.ID, Tool: history.ToolHook, Call: call.ID, Group: call.Group,
		Old: bytes.NewReader(was), Size: int64(len(was)), From: was, Was: sumOf(sha256.Sum256(was)),
		Splices: []span.Splice{{End: int64(len(was)), New: now.Raw}}, Is: sumOf(now.Sum()),
	}
}

// recordHookChange records the change that hooks made as one of its own. Without it the
// change before, which it follows, could not be restored.
func (w *committing) recordHookChange(ctx context.Context, s *toolcall.Target, was []byte, now *state.KnownFile) []string {
	recorded := w.by.startRecording(ctx, func() (history.PendingChange, error) { return hookChange(w.call, s, was, now), nil })
	mark, err := recorded()
	if err != nil {
		return notKept(&history.Mark{Missed: err})
	}
	defer mark.Done()
	return notKept(mark)
}

// oldForHooks returns the bytes that a change replaces, if the history has recorded it or is
// turned off; nil for a new file, a secret one, and one that is not in memory.
func (c *Plan) oldForHooks(mark *history.Mark, old *fsys.File) []byte {
	if old == nil || mark == nil || mark.ID() == "" && !mark.Off {
		return nil
	}
	raw, _ := c.oldBytes()
	return raw
}

func sumOf(s state.Sum) *history.Sum { return (*history.Sum)(&s) }

// noteUnkept adds the remark that the history has not kept a change, once for a file and
// conversation. A restore gets none: its user has the history's own words.
func (w *committing) noteUnkept(out *toolcall.Outcome, path string, mark *history.Mark) {
	remark := toolcall.Remark{Path: path}
	switch {
	case mark == nil || w.call.Restoring:
		return
	case mark.Secret:
		remark.Text = "the file counts as secret (history.exclude)"
	case mark.Off:
		remark.Text = "the history is turned off (history.enabled)"
	case errors.Is(mark.Missed, history.ErrTooLarge):
		remark.Text = "what it replaces is larger than history.maxSize"
	default:
		return
	}
	if !w.call.Session.WasSaid(remark) {
		out.Said = append(out.Said, remark)
		out.Note(fmt.Sprintf("(fsmcp's history does not keep this change, so it cannot be restored: %s.)", remark.Text))
	}
}

// notKept returns the remark on a change that was made although the history could not record
// it. Two causes have a remark elsewhere: a missing state folder (remarks), and a change that
// is too large (noteUnkept).
func notKept(m *history.Mark) []string {
	if m == nil || m.Missed == nil || errors.As(m.Missed, new(*save.StateError)) || errors.Is(m.Missed, history.ErrTooLarge) {
		return nil
	}
	return []string{fmt.Sprintf("(The old text could not be kept in fsmcp's history: %s.)", phrase.Cause(m.Missed))}
}
