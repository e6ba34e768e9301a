package tools

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"fmt"
	"strings"
	"sync"
	"unicode"

	"github.com/fsmcp/fsmcp/internal/fsys"
	"github.com/fsmcp/fsmcp/internal/notebook"
	"github.com/fsmcp/fsmcp/internal/perm"
	"github.com/fsmcp/fsmcp/internal/save"
	"github.com/fsmcp/fsmcp/internal/state"
	"github.com/fsmcp/fsmcp/internal/text"
)

// The edit modes.
const (
	modeReplace = "replace"
	modeInsert  = "insert"
	modeDelete  = "delete"
)

// notebookEdit answers NotebookEdit.
func (h *House) notebookEdit(ctx context.Context, call Call, a *NotebookEditArgs) (*Result, error) {
	if a.EditMode == "" {
		a.EditMode = modeReplace
	}
	if err := a.check(); err != nil {
		return nil, err
	}
	e := cellEditing{House: h, call: call, args: a}
	return h.commit(ctx, call, perm.NotebookEdit, a.NotebookPath, e.plan)
}

// check refuses arguments that do not go together.
func (a *NotebookEditArgs) check() error {
	bad := func(code int, format string, args ...any) error {
		return &refusal{slug: slugBadArgument, code: code, text: fmt.Sprintf(format, args...)}
	}
	switch a.EditMode {
	case modeReplace, modeInsert, modeDelete:
	default:
		return bad(4, "edit_mode must be replace, insert or delete, not %s.", quoted(a.EditMode))
	}
	switch a.CellType {
	case "", notebook.Code, notebook.Markdown, notebook.Raw:
	default:
		return bad(2, "cell_type must be code, markdown or raw, not %s.", quoted(a.CellType))
	}
	switch {
	case a.EditMode == modeInsert && a.CellType == "":
		return bad(3, "insert needs cell_type: code, markdown or raw.")
	case a.EditMode != modeInsert && a.CellID == "":
		return bad(5, "%s needs cell_id: the cell's id, or cell-N for the Nth cell, counted from 0.", a.EditMode)
	case a.EditMode != modeDelete && a.NewSource == nil:
		return bad(12, "%s needs new_source; \"\" makes an empty cell.", a.EditMode)
	}
	return nil
}

// cellEditing is one NotebookEdit under way.
type cellEditing struct {
	*House
	call Call
	args *NotebookEditArgs
}

func (e *cellEditing) plan(_ context.Context, s *spot, old *fsys.File) (*change, error) {
	if !isNotebook(s) {
		return nil, refuse(slugNotNotebook, "File must be a Jupyter notebook (.ipynb file). For editing other file types, use the FileEdit tool.\nPath: %s", s.name())
	}
	rec, known := e.call.Session.files.Get(s.Path)
	switch {
	case old == nil && known:
		return nil, gone(e.call.Session, s)
	case old == nil:
		return nil, e.missing(s)
	}
	if err := e.worthReading(s, old, known); err != nil {
		return nil, err
	}
	c, nb, err := e.open(s, old)
	if err != nil {
		return nil, err
	}
	if !c.unchanged(rec) {
		return nil, e.changedNotebook(e.call, c, rec)
	}
	done, err := e.apply(nb, c, rec)
	if err != nil {
		return nil, err
	}
	if len(done.Splices) == 0 {
		return &change{result: textResult(fmt.Sprintf("Cell %s of %s already is exactly this; nothing was written.", done.Name, s.name()), s.note())}, nil
	}
	return e.change(s, c, rec, nb, done)
}

// worthReading refuses what was never read: a picture or binary file for what
// it is, and one of no bytes, which needs no Read, for that.
func (e *cellEditing) worthReading(s *spot, old *fsys.File, known bool) error {
	if err := writable(s, old); err != nil {
		return err
	}
	stamp, err := old.Stamp()
	switch {
	case err != nil:
		return err
	case stamp.Size == 0:
		return &refusal{slug: slugBrokenFile, code: 6, text: fmt.Sprintf("%s is empty, and so no notebook yet. Write can fill it.", s.name())}
	case known:
		return nil
	}
	if _, err := e.hold(e.call, s, old); err != nil {
		return err
	}
	return notRead(s.name())
}

