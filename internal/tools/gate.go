package tools

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/fsmcp/fsmcp/internal/fsys"
	"github.com/fsmcp/fsmcp/internal/state"
	"github.com/fsmcp/fsmcp/internal/text"
)

// Bounds of what an error shows so that the same call passes next time, in
// bytes of the file.
const (
	showUnseen  = 16 << 10
	showMatches = 8 << 10
	aroundMatch = 200 // characters on each side
)

// showBody bounds what an error shows as it stands there: short lines take
// several times their bytes with their numbers.
const showBody = 2 * showUnseen

// passed tells whether the client passes an error that shows this on to its
// model: only then may it count as shown.
func (h *House) passed(call Call, body string) bool {
	c := call.Client
	if len(body) > showBody || c.Chars > 0 && len(body) > c.Chars-answerRest {
		return false
	}
	return c.Tokens == 0 || h.Counter.Count([]byte(body)) <= c.Tokens*9/10
}

// held is a file of at most state.WholeHash bytes, read whole.
type held struct {
	path  string // resolved: the key of all state
	name  string // as the answer shows it
	raw   []byte
	stamp fsys.Stamp
	// settled: the stamp was older than the clock's grain when it was taken.
	settled bool
	// doc is nil of a notebook, which is UTF-8 as it was parsed, until its lines
	// are wanted.
	doc *text.Doc
	// hash is the SHA-256 of the file, computed once. Whoever knows that it will
	// be wanted may start it on the side.
	hash func() state.Sum
}

// hold reads and decodes a file.
func (h *House) hold(call Call, s *spot, f *fsys.File) (*held, error) {
	c, err := h.take(call, s, f)
	if err != nil {
		return nil, err
	}
	return c, c.decode(call, s)
}

// take reads a file.
func (h *House) take(call Call, s *spot, f *fsys.File) (*held, error) {
	raw, stamp, err := f.ReadAll(state.WholeHash)
	settled := stamp.Settled(h.Now())
	if err != nil {
		return nil, err
	}
	c := &held{path: s.Path, name: s.name(), raw: raw, stamp: stamp, settled: settled}
	if rec, ok := call.Session.files.Get(c.path); ok && c.hasBytesOf(rec) {
		c.hash = func() state.Sum { return rec.Hash }
	} else {
		c.hash = sync.OnceValue(func() state.Sum { return sha256.Sum256(raw) })
	}
	return c, nil
}

// hasBytesOf tells, without working out a hash, whether the file is known to
// have the bytes of a record. Where it does not, it may have them all the same.
func (c *held) hasBytesOf(rec state.Record) bool {
	if rec.Hash == (state.Sum{}) {
		return false
	}
	return rec.Proves(c.stamp) || rec.Content != nil && bytes.Equal(rec.Content, c.raw)
}

// decode makes text of the bytes.
func (c *held) decode(call Call, s *spot) (err error) {
	if rec, ok := call.Session.files.Get(c.path); ok && c.unchanged(rec) {
		if c.doc, err = text.DecodeAs(c.raw, rec.Enc); err == nil {
			return nil
		}
	}
	if c.doc, err = text.Decode(c.raw); err != nil {
		return binary(s)
	}
	return nil
}

// content is the file's text as the record keeps it.
func (c *held) content() []byte {
	if len(c.raw) > state.KeepContent {
		return nil
	}
	return c.raw
}

// unchanged decides by content, not by time: an equal stamp that is older than
// the clock's grain proves it, otherwise the bytes do.
func (c *held) unchanged(rec state.Record) bool {
	return rec.Proves(c.stamp) || rec.Stamp.Size == c.stamp.Size && rec.Hash == c.hash()
}

// stamped brings a record whose bytes are those of the file to its stamp, and
// to how they are read.
func (c *held) stamped(rec state.Record) state.Record {
	rec.Stamp, rec.Settled, rec.Enc = c.stamp, c.settled, text.Encoding{}
	if c.doc != nil {
		rec.Enc = c.doc.Enc
	}
	return rec
}

