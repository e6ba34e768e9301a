package commit

import (
	"context"
	"errors"
	"fmt"

	"github.com/fsmcp/fsmcp/internal/access"
	"github.com/fsmcp/fsmcp/internal/changes"
	"github.com/fsmcp/fsmcp/internal/fsys"
	"github.com/fsmcp/fsmcp/internal/hooks"
	"github.com/fsmcp/fsmcp/internal/phrase"
	"github.com/fsmcp/fsmcp/internal/refusal"
	"github.com/fsmcp/fsmcp/internal/state"
	"github.com/fsmcp/fsmcp/internal/text"
	"github.com/fsmcp/fsmcp/internal/toolcall"
)

// hooksFor returns the names of a file as hooks know it, and whether any run before and after
// it is changed. None run for a restore.
func (w *committing) hooksFor(s *toolcall.Target) (names []string, before, after bool) {
	if w.by.Hooks == nil || w.call.Restoring {
		return nil, false, false
	}
	names = s.AllNames()
	before, after = w.by.Hooks.Wanted(names)
	return names, before, after
}

// edited is the change as hooks are told of it.
func (w *committing) edited(names []string, old []byte) Edited {
	return Edited{Names: names, Tool: w.op.String(), Session: w.call.Session.ID, Call: w.call.ID, Old: old}
}

// beforeHooks runs the hooks before a change, once for a file. A large file is not kept in
// memory for so long: it is loaded, and the change planned, again under the lock.
func (w *committing) beforeHooks(ctx context.Context, s *toolcall.Target, c *Plan) error {
	names, before, _ := w.hooksFor(s)
	if !before || w.hooksPassed == s.Path {
		return nil
	}
	c.dropLarge()
	s.Drop()
	defer w.call.Rest()()
	defer w.call.Session.Reminders.OwnChanges()()
	faults, stop, err := w.by.Hooks.Before(ctx, w.edited(names, nil))
	switch {
	case err != nil:
		return err
	case stop != nil:
		return refusal.HookRefusal(*stop, s.Name())
	}
	w.hooksPassed = s.Path
	w.faults = append(w.faults, faults...)
	return nil
}

// afterHooks runs the hooks after a change that was made, looks at the file again, and
// completes m. From here on the call can only succeed. A client that gives it up now would
// leave a formatter in the middle of its work, so that only its deadline ends it.
func (w *committing) afterHooks(ctx context.Context, s *toolcall.Target, m *applied) {
	if names, _, after := w.hooksFor(s); after {
		ctx = context.WithoutCancel(ctx)
		faults := w.runAfter(ctx, w.edited(names, m.old))
		w.faults = append(w.faults, faults...)
		w.reloadAfterHooks(ctx, s, m)
	}
	if len(w.faults) > 0 {
		m.Note(refusal.HookFaults(w.faults))
	}
}

func (w *committing) runAfter(ctx context.Context, e Edited) []hooks.Report {
	defer w.call.Rest()()
	defer w.call.Session.Reminders.OwnChanges()()
	return w.by.Hooks.After(ctx, e)
}

// forget drops the record of a file that hooks have changed, and says why.
func (m *applied) forget(format string, a ...any) {
	m.record = nil
	m.Note("(" + fmt.Sprintf(format, a...) + ")")
}

// lose is forget; the answer does not give the hash and size of what the call had made either.
func (m *applied) lose(format string, a ...any) {
	m.Facts.Hash, m.Facts.Size = state.Sum{}, nil
	m.forget(format, a...)
}

