// Package gate decides whether a call may replace parts of a file: only what the caller has
// been shown, as it is now. Each decision is a pure function of the file, the conversation's
// record of it and the parts that the call would replace. A refusal shows the missing text if
// that fits into the answer, so that the same call passes next time.
//
// It does not read files, and it does not record what a refusal shows: that counts once the
// answer is sent.
package gate

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/fsmcp/fsmcp/internal/changes"
	"github.com/fsmcp/fsmcp/internal/edit"
	"github.com/fsmcp/fsmcp/internal/notebook"
	"github.com/fsmcp/fsmcp/internal/phrase"
	"github.com/fsmcp/fsmcp/internal/refusal"
	"github.com/fsmcp/fsmcp/internal/span"
	"github.com/fsmcp/fsmcp/internal/state"
	"github.com/fsmcp/fsmcp/internal/text"
	"github.com/fsmcp/fsmcp/internal/toolcall"
)

// Gate decides whether a call may change a file.
type Gate struct {
	Target *toolcall.Target
	File   *state.KnownFile
	Budget toolcall.Budget
}

// Replaced is the part of a file that a call would replace.
type Replaced struct {
	Spans []span.Span
	Err   error // why there are none
	// Line is the number that the line which the call names has now, if that is another one;
	// else 0.
	Line int
	// Only says that just they have to have been shown, and not all of the file.
	Only bool
}

// AllowEdit refuses an Edit of a file that was never shown, or that has changed since, and
// of one that was not shown in full if that is asked for. It returns the record without what
// has changed: unless the old text is kept, parts that the Edit does not touch may have. The
// caller checks that the record shows the replaced text (NeverShown).
func (g Gate) AllowEdit(by Replaced) (state.Record, toolcall.Outcome) {
	c := g.File
	switch {
	case len(c.Raw) == 0: // nothing to be shown
		return c.Recorded(nil), toolcall.Outcome{}
	case !c.Known && (!by.Only || errors.As(by.Err, new(*edit.NoMatchError))):
		return c.Record, toolcall.Failed(refusal.New(refusal.NotRead, g.Target.Name()))
	case !c.Known:
		return c.Recorded(nil), toolcall.Outcome{}
	case !by.Only:
		return g.allowAll(by)
	}
	if by.Err == nil {
		if now := c.Compare(by.Spans); len(state.Outside(now.Seen, by.Spans)) == 0 {
			return now.Record, toolcall.Outcome{}
		}
	}
	now := c.Compare(nil)
	if now.Changed {
		return now.Record, g.Changed(by)
	}
	return now.Record, toolcall.Outcome{}
}

// allowAll lets a change of text through if the caller has been shown all of the file. It
// returns the record of it.
func (g Gate) allowAll(by Replaced) (state.Record, toolcall.Outcome) {
	c := g.File
	now := c.Compare(nil)
	if now.Changed {
		return now.Record, g.Changed(by)
	}
	unseen := now.Seen.Missing(c.Stamp.Size)
	if len(unseen) == 0 {
		return now.Record, toolcall.Outcome{}
	}
	if body, shown, ok := g.showRest(unseen, ""); ok {
		return now.Record, g.refuseShowing(refusal.New(refusal.UnseenShown, g.Target.Name(), body), c.WithShown(now.Record, shown))
	}
	return now.Record, toolcall.Failed(refusal.New(refusal.Unseen, g.Target.Name(), phrase.Bytes(unseen.Len()), g.readCalls(unseen)))
}

// refuseShowing is a refusal whose answer shows parts of the file: rec is its record then.
func (g Gate) refuseShowing(err error, rec state.Record) toolcall.Outcome {
	return toolcall.Refused(err, toolcall.Shown{Path: g.File.Path, Record: rec})
}

// showRest returns the text of everything that was never shown; ok is false if it does not
// fit below already, the text that the error shows.
func (g Gate) showRest(unseen span.Set, already string) (body string, shown span.Set, ok bool) {
	if unseen.Len()+int64(len(already)) > toolcall.ShowUnseen {
		return "", nil, false
	}
	body, shown = changes.ShowAll(g.File.Doc, unseen)
	return body, shown, g.Budget.Passes(already + body)
}

