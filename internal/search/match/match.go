// Package match finds the lines of a text that match a regular expression in RE2 syntax.
//
// It promises the answers of the standard regexp package for each line by itself, without
// its line ending, in time linear in the text, and a bound on memory whatever the pattern
// is. A fuzz test holds both against each other.
//
// It looks for a literal that each match holds, and if there is none it runs an
// automaton that it builds as the text needs it. The standard package line by line was
// rejected for its speed (BenchmarkNext, MB/s on one core of a busy machine): 26 instead
// of 540 for "(?i)needleinhay", 27 instead of 750 for "[A-Z][a-z]+_[0-9]+", 8 instead of
// 130 for "[a-z]{11} [a-z]+ [a-z]{10} x[0-9]". Of faster engines, grafana/regexp is the
// standard one with other special cases, go-re2 needs WebAssembly or cgo, and coregex is
// not to be had from the module proxy.
//
// It knows no files and no encodings: text is UTF-8, and a byte that is no part of a
// character counts as U+FFFD, as in the standard package.
package match

import (
	"bytes"
	"regexp"
	"regexp/syntax"
	"strings"
	"unicode/utf8"
)

// Options change what a pattern matches.
type Options struct {
	// Fold ignores case.
	Fold bool
	// Multiline lets a match span lines: the text is one, "^" and "$" hold at its line
	// breaks, and "." matches them.
	Multiline bool
}

// Pattern is a compiled pattern. It never changes.
type Pattern struct {
	re        *regexp.Regexp
	behind    *regexp.Regexp // a character and the pattern; nil where what stands in front of a match does not matter
	prog      *program
	literal   []byte // every match holds it; nil: none is known
	exact     bool   // a line that holds literal matches
	multiline bool
}

// Bounds of the instructions of a pattern. A step of the slowest search takes time in
// proportion, and a search across lines cannot be stopped between them.
const (
	maxProgram   = 5000
	maxMultiline = 2000
)

// Compile parses a pattern. The error is an *Error.
func Compile(pattern string, o Options) (*Pattern, error) {
	flags, prefix := syntax.Perl, ""
	if o.Fold {
		flags, prefix = flags|syntax.FoldCase, "i"
	}
	if o.Multiline {
		flags, prefix = flags&^syntax.OneLine|syntax.DotNL, prefix+"sm"
	}
	if prefix != "" {
		prefix = "(?" + prefix + ")"
	}
	parsed, err := syntax.Parse(pattern, flags)
	if err != nil {
		return nil, newError(pattern, err)
	}
	if !o.Multiline && needsBreak(parsed) {
		return nil, &Error{Pattern: pattern, At: -1, NeedsMultiline: true, Reason: "a match within one line holds no line break"}
	}
	literal, only := required(parsed)
	prog, err := syntax.Compile(parsed.Simplify())
	if err != nil || len(prog.Inst) > maxProgram || o.Multiline && len(prog.Inst) > maxMultiline {
		return nil, &Error{Pattern: pattern, At: -1, TooLarge: true, Reason: "the pattern takes too much memory"}
	}
	re, err := regexp.Compile(prefix + pattern)
	if err != nil {
		return nil, newError(pattern, err)
	}
	p := &Pattern{re: re, multiline: o.Multiline, prog: newProgram(prog, o.Multiline)}
	if o.Multiline && (p.prog == nil || p.prog.looks) {
		if p.behind, err = regexp.Compile("(?s:.)(?:" + parsed.String() + ")"); err != nil {
			return nil, newError(pattern, err)
		}
	}
	if usable(literal) {
		p.literal, p.exact = []byte(literal), only && !o.Multiline && !strings.Contains(literal, "\r")
	}
	return p, nil
}

// minLiteral is the length from which looking for a literal beats the automaton.
const minLiteral = 2

// usable reports whether a text that lacks a literal cannot match. A byte that is no part
// of a character matches U+FFFD, and does not look like it.
func usable(literal string) bool {
	return len(literal) >= minLiteral && !strings.ContainsRune(literal, utf8.RuneError)
}

// LiteralInFiles returns bytes that every matching file holds, in any charset except UTF-16
// and with any line endings. It returns nil if none are known.
func (p *Pattern) LiteralInFiles() (best []byte) {
	for part := range bytes.FieldsFuncSeq(p.literal, func(r rune) bool { return r == '\n' || r >= utf8.RuneSelf }) {
		if len(part) > len(best) {
			best = part
		}
	}
	return best
}

// Matcher looks for a pattern in texts, one at a time. It keeps an automaton of at most
// some hundred KiB.
type Matcher struct {
	// Stop, if not nil, is asked in searches that are slow; once it returns true, no more
	// lines are found.
	Stop func() bool
	p    *Pattern
	auto *automaton
}

