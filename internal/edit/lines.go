package edit

import (
	"bytes"
	"strings"
)

// The forms of a line break.
const (
	lf   = "\n"
	crlf = "\r\n"
	cr   = "\r"
)

// breaks tells where a lone CR is a line break.
type breaks struct {
	inText bool // the text has no LF
	inCall bool // in old_string and new_string
}

// lineEnd is the last character of each line break of the text.
func (b breaks) lineEnd() byte {
	if b.inText {
		return '\r'
	}
	return '\n'
}

// readings are the ways to read the lone CRs of old, the likelier first: in a
// text with LFs they are the characters such a text may hold, else line breaks.
func readings(old string, noLF bool) []breaks {
	if noLF {
		return []breaks{{inText: true, inCall: true}}
	}
	if !hasLoneCR(old) {
		return []breaks{{}}
	}
	return []breaks{{}, {inCall: true}}
}

func hasLoneCR(s string) bool {
	for {
		i := strings.IndexByte(s, '\r')
		if i < 0 {
			return false
		}
		if i+1 == len(s) || s[i+1] != '\n' {
			return true
		}
		s = s[i+2:]
	}
}

// splitLines cuts s at its line breaks; there is one line more than breaks.
func splitLines(s string, loneCR bool) (lines, forms []string) {
	if n := strings.Count(s, lf); n > 0 {
		lines, forms = make([]string, 0, n+1), make([]string, 0, n)
	}
	from := 0
	for i := 0; i < len(s); i++ {
		if s[i] != '\n' && s[i] != '\r' {
			continue
		}
		form := breakAt(s, i, loneCR)
		if form == "" {
			continue
		}
		lines, forms = append(lines, s[from:i]), append(forms, form)
		from = i + len(form)
		i = from - 1
	}
	return append(lines, s[from:]), forms
}

// breakAt is the form of the line break that begins at s[i], or empty.
func breakAt(s string, i int, loneCR bool) string {
	return view{s: bytesOf(s), u: narrow, loneCR: loneCR}.breakAt(i)
}

// countBreaks counts the line breaks in s. A CRLF has one LF, so its CR needs
// no look.
func countBreaks(s string, loneCR bool) int {
	if loneCR {
		return strings.Count(s, cr)
	}
	return strings.Count(s, lf)
}

// lastBreak is where the last byte of the last line break in s is, or -1.
func lastBreak(s string, loneCR bool) int {
	if loneCR {
		return strings.LastIndex(s, cr)
	}
	return strings.LastIndex(s, lf)
}

// units tells in which form a stretch of bytes spells characters below U+0080.
type units struct {
	size int  // bytes for each: 1 or 2
	big  bool // the low byte comes last
}

var narrow = units{size: 1}

// spell is the character c in these units.
func (u units) spell(c byte) []byte {
	switch {
	case u.size == 1:
		return []byte{c}
	case u.big:
		return []byte{0, c}
	}
	return []byte{c, 0}
}

// unitIs tells whether the character c stands at s[i].
func unitIs(u units, s []byte, i int, c byte) bool {
	if i < 0 || i+u.size > len(s) {
		return false
	}
	switch {
	case u.size == 1:
		return s[i] == c
	case u.big:
		return s[i] == 0 && s[i+1] == c
	}
	return s[i] == c && s[i+1] == 0
}

// A view is a text, or the surroundings of a match in a file with at least four
// units (or the file's own edge) on either side of it.
type view struct {
	s      []byte
	u      units
	loneCR bool // a lone CR ends a line
}

// breakAt is the form of the line break that begins at i, or empty.
func (v view) breakAt(i int) string {
	if unitIs(v.u, v.s, i, '\n') {
		return lf
	}
	if !unitIs(v.u, v.s, i, '\r') {
		return ""
	}
	if unitIs(v.u, v.s, i+v.u.size, '\n') {
		return crlf
	}
	if v.loneCR {
		return cr
	}
	return ""
}

// width is the number of bytes of a break of that form.
func (v view) width(form string) int { return len(form) * v.u.size }

// startsLine tells whether a line begins at i.
func (v view) startsLine(i int) bool {
	if i == 0 {
		return true
	}
	before := i - v.u.size
	return unitIs(v.u, v.s, before, '\n') || v.loneCR && unitIs(v.u, v.s, before, '\r')
}

// endsLine tells whether a line's text ends at i.
func (v view) endsLine(i int) bool { return i == len(v.s) || v.breakAt(i) != "" }

// nextUnit is the place of the first character c in s[from:], or -1.
func nextUnit(u units, s []byte, c byte, from int) int {
	low := 0 // where the low byte of a unit is
	if u.big {
		low = 1
	}
	for at := from; ; {
		i := bytes.IndexByte(s[at:], c)
		if i < 0 {
			return -1
		}
		i += at
		if unit := i - low; unit >= from && unit%u.size == 0 && unitIs(u, s, unit, c) {
			return unit
		}
		at = i + 1
	}
}
