package notebook

import (
	"cmp"
	"slices"
)

// A Splice puts New in place of the bytes from Start to End of the file.
type Splice struct {
	Start, End int64
	New        []byte
}

// Apply gives the bytes of raw with splices put in, which must be ascending and
// must not overlap.
func Apply(raw []byte, splices []Splice) []byte {
	size := len(raw)
	for _, s := range splices {
		size += len(s.New) - int(s.End-s.Start)
	}
	out, from := make([]byte, 0, size), int64(0)
	for _, s := range splices {
		out = append(append(out, raw[from:s.Start]...), s.New...)
		from = s.End
	}
	return append(out, raw[from:]...)
}

func put(at span, text string) Splice {
	return Splice{int64(at.start), int64(at.end), []byte(text)}
}

func putAt(at int, text string) Splice { return put(span{at, at}, text) }

// tidy puts splices in order and makes one of those that touch. An insertion
// comes before a removal at the same place.
func tidy(splices []Splice) []Splice {
	slices.SortStableFunc(splices, func(a, b Splice) int {
		return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(a.End, b.End))
	})
	out := splices[:0]
	for _, s := range splices {
		if n := len(out); n > 0 && out[n-1].End == s.Start {
			out[n-1].End = s.End
			out[n-1].New = append(out[n-1].New, s.New...)
			continue
		}
		out = append(out, s)
	}
	return out
}
