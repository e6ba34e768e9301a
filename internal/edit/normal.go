package edit

import (
	"strings"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"github.com/fsmcp/fsmcp/internal/span"
)

// normalFolding gives texts that are canonically equivalent the same form, which is NFC.
// The spelling of a text is at most four times as long.
var normalFolding = folding{appendForm: appendNormal, isPlain: span.IsASCII[string], growth: 4, fixed: fixedPiece, isEdge: isBoundary}

// fixedPiece is a part of old that every equivalent text has byte for byte: no
// character outside ASCII, none of the few in it that are the form of another,
// and none that a mark may follow.
func fixedPiece(old string) string {
	piece := longestPiece(old, func(r rune) bool {
		return r >= utf8.RuneSelf || strings.ContainsRune(";`K\n\r", r)
	})
	return piece[:max(0, len(piece)-1)]
}

// appendNormal appends the NFC form of s, and of each segment that differs
// where it is in both; stray bytes stay as they are. s begins at a boundary, form is empty.
func appendNormal(form []byte, changes []change, s string) ([]byte, []change) {
	runEnd := 0
	var iter norm.Iter
	for at := 0; at < len(s); {
		if at >= runEnd {
			runEnd = at + span.FirstStray(s[at:])
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
			changes = append(changes, change{int32(start), int32(len(form)), int32(at), int32(end)})
		}
		at = end
	}
	return form, changes
}

// isBoundary reports whether i is an edge of s, of a stray byte, or stands
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

// isStrayAt reports whether the continuation byte at s[i] belongs to no character.
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
