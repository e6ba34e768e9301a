package commit

import (
	"fmt"
	"sync"

	"github.com/fsmcp/fsmcp/internal/changes"
	"github.com/fsmcp/fsmcp/internal/fsys"
	"github.com/fsmcp/fsmcp/internal/phrase"
	"github.com/fsmcp/fsmcp/internal/span"
	"github.com/fsmcp/fsmcp/internal/state"
	"github.com/fsmcp/fsmcp/internal/text"
	"github.com/fsmcp/fsmcp/internal/toolcall"
)

// Plan is the change of one file that a call wants, worked out from the bytes that are there.
type Plan struct {
	// Stamp is that of the bytes it was worked out from, zero for a new file.
	Stamp fsys.Stamp
	// From holds those bytes; nil for a new file, and for a change that is worked out
	// without them.
	From *state.Content
	// Splices turn them into the new ones.
	Splices []span.Splice
	// Tail holds the last bytes of the file that a change was worked out from which only adds to
	// them, without the others (From is nil then); nil for other changes.
	Tail []byte
	// Remove says that the file is to be taken away instead.
	Remove bool
	// Now holds the new bytes if they are small, and their hash; nil if neither is known.
	Now *state.Content
	// Record is the conversation's record once the new bytes are in place; its stamp is
	// filled in then.
	Record state.Record
	// parts waits for the parts of Record that are worked out while the disk is busy; nil:
	// Record has them.
	parts func() []state.Part
	// Shown are the new bytes that the answer shows beyond Record.
	Shown []state.Part
	// Notebook says that the new bytes are worth parsing before the next call.
	Notebook bool
	// Outcome is the answer to the change once it is made. If the change was refused, Outcome
	// has the effects of the refusal. A change without splices is only an answer.
	Outcome toolcall.Outcome
	// Differs returns the texts that the question to the user compares; nil: those of
	// From and Splices.
	Differs func() Texts
}

// Nothing reports whether there is nothing to do, or the change was refused.
func (c *Plan) Nothing() bool { return c.Outcome.Err != nil || c.Splices == nil && !c.Remove }

// Answered is no change, only an answer.
func Answered(a toolcall.Answer) *Plan { return &Plan{Outcome: toolcall.Outcome{Answer: a}} }

// Refused returns a refusal from a plan.
func Refused(o toolcall.Outcome) (*Plan, error) { return &Plan{Outcome: o}, o.Err }

// Whole is the change that puts raw in the place of everything.
func Whole(stamp fsys.Stamp, raw []byte, answer toolcall.Answer) *Plan {
	now := state.NewContent(raw)
	c := Answered(answer)
	c.Stamp, c.Splices, c.Now = stamp, []span.Splice{{End: stamp.Size, New: raw}}, now
	if len(raw) <= state.KeepText {
		c.Record = (&state.KnownFile{Content: now}).Recorded(span.Set{}.Add(span.Span{End: int64(len(raw))}))
	} else {
		c.parts = sync.OnceValue(func() []state.Part { return state.PartsOf(raw, 0) })
		go c.parts()
	}
	c.Outcome.Facts.Hash, c.Outcome.Facts.Size = now.Sum(), new(int64(len(raw)))
	return c
}

// Of is the change of a file by splices. rec is the record of the file as it is, and the new
// bytes are kept up to a size. They are not hashed if the file is large.
func Of(f *state.KnownFile, rec state.Record, splices []span.Splice, keep int64) *Plan {
	c := &Plan{Stamp: f.Stamp, From: f.Content, Splices: splices}
	if c.Size() <= state.InMemory {
		c.Now = f.Spliced(splices, keep)
	}
	c.Record = f.Edited(rec, splices, c.Now)
	return c
}

// Show notes that the answer shows these of the new bytes.
func (c *Plan) Show(shown span.Set) {
	c.Shown = append(c.Shown, state.PartsSpliced(c.From.Raw, c.Splices, state.Outside(c.Record.Shown(), shown))...)
}

// Size returns the file's size after the change.
func (c *Plan) Size() int64 { return c.Stamp.Size + span.Growth(c.Splices) }

// dropLarge drops the bytes of a large file. From then on the change fits none.
func (c *Plan) dropLarge() {
	if c.Stamp.Size > state.InMemory {
		c.From = nil
	}
}

// oldBytes returns the bytes that the change replaces, if they are in memory and the file
// is not large.
func (c *Plan) oldBytes() (raw []byte, ok bool) {
	switch {
	case c.Stamp.Size == 0:
		return []byte{}, true
	case c.From == nil || c.Stamp.Size > state.InMemory:
		return nil, false
	}
	return c.From.Raw, true
}

// newBytes returns the bytes that the change makes, if they are known and the file is not
// large.
func (c *Plan) newBytes() (raw []byte, ok bool) {
	if c.Now != nil && c.Now.Raw != nil {
		return c.Now.Raw, true
	}
	old, ok := c.oldBytes()
	if !ok {
		return nil, false
	}
	return span.Apply(old, c.Splices), true
}

// Bounds of the diff in a question, so that the user can take it in.
const (
	askLines = 30
	askChars = 2_000
)

// Texts are the old and the new text of a change.
type Texts struct {
	Place    string // which the texts are of; "" for the whole file
	Old, Now string
	unknown  bool // the old text is not in memory
}

// intent tells the user what a change will do: how many lines come and go, and the
// beginning of the diff.
func (c *Plan) intent() string { return c.intentWithin(askLines, askChars) }

// intentWithin is intent with at most so many lines and characters of the diff.
func (c *Plan) intentWithin(lines, chars int) string {
	t := c.texts()
	diff := changes.UnifiedOf(t.Old, t.Now)
	added, removed := diff.Counts()
	said := fmt.Sprintf("It removes %s and adds %s.", phrase.Lines(removed), phrase.Lines(added))
	switch {
	case c.Stamp == fsys.Stamp{}:
		said = fmt.Sprintf("It makes the file, %s.", phrase.LinesOf(t.Now))
	case t.unknown:
		said = fmt.Sprintf("It replaces all of the file (%s) by %s.", phrase.Bytes(c.Stamp.Size), phrase.LinesOf(t.Now))
	case t.Place != "":
		said = fmt.Sprintf("%s it removes %s and adds %s.", t.Place, phrase.Lines(removed), phrase.Lines(added))
		diff = diff.WithoutPlaces() // no numbers of the file's lines
	}
	if diff.Endings != "" {
		said += "\n" + diff.Endings
	}
	if !diff.Empty() {
		said += "\n" + phrase.Printable(diff.First(lines, chars))
	}
	return said
}

// texts returns the texts that the change names itself, or that follow from its bytes.
func (c *Plan) texts() (t Texts) {
	if c.Differs != nil {
		return c.Differs()
	}
	raw, ok := c.oldBytes()
	if t.unknown = !ok; ok {
		if old, err := text.DecodeAs(raw, c.Record.Enc); err == nil {
			t.Old = old.Text
		}
	}
	if raw, ok = c.newBytes(); ok {
		if now, err := text.DecodeAs(raw, c.Record.Enc); err == nil {
			t.Now = now.Text
		}
	}
	return t
}
