package tools

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/fsmcp/fsmcp/internal/changes"
	"github.com/fsmcp/fsmcp/internal/fsys"
	"github.com/fsmcp/fsmcp/internal/media"
	"github.com/fsmcp/fsmcp/internal/notebook"
	"github.com/fsmcp/fsmcp/internal/perm"
	"github.com/fsmcp/fsmcp/internal/phrase"
	"github.com/fsmcp/fsmcp/internal/refusal"
	"github.com/fsmcp/fsmcp/internal/save"
	"github.com/fsmcp/fsmcp/internal/span"
	"github.com/fsmcp/fsmcp/internal/state"
)

// byteOrderMark is U+FEFF: at the start of a text it is no character of it.
const byteOrderMark = "\ufeff"

// write answers Write.
func (h *Service) write(ctx context.Context, call Call, a *WriteArgs) (*Result, error) {
	if isStub(a.Content) {
		return nil, refusal.StubAsText("content")
	}
	w := writing{Service: h, call: call, content: a.Content}
	return h.commit(ctx, call, perm.Write, w.plan)
}

// writing is one Write under way.
type writing struct {
	*Service
	call    Call
	content string
	created bool // the first look found no file
}

func (w *writing) plan(ctx context.Context, s *target, old *fsys.File) (*change, error) {
	switch {
	case old == nil:
		return w.create(s)
	case w.created:
		return nil, save.ErrExists
	}
	if err := writable(s, old); err != nil {
		return nil, err
	}
	stamp, err := old.Stamp()
	if err != nil {
		return nil, err
	}
	if stamp.Size > changeInMemory {
		return w.overBig(ctx, s, old, stamp)
	}
	c, err := w.loadText(w.call, s, old)
	if err != nil {
		return nil, err
	}
	if err := w.shown(s, c); err != nil {
		return nil, err
	}
	if c.doc.Strays > 0 {
		return nil, refusal.StrayBytes(s.name(), c.doc.Strays)
	}
	content := w.content
	if c.doc.Enc.HasBOM() {
		content = strings.TrimPrefix(content, byteOrderMark)
	}
	raw, err := c.doc.Enc.EncodeFile(content)
	if err != nil {
		return nil, err
	}
	if bytes.Equal(raw, c.raw) {
		return &change{result: textResult(fmt.Sprintf("The file %s already has exactly this content; nothing was written.", s.name()), s.note())}, nil
	}
	head := fmt.Sprintf("The file %s has been updated (%s, %s).", s.name(), phrase.LinesOf(content), phrase.Bytes(int64(len(raw))))
	change := whole(c.stamp, raw, s.answer(head, changes.Summary(c.doc.Text, content), w.notebookNote(s)))
	change.record.Enc = c.doc.Enc
	change.from, change.fromHash = c.raw, c.hash
	return change, nil
}

// shown is the gate of Write: everything must have been shown, of a notebook
// all its cells.
func (w *writing) shown(s *target, c *loadedFile) error {
	if c.known && isNotebook(s) {
		nb, err := notebook.Parse(c.raw)
		switch {
		case err == nil && c.unchanged():
			return w.cellsShown(nb, c, c.rec)
		case err == nil:
			return w.changedNotebook(w.call, c)
		}
	}
	_, err := w.gate(w.call, c, nil)
	return err
}

func (w *writing) cellsShown(nb *notebook.Notebook, c *loadedFile, rec state.Record) error {
	if cell := firstUnseen(nb, rec); cell != nil {
		return refusal.UnseenInNotebook(c.name, cell.Name)
	}
	return nil
}

// firstUnseen is the first cell of a notebook that was not shown; nil where all were.
func firstUnseen(nb *notebook.Notebook, rec state.Record) *notebook.Cell {
	for _, cell := range nb.Cells() {
		if !rec.Shown.Covers(cell.Source) {
			return &cell
		}
	}
	return nil
}

// notebookNote tells that what was written under a notebook's name is none.
func (w *writing) notebookNote(s *target) string {
	var at *notebook.ParseError
	if _, err := notebook.Parse([]byte(w.content)); !isNotebook(s) || !errors.As(err, &at) {
		return ""
	}
	return fmt.Sprintf("(The content is no valid notebook: %s at byte %d.)", at.What, at.Offset)
}

// create plans a new file.
func (w *writing) create(s *target) (*change, error) {
	if _, shown := w.call.Session.files.Get(s.Path); shown {
		return nil, w.absent(w.call, s)
	}
	if err := s.CheckNewNames(); err != nil {
		return nil, err
	}
	w.created = true
	raw := []byte(w.content)
	head := fmt.Sprintf("The file %s has been created (%s, %s).", s.name(), phrase.LinesOf(w.content), phrase.Bytes(int64(len(raw))))
	return whole(fsys.Stamp{}, raw, s.answer(head, "", w.notebookNote(s))), nil
}

// overBig plans a Write over a file that is compared by its shown parts only.
func (w *writing) overBig(ctx context.Context, s *target, old *fsys.File, stamp fsys.Stamp) (*change, error) {
	b, err := w.look(ctx, w.call, s, old, stamp)
	if err != nil {
		return nil, err
	}
	if err := b.shownInFull(ctx); err != nil {
		return nil, err
	}
	raw, err := b.scan.Enc().EncodeFile(w.content)
	if err != nil {
		return nil, err
	}
	head := fmt.Sprintf("The file %s has been updated (%s, %s; it had %s).", s.name(), phrase.LinesOf(w.content), phrase.Bytes(int64(len(raw))), phrase.Bytes(stamp.Size))
	change := whole(stamp, raw, s.answer(head, ""))
	change.parts, change.record.Enc = b.rec.Parts, b.scan.Enc()
	return change, nil
}

// whole is the change that puts raw in the place of everything.
func whole(stamp fsys.Stamp, raw []byte, result *Result) *change {
	if raw == nil {
		raw = []byte{} // an empty text is known; nil would say that it is not
	}
	sum := sha256.Sum256(raw)
	c := &change{
		stamp:   stamp,
		splices: []span.Splice{{End: stamp.Size, New: raw}},
		result:  result,
		record:  state.Record{Hash: sum, Shown: span.Set{}.Add(span.Span{End: int64(len(raw))}), Origin: state.ByWrite, Content: raw},
	}
	if len(raw) > state.WholeHash {
		c.record.Parts = []state.Part{{Span: span.Span{End: int64(len(raw))}, Sum: sum}}
	}
	c.result.Meta = map[string]any{"fsmcp/hash": hex.EncodeToString(sum[:]), "fsmcp/size": len(raw)}
	return c
}

// writable refuses what no change may touch by its first bytes: pictures and
// PDFs.
func writable(s *target, old *fsys.File) error {
	head := make([]byte, media.HeadSize)
	n, err := old.ReadAt(head, 0)
	if err != nil && err != io.EOF {
		return err
	}
	if kind := media.Sniff(head[:n], s.Asked.Ext()); kind != media.None {
		return refusal.NotText(s.name(), kind.String())
	}
	return nil
}
