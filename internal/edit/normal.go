package edit

import (
	"strings"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"github.com/fsmcp/fsmcp/internal/span"
)

// windowLen bounds the text that is normalised at a time.
const windowLen = 256 << 10

// findNormalised finds old where the text is canonically equivalent to it. It
// compares the NFC forms of both, of the text a window at a time, so that its
// memory does not grow with the text.
func findNormalised(text, old string, br breaks, t *tally, window int) {
	if isASCII(old) && isASCII(text) {
		return
	}
	if indexOf(text, fixedPiece(old)) < 0 {
		return
	}
	form, _, changed := appendNormal(nil, nil, old)
	lines, _ := splitLines(string(form), br.inCall)
	encoded := make([][]byte, len(lines))
	for i, line := range lines {
		encoded[i] = []byte(line)
	}
	m := bytesMatcher(encoded, narrow, br)
	s := normalSearch{text: text, m: m, t: t, oldChanged: changed}
	// The spelling of a match is at most four times as long as its NFC form.
	reach := 4*m.longest() + utf8.UTFMax
	size := max(window, 4*reach)
	s.form = make([]byte, 0, min(len(text), size)+reach)
	for from := 0; from < len(text); {
		end := cutFrom(text, from+size)
		next := end
		if end < len(text) {
			next = cutFrom(text, end-reach)
		}
		s.window(from, end, next)
		from = next
	}
}

// fixedPiece is a part of old that every equivalent text has byte for byte: no
// character outside ASCII, none of the few in it that are the form of another,
// and none that a mark may follow.
func fixedPiece(old string) string {
	piece := longestPiece(old, func(r rune) bool {
		return r >= utf8.RuneSelf || strings.ContainsRune(";`K\n\r", r)
	})
	return piece[:max(0, len(piece)-1)]
}

func isASCII(s string) bool {
	for len(s) >= 8 {
		if (s[0]|s[1]|s[2]|s[3]|s[4]|s[5]|s[6]|s[7])&0x80 != 0 {
			return false
		}
		s = s[8:]
	}
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// normalSearch is one search, with buffers that go from window to window.
type normalSearch struct {
	text       string
	m          *matcher[[]byte]
	t          *tally
	oldChanged bool // old is not its own NFC form
	form       []byte
	changes    []change
}

// window looks for matches in text[from:end] that start before next.
func (s *normalSearch) window(from, end, next int) {
	var changed bool
	s.form, s.changes, changed = appendNormal(s.form[:0], s.changes[:0], s.text[from:end])
	if !changed && !s.oldChanged {
		return // the exact rule has looked here
	}
	starts, ends := origin{changes: s.changes}, origin{changes: s.changes}
	s.m.each(s.form, func(start, stop int) bool {
		start, ok := starts.place(start)
		start += from
		if !ok || !isBoundary(s.text, start) {
			return true
		}
		if start >= next {
			return false
		}
		stop, ok = ends.place(stop)
		stop += from
		if ok && isBoundary(s.text, stop) && s.t.wants(int64(start), int64(stop)) {
			s.t.spans = append(s.t.spans, Match{start, stop})
		}
		return true
	})
}

// A change is a segment of a text that its NFC form spells differently.
type change struct{ form, formEnd, orig, origEnd int32 }

// appendNormal appends the NFC form of s, and of each segment that differs
// where it is in both; stray bytes stay as they are. s begins at a boundary.
func appendNormal(form []byte, changes []change, s string) ([]byte, []change, bool) {
	base, runEnd := len(form), 0
	var iter norm.Iter
	for at := 0; at < len(s); {
		if at >= runEnd {
			runEnd = at + validPrefix(s[at:])
		}
		if at == runEnd { // a stray byte
			form = append(form, s[at])
			at++
			continue
		}
		quick := at + norm.NFC.QuickSpanString(s[at:runEnd])
		for at < quick && !isBoundary(s, quick) {
			quick-- // what comes next may change this character
		}
		form = append(form, s[at:quick]...)
		if at = quick; at == runEnd {
			continue
		}
		end := boundaryFrom(s, at+1)
		segment := s[at:end]
		start := len(form)
		for iter.InitString(norm.NFC, segment); !iter.Done(); {
			form = append(form, iter.Next()...)
		}
		if string(form[start:]) != segment {
			changes = append(changes, change{int32(start - base), int32(len(form) - base), int32(at), int32(end)})
		}
		at = end
	}
	return form, changes, len(changes) > 0
}

// validPrefix returns the length of s that is UTF-8 before the first stray byte.
func validPrefix(s string) int {
	if utf8.ValidString(s) {
		return len(s)
	}
	for i, r := range s {
		if r == utf8.RuneError && span.IsStray(s[i:]) {
			return i
		}
	}
	return len(s)
}

// isBoundary tells whether i is an edge of s, of a stray byte, or stands
// before a character that never combines with what precedes it.
func isBoundary(s string, i int) bool {
	if i <= 0 || i >= len(s) {
		return true
	}
	if c := s[i]; c < utf8.RuneSelf {
		return true
	}
	if !utf8.RuneStart(s[i]) && !isStrayAt(s, i) {
		return false
	}
	if span.IsStray(s[i:]) {
		return true
	}
	if r, n := utf8.DecodeLastRuneInString(s[:i]); r == utf8.RuneError && n == 1 {
		return true
	}
	return norm.NFC.PropertiesString(s[i:]).BoundaryBefore()
}

// isStrayAt tells whether the continuation byte at s[i] belongs to no character.
func isStrayAt(s string, i int) bool {
	for j := i - 1; j >= 0 && i-j < utf8.UTFMax; j-- {
		if utf8.RuneStart(s[j]) {
			_, n := utf8.DecodeRuneInString(s[j:])
			return j+n <= i
		}
	}
	return true
}

// longestSegment is more than any sequence of marks that means something.
const longestSegment = 64 << 10

// boundaryFrom is the first boundary at or after i, or a place in the middle of
// a segment that is too long to be looked at in one piece: it may cost a match
// there, but never makes a wrong one, since matches end at boundaries only.
func boundaryFrom(s string, i int) int {
	for from := i; i < len(s) && !isBoundary(s, i); i++ {
		if i-from > longestSegment && utf8.RuneStart(s[i]) {
			return i
		}
	}
	return min(i, len(s))
}

// cutFrom is the first boundary at or after i that is not inside a CRLF.
func cutFrom(s string, i int) int {
	i = boundaryFrom(s, i)
	if i > 0 && i < len(s) && s[i] == '\n' && s[i-1] == '\r' {
		return boundaryFrom(s, i+1)
	}
	return i
}

// origin tells where in a window the ascending places of its NFC form are.
type origin struct {
	changes []change // not passed yet
	shift   int      // from a place in the form to that in the window
}

// place is false for a place inside a segment that was spelled differently.
func (o *origin) place(form int) (int, bool) {
	for len(o.changes) > 0 && int(o.changes[0].formEnd) <= form {
		o.shift = int(o.changes[0].origEnd - o.changes[0].formEnd)
		o.changes = o.changes[1:]
	}
	return form + o.shift, len(o.changes) == 0 || form <= int(o.changes[0].form)
}
