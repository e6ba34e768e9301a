package tools

import (
	"github.com/fsmcp/fsmcp/internal/changes"
	"github.com/fsmcp/fsmcp/internal/refusal"
	"github.com/fsmcp/fsmcp/internal/span"
	"github.com/fsmcp/fsmcp/internal/state"
	"github.com/fsmcp/fsmcp/internal/text"
)

// aim tells what of a file's text, as it is now, a call would replace. nil stands
// for a call that replaces all of it.
type aim func() ([]span.Span, error)

// demand says which part of a file a call has to have been shown.
type demand uint8

const (
	everything demand = iota
	itsMatches
)

// changed is the answer for a file that is not what was shown. A small change is told
// in full, and the record moves to the new content. Where the caller has then seen
// all that the call needs, the same call passes next time, and the error says so.
func (h *Service) changed(call Call, c *loadedFile, at aim, want demand) error {
	diff, body, ok := h.outsideChange(call, c)
	if !ok {
		return h.changedMuch(call, c, at, diff)
	}
	shown := c.rec.Shown.Through(diff.Splices, true)
	n, shown := h.needed(call, c, shown, at, want, body)
	return showing(refusal.Changed(c.name, body, n), c.path, c.recorded(shown, state.ByReport))
}

// outsideChange compares a file with its record. diff is empty where the old text is not
// known, and ok false where the answer cannot show all of it.
func (h *Service) outsideChange(call Call, c *loadedFile) (diff changes.Diff, body string, ok bool) {
	old, ok := c.kept()
	if !ok || old.Enc != c.doc.Enc {
		return diff, "", false
	}
	diff = changes.Of(old, c.doc)
	body, ok = diff.Whole()
	return diff, body, ok && h.passed(call, body)
}

// needed works out what a call still lacks once a change of its file is shown, and
// shows it where that fits. above is shown already. The set that comes back is shown
// with what the error shows.
func (h *Service) needed(call Call, c *loadedFile, shown span.Set, at aim, want demand, above string) (n refusal.Needed, all span.Set) {
	var spans []span.Span
	if at != nil {
		if spans, n.Err = at(); n.Err != nil {
			return n, shown
		}
	}
	hidden := shown.Missing(c.stamp.Size)
	if n.Matches = want == itsMatches; n.Matches {
		hidden = unseen(shown, spans)
	}
	if n.Bytes = hidden.Len(); len(hidden) == 0 {
		return n, shown
	}
	show := func() (string, span.Set, bool) { return h.rest(call, c, hidden, above) }
	if n.Matches {
		show = func() (string, span.Set, bool) { return h.matches(call, c, shown, hidden, above) }
	}
	body, more, ok := show()
	if !ok {
		n.Calls = h.readCalls(call, c, hidden)
		return n, shown
	}
	n.Shown = body
	return n, shown.Union(more)
}

// changedMuch is the answer for a file that changed by more than is told: it counts
// what changed, and names the calls that show what this call needs. diff is empty
// where the old text is not known.
func (h *Service) changedMuch(call Call, c *loadedFile, at aim, diff changes.Diff) error {
	calls := h.readCalls(call, c, span.Set{{End: c.stamp.Size}})
	var failing error
	if at != nil {
		var spans []span.Span
		spans, failing = at()
		var near span.Set
		for _, s := range spans[:min(len(spans), callsNamed)] {
			near = near.Add(c.around(s))
		}
		if len(near) > 0 {
			calls = h.readCalls(call, c, near) + ", around old_string"
		}
	}
	return stating(refusal.ChangedMuch(c.name, c.howMuch(diff), failing, calls), c.path, call.Session.reminders.Changed(c.path, c.rec, c.hash))
}

// howMuch counts what changed.
func (c *loadedFile) howMuch(diff changes.Diff) refusal.Amount {
	a := refusal.Amount{Lines: c.doc.Lines(), Size: c.stamp.Size, Was: c.rec.Stamp.Size, Parts: c.rec.Parts != nil}
	a.Added, a.Removed = diff.Counts()
	if a.Parts && a.Added+a.Removed == 0 {
		rec, _ := c.standing(nil)
		a.Shown = c.rec.Shown.Len()
		a.Lost = a.Shown - rec.Shown.Len()
	}
	return a
}

// kept is the text as it was when the record was made.
func (c *loadedFile) kept() (*text.Doc, bool) {
	if c.rec.Content == nil {
		return nil, false
	}
	d, err := text.DecodeAs(c.rec.Content, c.rec.Enc)
	return d, err == nil
}
