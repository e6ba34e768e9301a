package commit

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"

	"github.com/fsmcp/fsmcp/internal/access"
	"github.com/fsmcp/fsmcp/internal/changes"
	"github.com/fsmcp/fsmcp/internal/fsys"
	"github.com/fsmcp/fsmcp/internal/hooks"
	"github.com/fsmcp/fsmcp/internal/phrase"
	"github.com/fsmcp/fsmcp/internal/refusal"
	"github.com/fsmcp/fsmcp/internal/span"
	"github.com/fsmcp/fsmcp/internal/state"
	"github.com/fsmcp/fsmcp/internal/text"
	"github.com/fsmcp/fsmcp/internal/toolcall"
)

// wanted returns the names of a file as hooks know it, and whether any run before and after
// it is changed. None run for a restore.
func (w *committing) wanted(s *toolcall.Target) (names []string, before, after bool) {
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

// beforeHooks runs the hooks before a change, once for a file.
func (w *committing) beforeHooks(ctx context.Context, s *toolcall.Target) error {
	names, before, _ := w.wanted(s)
	if !before || w.passed == s.Path {
		return nil
	}
	defer w.call.Rest()()
	defer w.call.Session.Reminders.OwnChanges()()
	faults, stop, err := w.by.Hooks.Before(ctx, w.edited(names, nil))
	switch {
	case err != nil:
		return err
	case stop != nil:
		return refusal.HookRefusal(*stop, s.Name())
	}
	w.passed, w.faults = s.Path, append(w.faults, faults...)
	return nil
}

// afterHooks runs the hooks after a change that was made, looks at the file again, and
// finishes the answer. From here on the call can only succeed. A client that gives it up
// now would leave a formatter in the middle of its work, so that only its deadline ends it.
func (w *committing) afterHooks(ctx context.Context, s *toolcall.Target, m made) {
	if m.change == nil {
		return
	}
	if names, _, after := w.wanted(s); after {
		ctx = context.WithoutCancel(ctx)
		w.faults = append(w.faults, w.runAfter(ctx, w.edited(names, m.old))...)
		if note := w.reloadAfterHooks(ctx, s, m); note != "" {
			m.result.Blocks[0].Text += "\n" + note
		}
	}
	if len(w.faults) > 0 {
		m.result.Blocks[0].Text += "\n" + refusal.HookFaults(w.faults)
	}
}

func (w *committing) runAfter(ctx context.Context, e Edited) []hooks.Report {
	defer w.call.Rest()()
	defer w.call.Session.Reminders.OwnChanges()()
	return w.by.Hooks.After(ctx, e)
}

// reloadAfterHooks looks at the file after hooks have run, by the same resolver and decision
// as before. Where it is not what the call had made of it, the record follows, and
// the note that comes back shows what is different: only what the caller has sent
// or is shown counts as shown.
func (w *committing) reloadAfterHooks(ctx context.Context, s *toolcall.Target, m made) (note string) {
	call, files := w.call, w.call.Session.Files
	lost := func(format string, a ...any) string {
		files.Forget(s.Path)
		w.lost = true
		return "(" + fmt.Sprintf(format, a...) + ")"
	}
	t, err := w.by.Opener.Access.Check(call.Request(s.Op, s.Asked))
	if err != nil {
		return lost("After the user's hooks the file cannot be looked at here any more; Read tells why.")
	}
	defer t.Close()
	switch {
	case t.Kind == fsys.Missing:
		return lost("After the user's hooks the file is not there any more: one of them moved or deleted it.")
	case t.Kind != fsys.Regular || t.Path != s.Path:
		return lost("After the user's hooks something else stands in the place of the file, such as a link or a folder: read it before you go on.")
	case m.change.Size() > state.InMemory:
		if t.Stamp.SameFile(m.change.Record.Stamp) && t.Stamp.Size == m.change.Record.Stamp.Size && t.Stamp.Mtime == m.change.Record.Stamp.Mtime {
			return ""
		}
		m.result.Meta["fsmcp/size"] = t.Stamp.Size
		delete(m.result.Meta, "fsmcp/hash")
		return "(The user's hooks changed the file after this. It is too large to show how: read the places that you go on with.)"
	}
	c, err := w.reread(ctx, t)
	var large *fsys.TooLargeError
	switch {
	case errors.As(err, &large):
		return lost("The user's hooks changed the file after this: it has %s now. Read it before you go on.", phrase.Bytes(large.Size))
	case err != nil:
		return lost("After the user's hooks the file could not be read: read it before you go on.")
	}
	rec, sum := m.change.Record, c.Sum()
	if m.change.Now != nil && m.change.Now.Sum() == sum {
		rec.Stamp, rec.Settled = c.Stamp, c.Settled
		files.Put(s.Path, rec)
		return ""
	}
	w.now = c.Raw
	m.result.Meta["fsmcp/hash"], m.result.Meta["fsmcp/size"] = hex.EncodeToString(sum[:]), int64(len(c.Raw))
	note = w.showHookChange(c, m, lost)
	if was, ok := m.change.newBytes(); ok {
		for _, n := range w.by.hookChange(ctx, call, s, was, c) {
			note += "\n" + n
		}
	}
	return note
}

// reread reads a file by its target alone.
func (w *committing) reread(ctx context.Context, t *fsys.Target) (*state.File, error) {
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
	return w.by.Loader.Load(w.call.Session, &toolcall.Target{File: &access.File{Target: t}}, f)
}

// showHookChange moves the record to what hooks have made of a file, and shows it.
func (w *committing) showHookChange(c *state.File, m made, lost func(string, ...any) string) string {
	rec := m.change.Record
	var err error
	if c.Doc, err = changes.Decode(c.Raw, rec.Enc); err != nil {
		return lost("The user's hooks changed the file after this: it is no text any more.")
	}
	put := func(shown span.Set) { w.call.Session.Files.Put(c.Path, c.Recorded(shown)) }
	was, ok := m.change.newBytes()
	old, err := text.DecodeAs(was, rec.Enc)
	if !ok || err != nil || old.Enc != c.Doc.Enc {
		put(nil)
		return "(The user's hooks changed the file after this, more than can be shown: read it before you change it again.)"
	}
	then, _ := state.Compare(state.Memory(was), int64(len(was)), rec, nil) // from memory
	diff := changes.Of(old, c.Doc)
	put(then.Seen.Through(diff.Splices, false))
	body, shown, more := diff.First()
	head := fmt.Sprintf("The user's hooks changed the file after this %s:\n", changes.Form)
	if m.hidden || !w.by.Budget.Of(w.call.Client).Passes(m.result.Blocks[0].Text+head+body) {
		return "(The user's hooks changed the file after this, more than can be shown here: read it before you change it again.)"
	}
	m.result.Shown = append(m.result.Shown, toolcall.Shown{Path: c.Path, Record: c.WithShown(state.Record{}, shown), Added: true})
	if more > 0 {
		return head + body + fmt.Sprintf("\n… (%d more changed lines, which count as not shown)", more)
	}
	return head + body
}