// gate lets a change through to bytes that the caller has been shown. It
// returns the record as it stands for the file's present bytes. Where less than
// everything is demanded, the caller must ask for its matches.
func (h *House) gate(call Call, c *held, want demand) (state.Record, error) {
	rec, ok := call.Session.files.Get(c.path)
	switch {
	case len(c.raw) == 0: // nothing to be shown
		return c.stamped(state.Record{Hash: c.hash()}), nil
	case !ok:
		return rec, notRead(c.name)
	case !c.unchanged(rec):
		return rec, h.changed(call, c, rec)
	}
	rec = c.stamped(rec)
	unseen := rec.Shown.Missing(c.stamp.Size)
	if len(unseen) == 0 || want == matches {
		return rec, nil
	}
	if body, shown, ok := h.rest(call, c, unseen, ""); ok {
		rec.Shown = rec.Shown.Union(shown)
		call.whenSent(func() { call.Session.files.Put(c.path, rec) })
		return rec, refuse(slugPartlyRead, "%s Of %s only a part was shown; these lines never were. They count as shown now: check them, then make the same call again.\n%s",
			notReadWords, c.name, body)
	}
	if want == everything {
		return rec, refuse(slugPartlyRead, "%s Of %s %s were never shown. Go on with %s, then make the same call again.",
			notReadWords, c.name, amount(unseen.Len()), readCalls(c, unseen))
	}
	return rec, nil
}

// rest shows all that was never shown below what an error shows already, where
// that fits.
func (h *House) rest(call Call, c *held, unseen state.Ranges, above string) (body string, shown state.Ranges, ok bool) {
	if unseen.Len()+int64(len(above)) > showUnseen {
		return "", nil, false
	}
	body, shown = showAll(c.doc, unseen)
	return body, shown, h.passed(call, above+body)
}

const notReadWords = "File has not been read yet. Read it first before writing to it."

func notRead(name string) error {
	return refuse(slugNotRead, "%s Call Read with file_path %q, then make the same call again.", notReadWords, name)
}

// changed is the answer for a file that is not what was shown. A small change
// is told in full; the record then moves to the new content, and the caller
// may repeat its call at once, having seen everything.
func (h *House) changed(call Call, c *held, rec state.Record) error {
	old, err := kept(rec)
	if err != nil {
		return c.modified(call, rec)
	}
	told, ok := tell(old, c.doc)
	if !ok || !h.passed(call, told.body) {
		return c.modified(call, rec)
	}
	shown := rec.Shown.Through(told.splices, true)
	unseen := shown.Missing(c.stamp.Size)
	var b strings.Builder
	fmt.Fprintf(&b, "%s Path: %s.\nThis is all that changed (number, then - for a line that is gone, + for one that is there now); it counts as shown", modifiedWords, c.name)
	rest, more, fits := "", state.Ranges(nil), len(unseen) == 0
	if !fits {
		rest, more, fits = h.rest(call, c, unseen, told.body)
	}
	if fits {
		shown = shown.Union(more)
		b.WriteString(", so the same call may be made again at once:\n")
	} else {
		fmt.Fprintf(&b, ". %s of the file were never shown: go on with %s, then make the same call again.\n", amount(unseen.Len()), readCalls(c, unseen))
	}
	b.WriteString(told.body)
	if fits && rest != "" {
		b.WriteString("\nThese lines were never shown before; they count as shown now too:\n")
		b.WriteString(rest)
	}
	moved := c.stamped(rec.Moved(c.hash(), shown, state.ByTelling, c.content()))
	call.whenSent(func() { call.Session.files.Put(c.path, moved) })
	return refuse(slugModified, "%s", b.String())
}

// modified is the answer for a file that changed by more than is told.
func (c *held) modified(call Call, rec state.Record) error {
	call.told(c.path, func() reminded { return reminded{base: rec.Hash, sum: c.hash()} })
	return refuse(slugModified, "%s Path: %s.", modifiedWords, c.name)
}

// errNotKept: the record holds no text to compare with.
var errNotKept = errors.New("the text was not kept")

// kept is the text as it was when the record was made.
func kept(rec state.Record) (*text.Doc, error) {
	if rec.Content == nil {
		return nil, errNotKept
	}
	return text.DecodeAs(rec.Content, rec.Enc)
}

