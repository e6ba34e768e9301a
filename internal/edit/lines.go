package edit

import (
	"strings"

	"github.com/fsmcp/fsmcp/internal/span"
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
	return view{s: span.BytesOf(s), u: span.Narrow, loneCR: loneCR}.breakAt(i)
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

// A view is a text, or the surroundings of a match in a file with at least four
// units (or the file's own edge) on either side of it.
type view struct {
	s      []byte
	u      span.Units
	loneCR bool // a lone CR ends a line
}

// breakAt is the form of the line break that begins at i, or empty.
func (v view) breakAt(i int) string {
	if v.u.Has(v.s, i, '\n') {
		return lf
	}
	if !v.u.Has(v.s, i, '\r') {
		return ""
	}
	if v.u.Has(v.s, i+v.u.Size(), '\n') {
		return crlf
	}
	if v.loneCR {
		return cr
	}
	return ""
}

// width is the number of bytes of a break of that form.
func (v view) width(form string) int { return len(form) * v.u.Size() }

// startsLine tells whether a line begins at i.
func (v view) startsLine(i int) bool {
	if i == 0 {
		return true
	}
	before := i - v.u.Size()
	return v.u.Has(v.s, before, '\n') || v.loneCR && v.u.Has(v.s, before, '\r')
}

// endsLine tells whether a line's text ends at i.
func (v view) endsLine(i int) bool { return i == len(v.s) || v.breakAt(i) != "" }
