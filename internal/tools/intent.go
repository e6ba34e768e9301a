package tools

import (
	"fmt"
	"strings"

	"github.com/fsmcp/fsmcp/internal/changes"
	"github.com/fsmcp/fsmcp/internal/fsys"
	"github.com/fsmcp/fsmcp/internal/phrase"
	"github.com/fsmcp/fsmcp/internal/save"
	"github.com/fsmcp/fsmcp/internal/text"
)

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

// asking is the question that comes before a change, as it is now known: nil where
// there is none. A change that the file's mode forbids is not asked about.
func (h *Service) asking(s *target, c *change) error {
	switch {
	case s.Question == nil:
		return nil
	case s.Kind == fsys.Regular && save.ReadOnly(s.Stamp):
		return save.ErrReadOnly
	}
	return h.needConsent(s.Question, c.intent())
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
		said += "\n" + escaped(diff.First(askLines, askChars))
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

// escaped makes text safe to show to a person: a client may print it on a
// terminal. Tabs and line ends stay.
func escaped(s string) string {
	lines := strings.Split(s, "\n")
	for i, line := range lines {
		parts := strings.Split(line, "\t")
		for k, p := range parts {
			parts[k] = fsys.Printable(p)
		}
		lines[i] = strings.Join(parts, "\t")
	}
	return strings.Join(lines, "\n")
}

// intent tells the user what a call is about to do, by its arguments alone; "" for
// one that changes nothing.
func (c Call) intent() string {
	switch a := c.args.(type) {
	case *WriteArgs:
		return fmt.Sprintf("It writes %s (%s).", phrase.LinesOf(a.Content), phrase.Bytes(int64(len(a.Content))))
	case *EditArgs:
		every := ""
		if a.ReplaceAll {
			every = ", wherever that stands"
		}
		return fmt.Sprintf("It puts %s in the place of %s%s.", phrase.LinesOf(a.NewString), phrase.LinesOf(a.OldString), every)
	case *NotebookEditArgs:
		switch a.mode() {
		case modeDelete:
			return fmt.Sprintf("It deletes the cell %s.", phrase.Quote(a.CellID))
		case modeInsert:
			return fmt.Sprintf("It inserts a cell of %s.", phrase.LinesOf(*a.NewSource))
		}
		return fmt.Sprintf("It replaces the cell %s by %s.", phrase.Quote(a.CellID), phrase.LinesOf(*a.NewSource))
	}
	return ""
}