// Matcher returns a new matcher.
func (p *Pattern) Matcher() *Matcher { return &Matcher{p: p, auto: newAutomaton(p.prog)} }

// Next returns the next matching line of a text from a place on, which is the start of a
// line: the range without its line ending. The pattern is not Multiline.
func (m *Matcher) Next(text []byte, from int) (start, end int, ok bool) {
	if m.p.literal != nil {
		return m.nextLiteral(text, from)
	}
	return m.nextLine(text, from)
}

// Rejected lines after which the literal no longer pays, and the least bytes that each
// has to have skipped.
const (
	triesOfLiteral = 16
	bytesPerTry    = 256
)

func (m *Matcher) nextLiteral(text []byte, from int) (start, end int, ok bool) {
	began := from
	for tries := 1; ; tries++ {
		at := bytes.Index(text[from:], m.p.literal)
		if at < 0 {
			return 0, 0, false
		}
		start, end = lineAt(text, from+at)
		if m.p.exact || m.Line(text[start:end]) {
			return start, end, true
		}
		if from = Behind(text, end); from >= len(text) {
			return 0, 0, false
		}
		if tries > triesOfLiteral && from-began < tries*bytesPerTry {
			return m.nextLine(text, from)
		}
	}
}

// nextLine looks at every line.
func (m *Matcher) nextLine(text []byte, from int) (start, end int, ok bool) {
	if !m.auto.off {
		at, o := m.auto.scan(text, from)
		switch o {
		case matched:
			start, end = lineAt(text, at)
			return start, end, true
		case ended:
			return 0, 0, false
		}
		from = at // the automaton gave up in the line that holds this place
		for from > 0 && text[from-1] != '\n' {
			from--
		}
	}
	for ; from < len(text) && (m.Stop == nil || !m.Stop()); from = Behind(text, from) {
		if start, end := lineAt(text, from); m.slow(text[start:end]) {
			return start, end, true
		}
	}
	return 0, 0, false
}

// Line reports whether a line matches; it has no line ending.
func (m *Matcher) Line(line []byte) bool {
	if !m.auto.off {
		if o := m.auto.whole(line); o != gaveUp {
			return o == matched
		}
	}
	return m.slow(line)
}

// Sizes for lines on which the automaton gave up.
const (
	longLine = 4 << 10 // from here on the standard package could not be stopped in time
	pieces   = 512     // bytes between two looks at Stop
)

// slow looks at a line on which the automaton does not pay. A long one it goes through
// nevertheless, as the standard package cannot be stopped.
func (m *Matcher) slow(line []byte) bool {
	if len(line) < longLine || m.p.prog == nil {
		return m.p.re.Match(line)
	}
	s := m.Stream()
	s.Feed(line)
	return s.End()
}

// Reliable reports whether the pattern is fast on what it has met so far.
func (m *Matcher) Reliable() bool { return !m.auto.off }

// Text reports whether a text matches anywhere, for a Multiline pattern.
func (m *Matcher) Text(text []byte) bool {
	if m.p.literal != nil && !bytes.Contains(text, m.p.literal) {
		return false
	}
	return m.Line(text)
}

// Ranges returns up to most matches in a text or line that are not empty, by the standard
// package; of empty ones it returns the first if there is no other.
func (p *Pattern) Ranges(text []byte, most int) [][]int {
	all := p.re.FindAllIndex(text, most)
	some := all[:0:0]
	for _, r := range all {
		if r[1] > r[0] {
			some = append(some, r)
		}
	}
	if len(some) == 0 && len(all) > 0 {
		return all[:1]
	}
	return some
}

// lineAt returns the line that holds a place; the place of a line ending belongs to the
// line that it ends.
func lineAt(text []byte, at int) (start, end int) {
	start = bytes.LastIndexByte(text[:at], '\n') + 1
	end = at + lineLength(text[at:])
	return start, start + len(trimmed(text, start, end))
}

// lineLength is the number of bytes in front of the next line feed.
func lineLength(text []byte) int {
	if i := bytes.IndexByte(text, '\n'); i >= 0 {
		return i
	}
	return len(text)
}

// trimmed is text[start:end] without the carriage return of a CRLF.
func trimmed(text []byte, start, end int) []byte {
	if end < len(text) && end > start && text[end-1] == '\r' {
		end--
	}
	return text[start:end]
}

// Behind is the start of the line behind the one that ends, without its line ending, at end.
func Behind(text []byte, end int) int { return min(LineEnd(text, end)+1, len(text)) }

// LineEnd returns where the line that holds the offset at ends, before its line feed.
func LineEnd(text []byte, at int) int { return at + lineLength(text[at:]) }
