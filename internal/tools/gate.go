package tools

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/fsmcp/fsmcp/internal/changes"
	"github.com/fsmcp/fsmcp/internal/fsys"
	"github.com/fsmcp/fsmcp/internal/perm"
	"github.com/fsmcp/fsmcp/internal/refusal"
	"github.com/fsmcp/fsmcp/internal/span"
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

// passed tells whether this may be shown, and the client passes an error that
// shows it on to its model: only then may it count as shown.
func (h *Service) passed(call Call, body string) bool {
	c := call.Client
	if call.hidden || len(body) > showBody || c.Chars > 0 && len(body) > c.Chars-answerRest {
		return false
	}
	return c.Tokens == 0 || h.Counter.Count([]byte(body)) <= c.Tokens*9/10
}

// loadedFile is a file of at most changeInMemory bytes, read whole.
type loadedFile struct {
	path  string // resolved: the key of all state
	name  string // as the answer shows it
	raw   []byte
	stamp fsys.Stamp
	// settled: the stamp was older than the clock's grain when it was taken.
	settled bool
	// doc is nil of a notebook, which is UTF-8 as it was parsed, until its lines
	// are wanted.
	doc *text.Doc
	// hash returns the SHA-256 of the file, computed once, where it is wanted.
	hash   func() state.Sum
	hashed bool // it was computed
	// rec is the conversation's record of the file; known says that there is one.
	rec   state.Record
	known bool
	// unchanged reports whether the file has all the bytes of rec. It never believes a
	// stamp: a program that writes through a memory map can change a file without a
	// new one.
	unchanged func() bool
	// whole says that the file is compared as a whole whatever its size.
	whole bool
}

// loadText reads and decodes a file.
func (h *Service) loadText(call Call, s *target, f *fsys.File) (*loadedFile, error) {
	c, err := h.load(call, s, f)
	if err != nil {
		return nil, err
	}
	return c, c.decode(s)
}

// load reads a file.
func (h *Service) load(call Call, s *target, f *fsys.File) (*loadedFile, error) {
	raw, stamp, err := f.ReadAll(changeInMemory)
	settled := stamp.Settled(h.Now())
	if err != nil {
		return nil, err
	}
	c := &loadedFile{path: s.Path, name: s.name(), raw: raw, stamp: stamp, settled: settled, whole: isNotebook(s)}
	c.rec, c.known = call.Session.files.Get(c.path)
	rec := &c.rec
	c.unchanged = sync.OnceValue(func() bool {
		switch {
		case !c.known || rec.Stamp.Size != stamp.Size:
			return false
		case rec.Content != nil:
			return bytes.Equal(rec.Content, raw)
		}
		return rec.Hash != (state.Sum{}) && rec.Hash == c.hash()
	})
	c.hash = sync.OnceValue(func() state.Sum {
		c.hashed = true
		if rec.Content != nil && rec.Hash != (state.Sum{}) && c.unchanged() {
			return rec.Hash
		}
		return sha256.Sum256(raw)
	})
	return c, nil
}

// decode makes text of the bytes. A change believes the encoding that was shown,
// which the gate checks; a Read looks for itself at a file that may have changed.
func (c *loadedFile) decode(s *target) (err error) {
	believed := s.Op != perm.Read || c.rec.Proves(c.stamp)
	if c.rec.Parts == nil {
		believed = c.unchanged()
	}
	if believed {
		if c.doc, err = text.DecodeAs(c.raw, c.rec.Enc); err == nil {
			return nil
		}
	}
	if c.doc, err = text.Decode(c.raw); err != nil {
		return refusal.Binary(s.Asked)
	}
	return nil
}

// content is the file's text as the record keeps it.
func (c *loadedFile) content() []byte {
	if len(c.raw) > state.KeepContent {
		return nil
	}
	return c.raw
}

// byParts reports whether only what was shown of the file is compared.
func (c *loadedFile) byParts() bool { return !c.whole && len(c.raw) > state.WholeHash }

// recorded returns a record of the file's present bytes; shown are those that were
// shown.
func (c *loadedFile) recorded(shown span.Set, origin state.Origin) state.Record {
	rec := c.stamped(state.Record{Shown: shown, Origin: origin, Content: c.content()})
	switch {
	case c.byParts():
		rec.Parts = partsIn(c.raw, shown)
		rec.Hash = wholeSum(rec.Parts, c.stamp.Size)
	case rec.Content == nil:
		rec.Hash = c.hash()
	}
	return rec
}

// stamped brings a record whose bytes are those of the file to its stamp, and
// to how they are read.
func (c *loadedFile) stamped(rec state.Record) state.Record {
	rec.Stamp, rec.Settled, rec.Enc = c.stamp, c.settled, text.Encoding{}
	if c.doc != nil {
		rec.Enc = c.doc.Enc
	}
	return rec
}