// showMatches returns the text of the places of a call that were not shown, each with its
// surroundings; ok is false if it does not fit below already.
func (g Gate) showMatches(shown span.Set, spans []span.Span, already string) (body string, all span.Set, ok bool) {
	for _, m := range spans {
		if shown.Covers(m) {
			continue
		}
		if all = all.Add(g.around(m)); all.Len() > matchesRoom {
			return "", nil, false
		}
	}
	if all.Len()+int64(len(already)) > toolcall.ShowUnseen {
		return "", nil, false
	}
	body = changes.Fragments(g.File.Doc, all)
	return body, all, g.Budget.Passes(already + body)
}

// NeverShown refuses an Edit if some of its matches were never shown. If they fit, it shows
// them with their surroundings, and the same call passes next time.
func (g Gate) NeverShown(rec state.Record, hidden span.Set) toolcall.Outcome {
	c := g.File
	body, shown, ok := g.showMatches(rec.Shown(), hidden, "")
	if !ok {
		return toolcall.Failed(refusal.UnseenMatch(g.Target.Name(), "", g.readCalls(hidden), c.Known))
	}
	return g.refuseShowing(refusal.UnseenMatch(g.Target.Name(), body, "", c.Known), c.WithShown(rec, shown))
}

// readCalls names Read calls that show spans, as much of them as each is served.
func (g Gate) readCalls(spans span.Set) string {
	doc, l := g.File.Doc, changes.LinesOf(g.File.Doc)
	var calls []string
	first, last := 0, 0
	flush := func() {
		for first > 0 && first <= last && len(calls) < callsNamed {
			name, lines := g.Budget.ReadCall(first, doc.Page(first, min(last-first+1, toolcall.DefaultLines), g.Budget.Room()))
			calls = append(calls, name)
			first += lines
		}
		first = 0
	}
	at := l.Counter()
	for _, s := range spans {
		if len(calls) == callsNamed {
			break
		}
		start, end := doc.TextOffset(s.Start), doc.TextOffset(s.End)
		from, to := at.At(start), at.At(max(start, end-1))
		if head := l.Start(start); from == to && l.After(start)-head > bigLine {
			flush()
			column := utf8.RuneCountInString(l.Text[head:start]) + 1
			calls = append(calls, fmt.Sprintf("Read offset=%d, column=%d", from, column))
			continue
		}
		if first > 0 && from > last+nearLines {
			flush()
		}
		if first == 0 {
			first = from
		}
		last = to
	}
	flush()
	return strings.Join(calls[:min(len(calls), callsNamed)], "; ")
}

// Changed refuses a call because its file is not as it was shown. A small change is shown
// in full, and the record moves to the new content. If the caller has then seen
// all that the call needs, the same call passes next time, and the error says so.
func (g Gate) Changed(by Replaced) toolcall.Outcome {
	c := g.File
	diff, body, ok := g.OutsideChange()
	if !ok {
		return g.changedMuch(by, diff)
	}
	n, shown := g.needed(c.Record.Shown().Through(diff.Splices, true), by, body)
	n.ByHook, n.Line = g.Target.AfterHooks, by.Line
	return g.refuseShowing(refusal.Changed(g.Target.Name(), body, n), c.Recorded(shown))
}

// OutsideChange compares a file with its record. diff is empty if the old text is not
// known, and ok is false if the answer cannot show all of it.
func (g Gate) OutsideChange() (diff changes.Diff, body string, ok bool) {
	old, ok := g.File.OldText()
	if !ok || old.Enc != g.File.Doc.Enc {
		return diff, "", false
	}
	diff = changes.Of(old, g.File.Doc)
	body, ok = diff.Whole()
	return diff, body, ok && g.Budget.Passes(body)
}

