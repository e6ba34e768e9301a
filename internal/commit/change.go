package commit

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
	"github.com/fsmcp/fsmcp/internal/toolcall"
)

// Change is the wish of a call for a file, worked out from the bytes that are there.
type Change struct {
	// Stamp is that of the bytes it was worked out from, zero for a new file.
	Stamp fsys.Stamp
	// From holds those bytes if they are in memory. Else it is nil, and Parts are
	// the shown ones of those that are replaced.
	From  []byte
	Parts []state.Part
	// FromHash is their SHA-256, where it is at hand or can be had from memory;
	// nil otherwise.
	FromHash func() state.Sum
	// Splices turn them into the new ones.
	Splices []span.Splice
	// Remove says that the file is to be taken away instead.
	Remove bool
	// Record is readFileState once the new bytes are in place; its stamp is
	// filled in then, and what After gives.
	Record state.Record
	// After waits for what is worked out of the new bytes while the disk is busy:
	// their SHA-256, and themselves where they are small. It is nil where the record
	// has both.
	After func() (state.Sum, []byte)
	// Shown has the new bytes that the answer shows beyond that, and of a file above
	// state.WholeHash their parts.
	Shown state.Record
	// Notebook says that the new bytes are worth parsing before the next call.
	Notebook bool
	// Result is the answer then. A change without splices is only its answer.
	Result *toolcall.Result
	// Differs returns the texts that the question to the user compares; nil: those of
	// From and Splices.
	Differs func() Texts
}

// Nothing tells that there is nothing to do.
func (c *Change) Nothing() bool { return c.Splices == nil && !c.Remove }

// Whole is the change that puts raw in the place of everything.
func Whole(stamp fsys.Stamp, raw []byte, result *toolcall.Result) *Change {
	if raw == nil {
		raw = []byte{} // an empty text is known; nil would say that it is not
	}
	sum := sha256.Sum256(raw)
	c := &Change{
		Stamp:   stamp,
		Splices: []span.Splice{{End: stamp.Size, New: raw}},
		Result:  result,
		Record:  state.Record{Hash: sum, Shown: span.Set{}.Add(span.Span{End: int64(len(raw))}), Origin: state.ByWrite, Content: raw},
	}
	if len(raw) > state.WholeHash {
		c.Record.Parts = []state.Part{{Span: span.Span{End: int64(len(raw))}, Sum: sum}}
	}
	c.Result.Meta = map[string]any{"fsmcp/hash": hex.EncodeToString(sum[:]), "fsmcp/size": int64(len(raw))}
	return c
}

// size returns the file's size after the change.
func (c *Change) size() int64 { return c.Stamp.Size + span.Growth(c.Splices) }

// sum is the hash of the file after the change, where it is known.
func (c *Change) sum() (state.Sum, bool) {
	if c.After != nil {
		sum, _ := c.After()
		return sum, true
	}
	return c.Record.Hash, c.Record.Hash != (state.Sum{})
}

// Bounds of the diff in a question (source: the specification of permissions,
// "ask").
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
func (c *Change) intent() string {
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
		said += "\n" + phrase.Printable(diff.First(askLines, askChars))
	}
	return said
}

// texts returns the texts that the change names itself, or that follow from its bytes.
func (c *Change) texts() (t Texts) {
	if c.Differs != nil {
		return c.Differs()
	}
	t.unknown = c.From == nil && c.Stamp.Size > 0
	if c.From != nil {
		if old, err := text.DecodeAs(c.From, c.Record.Enc); err == nil {
			t.Old = old.Text
		}
	}
	raw := c.Record.Content
	if raw == nil {
		raw, _ = made{change: c}.bytes()
	}
	if now, err := text.DecodeAs(raw, c.Record.Enc); err == nil {
		t.Now = now.Text
	}
	return t
}