// standing is the record as it stands for the file's present bytes. lost says that
// something that was shown is not there any more. Of a record of parts it looks at
// those that touch spans, nil: at all of them.
func (c *loadedFile) standing(spans []span.Span) (rec state.Record, lost bool) {
	if c.rec.Parts == nil {
		switch {
		case !c.unchanged():
			return rec, true
		case c.byParts():
			return c.recorded(c.rec.Shown, c.rec.Origin), false
		}
		return c.stamped(c.rec), false
	}
	if !c.byParts() { // it has become that small
		spans = nil
	}
	parts, lost, _ := standing(bytes.NewReader(c.raw), c.rec.Parts, spans)
	if !c.byParts() {
		return c.recorded(shownBy(parts), c.rec.Origin), lost
	}
	rec = c.rec
	if lost || rec.Stamp.Size != c.stamp.Size {
		rec = state.Record{Origin: rec.Origin}
	}
	rec.Parts, rec.Shown = parts, shownBy(parts)
	return c.stamped(rec), lost
}

// gate lets a change through if the caller has been shown all of the file. It returns
// the record as it stands for the file's present bytes. Where the file has changed, at
// finds what the call replaces.
func (h *Service) gate(call Call, c *loadedFile, at aim) (state.Record, error) {
	switch {
	case len(c.raw) == 0: // nothing to be shown
		return c.recorded(nil, state.ByRead), nil
	case !c.known:
		return c.rec, refusal.NotRead(c.name)
	}
	rec, lost := c.standing(nil)
	if lost {
		return rec, h.changed(call, c, at, everything)
	}
	unseen := rec.Shown.Missing(c.stamp.Size)
	if len(unseen) == 0 {
		return rec, nil
	}
	if body, shown, ok := h.rest(call, c, unseen, ""); ok {
		return rec, showing(refusal.UnseenShown(c.name, body), c.path, c.withShown(rec, shown))
	}
	return rec, refusal.Unseen(c.name, unseen.Len(), h.readCalls(call, c, unseen))
}

// withShown returns the record of the file's present bytes with more that was shown.
func (c *loadedFile) withShown(rec state.Record, shown span.Set) state.Record {
	rec.Shown = rec.Shown.Union(shown)
	if c.byParts() {
		for _, p := range partsIn(c.raw, shown) {
			rec.Parts = withPart(rec.Parts, p)
		}
	}
	return rec
}

// rest shows all that was never shown below what an error shows already, where
// that fits.
func (h *Service) rest(call Call, c *loadedFile, unseen span.Set, above string) (body string, shown span.Set, ok bool) {
	if unseen.Len()+int64(len(above)) > showUnseen {
		return "", nil, false
	}
	body, shown = changes.ShowAll(c.doc, unseen)
	return body, shown, h.passed(call, above+body)
}

// matches shows the places of a call that were not shown, each with what stands
// around it, where that fits.
func (h *Service) matches(call Call, c *loadedFile, shown span.Set, spans []span.Span, above string) (body string, all span.Set, ok bool) {
	for _, m := range spans {
		if shown.Covers(m) {
			continue
		}
		if all = all.Add(c.around(m)); all.Len() > showMatches {
			return "", nil, false
		}
	}
	if all.Len()+int64(len(above)) > showUnseen {
		return "", nil, false
	}
	body = changes.Fragments(c.doc, all)
	return body, all, h.passed(call, above+body)
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

// neverShown is the refusal of an Edit some of whose matches were never shown. Where
// they fit, it shows them with their surroundings, and the same call passes next time.
func (h *Service) neverShown(call Call, c *loadedFile, rec state.Record, hidden span.Set) error {
	body, shown, ok := h.matches(call, c, rec.Shown, hidden, "")
	if !ok {
		return refusal.UnseenMatch(c.name, "", h.readCalls(call, c, hidden), c.known)
	}
	return showing(refusal.UnseenMatch(c.name, body, "", c.known), c.path, c.withShown(rec, shown))
}

// around widens a raw span by some characters on each side.
func (c *loadedFile) around(s span.Span) span.Span {
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
	return span.Span{Start: c.doc.RawOffset(start), End: c.doc.RawOffset(end)}
}

// Read calls in errors: at most callsNamed of them, and places that lie within
// nearLines of each other share one.
const (
	callsNamed = 3
	nearLines  = 200
)

// readCalls names Read calls that show spans, as much of them as each is served.
func (h *Service) readCalls(call Call, c *loadedFile, spans span.Set) string {
	l, r := changes.LinesOf(c.doc), h.counting(call)
	var calls []string
	first, last := 0, 0
	flush := func() {
		for first > 0 && first <= last && len(calls) < callsNamed {
			name, lines := r.readCall(first, c.doc.Page(first, min(last-first+1, defaultLines), h.room(call)))
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
		start, end := c.doc.TextOffset(s.Start), c.doc.TextOffset(s.End)
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

// counting is a Read of a call that is only counted.
func (h *Service) counting(call Call) *reading {
	return &reading{Service: h, call: call, counter: &tokenCounter{local: h.Counter}}
}

// bigLine is the length in bytes from which a line is better read by columns.
const bigLine = 20 << 10
