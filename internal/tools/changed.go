package tools

import (
	"errors"
	"fmt"

	"github.com/fsmcp/fsmcp/internal/edit"
	"github.com/fsmcp/fsmcp/internal/phrase"
	"github.com/fsmcp/fsmcp/internal/span"
	"github.com/fsmcp/fsmcp/internal/state"
	"github.com/fsmcp/fsmcp/internal/text"
)

// aim tells what of a file's text, as it is now, a call would replace. nil stands
// for a call that replaces all of it.
type aim func() ([]span.Span, error)

// demand is what of a file a call has to have been shown.
type demand uint8

const (
	everything demand = iota
	itsMatches
)

// changed is the answer for a file that is not what was shown. A small change is told
// in full, and the record moves to the new content. Where the caller has then seen
// all that the call needs, the same call passes next time, and the error says so.
func (h *House) changed(call Call, c *held, at aim, want demand) error {
	old, ok := c.kept()
	if !ok || old.Enc != c.doc.Enc {
		return h.changedMuch(call, c, at, numbered{})
	}
	diff := changesOf(old, c.doc)
	body, ok := diff.whole()
	if !ok || !h.passed(call, body) {
		return h.changedMuch(call, c, at, diff)
	}
	shown := c.rec.Shown.Through(diff.splices, true)
	now := outlook{House: h, call: call, held: c, shown: shown, above: body}
	now.look(at, want)
	call.whenSent(func() { call.Session.files.Put(c.path, c.recorded(now.shown, state.ByTelling)) })
	return refuse(slugModified, "%s Path: %s.\nThis is all that changed %s; it counts as shown%s\n%s%s",
		modifiedWords, c.name, diffForm, now.next, body, now.below)
}

// outlook is what a call can expect once a change of its file is told.
type outlook struct {
	*House
	call  Call
	held  *held
	shown span.Set // with what the error shows
	above string   // what it shows already

	next  string // ends the sentence that it counts as shown
	below string // what it shows beside
}

// look fills in what to say.
func (o *outlook) look(at aim, want demand) {
	var spans []span.Span
	if at != nil {
		var err error
		if spans, err = at(); err != nil {
			o.next = "." + notNow(err)
			return
		}
	}
	c := o.held
	what, hidden := "%s of the file were", o.shown.Missing(c.stamp.Size)
	heading := "These lines were never shown before; they count as shown now too:"
	show := func() (string, span.Set, bool) { return o.rest(o.call, c, hidden, o.above) }
	if want == itsMatches {
		what, hidden = "The text that this call would replace (%s) was", unseen(o.shown, spans)
		heading = "The text that this call would replace was never shown before; it counts as shown now too:"
		show = func() (string, span.Set, bool) { return o.matches(o.call, c, o.shown, hidden, o.above) }
	}
	if len(hidden) == 0 {
		o.next = ", so the same call may be made again at once:"
		return
	}
	body, more, ok := show()
	if !ok {
		o.next = fmt.Sprintf(". "+what+" never shown: go on with %s, then make the same call again.", phrase.Bytes(hidden.Len()), o.readCalls(o.call, c, hidden))
		return
	}
	o.shown = o.shown.Union(more)
	o.next = ", so the same call may be made again at once:"
	o.below = "\n" + heading + "\n" + body
}

// notNow says why a call would not pass in the file as it is now.
func notNow(err error) string {
	if no := (*edit.NoMatchError)(nil); errors.As(err, &no) {
		return " old_string is not in the file as it is now: take it from there anew."
	}
	if many := (*edit.AmbiguousError)(nil); errors.As(err, &many) {
		return fmt.Sprintf(" old_string is in %d places of the file as it is now, beginning in %s: give more of the text around it, or set replace_all.", many.Count, placeList(many))
	}
	return ""
}

// changedMuch is the answer for a file that changed by more than is told: it counts
// what changed, and names the calls that show what this call needs. diff is empty
// where the old text is not known.
func (h *House) changedMuch(call Call, c *held, at aim, diff numbered) error {
	c.toldOf(call)
	calls, note := h.readCalls(call, c, span.Set{{End: c.stamp.Size}}), ""
	if at != nil {
		spans, err := at()
		if err != nil {
			note = notNow(err)
		}
		var near span.Set
		for _, s := range spans[:min(len(spans), callsNamed)] {
			near = near.Add(c.around(s))
		}
		if len(near) > 0 {
			calls = h.readCalls(call, c, near) + ", around old_string"
		}
	}
	return refuse(slugModified, "%s Path: %s.\n%s%s Go on with %s, then make the same call again.", modifiedWords, c.name, c.howMuch(diff), note, calls)
}

// toldOf notes that a refusal tells of the file's state, without its lines.
func (c *held) toldOf(call Call) {
	call.told(c.path, func() reminded { return reminded{base: c.rec.Sum(), sum: c.hash()} })
}

// howMuch counts what changed.
func (c *held) howMuch(diff numbered) string {
	if added, removed := diff.counts(); added+removed > 0 {
		return fmt.Sprintf("Since it was read %s came and %s went; it has %s now.", phrase.Lines(added), phrase.Lines(removed), phrase.Lines(c.doc.Lines()))
	}
	size := fmt.Sprintf("It has %s and %s now", phrase.Lines(c.doc.Lines()), phrase.Bytes(c.stamp.Size))
	if was := c.rec.Stamp.Size; was != c.stamp.Size {
		size += fmt.Sprintf(", and had %s when it was read", phrase.Bytes(was))
	}
	if c.rec.Parts == nil {
		return size + "."
	}
	rec, _ := c.standing(nil)
	return fmt.Sprintf("%s; %s of the %s that were shown of it changed.", size, phrase.Bytes(c.rec.Shown.Len()-rec.Shown.Len()), phrase.Bytes(c.rec.Shown.Len()))
}

// kept is the text as it was when the record was made.
func (c *held) kept() (*text.Doc, bool) {
	if c.rec.Content == nil {
		return nil, false
	}
	d, err := text.DecodeAs(c.rec.Content, c.rec.Enc)
	return d, err == nil
}
