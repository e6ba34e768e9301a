package notebook

import (
	"cmp"
	"slices"

	"github.com/fsmcp/fsmcp/internal/span"
)

func put(at extent, text string) span.Splice {
	return span.Splice{Start: int64(at.start), End: int64(at.end), New: []byte(text)}
}

func putAt(at int, text string) span.Splice { return put(extent{at, at}, text) }

// tidy sorts splices and joins those that touch. An insertion comes before a removal at the
// same offset.
func tidy(splices []span.Splice) []span.Splice {
	slices.SortStableFunc(splices, func(a, b span.Splice) int {
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