// open reads and parses the notebook; one that is none any more, or of a format
// that is not edited, is code 6.
func (e *cellEditing) open(s *spot, old *fsys.File) (*held, *notebook.Notebook, error) {
	broken := func(format string, a ...any) error {
		return &refusal{slug: slugBrokenFile, code: 6, text: fmt.Sprintf(format, a...)}
	}
	c, nb, err := e.parse(e.call, s, old)
	var large *fsys.TooLargeError
	if errors.As(err, &large) {
		return nil, nil, refuse(slugTooLarge, "The notebook %s has %s; notebooks of at most 64 MB are edited.", s.name(), amount(large.Size))
	}
	if r := (*refusal)(nil); errors.As(err, &r) && r.slug == slugBinary {
		return nil, nil, broken("%s is no notebook: it is not UTF-8 text.", s.name())
	}
	var at *notebook.ParseError
	if errors.As(err, &at) {
		return nil, nil, broken("%s is no valid notebook: %s at byte %d. Read pages its raw text with offset and limit; Write may replace it once all of it was shown.", s.name(), at.What, at.Offset)
	}
	if err != nil {
		return nil, nil, err
	}
	var version *notebook.VersionError
	if errors.As(nb.Editable(), &version) {
		return nil, nil, broken("%s is of nbformat %d.%d; notebooks of nbformat 4 and later are edited. Convert it first (jupyter nbconvert --to notebook --nbformat 4).", s.name(), version.Major, version.Minor)
	}
	return c, nb, nil
}

// apply finds the cell, makes sure that it was shown, and works out the edit.
func (e *cellEditing) apply(nb *notebook.Notebook, c *held, rec state.Record) (notebook.Change, error) {
	a := e.args
	at := -1
	if a.CellID != "" {
		i, err := nb.Find(a.CellID)
		if err != nil {
			return notebook.Change{}, noSuchCell(c.name, err, cellCode(err))
		}
		at = i
	}
	if a.EditMode != modeInsert {
		if err := e.cellSeen(nb.Cell(at), c, rec); err != nil {
			return notebook.Change{}, err
		}
	}
	switch a.EditMode {
	case modeDelete:
		return nb.Delete(at)
	case modeInsert:
		return nb.Insert(at, a.CellType, *a.NewSource, rand.Reader)
	}
	return nb.Replace(at, *a.NewSource, a.CellType)
}

// cellCode tells an unknown place (7) from an unknown or doubled id (8).
func cellCode(err error) int {
	var e *notebook.CellError
	if errors.As(err, &e) && e.Miss == notebook.NoSuchIndex {
		return 7
	}
	return 8
}

// cellSeen is the gate by cell: its source must have been shown. Where it was
// not and fits, the error shows it, and the same call passes next time.
func (e *cellEditing) cellSeen(cell notebook.Cell, c *held, rec state.Record) error {
	if rec.Shown.Covers(state.Span(cell.Source)) {
		return nil
	}
	small := cell.Source.End-cell.Source.Start <= showUnseen
	if !small || !e.passed(e.call, cell.SourceText()) {
		return refuse(slugPartlyRead, "%s Cell %s of %s was never shown in full. Call Read with cell_id %q, then make the same call again.", notReadWords, cell.Name, c.name, e.args.CellID)
	}
	rec.Shown = rec.Shown.Add(state.Span(cell.Source))
	e.call.whenSent(func() { e.call.Session.files.Put(c.path, c.stamped(rec)) })
	return refuse(slugPartlyRead, "%s Cell %s of %s was never shown. Here is its source; it counts as shown now: check it, then make the same call again.\n%s",
		notReadWords, cell.Name, c.name, cell.SourceText())
}

// changedNotebook is the answer for a notebook that is not what was shown: a
// small change is told as the lines of the file.
func (h *House) changedNotebook(call Call, c *held, rec state.Record) error {
	old, err := kept(rec)
	if err != nil {
		return c.modified(call, rec)
	}
	now, err := text.Decode(c.raw)
	if err != nil {
		return c.modified(call, rec)
	}
	told, ok := tell(old, now)
	if !ok || !h.passed(call, told.body) {
		return c.modified(call, rec)
	}
	moved := c.stamped(rec.Moved(c.hash(), rec.Shown.Through(told.splices, true), state.ByTelling, c.content()))
	call.whenSent(func() { call.Session.files.Put(c.path, moved) })
	return refuse(slugModified, "%s Path: %s.\nThis is all that changed in the notebook's file (number, then - for a line that is gone, + for one that is there now); it counts as shown, so the same call may be made again at once:\n%s",
		modifiedWords, c.name, told.body)
}

