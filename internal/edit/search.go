package edit

import (
	"bytes"
	"strings"
)

// content is the type that a matcher searches: a text, or a piece of a file.
type content interface{ string | []byte }

// A matcher finds lines of literal text with line breaks between them. Each break
// matches any form of line break.
type matcher[T content] struct {
	index     func(s, sub T) int
	indexByte func(s T, c byte) int
	u         units
	loneCR    bool // a lone CR is a line break in what is searched
	lines     []T  // the literal text; one more than there are breaks
	joined    T    // lines with the one break a text without CRLF has
	fail      []int32
}

// textMatcher searches texts for lines.
func textMatcher(lines []string, br breaks) *matcher[string] {
	m := &matcher[string]{index: strings.Index, indexByte: strings.IndexByte, u: narrow}
	m.set(lines, br)
	return m
}

// bytesMatcher searches bytes for lines that are encoded already.
func bytesMatcher(lines [][]byte, u units, br breaks) *matcher[[]byte] {
	m := &matcher[[]byte]{index: bytes.Index, indexByte: bytes.IndexByte, u: u}
	m.set(lines, br)
	return m
}

func (m *matcher[T]) set(lines []T, br breaks) {
	m.lines, m.loneCR = lines, br.inText
	if len(lines) == 1 {
		m.joined = lines[0]
		return
	}
	sep := m.u.spell('\n')
	if m.loneCR {
		sep = m.u.spell('\r')
	}
	joined := make([]byte, 0, m.longest())
	for i, line := range lines {
		if i > 0 {
			joined = append(joined, sep...)
		}
		joined = append(joined, line...)
	}
	m.joined = T(joined)
}

// longest is the most bytes that a match can have.
func (m *matcher[T]) longest() int {
	n := (len(m.lines) - 1) * 2 * m.u.size
	for _, line := range m.lines {
		n += len(line)
	}
	return n
}

// each calls yield for every match in s in ascending order, overlapping ones
// included, until yield returns false. It takes the edges of s for the edges
// of the text; s begins at a whole unit.
func (m *matcher[T]) each(s T, yield func(start, end int) bool) {
	if len(m.lines) > 1 && !m.loneCR && m.indexByte(s, '\r') >= 0 {
		m.mixed(s, yield)
		return
	}
	m.occurrences(s, m.joined, func(i int) bool {
		end := i + len(m.joined)
		if i%m.u.size != 0 || m.splitsBreak(s, end) {
			return true
		}
		return yield(i, end)
	})
}

// splitsBreak tells whether end lies between the CR and the LF of a CRLF.
func (m *matcher[T]) splitsBreak(s T, end int) bool {
	return unitIs(m.u, s, end, '\n') && unitIs(m.u, s, end-m.u.size, '\r')
}

// occurrences yields every place of x in s, misaligned ones included. It leaps
// from one place of a rare piece of x to the next, as fast as the machine
// compares bytes, and changes to twoWay when that costs more than it should.
func (m *matcher[T]) occurrences(s, x T, yield func(i int) bool) {
	if len(x) == 0 || len(x) > len(s) {
		return
	}
	k := rarest(s, x)
	piece := x[k:min(len(x), k+pieceLen)]
	// The price of a candidate, counted in bytes of plain scanning.
	price := 8 + len(x)/8
	for pos, work := 0, 0; ; work += price {
		if work > 4*pos+4096 {
			twoWay(s, x, pos, yield)
			return
		}
		i := m.index(s[pos+k:], piece)
		if i < 0 {
			return
		}
		i += pos
		if i+len(x) > len(s) {
			return
		}
		if string(s[i:i+len(x)]) == string(x) && !yield(i) {
			return
		}
		pos = i + 1
		if pos+len(x) > len(s) {
			return
		}
	}
}

// indexOf is the first place of piece in text, or -1, in linear time for any two.
func indexOf(text, piece string) int {
	if piece == "" {
		return 0
	}
	at := -1
	textMatcher([]string{piece}, breaks{}).occurrences(text, piece, func(i int) bool {
		at = i
		return false
	})
	return at
}

// pieceLen is short enough for the vector search of every processor.
const pieceLen = 24

// rarest is where in x the piece begins that is worth looking for: at the byte
// that a sample of s has least of. Any place is right, a good one is fast.
func rarest[T content](s, x T) int {
	const blocks, size = 8, 256
	if len(s) < 2*blocks*size {
		return 0
	}
	var seen [256]int
	for i := range blocks {
		for _, c := range []byte(s[len(s)/blocks*i:][:size]) {
			seen[c]++
		}
	}
	best := 0
	// The piece keeps some length, so that few places pass for it.
	for i := range min(len(x)-min(len(x), 8)+1, 512) {
		if seen[x[i]] < seen[x[best]] {
			best = i
		}
	}
	return best
}

