package tools

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/fsmcp/fsmcp/internal/changes"
	"github.com/fsmcp/fsmcp/internal/fsys"
	"github.com/fsmcp/fsmcp/internal/notebook"
	"github.com/fsmcp/fsmcp/internal/perm"
	"github.com/fsmcp/fsmcp/internal/phrase"
	"github.com/fsmcp/fsmcp/internal/refusal"
	"github.com/fsmcp/fsmcp/internal/save"
)

// byteOrderMark is U+FEFF: at the start of a text it is no character of it.
const byteOrderMark = "\ufeff"

// writer answers Write.
type writer struct {
	committer *committer
	opener    opener
	loader    loader
	budget    budget
}

func (w *writer) run(ctx context.Context, call Call, a *WriteArgs) (*Result, error) {
	if isStub(a.Content) {
		return nil, refusal.StubAsText("content")
	}
	return w.committer.commit(ctx, call, perm.Write, &writing{tool: w, call: call, content: a.Content})
}

// writing is one Write under way.
type writing struct {
	tool    *writer
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
	g, b, err := w.look(ctx, s, old)
	switch {
	case err != nil:
		return nil, err
	case b != nil:
		return b.overwrite(ctx, w.content)
	}
	return overwrite(g, w.content)
}

// look reads a file of text that is to be changed; b is not nil for one above
// changeInMemory.
func (w *writing) look(ctx context.Context, s *target, old *fsys.File) (g gate, b *big, err error) {
	g = gate{target: s, budget: w.tool.budget.of(w.call.Client)}
	if err := writable(s, old); err != nil {
		return g, nil, err
	}
	stamp, err := old.Stamp()
	if err != nil {
		return g, nil, err
	}
	if stamp.Size <= changeInMemory {
		g.file, err = w.tool.loader.loadText(w.call.Session, s, old)
		return g, nil, err
	}
	if b, err = w.tool.loader.look(ctx, w.call.Session, s, old, stamp); err == nil {
		b.budget = g.budget
	}
	return g, b, err
}

// create plans a new file.
func (w *writing) create(s *target) (*change, error) {
	if _, shown := w.call.Session.files.Get(s.Path); shown {
		return nil, w.tool.opener.absent(w.call.Session, s)
	}
	if err := s.CheckNewNames(); err != nil {
		return nil, err
	}
	w.created = true
	raw := []byte(w.content)
	head := fmt.Sprintf("The file %s has been created (%s, %s).", s.name(), phrase.LinesOf(w.content), phrase.Bytes(int64(len(raw))))
	return whole(fsys.Stamp{}, raw, s.answer(head, "", notebookNote(s, w.content))), nil
}

// overwrite plans a Write over a file, as a pure function of the file, its record and the
// new content.
func overwrite(g gate, content string) (*change, error) {
	if err := g.passWhole(); err != nil {
		return nil, err
	}
	s, c := g.target, g.file
	if c.Doc.Strays > 0 {
		return nil, refusal.StrayBytes(s.name(), c.Doc.Strays)
	}
	now := content
	if c.Doc.Enc.HasBOM() {
		now = strings.TrimPrefix(content, byteOrderMark)
	}
	raw, err := c.Doc.Enc.EncodeFile(now)
	if err != nil {
		return nil, err
	}
	if bytes.Equal(raw, c.Raw) {
		return &change{result: textResult(fmt.Sprintf("The file %s already has exactly this content; nothing was written.", s.name()), s.note())}, nil
	}
	head := fmt.Sprintf("The file %s has been updated (%s, %s).", s.name(), phrase.LinesOf(now), phrase.Bytes(int64(len(raw))))
	change := whole(c.Stamp, raw, s.answer(head, changes.Summary(c.Doc.Text, now), notebookNote(s, content)))
	change.record.Enc = c.Doc.Enc
	change.from, change.fromHash = c.Raw, c.Hash
	return change, nil
}

// notebookNote tells that what was written under a notebook's name is none.
func notebookNote(s *target, content string) string {
	if !isNotebook(s) {
		return ""
	}
	var at *notebook.ParseError
	if _, err := notebook.Parse([]byte(content)); !errors.As(err, &at) {
		return ""
	}
	return fmt.Sprintf("(The content is no valid notebook: %s at byte %d.)", at.What, at.Offset)
}

// overwrite plans a Write over the file.
func (b *big) overwrite(ctx context.Context, content string) (*change, error) {
	if err := b.shownInFull(ctx); err != nil {
		return nil, err
	}
	raw, err := b.scan.Enc().EncodeFile(content)
	if err != nil {
		return nil, err
	}
	head := fmt.Sprintf("The file %s has been updated (%s, %s; it had %s).", b.target.name(), phrase.LinesOf(content), phrase.Bytes(int64(len(raw))), phrase.Bytes(b.stamp.Size))
	change := whole(b.stamp, raw, b.target.answer(head, ""))
	change.parts, change.record.Enc = b.rec.Parts, b.scan.Enc()
	return change, nil
}
