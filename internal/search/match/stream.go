package match

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
