// Package span holds the one type for a range of a file's bytes, the one set of
// such ranges, and the one splice, with what is worked out from them alone, and the
// facts about raw bytes that several packages need: line ends of one or two bytes, and
// bytes that are no part of a character.
//
// It is pure: it reads what it is given and writes where it is told, knows no file,
// no text and no conversation, and checks nothing that Fit is not asked to check.
package span

import (
	"bytes"
	"cmp"
	"io"
	"slices"
)

// Span is a half-open range of bytes, End excluded. The bytes are those of a file
// but where a function says that they are those of a decoded text.
type Span struct{ Start, End int64 }

// Len is the number of bytes in s.
func (s Span) Len() int64 { return s.End - s.Start }

// Touches reports whether one of the others, which ascend, overlaps s or begins
// where it ends.
func (s Span) Touches(others []Span) bool {
	i, _ := slices.BinarySearchFunc(others, s.Start, func(o Span, at int64) int { return cmp.Compare(o.End, at) })
	return i < len(others) && others[i].Start <= s.End
}

// Splice replaces the old bytes [Start, End) by New. A list of splices ascends and
// does not overlap.
type Splice struct {
	Start, End int64
	New        []byte
}

// Replaced returns the old bytes that the splices replace.
func Replaced(splices []Splice) []Span {
	out := make([]Span, len(splices))
	for i, s := range splices {
		out[i] = Span{s.Start, s.End}
	}
	return out
}

// Growth returns by how many bytes the splices lengthen a file; it is negative if
// they shorten it.
func Growth(splices []Splice) int64 {
	n := int64(0)
	for _, s := range splices {
		n += int64(len(s.New)) - (s.End - s.Start)
	}
	return n
}

// Fit reports whether the splices ascend, do not overlap and lie within size bytes.
func Fit(splices []Splice, size int64) bool {
	at := int64(0)
	for _, s := range splices {
		if s.Start < at || s.End < s.Start || s.End > size {
			return false
		}
		at = s.End
	}
	return true
}

// Apply returns the bytes of old with the splices applied.
func Apply(old []byte, splices []Splice) []byte {
	out := make([]byte, 0, int64(len(old))+Growth(splices))
	at := int64(0)
	for _, s := range splices {
		out = append(append(out, old[at:s.Start]...), s.New...)
		at = s.End
	}
	return append(out, old[at:]...)
}

// NewReader reads what Apply returns, without holding it.
func NewReader(old []byte, splices []Splice) io.Reader {
	parts := make([]io.Reader, 0, 2*len(splices)+1)
	at := int64(0)
	for _, s := range splices {
		parts = append(parts, bytes.NewReader(old[at:s.Start]), bytes.NewReader(s.New))
		at = s.End
	}
	return io.MultiReader(append(parts, bytes.NewReader(old[at:]))...)
}

// Copy writes the part of the new file that lies in the given span of it, where old
// has size bytes. An old file that ends sooner is io.ErrUnexpectedEOF.
func Copy(w io.Writer, old io.ReaderAt, size int64, splices []Splice, part Span) error {
	buf := make([]byte, min(part.Len(), 64<<10)) // one for all: there may be a million pieces
	var at, pos int64                            // position in the old and in the new file
	clip := func(n int64) (skip, take int64) {
		skip = min(max(part.Start-pos, 0), n)
		take = max(min(part.End-pos, n)-skip, 0)
		return skip, take
	}
	kept := func(until int64) error {
		skip, take := clip(until - at)
		from := at + skip
		pos, at = pos+until-at, until
		return copyRange(w, old, from, from+take, buf)
	}
	for _, s := range splices {
		if err := kept(s.Start); err != nil || pos >= part.End {
			return err
		}
		skip, take := clip(int64(len(s.New)))
		if _, err := w.Write(s.New[skip : skip+take]); err != nil {
			return err
		}
		pos, at = pos+int64(len(s.New)), s.End
	}
	return kept(size)
}

// copyRange writes the bytes [from, to) of a file, by way of buf.
func copyRange(w io.Writer, r io.ReaderAt, from, to int64, buf []byte) error {
	for from < to {
		n, err := r.ReadAt(buf[:min(to-from, int64(len(buf)))], from)
		if n == 0 {
			if err == io.EOF {
				err = io.ErrUnexpectedEOF
			}
			return err
		}
		if _, err := w.Write(buf[:n]); err != nil {
			return err
		}
		from += int64(n)
	}
	return nil
}
