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
// then stands for that character first, and only where this finds nothing for a
// line break. A lone CR in new_string is read as the one in old_string was.
//
// There are two ways to search. Apply works on a text in memory, and Nearest shows what is
// near a miss. SearchStream reads files above 64 MiB in pieces. An Edit of one line
// in 1 GB takes 1.7 s and 19 MB of memory by the stream, 6.3 s and 996 MB without.
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
	// KeepTrailing leaves trailing white space of New alone.
	KeepTrailing bool
	// EOL is the file's most frequent line ending, for new line breaks where
	// the line of the match has no ending. Empty means that Apply counts, and
	// that a text without any line break takes New's breaks as they are.
	EOL string
}

// A Rule is the reading under which old text was found.
type Rule int

// The rules in the order in which they are tried.
const (
	Exact       Rule = iota // byte for byte, but for line breaks
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

// A Result is the effect of an edit on a text: one splice of the text's bytes for each
// match. Equal new texts may share memory.
type Result struct {
	Splices []span.Splice
	Rule    Rule
}

// Apply finds req.Old in text and tells what to put in its place. It fails with
// ErrSame, *StrippedToSameError, *NoMatchError, *AmbiguousError or
// *TooManyError. An empty Old
// is found nowhere: making and filling files is the caller's affair.
func Apply(text string, req Request) (Result, error) {
	f, err := locate(text, req)
	if err != nil {
		return Result{}, err
	}
	return replace(text, req, f)
}

// found is the outcome of locate.
type found struct {
	call
	matches []Match
	rule    Rule
}

// locate tries the rules in order. The first that matches anywhere decides,
// also when it matches too often.
func locate(text string, req Request) (found, error) {
	if req.Old == req.New {
		return found{}, ErrSame
	}
	if req.Old == "" || !utf8.ValidString(req.Old) {
		return found{}, &NoMatchError{}
	}
	noLF := strings.IndexByte(text, '\n') < 0
	for _, rule := range []Rule{Exact, Quotes, Desanitised, Normalised} {
		old, new, ok := rule.reads(req.Old, req.New)
		if !ok {
			continue
		}
		for _, br := range readings(old, noLF) {
			t := tally{all: req.ReplaceAll}
			if t.all {
				t.keep = req.Most
			}
			rule.find(text, old, br, &t)
			switch {
			case t.count == 0:
				continue
			case t.count > 1 && !req.ReplaceAll:
				return found{}, ambiguous(text, t, br)
			case t.count > len(t.spans):
				return found{}, &TooManyError{Count: t.count, Most: req.Most}
			}
			return found{call{old, new, br}, t.spans, rule}, nil
		}
	}
	return found{}, &NoMatchError{}
}

// reads tells how the rule reads the two strings, and false where it reads
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

func (r Rule) find(text, old string, br breaks, t *tally) {
	switch r {
	case Exact, Desanitised:
		findExact(text, old, br, t)
	case Quotes:
		findQuotes(text, old, br, t)
	case Normalised:
		findNormalised(text, old, br, t, windowLen)
	}
}

func findExact(text, old string, br breaks, t *tally) {
	lines, _ := splitLines(old, br.inCall)
	textMatcher(lines, br).each(text, func(start, end int) bool {
		if t.wants(int64(start), int64(end)) {
			t.spans = append(t.spans, Match{start, end})
		}
		return true
	})
}

// shown bounds the matches that an error names.
const shown = 10

// tally counts matches as they come, in ascending order: every place without
// all, places that do not overlap with it.
type tally struct {
	all   bool
	keep  int // how many are wanted; 0 means shown without all, any number with it
	count int
	end   int64 // of the last match that counts
	spans []Match
}

// wants counts a match and tells whether to keep it.
func (t *tally) wants(start, end int64) bool {
	if t.all && t.count > 0 && start < t.end {
		return false
	}
	t.count++
	t.end = end
	switch {
	case t.keep > 0:
		return t.count <= t.keep
	case t.all:
		return true
	}
	return t.count <= shown
}

func ambiguous(text string, t tally, br breaks) error {
	e := &AmbiguousError{Count: t.count}
	line, col, at := 1, 1, 0
	for _, m := range t.spans {
		passed := text[at:m.Start]
		if i := lastBreak(passed, br.inText); i >= 0 {
			line, col = line+countBreaks(passed, br.inText), 1
			passed = passed[i+1:]
		}
		col += utf8.RuneCountInString(passed)
		at = m.Start
		e.Lines, e.Cols = append(e.Lines, line), append(e.Cols, col)
		e.At = append(e.At, m.Start)
		e.Spans = append(e.Spans, [2]int{m.Start, m.End})
	}
	return e
}