// change turns an edit into what commit takes.
func (e *cellEditing) change(s *spot, c *held, rec state.Record, nb *notebook.Notebook, done notebook.Change) (*change, error) {
	splices := make([]save.Splice, len(done.Splices))
	for i, sp := range done.Splices {
		splices[i] = save.Splice{Start: sp.Start, End: sp.End, New: sp.New}
	}
	size := notebook.Size(c.raw, done.Splices)
	after := sync.OnceValues(func() (sum state.Sum, content []byte) {
		if size <= mostParsed {
			content = notebook.Apply(c.raw, done.Splices)
			return sha256.Sum256(content), content
		}
		h := sha256.New()
		notebook.Write(h, c.raw, done.Splices) // a hash takes all
		h.Sum(sum[:0])
		return sum, nil
	})
	go after()
	e.call.whenSent(func() {
		if sum, content := after(); content != nil {
			go e.call.Session.parseAhead(c.path, content, sum)
		}
	})
	moves := lengths(splices)
	return &change{
		stamp: c.stamp, settled: c.settled, from: c.raw, fromHash: c.hash, splices: splices,
		record: c.stamped(rec).Moved(state.Sum{}, rec.Shown.Through(moves, true), state.ByEdit, nil), after: after,
		result: &Result{
			Blocks: textResult(e.answer(s, nb, done), s.note()).Blocks,
			Meta:   map[string]any{"fsmcp/size": size, "fsmcp/cell": done.Name},
		},
	}, nil
}

// answer says what was done, how cells are called now, and shows the cell as
// it is: at most regionRoom bytes plus the new source.
func (e *cellEditing) answer(s *spot, nb *notebook.Notebook, done notebook.Change) string {
	last := nb.Len() - 1
	var head string
	switch e.args.EditMode {
	case modeDelete:
		return fmt.Sprintf("Cell %s (place %d) was deleted from %s.", done.Name, done.Index, s.name()) + renamed(done.Index+1, last, -1)
	case modeInsert:
		head = fmt.Sprintf("A %s cell was inserted in %s: %s, place %d.", done.Type, s.name(), done.Name, done.Index) + renamed(done.Index, last, 1)
	default:
		head = fmt.Sprintf("Cell %s (%s, place %d) of %s has been updated.", done.Name, typeName(done.Type), done.Index, s.name())
		if done.Cleared {
			head += " Its outputs were cleared."
		}
		if len(done.Dropped) > 0 {
			head += fmt.Sprintf(" What a %s cell must not have was taken out: %s.", done.Type, strings.Join(done.Dropped, ", "))
		}
	}
	cell, room := e.cell(nb, done), regionRoom-len(head)-len(s.note())-2+len(*e.args.NewSource)
	if len(cell) > room {
		half := max(room-64, 0) / 2
		cell = headOf(cell, half) + fmt.Sprintf("\n… (%s of the cell are not repeated here)\n", amount(int64(len(cell)-2*half))) + tailOf(cell, half)
	}
	return head + "\n" + cell
}

// cell is the cell as Read would show it now: what was just written has not
// run, so there is no execution count.
func (e *cellEditing) cell(nb *notebook.Notebook, done notebook.Change) string {
	language := ""
	if done.Type == notebook.Code {
		language = fmt.Sprintf(" language=\"%s\"", nb.Language())
	}
	return fmt.Sprintf("<cell id=\"%s\" type=\"%s\"%s>%s</cell id=\"%s\">", done.Name, typeName(done.Type), language, *e.args.NewSource, done.Name)
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
		return fmt.Sprintf(" What was cell-%d is now cell-%d.", first, first+by)
	}
	return fmt.Sprintf(" What was cell-%d to cell-%d is now cell-%d to cell-%d.", first, last, first+by, last+by)
}
