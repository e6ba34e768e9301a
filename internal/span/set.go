package span

import (
	"cmp"
	"slices"
)

// Set is a set of bytes as ascending spans that neither touch nor overlap.
// The zero value is the empty set. Methods return new sets; none changes its
// receiver, so a Record can be copied freely.
type Set []Span

// SetOf returns the set of the bytes of some spans.
func SetOf(spans []Span) Set {
	ascending := slices.Clone(spans)
	slices.SortFunc(ascending, func(a, b Span) int { return cmp.Compare(a.Start, b.Start) })
	out := Set(ascending[:0])
	for _, s := range ascending {
		switch last := len(out) - 1; {
		case s.Start >= s.End:
		case last >= 0 && s.Start <= out[last].End:
			out[last].End = max(out[last].End, s.End)
		default:
			out = append(out, s)
		}
	}
	return out
}

// Add returns the set with s in it.
func (r Set) Add(s Span) Set {
	if s.Start >= s.End {
		return r
	}
	lo, _ := slices.BinarySearchFunc(r, s.Start, func(a Span, at int64) int { return cmp.Compare(a.End, at) })
	hi := lo
	for hi < len(r) && r[hi].Start <= s.End {
		s.Start = min(s.Start, r[hi].Start)
		s.End = max(s.End, r[hi].End)
		hi++
	}
	out := make(Set, 0, len(r)-(hi-lo)+1)
	out = append(out, r[:lo]...)
	out = append(out, s)
	return append(out, r[hi:]...)
}

// Union returns the bytes of both sets. Of many spans this costs less than
// adding them one by one.
func (r Set) Union(o Set) Set {
	if len(o) == 0 {
		return r
	}
	out := make(Set, 0, len(r)+len(o))
	for len(r)+len(o) > 0 {
		if len(o) == 0 || len(r) > 0 && r[0].Start <= o[0].Start {
			r, o = o, r
		}
		next := o[0] // the one that begins first
		o = o[1:]
		if last := len(out) - 1; last >= 0 && next.Start <= out[last].End {
			out[last].End = max(out[last].End, next.End)
		} else {
			out = append(out, next)
		}
	}
	return out
}

// Covers tells whether every byte of s is in the set; the empty span always is.
func (r Set) Covers(s Span) bool {
	if s.Start >= s.End {
		return true
	}
	i, _ := slices.BinarySearchFunc(r, s.Start, func(a Span, at int64) int {
		if a.End <= at {
			return -1
		}
		return 1
	})
	return i < len(r) && r[i].Start <= s.Start && s.End <= r[i].End
}

// Missing lists the spans of [0, size) that are not in the set.
func (r Set) Missing(size int64) Set {
	var out Set
	at := int64(0)
	for _, s := range r {
		if s.Start >= size {
			break
		}
		if at < s.Start {
			out = append(out, Span{at, s.Start})
		}
		at = max(at, s.End)
	}
	if at < size {
		out = append(out, Span{at, size})
	}
	return out
}

// Len is the number of bytes in the set.
func (r Set) Len() int64 {
	var n int64
	for _, s := range r {
		n += s.End - s.Start
	}
	return n
}

// Through carries the set through splices (ascending, not overlapping): bytes
// outside them move, bytes inside leave the set, and the new bytes join it when
// shown is true.
func (r Set) Through(splices []Splice, shown bool) Set {
	var out Set
	add := func(s Span) { // what comes is ascending
		last := len(out) - 1
		switch {
		case s.Start >= s.End:
		case last >= 0 && out[last].End == s.Start:
			out[last].End = s.End
		default:
			out = append(out, s)
		}
	}
	at, shift := int64(0), int64(0) // old position, new minus old
	rest := r                       // what does not end before at
	keep := func(until int64) {
		for len(rest) > 0 && rest[0].Start < until {
			s := rest[0]
			add(Span{max(s.Start, at) + shift, min(s.End, until) + shift})
			if s.End > until {
				return // the rest of it lies behind what comes next
			}
			rest = rest[1:]
		}
	}
	for _, c := range splices {
		keep(c.Start)
		if shown {
			add(Span{c.Start + shift, c.Start + shift + int64(len(c.New))})
		}
		shift += int64(len(c.New)) - (c.End - c.Start)
		at = c.End
	}
	keep(1<<62 - 1)
	return out
}
