package tools

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"

	"github.com/fsmcp/fsmcp/internal/changes"
	"github.com/fsmcp/fsmcp/internal/fsys"
	"github.com/fsmcp/fsmcp/internal/phrase"
	"github.com/fsmcp/fsmcp/internal/span"
	"github.com/fsmcp/fsmcp/internal/state"
	"github.com/fsmcp/fsmcp/internal/text"
)

// change is the wish of a call for a file, worked out from the bytes that are there.
type change struct {
	// stamp is that of the bytes it was worked out from, zero for a new file.
	stamp fsys.Stamp
	// from holds those bytes if they are in memory. Else it is nil, and parts are the
	// shown ones of those that are replaced.
	from  []byte
	parts []state.Part
	// fromHash is their SHA-256, where it is at hand or can be had from memory;
	// nil otherwise.
	fromHash func() state.Sum
	// splices turn them into the new ones.
	splices []span.Splice
	// remove says that the file is to be taken away instead.
	remove bool
	// record is readFileState once the new bytes are in place; its stamp is
	// filled in then, and what after gives.
	record state.Record
	// after waits for what is worked out of the new bytes while the disk is busy:
	// their SHA-256, and themselves where they are small. It is nil where the record
	// has both.
	after func() (state.Sum, []byte)
	// shown are the new bytes that the answer shows beyond that.
	shown span.Set
	// notebook says that the new bytes are worth parsing before the next call.
	notebook bool
	// result is the answer then. A change without splices is only its answer.
	result *Result
	// differs returns the texts that the question to the user compares; nil: those of
	// from and splices.
	differs func() texts
}

// nothing tells that there is nothing to do.
func (c *change) nothing() bool { return c.splices == nil && !c.remove }

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
	c.result.Meta = map[string]any{"fsmcp/hash": hex.EncodeToString(sum[:]), "fsmcp/size": int64(len(raw))}
	return c
}

// size returns the file's size after the change.
func (c *change) size() int64 { return c.stamp.Size + span.Growth(c.splices) }

// sum is the hash of the file after the change, where it is known.
func (c *change) sum() (state.Sum, bool) {
	if c.after != nil {
		sum, _ := c.after()
		return sum, true
	}
	return c.record.Hash, c.record.Hash != (state.Sum{})
}

// Bounds of the diff in a question (source: the specification of permissions,
// "ask").
const (
	askLines = 30
	askChars = 2_000
)

// texts are the old and the new text of a change.
type texts struct {
	place    string // which the texts are of; "" for the whole file
	old, now string
	unknown  bool // the old text is not in memory
}

// intent tells the user what a change will do: how many lines come and go, and the
// beginning of the diff.
func (c *change) intent() string {
	t := c.texts()
	diff := changes.UnifiedOf(t.old, t.now)
	added, removed := diff.Counts()
	said := fmt.Sprintf("It removes %s and adds %s.", phrase.Lines(removed), phrase.Lines(added))
	switch {
	case c.stamp == fsys.Stamp{}:
		said = fmt.Sprintf("It makes the file, %s.", phrase.LinesOf(t.now))
	case t.unknown:
		said = fmt.Sprintf("It replaces all of the file (%s) by %s.", phrase.Bytes(c.stamp.Size), phrase.LinesOf(t.now))
	case t.place != "":
		said = fmt.Sprintf("%s it removes %s and adds %s.", t.place, phrase.Lines(removed), phrase.Lines(added))
		diff = diff.WithoutPlaces() // no numbers of the file's lines
	}
	if diff.Endings != "" {
		said += "\n" + diff.Endings
	}
	if !diff.Empty() {
		said += "\n" + phrase.Printable(diff.First(askLines, askChars))
	}
	return said
}

// texts returns the texts that the change names itself, or that follow from its bytes.
func (c *change) texts() (t texts) {
	if c.differs != nil {
		return c.differs()
	}
	t.unknown = c.from == nil && c.stamp.Size > 0
	if c.from != nil {
		if old, err := text.DecodeAs(c.from, c.record.Enc); err == nil {
			t.old = old.Text
		}
	}
	raw := c.record.Content
	if raw == nil {
		raw, _ = made{change: c}.bytes()
	}
	if now, err := text.DecodeAs(raw, c.record.Enc); err == nil {
		t.now = now.Text
	}
	return t
}
