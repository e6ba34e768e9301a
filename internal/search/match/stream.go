package match

import "unicode/utf8"

// Stream looks at one line that comes in pieces, for lines that are not held in memory.
type Stream struct {
	m              *Matcher
	state          int32
	found, stopped bool
}

// Stream begins a line. Until it ends, the matcher looks at no other text.
func (m *Matcher) Stream() Stream { return Stream{m: m, state: m.auto.begin} }

// Feed takes the next piece of the line, without its line ending, and reports whether the
// line matches as far as it is known. A piece ends with a whole character. The automaton goes
// on where it does not pay. For a pattern without one each piece counts as a line of its own.
func (s *Stream) Feed(piece []byte) bool {
	a := s.m.auto
	if s.m.p.prog == nil {
		s.found = s.found || s.m.p.re.Match(piece)
		return s.found
	}
	a.patient = true
	defer func() { a.patient = false }()
	for at := 0; at < len(piece) && !s.found; {
		if s.stopped = s.stopped || s.m.Stop != nil && s.m.Stop(); s.stopped {
			break
		}
		end := min(at+pieces, len(piece))
		for most := min(end+utf8.UTFMax-1, len(piece)); end < most && !utf8.RuneStart(piece[end]); {
			end++ // to the end of a character
		}
		var o outcome
		at, s.state, o = a.feed(s.state, piece[:end], at)
		s.found = o == matched
	}
	return s.found
}

// End reports whether the line matches. Of a line in which the search was stopped it is not
// known, unless it matches as far as the search came.
func (s *Stream) End() bool {
	return s.found || s.m.p.prog != nil && !s.stopped && s.m.auto.step(s.state, s.m.auto.endOfText()) == toMatch
}
