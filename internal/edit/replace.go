package edit

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/fsmcp/fsmcp/internal/span"
)

// A call holds the texts of an edit as the matching rule that found old_string wrote them.
type call struct {
	old, new string
	breaks   breaks
}

// replace decides what stands in the place of each match.
func replace(text string, req Request, f located) (Replacements, error) {
	w := newComposer(f.call, req.KeepTrailing)
	ends := lineEnds{text: text, loneCR: f.breaks.inText}
	res := Replacements{Rule: f.rule, Splices: make([]span.Splice, len(f.matches))}
	changed := false
	v := view{s: span.BytesOf(text), loneCR: f.breaks.inText}
	for i, m := range f.matches {
		start, end := int(m.Start), int(m.End)
		old := v.s[start:end]
		p := place{endsLine: v.endsLine(end)}
		if w.breaksLines() {
			p.eol = ends.after(start)
		}
		if w.plain.head+w.plain.tail > 0 {
			p.own = ownBreaks(v, start, end)
		}
		if f.rule == Quotes {
			p.quoted = string(old)
			before, _ := utf8.DecodeLastRune(v.s[:start])
			p.afterLetter = unicode.IsLetter(before)
		}
		new := w.text(p)
		changed = changed || !bytes.Equal(new, old)
		res.Splices[i] = span.Splice{Start: m.Start, End: m.End, New: new}
		if f.deletesLines(v, start) {
			// A break that the next match begins with is left to it.
			if end := m.End + int64(len(v.breakAt(end))); i+1 == len(f.matches) || end <= f.matches[i+1].Start {
				res.Splices[i].End = end
			}
		}
	}
	if !changed {
		return Replacements{}, w.unchanged()
	}
	return res, nil
}

// deletesLines reports whether whole lines are deleted, with the break of the last one. A
// match that ends in a line break has its own.
func (c call) deletesLines(v view, start int) bool {
	endsInBreak := strings.HasSuffix(c.old, lf) || c.breaks.inCall && strings.HasSuffix(c.old, cr)
	return c.new == "" && !endsInBreak && v.startsLine(start)
}

// ownBreaks returns the line breaks of a match, one after the other.
func ownBreaks(v view, start, end int) string {
	var b strings.Builder
	for i := start; i < end; i++ {
		if form := v.breakAt(i); form != "" {
			b.WriteString(form)
			i += len(form) - 1
		}
	}
	return b.String()
}

// A place holds the facts that new text depends on beside the call: the surroundings of
// one match. It is comparable, so that equal places are worded once.
type place struct {
	endsLine bool
	eol      string // ending of the line the match starts on, else the usual one
	own      string // the match's own line breaks, where old and new text share some
	// For the quote rule only.
	quoted      string // the matched text
	afterLetter bool   // a letter stands right before the match
}

// A composer makes the new text of one call for the places it goes to.
type composer struct {
	call
	keepTrailing bool
	plain        *draft
	known        map[place][]byte
	stripped     []int // numbers of the lines of new that lost white space
}

func newComposer(c call, keepTrailing bool) *composer {
	return &composer{
		call:         c,
		keepTrailing: keepTrailing,
		plain:        newDraft(c.old, c.new, c.breaks.inCall),
		known:        map[place][]byte{},
	}
}

// breaksLines reports whether new text has line breaks.
func (w *composer) breaksLines() bool { return len(w.plain.forms) > 0 }

// text returns the new text for a place. Equal places share its memory.
func (w *composer) text(p place) []byte {
	if b, ok := w.known[p]; ok {
		return b
	}
	l := w.plain
	if p.quoted != "" {
		l = w.restyled(p)
	}
	lines, stripped := l.lines, []int(nil)
	if !w.keepTrailing {
		lines, stripped = l.strip(p.endsLine)
	}
	w.stripped = append(w.stripped, stripped...)
	b := []byte(l.join(lines, p))
	w.known[p] = b
	return b
}

func (w *composer) restyled(p place) *draft {
	new := restyle(w.old, w.new, p.quoted, p.afterLetter)
	if new == w.new {
		return w.plain
	}
	l := *w.plain
	l.lines, _ = splitLines(new, w.breaks.inCall)
	return &l
}

// unchanged is the error for an edit that leaves all as it was.
func (w *composer) unchanged() error {
	if len(w.stripped) == 0 {
		return ErrSame
	}
	return &StrippedToSameError{What: "white space at the end of " + lineList(w.stripped)}
}