// needed returns what a call still lacks after a change of its file is shown, with its
// text if that fits below already, the text that the error shows. all is everything that
// counts as shown then.
func (g Gate) needed(shown span.Set, by Replaced, already string) (n refusal.Needed, all span.Set) {
	if n.Err = by.Err; n.Err != nil {
		return n, shown
	}
	hidden := shown.Missing(g.File.Stamp.Size)
	if n.Matches = by.Only; n.Matches {
		hidden = state.Outside(shown, by.Spans)
	}
	if n.Bytes = hidden.Len(); len(hidden) == 0 {
		return n, shown
	}
	body, more, ok := "", span.Set(nil), false
	if n.Matches {
		body, more, ok = g.showMatches(shown, hidden, already)
	} else {
		body, more, ok = g.showRest(hidden, already)
	}
	if !ok {
		n.Calls = g.readCalls(hidden)
		return n, shown
	}
	n.Shown = body
	return n, shown.Union(more)
}

// changedMuch refuses a call because its file changed by more than an answer shows. It counts
// the changes, and names the calls that show what this call needs. diff is empty
// if the old text is not known.
func (g Gate) changedMuch(by Replaced, diff changes.Diff) toolcall.Outcome {
	c := g.File
	calls := g.readCalls(span.Set{{End: c.Stamp.Size}})
	var near span.Set
	for _, s := range by.Spans[:min(len(by.Spans), callsNamed)] {
		near = near.Add(g.around(s))
	}
	if len(near) > 0 {
		calls = g.readCalls(near) + ", around old_string"
	}
	amount := g.howMuch(diff)
	amount.Err = by.Err
	return g.refuseWithoutLines(refusal.New(refusal.ChangedMuch, g.Target.Name(), amount, calls))
}

// around widens a raw span by some characters on each side.
func (g Gate) around(s span.Span) span.Span {
	c := g.File
	t := c.Doc.Text
	start, end := c.Doc.TextOffset(s.Start), c.Doc.TextOffset(s.End)
	for i := 0; i < aroundMatch && start > 0; i++ {
		_, n := utf8.DecodeLastRuneInString(t[:start])
		start -= n
	}
	for i := 0; i < aroundMatch && end < len(t); i++ {
		_, n := utf8.DecodeRuneInString(t[end:])
		end += n
	}
	return span.Span{Start: c.Doc.RawOffset(start), End: c.Doc.RawOffset(end)}
}

// howMuch counts what changed.
func (g Gate) howMuch(diff changes.Diff) refusal.Amount {
	c := g.File
	a := refusal.Amount{Lines: c.Doc.Lines(), Size: c.Stamp.Size, Was: c.Record.Stamp.Size, Parts: c.Record.Text == nil && c.Record.All == state.Sum{}}
	a.Added, a.Removed = diff.Counts()
	if a.Parts {
		a.Shown, a.Lost = c.Record.Shown().Len(), c.Compare(nil).Lost.Len()
	}
	return a
}

// refuseWithoutLines is a refusal whose answer says that the file has changed, without lines.
func (g Gate) refuseWithoutLines(err error) toolcall.Outcome {
	c := g.File
	return toolcall.Refused(err, toolcall.Shown{Path: c.Path, How: toolcall.Differs, Record: c.Record, Now: c.Sum})
}

// FirstUnseen returns the first of some cells that was not shown; nil if all were.
func FirstUnseen(cells []notebook.Cell, rec state.Record) *notebook.Cell {
	shown := rec.Shown()
	for _, cell := range cells {
		if !shown.Covers(cell.Source) {
			return &cell
		}
	}
	return nil
}

// AllowWrite lets a Write through if the caller has been shown all of the file, of a
// notebook all its cells.
func (g Gate) AllowWrite() toolcall.Outcome {
	c := g.File
	switch {
	case len(c.Raw) == 0: // nothing to be shown
		return toolcall.Outcome{}
	case !c.Known:
		return toolcall.Failed(refusal.New(refusal.NotRead, g.Target.Name()))
	}
	if toolcall.IsNotebook(g.Target) {
		if nb, err := notebook.Parse(c.Raw); err == nil {
			now := c.Compare(nil)
			if now.Changed {
				return g.ChangedNotebook(nb.Cells(), nil)
			}
			if cell := FirstUnseen(nb.Cells(), now.Record); cell != nil {
				return toolcall.Failed(refusal.New(refusal.UnseenInNotebook, g.Target.Name(), cell.Name))
			}
			return toolcall.Outcome{}
		}
	}
	_, out := g.allowAll(Replaced{})
	return out
}