// mixed finds matches in a text that may mix line breaks: around each place of
// the longest line, or line by line when that costs more than it should.
func (m *matcher[T]) mixed(s T, yield func(start, end int) bool) {
	longest := 0
	for i, line := range m.lines {
		if len(line) > len(m.lines[longest]) {
			longest = i
		}
	}
	if len(m.lines[longest]) == 0 {
		m.byLines(s, yield)
		return
	}
	last, work := -1, 0
	dear, done := false, false
	m.occurrences(s, m.lines[longest], func(i int) bool {
		start, end, cost, ok := m.around(s, i, longest)
		if ok {
			last = start
			done = !yield(start, end)
		}
		work += cost
		dear = work > 4*i+1<<16
		return !done && !dear
	})
	if dear && !done {
		m.byLines(s, func(start, end int) bool { return start <= last || yield(start, end) })
	}
}

// around is the match whose given line is at s[at], and what it cost to see
// whether there is one.
func (m *matcher[T]) around(s T, at, line int) (start, end, cost int, ok bool) {
	u := m.u.size
	if at%u != 0 {
		return 0, 0, 1, false
	}
	end = at + len(m.lines[line])
	for _, next := range m.lines[line+1:] {
		cost += 8 + len(next)
		if m.splitsBreak(s, end) {
			return 0, 0, cost, false
		}
		n := len(view[T]{s: s, u: m.u}.breakAt(end)) * u
		if n == 0 || !hasPrefix(s[end+n:], next) {
			return 0, 0, cost, false
		}
		end += n + len(next)
	}
	start = at
	for i := line - 1; i >= 0; i-- {
		cost += 8 + len(m.lines[i])
		if !unitIs(m.u, s, start-u, '\n') {
			return 0, 0, cost, false
		}
		if start -= u; unitIs(m.u, s, start-u, '\r') {
			start -= u
		}
		if !hasSuffix(s[:start], m.lines[i]) {
			return 0, 0, cost, false
		}
		start -= len(m.lines[i])
	}
	return start, end, cost, !m.splitsBreak(s, end)
}

// byLines finds matches in a text that mixes line breaks. It walks the lines
// once, comparing whole lines as Knuth, Morris and Pratt compare letters: the
// inner lines of the pattern must equal whole lines, the first ends one, the
// last begins one.
func (m *matcher[T]) byLines(s T, yield func(start, end int) bool) {
	k := len(m.lines) - 1
	inner := m.lines[1:k]
	if m.fail == nil {
		m.fail = failures(inner)
	}
	recent := make([]Match, k+1) // of the last lines, by number
	state := 0                   // how many inner lines the lines so far end with
	for n, start := 0, 0; ; n++ {
		next := nextUnit(m.u, s, '\n', start, m.indexByte)
		end := next
		switch {
		case next < 0:
			end = len(s)
		case next-m.u.size >= start && unitIs(m.u, s, next-m.u.size, '\r'):
			end = next - m.u.size
		}
		line := s[start:end]
		if n >= k && state == len(inner) && hasPrefix(line, m.lines[k]) {
			first := recent[(n-k)%(k+1)]
			if hasSuffix(s[first.Start:first.End], m.lines[0]) &&
				!yield(first.End-len(m.lines[0]), start+len(m.lines[k])) {
				return
			}
		}
		recent[n%(k+1)] = Match{start, end}
		state = m.advance(inner, state, line)
		if next < 0 {
			return
		}
		start = next + m.u.size
	}
}

// advance is the number of inner lines matched once line has been seen.
func (m *matcher[T]) advance(inner []T, state int, line T) int {
	if len(inner) == 0 {
		return 0
	}
	if state == len(inner) {
		state = int(m.fail[state])
	}
	for {
		if string(inner[state]) == string(line) {
			return state + 1
		}
		if state == 0 {
			return 0
		}
		state = int(m.fail[state])
	}
}

// failures tells for each number of matched lines how many stay matched when
// the next one does not fit.
func failures[T content](lines []T) []int32 {
	fail := make([]int32, len(lines)+1)
	for i, k := 1, 0; i < len(lines); i++ {
		for k > 0 && string(lines[i]) != string(lines[k]) {
			k = int(fail[k])
		}
		if string(lines[i]) == string(lines[k]) {
			k++
		}
		fail[i+1] = int32(k)
	}
	return fail
}

// nextUnit is the place of the first character c in s[from:], or -1.
func nextUnit[T content](u units, s T, c byte, from int, indexByte func(T, byte) int) int {
	low := 0 // where the low byte of a unit is
	if u.big {
		low = 1
	}
	for at := from; ; {
		i := indexByte(s[at:], c)
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

func hasPrefix[T content](s, prefix T) bool {
	return len(s) >= len(prefix) && string(s[:len(prefix)]) == string(prefix)
}

func hasSuffix[T content](s, suffix T) bool {
	return len(s) >= len(suffix) && string(s[len(s)-len(suffix):]) == string(suffix)
}
