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
	return view{s: span.BytesOf(s), loneCR: loneCR}.breakAt(i)
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

// A view is a text in which a lone CR may end a line.
type view struct {
	s      []byte
	loneCR bool
}

// has reports whether c stands at b[i], which may lie outside b.
func has(b []byte, i int, c byte) bool { return i >= 0 && i < len(b) && b[i] == c }

// breakAt is the form of the line break that begins at i, or empty.
func (v view) breakAt(i int) string {
	switch {
	case has(v.s, i, '\n'):
		return lf
	case !has(v.s, i, '\r'):
		return ""
	case has(v.s, i+1, '\n'):
		return crlf
	case v.loneCR:
		return cr
	}
	return ""
}

// startsLine reports whether a line begins at i.
func (v view) startsLine(i int) bool {
	return i == 0 || v.s[i-1] == '\n' || v.loneCR && v.s[i-1] == '\r'
}

// endsLine reports whether a line's text ends at i.
func (v view) endsLine(i int) bool { return i == len(v.s) || v.breakAt(i) != "" }

// usual is the most frequent line ending of a text, LF before CRLF if they are even, or
// empty for a text of one line.
func usual(text string, loneCR bool) string {
	if loneCR {
		if strings.Contains(text, cr) {
			return cr
		}
		return ""
	}
	lfs := strings.Count(text, lf)
	crlfs := 0
	if strings.Contains(text, cr) {
		crlfs = strings.Count(text, crlf)
	}
	switch {
	case 2*crlfs > lfs:
		return crlf
	case lfs > 0:
		return lf
	}
	return ""
}

// lineEnds tells the ending of the line that a place is on, for places that ascend; it
// looks at no stretch of the text twice.
type lineEnds struct {
	text     string
	loneCR   bool
	searched bool
	known    int // no line ends before known but at its break
	form     string
	usual    *string // the most frequent ending, once it was needed
}

// after is the ending of the line at a place, or the most frequent one if it has none.
func (l *lineEnds) after(at int) string {
	if !l.searched || at > l.known {
		l.findEnd(at)
	}
	if l.form != "" {
		return l.form
	}
	if l.usual == nil {
		form := usual(l.text, l.loneCR)
		l.usual = &form
	}
	return *l.usual
}

func (l *lineEnds) findEnd(at int) {
	i := strings.IndexByte(l.text[at:], breaks{inText: l.loneCR}.lineEnd())
	l.searched, l.known, l.form = true, len(l.text), ""
	if i < 0 {
		return
	}
	switch l.known, l.form = at+i, lf; {
	case l.loneCR:
		l.form = cr
	case i > 0 && l.text[l.known-1] == '\r':
		l.known, l.form = l.known-1, crlf // a match may begin with the break, but not inside it
	}
}