// AllowCell lets a change of a cell through if its source has been shown. If it was not
// and it fits, the error shows it, and the same call passes next time. id names the cell in the
// call, and rec is the record of the notebook as it is.
func (g Gate) AllowCell(cell notebook.Cell, id string, rec state.Record) toolcall.Outcome {
	if rec.Shown().Covers(cell.Source) {
		return toolcall.Outcome{}
	}
	body, ok := g.cellText(cell)
	if !ok {
		return toolcall.Failed(refusal.New(refusal.UnseenCell, cell.Name, g.Target.Name(), id))
	}
	return g.refuseShowing(refusal.New(refusal.UnseenCellShown, cell.Name, g.Target.Name(), body), g.File.WithShown(rec, span.Set{cell.Source}))
}

// UnreadNotebook refuses a change of a notebook that was never read. If the cell that the call
// replaces fits, the error shows it, and the same call passes next time; nil: it replaces none.
func (g Gate) UnreadNotebook(cell *notebook.Cell) toolcall.Outcome {
	if cell != nil {
		if body, ok := g.cellText(*cell); ok {
			return g.refuseShowing(refusal.New(refusal.UnreadCellShown, cell.Name, g.Target.Name(), body), g.File.WithShown(g.File.Recorded(nil), span.Set{cell.Source}))
		}
	}
	return toolcall.Failed(refusal.New(refusal.NotRead, g.Target.Name()))
}

// cellText returns the source of a cell as an error shows it; ok is false if it does not fit.
func (g Gate) cellText(cell notebook.Cell) (body string, ok bool) {
	small := cell.Source.End-cell.Source.Start <= toolcall.ShowUnseen
	source := cell.SourceText()
	body = text.EscapeFrame(source)
	var odd text.Oddities
	odd.AddEscaped(text.Imitations([]byte(source)), 0)
	if notice := odd.Notice("cell ", "", func(int) string { return cell.Name }); notice != "" {
		body += "\n" + notice
	}
	return body, small && g.Budget.Passes(body)
}

// ChangedNotebook refuses a call because its notebook is not as it was shown. A
// small change is shown as lines of the file. The call replaces the cells; err is why it
// would fail in the notebook as it is now, or nil.
func (g Gate) ChangedNotebook(cells []notebook.Cell, err error) toolcall.Outcome {
	c, n := g.File, refusal.Needed{Err: err, ByHook: g.Target.AfterHooks}
	if c.Doc, err = text.Decode(c.Raw); err != nil {
		return toolcall.Failed(err)
	}
	diff, body, ok := g.OutsideChange()
	if ok {
		rec := c.Recorded(c.Record.Shown().Through(diff.Splices, true))
		if cell := FirstUnseen(cells, rec); cell != nil {
			n.Bytes, n.Calls = cell.Source.End-cell.Source.Start, refusal.CellCall(cell.Name)
		}
		return g.refuseShowing(refusal.ChangedNotebook(g.Target.Name(), body, n), rec)
	}
	return g.refuseWithoutLines(refusal.New(refusal.ChangedNotebookMuch, g.Target.Name(), g.howMuch(diff)))
}

// Bounds of the matches that an error shows so that the same call passes next time.
const (
	matchesRoom = 8 << 10 // bytes of the file
	aroundMatch = 200     // characters on each side
)

// Read calls in errors: at most callsNamed of them, and places that lie within
// nearLines of each other share one.
const (
	callsNamed = 3
	nearLines  = 200
)

// bigLine is the length in bytes from which a line is better read by columns.
const bigLine = 20 << 10
