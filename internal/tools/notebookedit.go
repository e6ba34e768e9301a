package tools

import (
	"context"
	"crypto/rand"
	"fmt"
	"io"
	"strings"
	"unicode"

	"github.com/fsmcp/fsmcp/internal/changes"
	"github.com/fsmcp/fsmcp/internal/commit"
	"github.com/fsmcp/fsmcp/internal/fsys"
	"github.com/fsmcp/fsmcp/internal/gate"
	"github.com/fsmcp/fsmcp/internal/notebook"
	"github.com/fsmcp/fsmcp/internal/notebook/rewrite"
	"github.com/fsmcp/fsmcp/internal/perm"
	"github.com/fsmcp/fsmcp/internal/phrase"
	"github.com/fsmcp/fsmcp/internal/refusal"
	"github.com/fsmcp/fsmcp/internal/state"
	"github.com/fsmcp/fsmcp/internal/text"
	"github.com/fsmcp/fsmcp/internal/toolcall"
)

// cellEditor answers NotebookEdit.
type cellEditor struct{ committer *commit.Committer }

func (e *cellEditor) run(ctx context.Context, call toolcall.Call, a *NotebookEditArgs) toolcall.Outcome {
	if err := a.check(); err != nil {
		return toolcall.Failed(err)
	}
	return e.committer.Commit(ctx, call, perm.NotebookEdit, &cellEditing{by: e.committer, call: call, args: a})
}

// check refuses arguments that do not go together.
func (a *NotebookEditArgs) check() error {
	mode := a.mode()
	switch mode {
	case modeReplace, modeInsert, modeDelete:
	default:
		return refusal.New(refusal.BadMode, mode)
	}
	switch a.CellType {
	case "", notebook.Code, notebook.Markdown, notebook.Raw:
	default:
		return refusal.New(refusal.BadCellType, a.CellType)
	}
	switch {
	case mode == modeInsert && a.CellType == "":
		return refusal.New(refusal.InsertWithoutType)
	case mode != modeInsert && a.CellID == "":
		return refusal.New(refusal.WithoutCell, mode)
	case mode != modeDelete && a.NewSource == nil:
		return refusal.New(refusal.WithoutSource, mode)
	case a.NewSource != nil && isStub(*a.NewSource):
		return refusal.New(refusal.StubAsText, "new_source")
	}
	return nil
}

// cellEditing is one NotebookEdit under way.
type cellEditing struct {
	by   *commit.Committer
	call toolcall.Call
	args *NotebookEditArgs
}

// Plan implements commit.Planner.
func (e *cellEditing) Plan(ctx context.Context, s *toolcall.Target, old *fsys.File) (*commit.Plan, error) {
	session := e.call.Session
	if !toolcall.IsNotebook(s) {
		return nil, refusal.New(refusal.NotNotebook, s.Name())
	}
	if old == nil {
		return commit.Refused(e.by.Opener.Absent(session, s))
	}
	known, err := e.wasRead(ctx, s, old)
	if err != nil {
		return nil, err
	}
	c, nb, err := e.by.Loader.Parse(session, s, old)
	if err == nil {
		err = nb.Editable()
	}
	if err != nil && !known {
		return nil, refusal.New(refusal.NotRead, s.Name())
	}
	if err != nil {
		return nil, refusal.Uneditable(s.Name(), state.InMemory, err)
	}
	p := cellPlan{gate: gate.Gate{Target: s, File: c, Budget: e.by.Budget.ForClient(e.call.Client)}, nb: nb, args: e.args, ids: rand.Reader}
	return p.plan()
}

// cellPlan plans one NotebookEdit, as a pure function of the notebook, its record and the
// arguments.
type cellPlan struct {
	gate gate.Gate
	nb   *notebook.Notebook
	args *NotebookEditArgs
	ids  io.Reader // of random bytes, for a new cell
}

