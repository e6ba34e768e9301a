package tools

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/fsmcp/fsmcp/internal/changes"
	"github.com/fsmcp/fsmcp/internal/notebook"
	"github.com/fsmcp/fsmcp/internal/refusal"
	"github.com/fsmcp/fsmcp/internal/span"
	"github.com/fsmcp/fsmcp/internal/state"
	"github.com/fsmcp/fsmcp/internal/text"
)

// gate decides whether a call may change a file that is held in memory, as a pure function
// of the file, the conversation's record of it and what the call would replace.
type gate struct {
	target *target
	file   *state.File
	budget budget
}

// aim is the part of a file that a call would replace.
type aim struct {
	spans []span.Span
	err   error // why there are none
	// matches says that only they have to have been shown, and not all of the file.
	matches bool
}

// pass lets a change through if the caller has been shown all of the file. It returns
// the record as it stands for the file's present bytes. Where the file has changed, at
// finds what the call replaces.
func (g gate) pass(at aim) (state.Record, error) {
	c := g.file
	switch {
	case len(c.Raw) == 0: // nothing to be shown
		return c.Recorded(nil, state.ByRead), nil
	case !c.Known:
		return c.Record, refusal.NotRead(g.target.name())
	}
	rec, lost := c.Standing(nil)
	if lost {
		return rec, g.changed(at)
	}
	unseen := rec.Shown.Missing(c.Stamp.Size)
	if len(unseen) == 0 {
		return rec, nil
	}
	if body, shown, ok := g.rest(unseen, ""); ok {
		return rec, showing(refusal.UnseenShown(g.target.name(), body), c.Path, c.WithShown(rec, shown))
	}
	return rec, refusal.Unseen(g.target.name(), unseen.Len(), g.readCalls(unseen))
}

// rest shows all that was never shown below what an error shows already, where
// that fits.
func (g gate) rest(unseen span.Set, above string) (body string, shown span.Set, ok bool) {
	if unseen.Len()+int64(len(above)) > showUnseen {
		return "", nil, false
	}
	body, shown = changes.ShowAll(g.file.Doc, unseen)
	return body, shown, g.budget.passes(above + body)
}

// matches shows the places of a call that were not shown, each with what stands
// around it, where that fits.
func (g gate) matches(shown span.Set, spans []span.Span, above string) (body string, all span.Set, ok bool) {
	for _, m := range spans {
		if shown.Covers(m) {
			continue
		}
		if all = all.Add(g.around(m)); all.Len() > showMatches {
			return "", nil, false
		}
	}
	if all.Len()+int64(len(above)) > showUnseen {
		return "", nil, false
	}
	body = changes.Fragments(g.file.Doc, all)
	return body, all, g.budget.passes(above + body)
}

// neverShown is the refusal of an Edit some of whose matches were never shown. Where
// they fit, it shows them with their surroundings, and the same call passes next time.
func (g gate) neverShown(rec state.Record, hidden span.Set) error {
	c := g.file
	body, shown, ok := g.matches(rec.Shown, hidden, "")
	if !ok {
		return refusal.UnseenMatch(g.target.name(), "", g.readCalls(hidden), c.Known)
	}
	return showing(refusal.UnseenMatch(g.target.name(), body, "", c.Known), c.Path, c.WithShown(rec, shown))
}