// lineList names lines in words, at most ten of them.
func lineList(numbers []int) string {
	seen := map[int]bool{}
	var names []string
	for _, n := range numbers {
		if !seen[n] {
			seen[n] = true
			names = append(names, strconv.Itoa(n))
		}
	}
	if len(names) == 1 {
		return "line " + names[0]
	}
	if more := len(names) - shown; more > 0 {
		return fmt.Sprintf("lines %s and %d more", strings.Join(names[:shown], ", "), more)
	}
	last := len(names) - 1
	return "lines " + strings.Join(names[:last], ", ") + " and " + names[last]
}

// A draft is new text cut into lines and set beside the lines of old text.
type draft struct {
	old   []string
	asked []string // the lines of new text as the caller wrote them
	forms []string // the breaks between those
	lines []string // the same lines with their quotes restyled
	// How many lines at the front and at the back are the same in old text.
	front, back int
	// How many line breaks stand among and beside those. They are not new and
	// stay as the file has them, also in a file that mixes endings.
	head, tail int
	// inner holds the lines of old text but the last, made when first needed.
	inner map[string]bool
}

func newDraft(old, new string, loneCR bool) *draft {
	d := &draft{}
	d.old, _ = splitLines(old, loneCR)
	d.asked, d.forms = splitLines(new, loneCR)
	d.lines = d.asked
	most := min(len(d.old), len(d.asked))
	for d.front < most && d.old[d.front] == d.asked[d.front] {
		d.front++
	}
	for d.front+d.back < most && d.old[len(d.old)-1-d.back] == d.asked[len(d.asked)-1-d.back] {
		d.back++
	}
	d.head = min(d.front, most-1)
	d.tail = min(d.back, most-1-d.head)
	return d
}

// strip takes trailing blanks and tabs off the lines of new text, and tells the
// numbers of those that lost any. A line keeps them where the matched text has
// some at the end of its counterpart, or of any line with the same text. The
// last line of new text, or of the match, ends a line only if endsLine says
// so. Blanks alone are left as they are.
func (d *draft) strip(endsLine bool) (lines []string, stripped []int) {
	lines = d.lines
	last := len(d.lines) - 1
	for i, line := range d.lines {
		bare := trimTrailing(line)
		if len(bare) == len(line) || i == last && !endsLine || d.keeps(i, endsLine) {
			continue
		}
		if stripped == nil {
			lines = append([]string(nil), d.lines...)
		}
		lines[i] = bare
		stripped = append(stripped, i+1)
	}
	if last == 0 && lines[0] == "" {
		return d.lines, nil
	}
	return lines, stripped
}

func trimTrailing(line string) string { return strings.TrimRight(line, " \t") }

// keeps reports whether line i of new text may keep its trailing white space. Its
// counterparts are, among the lines that differ between old and new text, the
// one as far from their front and the one as far from their back.
func (d *draft) keeps(i int, endsLine bool) bool {
	fromBack := i + len(d.old) - len(d.asked)
	if i < len(d.old)-d.back && d.oldTrails(i, endsLine) ||
		fromBack >= d.front && d.oldTrails(fromBack, endsLine) {
		return true
	}
	last := len(d.old) - 1
	if d.inner == nil {
		d.inner = make(map[string]bool, last)
		for _, line := range d.old[:last] {
			d.inner[line] = true
		}
	}
	return d.inner[d.asked[i]] || endsLine && d.old[last] == d.asked[i]
}

// oldTrails reports whether line i of the match has white space at a line end.
func (d *draft) oldTrails(i int, endsLine bool) bool {
	if i < 0 || i >= len(d.old) || i == len(d.old)-1 && !endsLine {
		return false
	}
	return len(trimTrailing(d.old[i])) < len(d.old[i])
}

// join puts lines together with the line breaks of the place.
func (d *draft) join(lines []string, p place) string {
	if len(d.forms) == 0 {
		return lines[0]
	}
	var b strings.Builder
	_, own := splitLines(p.own, true)
	for i, line := range lines {
		b.WriteString(line)
		if i < len(d.forms) {
			b.WriteString(d.breakAfter(i, own, p.eol))
		}
	}
	return b.String()
}

// breakAfter is the break that follows line i; own are the breaks of the match, and eol
// is the ending of its line.
func (d *draft) breakAfter(i int, own []string, eol string) string {
	fromBack := len(d.forms) - 1 - i
	switch {
	case i < d.head:
		return own[i]
	case fromBack < d.tail:
		return own[len(own)-1-fromBack]
	case eol != "":
		return eol
	}
	return d.forms[i]
}