func (e cellPlan) plan() (*commit.Plan, error) {
	if !e.gate.File.Known {
		return commit.Refused(e.unread())
	}
	now := e.gate.File.Compare(nil)
	if now.Changed {
		return commit.Refused(e.gate.ChangedNotebook(e.replaced()))
	}
	done, out := e.apply(now.Record)
	if out.Err != nil {
		return commit.Refused(out)
	}
	if len(done.Splices) == 0 {
		return commit.Answered(e.gate.Target.Answer(fmt.Sprintf("Cell %s of %s already is exactly this; nothing was written.", done.Name, e.gate.Target.Name()), "")), nil
	}
	return e.change(done, now.Record), nil
}

// unread refuses a change of a notebook that was never read.
func (e cellPlan) unread() toolcall.Outcome {
	if cells, err := e.replaced(); err == nil && len(cells) > 0 {
		return e.gate.UnreadNotebook(&cells[0])
	}
	return e.gate.UnreadNotebook(nil)
}

// replaced returns the cells that the call replaces or deletes.
func (e cellPlan) replaced() ([]notebook.Cell, error) {
	if e.args.CellID == "" {
		return nil, nil
	}
	i, err := e.nb.Find(e.args.CellID)
	if err != nil || e.args.mode() == modeInsert {
		return nil, err
	}
	return []notebook.Cell{e.nb.Cell(i)}, nil
}

// wasRead reports whether the notebook was read in this conversation. What no Read would show as
// a notebook is refused: a picture or binary file for what it is, and a file of no bytes.
func (e *cellEditing) wasRead(ctx context.Context, s *toolcall.Target, old *fsys.File) (known bool, err error) {
	if err := writable(s, old); err != nil {
		return false, err
	}
	stamp, err := old.Stamp()
	if err != nil {
		return false, err
	}
	if stamp.Size == 0 {
		return false, refusal.New(refusal.EmptyNotebook, s.Name())
	}
	if _, known := e.call.Session.Files.Get(s.Path); known {
		return true, nil
	}
	_, err = e.by.Loader.LoadText(ctx, e.call.Session, s, old)
	return false, err
}

// apply finds the cell, makes sure that it was shown, and works out the edit. rec is the
// notebook's record.
func (e cellPlan) apply(rec state.Record) (done rewrite.Edit, out toolcall.Outcome) {
	a, nb := e.args, e.nb
	at := -1
	if a.CellID != "" {
		i, err := nb.Find(a.CellID)
		if err != nil {
			return done, toolcall.Failed(refusal.NoSuchCell(e.gate.Target.Name(), err, true))
		}
		at = i
	}
	if a.mode() != modeInsert {
		if out := e.gate.AllowCell(nb.Cell(at), a.CellID, rec); out.Err != nil {
			return done, out
		}
	}
	switch a.mode() {
	case modeDelete:
		done, out.Err = rewrite.Delete(nb, at)
	case modeInsert:
		done, out.Err = rewrite.Insert(nb, at, a.CellType, *a.NewSource, e.ids)
	default:
		done, out.Err = rewrite.Replace(nb, at, *a.NewSource, a.CellType)
	}
	return done, out
}

// change turns an edit into what commit takes.
func (e cellPlan) change(done rewrite.Edit, rec state.Record) *commit.Plan {
	c := commit.Of(e.gate.File, rec, done.Splices, toolcall.MostParsed)
	c.Notebook = true
	c.Differs = func() commit.Texts { return e.texts(done) }
	c.Outcome.Answer = e.answer(done)
	c.Outcome.Facts = toolcall.Facts{Size: new(c.Size()), Cell: done.Name}
	return c
}

// texts are the source of the cell before and after.
func (e cellPlan) texts(done rewrite.Edit) (t commit.Texts) {
	t.Place = "In the cell " + phrase.Quote(done.Name)
	if e.args.mode() == modeInsert {
		t.Place = "In a new cell"
	} else {
		t.Old = e.nb.Cell(done.Index).SourceText()
	}
	if e.args.mode() != modeDelete {
		t.Now = *e.args.NewSource
	} else {
		t.Place = "With the cell " + phrase.Quote(done.Name)
	}
	return t
}

