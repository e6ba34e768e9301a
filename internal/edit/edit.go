// Package edit locates old text in a file's text and decides what stands in
// its place afterwards. It is pure: text in, splices out, no disk, no clock.
//
// It promises that every byte outside a splice stays as it was, that a match
// never begins or ends inside a CRLF, inside a character or (where Unicode
// forms are compared) inside a combining sequence, that it never covers a byte
// that is not UTF-8, and that nothing looser than the four rules is ever
// applied. Its work is linear in the text, also for hostile repeats.
//
// It does not decide whether the caller may see or change the text, it does not
// decode files, and it gives no advice: Nearest only tells what it sees.
//
// What ends a line: LF, CRLF, and a lone CR where the text has no LF at all. In
// a text that has LFs a lone CR is a character of its line; one in old_string
// then stands for that character first, and only if this finds nothing for a
// line break. A lone CR in new_string is read as the one in old_string was.
//
// The text is in memory, also that of a file of 1 GiB: in a text above FoldUpTo only the
// exact rule is tried, since the others take memory of their own.
package edit

import (
	"strings"
	"unicode/utf8"

	"github.com/fsmcp/fsmcp/internal/span"
)

// A Request is one edit as the caller asked for it.
type Request struct {
	Old, New   string
	ReplaceAll bool
	// Most bounds how many places ReplaceAll replaces, so that a hostile text
	// cannot take all memory; 0 is no bound.
	Most int
	// Within is where the match has to start, such as a line, so that Old may be in other
	// places, too. Without spans, or with ReplaceAll, it says nothing.
	Within span.Set
	// KeepTrailing leaves trailing white space of New alone.
	KeepTrailing bool
}

// A Rule is the reading under which old text was found.
type Rule int

// The rules in the order in which they are tried.
const (
	Exact       Rule = iota // byte for byte, except for line breaks
	Quotes                  // curly quotes equal straight ones
	Desanitised             // abbreviated tokens stand for what they abbreviate
	Normalised              // Unicode canonical equivalence (NFC and NFD)
)

// String names the rule as logs and answers do.
func (r Rule) String() string {
	switch r {
	case Exact:
		return "exact"
	case Quotes:
		return "quotes"
	case Desanitised:
		return "desanitised"
	case Normalised:
		return "normalised"
	}
	return "unknown"
}

// A Match is a place in a text, half open, in bytes.
type Match struct{ Start, End int }

// Replacements are the effect of an edit: one splice of the bytes of the text for each match. Equal new texts may share memory.
type Replacements struct {
	Splices []span.Splice
	Rule    Rule
}

// FoldUpTo is the size in bytes up to which the rules that fold a text are tried.
const FoldUpTo = 64 << 20

// Apply finds req.Old in text and tells what to put in its place. It fails with
// ErrSame, *StrippedToSameError, *NoMatchError, *AmbiguousError,
// *OtherLineError or *TooManyError. An empty Old is found nowhere: the caller makes and fills files.
func Apply(text string, req Request) (Replacements, error) {
	f, err := locate(text, req)
	if err != nil {
		return Replacements{}, err
	}
	return replace(text, req, f)
}

// located is the outcome of locate.
type located struct {
	call
	matches []span.Span
	rule    Rule
}

// locate tries the rules in order. The first that matches anywhere decides,
// also when it matches too often.
func locate(text string, req Request) (located, error) {
	if req.Old == req.New {
		return located{}, ErrSame
	}
	if req.Old == "" || !utf8.ValidString(req.Old) {
		return located{}, &NoMatchError{}
	}
	noLF := strings.IndexByte(text, '\n') < 0
	rules := []Rule{Exact, Quotes, Desanitised, Normalised}
	if len(text) > FoldUpTo {
		rules = rules[:1]
	}
	for _, rule := range rules {
		old, new, ok := rule.reads(req.Old, req.New)
		if !ok {
			continue
		}
		for _, br := range readings(old, noLF) {
			t := tally{all: req.ReplaceAll}
			if t.all {
				t.keep = req.Most
			} else if len(req.Within) > 0 {
				t.within, t.inside = req.Within, &tally{}
			}
			if rule.search(text, old, br, &t); t.count == 0 {
				continue
			}
			if err := t.check(text, br, req); err != nil {
				return located{}, err
			}
			return located{call{old, new, br}, t.chosen(), rule}, nil
		}
	}
	return located{}, &NoMatchError{}
}

// reads tells how the rule reads the two strings, and false if it reads
// them as the exact rule does.
func (r Rule) reads(old, new string) (string, string, bool) {
	if r != Desanitised {
		return old, new, true
	}
	full, used := desanitise(old, allTokens)
	if used == 0 {
		return old, new, false
	}
	new, _ = desanitise(new, used)
	return full, new, true
}

// search adds the places of old in a text to t.
func (r Rule) search(text, old string, br breaks, t *tally) {
	switch r {
	case Quotes:
		quoteFolding.search(text, old, br, t, windowLen)
	case Normalised:
		normalFolding.search(text, old, br, t, windowLen)
	default:
		searchExact(text, old, br, t)
	}
}

// shown bounds the matches that an error names.
const shown = 10

// tally counts matches as they come, in ascending order: every place without
// all, places that do not overlap with it.
type tally struct {
	all   bool
	keep  int // how many are wanted; 0 means shown without all, any number with it
	count int
	end   int64       // of the last match that counts
	spans []span.Span // those that are kept

	within span.Set // where the matches start that inside counts, too
	inside *tally   // nil: none does
}

// add counts a match.
func (t *tally) add(start, end int64) {
	if t.all && t.count > 0 && start < t.end {
		return
	}
	t.count++
	t.end = end
	if t.inside != nil && t.within.Covers(span.Span{Start: start, End: start + 1}) {
		t.inside.add(start, end)
	}
	if t.count <= t.keep || t.keep == 0 && (t.all || t.count <= shown) {
		t.spans = append(t.spans, span.Span{Start: start, End: end})
	}
}

// chosen returns the matches that a request is about.
func (t tally) chosen() []span.Span {
	if t.inside != nil {
		return t.inside.spans
	}
	return t.spans
}

// check refuses one or more matches if they are too many, or if none is at the place that the caller named.
func (t tally) check(text string, br breaks, req Request) error {
	switch {
	case t.all && t.count > len(t.spans):
		return &TooManyError{Count: t.count, Most: req.Most}
	case t.all, t.inside == nil && t.count == 1, t.inside != nil && t.inside.count == 1:
		return nil
	case t.inside == nil:
		return ambiguous(text, t, br)
	case t.inside.count == 0:
		return &OtherLineError{ambiguous(text, t, br)}
	}
	e := ambiguous(text, *t.inside, br)
	e.InLine = true
	return e
}

// ambiguous describes some matches.
func ambiguous(text string, t tally, br breaks) *AmbiguousError {
	e := &AmbiguousError{Count: t.count, Places: t.spans}
	line, at := 1, 0
	for _, m := range t.spans {
		place := int(m.Start)
		line, at = line+countBreaks(text[at:place], br.inText), place
		e.Lines = append(e.Lines, line)
		start := lastBreak(text[:at], br.inText) + 1
		e.Cols = append(e.Cols, 1+utf8.RuneCountInString(text[start:at]))
	}
	return e
}