// reloadAfterHooks looks at the file after hooks have run, by the same resolver and decision
// as before. If hooks have changed what the call had made of it, the record follows, and
// a note shows what is different: only what the caller has sent or is shown counts as shown.
func (w *committing) reloadAfterHooks(ctx context.Context, s *toolcall.Target, m *applied) {
	t, err := w.by.Opener.Access.Check(w.call.Request(s.Op, s.Asked))
	if err != nil {
		m.lose("After the user's hooks the file cannot be looked at here any more; Read tells why.")
		return
	}
	defer t.Close()
	switch {
	case t.Kind == fsys.Missing:
		m.lose("After the user's hooks the file is not there any more: a hook or another program moved or deleted it.")
		return
	case t.Kind != fsys.Regular || t.Path != s.Path:
		m.lose("After the user's hooks something else stands in the place of the file, such as a link or a folder: read it before you go on.")
		return
	case m.change.Size() > state.InMemory:
		if now, was := t.Stamp, m.change.Record.Stamp; !now.SameFile(was) || now.Size != was.Size || now.Mtime != was.Mtime {
			m.Facts.Size, m.Facts.Hash = new(now.Size), state.Sum{}
			m.Note("(The user's hooks changed the file after this. It is too large to show how: read the places that you go on with.)")
		}
		return
	}
	c, err := w.reread(ctx, t)
	if err == nil {
		c.Notebook = toolcall.IsNotebook(s)
	}
	var large *fsys.TooLargeError
	switch {
	case errors.As(err, &large):
		m.lose("The user's hooks changed the file after this: it has %s now. Read it before you go on.", phrase.Bytes(large.Size))
		m.Facts.Size = &large.Size
		return
	case err != nil:
		m.lose("After the user's hooks the file could not be read: read it before you go on.")
		return
	}
	sum := c.Sum()
	if now := m.change.Now; now != nil && now.Sum() == sum {
		m.record.Stamp, m.record.Settled = c.Stamp, c.Settled
		return
	}
	m.now = c.Raw
	m.Facts.Hash, m.Facts.Size = sum, new(int64(len(c.Raw)))
	w.showHookChange(c, m)
	if was, ok := m.change.newBytes(); ok {
		m.Note(w.recordHookChange(ctx, s, was, c)...)
	}
}

// reread reads a file by its target alone.
func (w *committing) reread(ctx context.Context, t *fsys.Target) (*state.KnownFile, error) {
	f, err := t.Open()
	if err != nil {
		return nil, err
	}
	defer f.Close()
	leave, err := w.by.Loader.Admit(ctx, t.Stamp.Size)
	if err != nil {
		return nil, err
	}
	defer leave()
	return w.by.Loader.Load(w.call.Session, &toolcall.Target{AllowedFile: &access.AllowedFile{Target: t}}, f)
}

// showHookChange moves the record to what hooks have made of a file, and shows it.
func (w *committing) showHookChange(c *state.KnownFile, m *applied) {
	rec := m.change.Record
	var err error
	if c.Doc, err = changes.Decode(c.Raw, rec.Enc); err != nil {
		m.forget("The user's hooks changed the file after this: it is no text any more.")
		return
	}
	was, ok := m.change.newBytes()
	old, err := text.DecodeAs(was, rec.Enc)
	if !ok || err != nil || old.Enc != c.Doc.Enc {
		m.record = new(c.Recorded(nil))
		m.Note("(The user's hooks changed the file after this, more than can be shown: read it before you change it again.)")
		return
	}
	then, _ := state.Compare(state.Memory(was), int64(len(was)), rec, nil) // from memory
	diff := changes.Of(old, c.Doc)
	m.record = new(c.Recorded(then.Seen.Through(diff.Splices, false)))
	body, shown, more := diff.First()
	head := fmt.Sprintf("The user's hooks changed the file after this %s:\n", changes.Form)
	if w.hidden || !w.by.Budget.ForClient(w.call.Client).Passes(m.Text()+head+body) {
		m.Note("(The user's hooks changed the file after this, more than can be shown here: read it before you change it again.)")
		return
	}
	m.Shown = append(m.Shown, toolcall.Shown{Path: c.Path, How: toolcall.Added, Record: c.WithShown(state.Record{}, shown)})
	m.Note(head + body)
	if more > 0 {
		m.Note(fmt.Sprintf("… (%d more changed lines, which count as not shown)", more))
	}
}