// answer says what was done, how cells are called now, and shows the cell as
// it is: at most changes.RegionRoom bytes plus the new source.
func (e cellPlan) answer(done rewrite.Edit) toolcall.Answer {
	s, nb := e.gate.Target, e.nb
	if s.Hidden { // types, places and counts are the file's own
		return s.Answer(fmt.Sprintf("Cell %s of %s: %s is done.", done.Name, s.Name(), e.args.mode()), "")
	}
	last := nb.Len() - 1
	place := func(of int) string { // counted as offset counts
		if of == 1 {
			return "the only cell"
		}
		return fmt.Sprintf("the %s of %d cells", phrase.Ordinal(done.Index+1), of)
	}
	var head string
	switch e.args.mode() {
	case modeDelete:
		return s.Answer(fmt.Sprintf("Cell %s (%s) was deleted from %s.", done.Name, place(nb.Len()), s.Name())+renamed(done.Index+1, last, -1), "")
	case modeInsert:
		head = fmt.Sprintf("A %s cell was inserted in %s: %s, %s.", done.Type, s.Name(), done.Name, place(nb.Len()+1)) + renamed(done.Index, last, 1)
	default:
		head = fmt.Sprintf("Cell %s (%s, %s) of %s has been updated.", done.Name, typeName(done.Type), place(nb.Len()), s.Name())
		head += cleared(done.Cleared)
		if len(done.Dropped) > 0 {
			head += fmt.Sprintf(" What a %s cell must not have was taken out: %s.", done.Type, strings.Join(done.Dropped, ", "))
		}
	}
	cell, room := e.cell(done), changes.RegionRoom-len(head)-len(s.Note())-2+len(*e.args.NewSource)
	if len(cell) > room {
		half := max(room-64, 0) / 2
		cell = phrase.Head(cell, half) + fmt.Sprintf("\n… (%s of the cell are not repeated here)\n", phrase.Bytes(int64(len(cell)-2*half))) + phrase.Tail(cell, half)
	}
	return s.Answer(head, cell)
}

// cleared says which results of its last run a cell has lost.
func cleared(results []string) string {
	switch {
	case len(results) == 2:
		return " Its outputs were cleared, and its execution count."
	case len(results) == 1 && results[0] == "outputs":
		return " Its outputs were cleared."
	case len(results) == 1:
		return " Its execution count was cleared."
	}
	return ""
}

// cell is the cell as Read would show it now: what was just written has not
// run, so there is no execution count.
func (e cellPlan) cell(done rewrite.Edit) string {
	language := ""
	if done.Type == notebook.Code {
		language = fmt.Sprintf(" language=\"%s\"", e.nb.Language)
	}
	return fmt.Sprintf("<cell id=\"%s\" type=\"%s\"%s>%s</cell id=\"%s\">", done.Name, typeName(done.Type), language, text.EscapeFrame(*e.args.NewSource), done.Name)
}

// typeName is a cell's type as it can stand in an answer: a file may hold
// anything there.
func typeName(kind string) string {
	odd := func(r rune) bool { return r != '-' && r != '_' && !unicode.IsLetter(r) && !unicode.IsDigit(r) }
	if kind == "" || len(kind) > 64 || strings.ContainsFunc(kind, odd) {
		return "unknown"
	}
	return kind
}

// renamed tells that the cells from one place to another go by names further
// on, or back, by some places.
func renamed(first, last, by int) string {
	switch {
	case first > last:
		return ""
	case first == last:
		return fmt.Sprintf(" What was cell-%d is now cell-%d (cell-0 is the first).", first, first+by)
	}
	return fmt.Sprintf(" What was cell-%d to cell-%d is now cell-%d to cell-%d (cell-0 is the first).", first, last, first+by, last+by)
}
