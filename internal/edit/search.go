package edit

import (
	"bytes"

	"github.com/fsmcp/fsmcp/internal/span"
)

// A matcher finds lines of literal text with line breaks between them. Each break
// matches any form of line break.
type matcher struct {
	breaks breaks
	lines  [][]byte // one more than there are breaks
	fail   []int32
}

// newMatcher returns a matcher of a text.
func newMatcher(old string, br breaks) *matcher {
	lines, _ := splitLines(old, br.inCall)
	m := &matcher{breaks: br, lines: make([][]byte, len(lines))}
	for i, line := range lines {
		m.lines[i] = span.BytesOf(line)
	}
	return m
}

// searchExact adds the places of old in a text to t.
func searchExact(text, old string, br breaks, t *tally) {
	newMatcher(old, br).each(span.BytesOf(text), func(start, end int) bool {
		t.add(int64(start), int64(end))
		return true
	})
}

// longest is the most bytes that a match can have.
func (m *matcher) longest() int {
	n := (len(m.lines) - 1) * len(crlf)
	for _, line := range m.lines {
		n += len(line)
	}
	return n
}

// splitsBreak reports whether end lies between the CR and the LF of a CRLF.
func (m *matcher) splitsBreak(s []byte, end int) bool {
	return has(s, end, '\n') && has(s, end-1, '\r')
}

// occurrences yields every place of x in s, misaligned ones included. It leaps
// from one place of a rare piece of x to the next, as fast as the machine
// compares bytes, and changes to linearSearch when that costs more than it should.
func occurrences(s, x []byte, yield func(i int) bool) {
	if len(x) == 0 || len(x) > len(s) {
		return
	}
	k := rarest(s, x)
	piece := x[k:min(len(x), k+pieceLen)]
	// The price of a candidate, counted in bytes of plain scanning.
	price := 8 + len(x)/8
	for pos, work := 0, 0; ; work += price {
		if work > 4*pos+4096 {
			linearSearch(s, x, pos, yield)
			return
		}
		i := bytes.Index(s[pos+k:], piece)
		if i < 0 {
			return
		}
		i += pos
		if i+len(x) > len(s) {
			return
		}
		if bytes.Equal(s[i:i+len(x)], x) && !yield(i) {
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
	occurrences(span.BytesOf(text), span.BytesOf(piece), func(i int) bool {
		at = i
		return false
	})
	return at
}

// pieceLen is short enough for the vector search of every processor.
const pieceLen = 24

// rarest is where in x the piece begins that is worth looking for: at the byte
// that a sample of s has least of. Any place is right, a good one is fast.
func rarest(s, x []byte) int {
	const blocks, size = 8, 256
	if len(s) < 2*blocks*size {
		return 0
	}
	var seen [256]int
	for i := range blocks {
		for _, c := range s[len(s)/blocks*i:][:size] {
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

// each calls yield for every match in s in ascending order, overlapping ones
// included, until yield returns false. It takes the edges of s for the edges
// of the text. It looks around each place of the longest line,
// or goes line by line when that costs more than it should.
func (m *matcher) each(s []byte, yield func(start, end int) bool) {
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
	occurrences(s, m.lines[longest], func(i int) bool {
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
func (m *matcher) around(s []byte, at, line int) (start, end, cost int, ok bool) {
	v := view{s: s, loneCR: m.breaks.inText}
	end = at + len(m.lines[line])
	for _, next := range m.lines[line+1:] {
		cost += 8 + len(next)
		if m.splitsBreak(s, end) {
			return 0, 0, cost, false
		}
		n := len(v.breakAt(end))
		if n == 0 || !bytes.HasPrefix(s[end+n:], next) {
			return 0, 0, cost, false
		}
		end += n + len(next)
	}
	start = at
	for i := line - 1; i >= 0; i-- {
		cost += 8 + len(m.lines[i])
		if start == 0 || !v.startsLine(start) {
			return 0, 0, cost, false
		}
		if start--; has(s, start, '\n') && has(s, start-1, '\r') {
			start--
		}
		if !bytes.HasSuffix(s[:start], m.lines[i]) {
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
func (m *matcher) byLines(s []byte, yield func(start, end int) bool) {
	k := len(m.lines) - 1
	inner := m.lines[1:k]
	if m.fail == nil {
		m.fail = failures(len(inner), func(i, k int) bool { return bytes.Equal(inner[i], inner[k]) })
	}
	recent := make([]Match, k+1) // of the last lines, by number
	state := 0                   // how many inner lines the lines so far end with
	for n, start := 0, 0; ; n++ {
		next := bytes.IndexByte(s[start:], m.breaks.lineEnd())
		if next >= 0 {
			next += start
		}
		end := next
		switch {
		case next < 0:
			end = len(s)
		case next > start && m.splitsBreak(s, next):
			end = next - 1
		}
		line := s[start:end]
		if n >= k && state == len(inner) && bytes.HasPrefix(line, m.lines[k]) {
			first := recent[(n-k)%(k+1)]
			if bytes.HasSuffix(s[first.Start:first.End], m.lines[0]) &&
				!yield(first.End-len(m.lines[0]), start+len(m.lines[k])) {
				return
			}
		}
		recent[n%(k+1)] = Match{start, end}
		state = m.advance(inner, state, line)
		if next < 0 {
			return
		}
		start = next + 1
	}
}

// advance is the number of inner lines matched once line has been seen.
func (m *matcher) advance(inner [][]byte, state int, line []byte) int {
	if len(inner) == 0 {
		return 0
	}
	if state == len(inner) {
		state = int(m.fail[state])
	}
	for {
		if bytes.Equal(inner[state], line) {
			return state + 1
		}
		if state == 0 {
			return 0
		}
		state = int(m.fail[state])
	}
}

// failures returns, for each number of matched elements of a pattern of n, how many stay
// matched if the next one does not fit. equal compares two elements of the pattern.
func failures(n int, equal func(i, k int) bool) []int32 {
	fail := make([]int32, n+1)
	for i, k := 1, 0; i < n; i++ {
		for k > 0 && !equal(i, k) {
			k = int(fail[k])
		}
		if equal(i, k) {
			k++
		}
		fail[i+1] = int32(k)
	}
	return fail
}

// linearSearch yields every place of x in s[from:], overlapping ones included, in time linear
// in both (Knuth, Morris and Pratt). It takes memory of four times x.
func linearSearch(s, x []byte, from int, yield func(i int) bool) {
	fail := failures(len(x), func(i, k int) bool { return x[i] == x[k] })
	k := 0 // so many bytes of x are matched
	for i, c := range s[min(from, len(s)):] {
		for k > 0 && x[k] != c {
			k = int(fail[k])
		}
		if x[k] == c {
			k++
		}
		if k == len(x) {
			if !yield(from + i + 1 - k) {
				return
			}
			k = int(fail[k])
		}
	}
}
