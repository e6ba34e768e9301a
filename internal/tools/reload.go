package tools

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"

	"github.com/fsmcp/fsmcp/internal/access"
	"github.com/fsmcp/fsmcp/internal/changes"
	"github.com/fsmcp/fsmcp/internal/fsys"
	"github.com/fsmcp/fsmcp/internal/history"
	"github.com/fsmcp/fsmcp/internal/phrase"
	"github.com/fsmcp/fsmcp/internal/span"
	"github.com/fsmcp/fsmcp/internal/state"
	"github.com/fsmcp/fsmcp/internal/text"
)

// reloadAfterHooks looks at the file after hooks have run, by the same resolver and decision
// as before. Where it is not what the call had made of it, the record follows, and
// the note that comes back shows what is different: only what the caller has sent
// or is shown counts as shown.
func (h *Service) reloadAfterHooks(ctx context.Context, call Call, s *target, m made) (note string) {
	lost := func(format string, a ...any) string {
		call.Session.files.Forget(s.Path)
		return "(" + fmt.Sprintf(format, a...) + ")"
	}
	t, err := h.Access.Check(call.request(s.Op, s.Asked))
	if err != nil {
		return lost("After the user's hooks the file cannot be looked at here any more; Read tells why.")
	}
	defer t.Close()
	switch {
	case t.Kind == fsys.Missing:
		return lost("After the user's hooks the file is not there any more: one of them moved or deleted it.")
	case t.Kind != fsys.Regular || t.Path != s.Path:
		return lost("After the user's hooks something else stands in the place of the file, such as a link or a folder: read it before you go on.")
	case m.change.size() > changeInMemory:
		if t.Stamp.SameFile(m.change.record.Stamp) && t.Stamp.Size == m.change.record.Stamp.Size && t.Stamp.Mtime == m.change.record.Stamp.Mtime {
			return ""
		}
		m.result.Meta["fsmcp/size"] = t.Stamp.Size
		delete(m.result.Meta, "fsmcp/hash")
		return "(The user's hooks changed the file after this. It is too large to show how: read the places that you go on with.)"
	}
	c, err := h.reread(ctx, call, t)
	var large *fsys.TooLargeError
	switch {
	case errors.As(err, &large):
		return lost("The user's hooks changed the file after this: it has %s now. Read it before you go on.", phrase.Bytes(large.Size))
	case err != nil:
		return lost("After the user's hooks the file could not be read: read it before you go on.")
	}
	rec, sum := m.change.record, c.hash()
	if made, ok := m.change.sum(); ok && made == sum {
		rec.Stamp, rec.Settled = c.stamp, c.settled
		call.Session.files.Put(s.Path, rec)
		return ""
	}
	m.result.Meta["fsmcp/hash"], m.result.Meta["fsmcp/size"] = hex.EncodeToString(sum[:]), len(c.raw)
	note = h.showHookChange(call, c, m, lost)
	if was, ok := m.bytes(); ok {
		for _, n := range h.recordHookChange(ctx, call, s, was, c) {
			note += "\n" + n
		}
	}
	return note
}

// recordHookChange records the change that hooks made as one of its own. Without it the
// change before, on which it lies, could not be restored.
func (h *Service) recordHookChange(ctx context.Context, call Call, s *target, was []byte, c *loadedFile) []string {
	if h.History == nil {
		return nil
	}
	from, to := state.Sum(sha256.Sum256(was)), c.hash()
	mark, err := h.History.Keep(ctx, history.Change{
		Names: s.knownNames(), Session: call.Session.id, Tool: history.ToolHook, Call: call.ID,
		Old: bytes.NewReader(was), Size: int64(len(was)), From: was, Was: sumOf(from),
		Splices: []span.Splice{{End: int64(len(was)), New: c.raw}}, Is: sumOf(to),
	})
	if err != nil {
		return missed(&history.Mark{Missed: err})
	}
	defer mark.Done()
	return missed(mark)
}

// reread reads a file by its target alone.
func (h *Service) reread(ctx context.Context, call Call, t *fsys.Target) (*loadedFile, error) {
	f, err := t.Open()
	if err != nil {
		return nil, err
	}
	defer f.Close()
	leave, err := h.admit(ctx, t.Stamp.Size)
	if err != nil {
		return nil, err
	}
	defer leave()
	return h.load(call, &target{File: &access.File{Target: t}}, f)
}

// showHookChange moves the record to what hooks have made of a file, and shows it.
func (h *Service) showHookChange(call Call, c *loadedFile, m made, lost func(string, ...any) string) string {
	rec := m.change.record
	var err error
	if c.doc, err = changes.Decode(c.raw, rec.Enc); err != nil {
		return lost("The user's hooks changed the file after this: it is no text any more.")
	}
	put := func(shown span.Set) {
		call.Session.files.Put(c.path, c.recorded(shown, rec.Origin))
	}
	was, ok := m.bytes()
	old, err := text.DecodeAs(was, rec.Enc)
	if !ok || err != nil || old.Enc != c.doc.Enc {
		put(nil)
		return "(The user's hooks changed the file after this, more than can be shown: read it before you change it again.)"
	}
	if rec.Parts != nil {
		parts, _, _ := standing(bytes.NewReader(was), rec.Parts, nil)
		rec.Shown = shownBy(parts)
	}
	diff := changes.Of(old, c.doc)
	put(rec.Shown.Through(diff.Splices, false))
	body, shown, more := diff.First()
	head := fmt.Sprintf("The user's hooks changed the file after this %s:\n", changes.Form)
	if !h.passed(call, m.result.Blocks[0].Text+head+body) {
		return "(The user's hooks changed the file after this, more than can be shown here: read it before you change it again.)"
	}
	m.result.Shown = append(m.result.Shown, Shown{Path: c.path, Record: c.withShown(state.Record{Stamp: c.stamp}, shown), Added: true})
	if more > 0 {
		return head + body + fmt.Sprintf("\n… (%d more changed lines, which count as not shown)", more)
	}
	return head + body
}

// size returns the file's size after the change.
func (c *change) size() int64 { return c.stamp.Size + span.Growth(c.splices) }

// sum is the hash of the file after the change, where it is known.
func (c *change) sum() (state.Sum, bool) {
	if c.after != nil {
		sum, _ := c.after()
		return sum, true
	}
	return c.record.Hash, c.record.Hash != (state.Sum{})
}

// bytes are those that the change has put into the file, where they are known.
func (m made) bytes() (b []byte, ok bool) {
	c := m.change
	if c.record.Content != nil {
		return c.record.Content, true
	}
	var out bytes.Buffer
	err := span.Copy(&out, bytes.NewReader(c.from), c.stamp.Size, c.splices, span.Span{End: c.size()})
	return out.Bytes(), err == nil
}