// readCalls names Read calls that show spans, as much of them as each is served.
func (g gate) readCalls(spans span.Set) string {
	doc, l := g.file.Doc, changes.LinesOf(g.file.Doc)
	var calls []string
	first, last := 0, 0
	flush := func() {
		for first > 0 && first <= last && len(calls) < callsNamed {
			name, lines := g.budget.readCall(first, doc.Page(first, min(last-first+1, defaultLines), g.budget.room()))
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

// changed is the answer for a file that is not what was shown. A small change is told
// in full, and the record moves to the new content. Where the caller has then seen
// all that the call needs, the same call passes next time, and the error says so.
func (g gate) changed(at aim) error {
	c := g.file
	diff, body, ok := g.outsideChange()
	if !ok {
		return g.changedMuch(at, diff)
	}
	shown := c.Record.Shown.Through(diff.Splices, true)
	n, shown := g.needed(shown, at, body)
	return showing(refusal.Changed(g.target.name(), body, n), c.Path, c.Recorded(shown, state.ByReport))
}

// outsideChange compares a file with its record. diff is empty where the old text is not
// known, and ok false where the answer cannot show all of it.
func (g gate) outsideChange() (diff changes.Diff, body string, ok bool) {
	old, ok := g.file.Kept()
	if !ok || old.Enc != g.file.Doc.Enc {
		return diff, "", false
	}
	diff = changes.Of(old, g.file.Doc)
	body, ok = diff.Whole()
	return diff, body, ok && g.budget.passes(body)
}

// needed works out what a call still lacks once a change of its file is shown, and
// shows it where that fits. above is shown already. The set that comes back is shown
// with what the error shows.
func (g gate) needed(shown span.Set, at aim, above string) (n refusal.Needed, all span.Set) {
	if n.Err = at.err; n.Err != nil {
		return n, shown
	}
	hidden := shown.Missing(g.file.Stamp.Size)
	if n.Matches = at.matches; n.Matches {
		hidden = unseen(shown, at.spans)
	}
	if n.Bytes = hidden.Len(); len(hidden) == 0 {
		return n, shown
	}
	body, more, ok := "", span.Set(nil), false
	if n.Matches {
		body, more, ok = g.matches(shown, hidden, above)
	} else {
		body, more, ok = g.rest(hidden, above)
	}
	if !ok {
		n.Calls = g.readCalls(hidden)
		return n, shown
	}
	n.Shown = body
	return n, shown.Union(more)
}

// changedMuch is the answer for a file that changed by more than is told: it counts
// what changed, and names the calls that show what this call needs. diff is empty
// where the old text is not known.
func (g gate) changedMuch(at aim, diff changes.Diff) error {
	c := g.file
	calls := g.readCalls(span.Set{{End: c.Stamp.Size}})
	var near span.Set
	for _, s := range at.spans[:min(len(at.spans), callsNamed)] {
		near = near.Add(g.around(s))
	}
	if len(near) > 0 {
		calls = g.readCalls(near) + ", around old_string"
	}
	return g.stating(refusal.ChangedMuch(g.target.name(), g.howMuch(diff), at.err, calls))
}

// around widens a raw span by some characters on each side.
func (g gate) around(s span.Span) span.Span {
	c := g.file
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
func (g gate) howMuch(diff changes.Diff) refusal.Amount {
	c := g.file
	a := refusal.Amount{Lines: c.Doc.Lines(), Size: c.Stamp.Size, Was: c.Record.Stamp.Size, Parts: c.Record.Parts != nil}
	a.Added, a.Removed = diff.Counts()
	if a.Parts && a.Added+a.Removed == 0 {
		rec, _ := c.Standing(nil)
		a.Shown = c.Record.Shown.Len()
		a.Lost = a.Shown - rec.Shown.Len()
	}
	return a
}

// stating adds to a refusal that its answer tells that the file has changed, without lines.
func (g gate) stating(err error) error {
	c := g.file
	return &showingError{err, Shown{Path: c.Path, State: &fileState{record: c.Record, sum: c.Hash}}}
}

// unseen are the spans that were not shown.
func unseen(shown span.Set, spans []span.Span) (out span.Set) {
	for _, m := range spans {
		if !shown.Covers(m) {
			out = append(out, m)
		}
	}
	return out
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

// passWhole is the gate of Write: everything must have been shown, of a notebook all its
// cells.
func (g gate) passWhole() error {
	c := g.file
	if c.Known && isNotebook(g.target) {
		nb, err := notebook.Parse(c.Raw)
		switch {
		case err == nil && !c.Unchanged():
			return g.changedNotebook()
		case err == nil:
			if cell := firstUnseen(nb, c.Record); cell != nil {
				return refusal.UnseenInNotebook(g.target.name(), cell.Name)
			}
			return nil
		}
	}
	_, err := g.pass(aim{})
	return err
}

// changedNotebook is the answer for a notebook that is not what was shown: a
// small change is told as the lines of the file.
func (g gate) changedNotebook() error {
	c := g.file
	var err error
	if c.Doc, err = text.Decode(c.Raw); err != nil {
		return err
	}
	diff, body, ok := g.outsideChange()
	if ok {
		return showing(refusal.ChangedNotebook(g.target.name(), body), c.Path, c.Recorded(c.Record.Shown.Through(diff.Splices, true), state.ByReport))
	}
	return g.stating(refusal.ChangedNotebookMuch(g.target.name(), g.howMuch(diff)))
}
