package match

import "bytes"

// Stream looks at one line that comes in pieces, for lines that are not held in memory.
type Stream struct {
	m     *Matcher
	state int32
	exact bool
	found bool
}

// Stream begins a line.
func (m *Matcher) Stream() Stream {
	return Stream{m: m, state: m.auto.begin, exact: m.auto.reliable()}
}

// Feed takes the next piece of the line, without its line ending, and reports whether the
// line matches as far as it is known. A piece ends with a whole character. Where the
// automaton gives up, each piece counts as a line of its own.
func (s *Stream) Feed(piece []byte) bool {
	a := s.m.auto
	if s.exact && !s.found {
		_, state, o := a.feed(s.state, piece, 0)
		s.state, s.found = state, o == matched
		s.exact = o != gaveUp
	}
	if !s.exact && !s.found {
		s.found = s.m.slow(piece)
	}
	return s.found
}

// End reports whether the line matches.
func (s *Stream) End() bool {
	return s.found || s.exact && s.m.auto.step(s.state, s.m.auto.endOfText()) == toMatch
}

// rangesAtOnce bounds the matches of a text that are held in memory.
const rangesAtOnce = 1000

// Blocks calls f for each run of lines that matches of a Multiline pattern touch, in order
// and without overlap, until f returns false: from the start of its first line to the end
// of its last one, without the line feed. Matches that begin behind limit are left out.
func (m *Matcher) Blocks(text []byte, limit int, f func(start, end int) bool) {
	if !m.Text(text) {
		return
	}
	start, end := -1, -1 // of a block that may grow
	for at := 0; at <= len(text); {
		all := m.p.re.FindAllIndex(text[at:], rangesAtOnce)
		for _, r := range all {
			from, to := at+r[0], at+max(r[0], r[1]-1)
			if from >= limit && limit < len(text) {
				all = nil
				break
			}
			if from == len(text) && from > 0 && text[from-1] == '\n' {
				continue // behind the last line
			}
			first, last := bytes.LastIndexByte(text[:from], '\n')+1, to+lineLength(text[to:])
			if start >= 0 && first > end {
				if !f(start, end) {
					return
				}
				start = -1
			}
			if start < 0 {
				start = first
			}
			end = max(end, last)
		}
		if len(all) < rangesAtOnce {
			break
		}
		at = end + 1
	}
	if start >= 0 {
		f(start, end)
	}
}