// seen lets an Edit through whose matches were all shown, in a file that was
// not. Where they were not and fit, the error shows them with their
// surroundings, and the same call passes next time.
func (h *House) seen(call Call, c *held, rec state.Record, spans []state.Span) error {
	var hidden, unseen state.Ranges
	for _, m := range spans {
		if rec.Shown.Covers(m) {
			continue
		}
		unseen = append(unseen, m)
		if hidden.Len() <= showMatches { // more is not shown here anyway
			hidden = hidden.Add(c.around(m))
		}
	}
	if len(hidden) == 0 {
		return nil
	}
	body := ""
	if hidden.Len() <= showMatches {
		body = fragments(c.doc, hidden)
	}
	if body == "" || !h.passed(call, body) {
		return refuse(slugPartlyRead, "%s Of %s the text that this call would replace was never shown. Go on with %s, then make the same call again.",
			notReadWords, c.name, readCalls(c, unseen))
	}
	rec.Shown = rec.Shown.Union(hidden)
	call.whenSent(func() { call.Session.files.Put(c.path, rec) })
	return refuse(slugPartlyRead, "%s Of %s the text that this call would replace was never shown. Here it is with what stands around it; it counts as shown now: check it, then make the same call again.\n%s",
		notReadWords, c.name, body)
}

// around widens a raw span by some characters on each side.
func (c *held) around(s state.Span) state.Span {
	t := c.doc.Text
	start, end := c.doc.TextOffset(s.Start), c.doc.TextOffset(s.End)
	for i := 0; i < aroundMatch && start > 0; i++ {
		_, n := utf8.DecodeLastRuneInString(t[:start])
		start -= n
	}
	for i := 0; i < aroundMatch && end < len(t); i++ {
		_, n := utf8.DecodeRuneInString(t[end:])
		end += n
	}
	return state.Span{Start: c.doc.RawOffset(start), End: c.doc.RawOffset(end)}
}

// fragments shows spans exactly as far as they go, each with its line and
// column.
func fragments(d *text.Doc, spans state.Ranges) string {
	l := linesOf(d)
	var parts []string
	for _, s := range spans {
		start, end := d.TextOffset(s.Start), d.TextOffset(s.End)
		first := l.at(start)
		column := utf8.RuneCountInString(d.Text[l.start(start):start]) + 1
		parts = append(parts, fmt.Sprintf("(line %d from column %d)\n%s", first, column, l.number(d.Text[start:end], first)))
	}
	return strings.Join(parts, "\n")
}

// Read calls in errors: at most callsNamed of them, and places that lie within
// nearLines of each other share one.
const (
	callsNamed = 3
	nearLines  = 200
)

// readCalls names the Read calls that show spans.
func readCalls(c *held, spans state.Ranges) string {
	l := linesOf(c.doc)
	var calls []string
	first, last := 0, 0
	flush := func() {
		if first > 0 && len(calls) < callsNamed {
			calls = append(calls, fmt.Sprintf("Read offset=%d, limit=%d", first, min(last-first+1, defaultLines)))
		}
		first = 0
	}
	at := countedLines{lines: l}
	for _, s := range spans {
		if len(calls) == callsNamed {
			break
		}
		start, end := c.doc.TextOffset(s.Start), c.doc.TextOffset(s.End)
		from, to := at.line(start), at.line(max(start, end-1))
		if head := l.start(start); from == to && l.after(start)-head > bigLine {
			flush()
			column := utf8.RuneCountInString(l.text[head:start]) + 1
			calls = append(calls, fmt.Sprintf("Read offset=%d, limit=1, column=%d", from, column))
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

// bigLine is the length in bytes from which a line is better read by columns.
const bigLine = 20 << 10

// amount says a number of bytes for people.
func amount(n int64) string {
	switch {
	case n == 1:
		return "1 byte"
	case n < 10<<10:
		return fmt.Sprintf("%d bytes", n)
	case n < 10<<20:
		return fmt.Sprintf("%.0f KB", float64(n)/(1<<10))
	}
	return fmt.Sprintf("%.1f MB", float64(n)/(1<<20))
}

// binary is the answer for a file that is no text. Its extension only fills
// the sentence.
func binary(s *spot) error {
	what := "a binary file"
	if ext := s.Asked.Ext(); ext != "" {
		what = "a binary ." + fsys.Printable(ext) + " file"
	}
	return refuse(slugBinary, "This tool cannot read binary files. The file appears to be %s. Please use appropriate tools for binary file analysis.\nPath: %s", what, s.name())
}
