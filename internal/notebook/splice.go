package notebook

import (
	"bytes"
	"cmp"
	"io"
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
	out := bytes.NewBuffer(make([]byte, 0, Size(raw, splices)))
	Write(out, raw, splices) // a buffer takes all
	return out.Bytes()
}

// Size is how many bytes Apply gives.
func Size(raw []byte, splices []Splice) int {
	size := len(raw)
	for _, s := range splices {
		size += len(s.New) - int(s.End-s.Start)
	}
	return size
}

// Write writes what Apply gives, for those who need not hold it.
func Write(w io.Writer, raw []byte, splices []Splice) error {
	from := int64(0)
	for _, s := range splices {
		if _, err := w.Write(raw[from:s.Start]); err != nil {
			return err
		}
		if _, err := w.Write(s.New); err != nil {
			return err
		}
		from = s.End
	}
	_, err := w.Write(raw[from:])
	return err
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
