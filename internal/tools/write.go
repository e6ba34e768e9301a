package tools

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/fsmcp/fsmcp/internal/changes"
	"github.com/fsmcp/fsmcp/internal/commit"
	"github.com/fsmcp/fsmcp/internal/fsys"
	"github.com/fsmcp/fsmcp/internal/gate"
	"github.com/fsmcp/fsmcp/internal/media"
	"github.com/fsmcp/fsmcp/internal/notebook"
	"github.com/fsmcp/fsmcp/internal/perm"
	"github.com/fsmcp/fsmcp/internal/phrase"
	"github.com/fsmcp/fsmcp/internal/refusal"
	"github.com/fsmcp/fsmcp/internal/save"
	"github.com/fsmcp/fsmcp/internal/state"
	"github.com/fsmcp/fsmcp/internal/toolcall"
)

// byteOrderMark is U+FEFF: at the start of a text it is no character of it.
const byteOrderMark = "\ufeff"

// writer answers Write.
type writer struct{ committer *commit.Committer }

func (w *writer) run(ctx context.Context, call toolcall.Call, a *WriteArgs) toolcall.Outcome {
	if isStub(a.Content) {
		return toolcall.Failed(refusal.New(refusal.StubAsText, "content"))
	}
	return w.committer.Commit(ctx, call, perm.Write, &writing{by: w.committer, call: call, content: a.Content, append: a.Append})
}

// writing is one Write under way.
type writing struct {
	by      *commit.Committer
	call    toolcall.Call
	content string
	append  bool // content goes behind what the file holds
	created bool // the first look found no file
}

// Plan implements commit.Planner.
func (w *writing) Plan(ctx context.Context, s *toolcall.Target, old *fsys.File) (*commit.Plan, error) {
	switch {
	case old == nil:
		return w.create(s)
	case w.append:
		return w.extend(ctx, s, old)
	case w.created:
		return nil, save.ErrExists
	}
	return w.overwrite(ctx, s, old)
}

// overwrite plans a Write over a file.
func (w *writing) overwrite(ctx context.Context, s *toolcall.Target, old *fsys.File) (*commit.Plan, error) {
	stamp, err := old.Stamp()
	if err != nil {
		return nil, err
	}
	if stamp.Size > state.InMemory {
		if _, known := w.call.Session.Files.Get(s.Path); !known {
			return nil, refusal.New(refusal.NotRead, s.Name())
		}
	}
	g, err := w.load(ctx, s, old)
	if err != nil {
		return nil, err
	}
	return overwrite(g, w.content)
}

// load reads a file of text that is to be changed.
func (w *writing) load(ctx context.Context, s *toolcall.Target, old *fsys.File) (g gate.Gate, err error) {
	g = gate.Gate{Target: s, Budget: w.by.Budget.ForClient(w.call.Client)}
	if err = writable(s, old); err == nil {
		g.File, err = w.by.Loader.LoadText(ctx, w.call.Session, s, old)
	}
	return g, err
}

// writable refuses to change a picture, a PDF or an Office document, by its first bytes.
func writable(s *toolcall.Target, old *fsys.File) error {
	kind, err := kindOf(old, media.HeadSize, s.Asked.Ext())
	if err == nil && kind == media.Office {
		return refusal.Binary(s.Asked, true)
	}
	if err == nil && kind != media.None {
		return refusal.New(refusal.NotText, s.Name(), kind.String())
	}
	return err
}

// create plans a new file.
func (w *writing) create(s *toolcall.Target) (*commit.Plan, error) {
	if _, shown := w.call.Session.Files.Get(s.Path); shown {
		return commit.Refused(w.by.Opener.Absent(w.call.Session, s))
	}
	if err := s.CheckNewNames(); err != nil {
		return nil, err
	}
	w.created = true
	raw := []byte(w.content)
	head := fmt.Sprintf("The file %s has been created (%s, %s).", s.Name(), phrase.LinesOf(w.content), phrase.Bytes(int64(len(raw))))
	return commit.Whole(fsys.Stamp{}, raw, s.Answer(head, "", notebookNote(s, w.content))), nil
}

// overwrite plans a Write over a file, as a pure function of the file, its record and the
// new content.
func overwrite(g gate.Gate, content string) (*commit.Plan, error) {
	if out := g.AllowWrite(); out.Err != nil {
		return commit.Refused(out)
	}
	s, c := g.Target, g.File
	if c.Doc.Strays > 0 {
		return nil, refusal.New(refusal.StrayBytes, s.Name(), c.Doc.Strays)
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
		return commit.Answered(s.Answer(fmt.Sprintf("The file %s already has exactly this content; nothing was written.", s.Name()), "")), nil
	}
	had, summary := "", ""
	if int64(len(c.Raw)) > state.InMemory {
		had = fmt.Sprintf("; it had %s", phrase.Bytes(c.Stamp.Size))
	} else {
		summary = changes.Summary(c.Doc.Text, now)
	}
	head := fmt.Sprintf("The file %s has been updated (%s, %s%s).", s.Name(), phrase.LinesOf(now), phrase.Bytes(int64(len(raw))), had)
	change := commit.Whole(c.Stamp, raw, s.Answer(head, summary, notebookNote(s, content)))
	change.Record.Enc, change.From = c.Doc.Enc, c.Content
	return change, nil
}

// notebookNote tells that what was written under a notebook's name is none.
func notebookNote(s *toolcall.Target, content string) string {
	if !toolcall.IsNotebook(s) {
		return ""
	}
	var at *notebook.ParseError
	if _, err := notebook.Parse([]byte(content)); !errors.As(err, &at) {
		return ""
	}
	return fmt.Sprintf("(The content is no valid notebook: %s at byte %d.)", at.What, at.Offset)
}
