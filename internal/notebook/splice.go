package notebook

import (
	"cmp"
	"slices"

	"github.com/fsmcp/fsmcp/internal/notebook/scan"
	"github.com/fsmcp/fsmcp/internal/span"
)

func put(at scan.Extent, text string) span.Splice {
	return span.Splice{Start: int64(at.Start), End: int64(at.End), New: []byte(text)}
}

func putAt(at int, text string) span.Splice { return put(scan.Between(at, at), text) }

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
