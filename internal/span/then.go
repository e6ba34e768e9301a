package span

// piece is a range of old bytes, or new ones.
type piece struct {
	old Span
	new []byte // nil for old bytes
}

func (p piece) len() int64 {
	if p.new != nil {
		return int64(len(p.new))
	}
	return p.old.Len()
}

// cut returns the first n bytes of a piece and the others.
func (p piece) cut(n int64) (first, rest piece) {
	if p.new != nil {
		return piece{new: p.new[:n:n]}, piece{new: p.new[n:]}
	}
	at := p.old.Start + n
	return piece{old: Span{p.old.Start, at}}, piece{old: Span{at, p.old.End}}
}

// pieces returns what splices make of size old bytes.
func pieces(splices []Splice, size int64) (out []piece) {
	at := int64(0)
	for _, s := range splices {
		out = append(out, piece{old: Span{at, s.Start}}, piece{new: append([]byte{}, s.New...)})
		at = s.End
	}
	return append(out, piece{old: Span{at, size}})
}

// Then returns the splices that do at once what first does to size bytes, and then second to
// the result.
func Then(first, second []Splice, size int64) []Splice {
	rest := pieces(first, size)
	var out []piece
	take := func(n int64, keep bool) {
		for n > 0 {
			p := rest[0]
			if l := p.len(); l > n {
				p, rest[0] = p.cut(n)
			} else {
				rest = rest[1:]
			}
			if n -= p.len(); keep {
				out = append(out, p)
			}
		}
	}
	at := int64(0)
	for _, s := range second {
		take(s.Start-at, true)
		take(s.End-s.Start, false)
		out = append(out, piece{new: append([]byte{}, s.New...)})
		at = s.End
	}
	return splicesOf(append(out, rest...), size)
}

// splicesOf returns the splices that make pieces of size old bytes.
func splicesOf(all []piece, size int64) (out []Splice) {
	at := int64(0)
	var new []byte
	flush := func(until int64) {
		if until > at || len(new) > 0 {
			out = append(out, Splice{Start: at, End: until, New: new})
		}
		new = nil
	}
	for _, p := range all {
		switch {
		case p.new != nil:
			new = append(new, p.new...)
		case p.old.Len() > 0:
			flush(p.old.Start)
			at = p.old.End
		}
	}
	flush(size)
	return out
}

// Inverse returns the splices that make the old bytes again of what splices make of them.
func Inverse(old []byte, splices []Splice) []Splice {
	out := make([]Splice, len(splices))
	shift := int64(0)
	for i, s := range splices {
		n := int64(len(s.New))
		out[i] = Splice{Start: s.Start + shift, End: s.Start + shift + n, New: old[s.Start:s.End]}
		shift += n - (s.End - s.Start)
	}
	return out
}
