package state

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"io"
	"slices"

	"github.com/fsmcp/fsmcp/internal/span"
)

// MaxPart bounds the bytes of a Part: an outside change spoils no more than that of what
// was shown, and a file that grows keeps all parts before its end.
const MaxPart = 256 << 10

// Part is a range of a file that was shown, with the hash of its bytes.
type Part struct {
	span.Span
	Sum Sum
}

// PartsOf hashes bytes that were shown and begin at the offset at of their file.
func PartsOf(raw []byte, at int64) []Part {
	parts := make([]Part, 0, (len(raw)+MaxPart-1)/MaxPart)
	for len(raw) > 0 {
		piece := raw[:min(len(raw), MaxPart)]
		end := at + int64(len(piece))
		parts = append(parts, Part{Span: span.Span{Start: at, End: end}, Sum: sha256.Sum256(piece)})
		raw, at = raw[len(piece):], end
	}
	return parts
}

// SumOf returns a hash of the bytes of parts that were made by one call of PartsOf.
func SumOf(parts []Part) Sum {
	if len(parts) == 1 {
		return parts[0].Sum
	}
	h := sha256.New()
	for _, p := range parts {
		h.Write(binary.BigEndian.AppendUint64(p.Sum[:], uint64(p.Start)))
	}
	return Sum(h.Sum(nil))
}

// spansOf returns the bytes of parts.
func spansOf(parts []Part) span.Set {
	spans := make([]span.Span, len(parts))
	for i, p := range parts {
		spans[i] = p.Span
	}
	return span.SetOf(spans)
}

// unproven returns parts without hashes, for a record whose text proves them.
func unproven(shown span.Set) []Part {
	parts := make([]Part, len(shown))
	for i, s := range shown {
		parts[i].Span = s
	}
	return parts
}

// partsIn hashes spans of a file in memory.
func partsIn(raw []byte, spans span.Set) (parts []Part) {
	for _, s := range spans {
		parts = append(parts, PartsOf(raw[s.Start:s.End], s.Start)...)
	}
	return parts
}

// joined returns parts and more, in ascending order. Those of parts that lie within more
// are left out: the later ones prove their bytes.
func joined(parts, more []Part) []Part {
	newer := spansOf(more)
	out := make([]Part, 0, len(parts)+len(more))
	for _, p := range parts {
		if !newer.Covers(p.Span) {
			out = append(out, p)
		}
	}
	out = append(out, more...)
	slices.SortFunc(out, func(a, b Part) int {
		return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(a.End, b.End), bytes.Compare(a.Sum[:], b.Sum[:]))
	})
	return out
}

// verified returns the parts whose bytes are in their place in a file, and the spans of the
// others. It looks only at those that touch one of need; nil: at all.
func verified(r io.ReaderAt, parts []Part, need []span.Span) (held []Part, lost span.Set, err error) {
	buf := make([]byte, 0)
	for _, p := range parts {
		if need == nil || p.Touches(need) {
			b, err := read(r, p.Span, &buf)
			if err != nil && err != io.ErrUnexpectedEOF {
				return nil, nil, err
			}
			if err != nil || p.Sum != sha256.Sum256(b) {
				lost = lost.Add(p.Span)
				continue
			}
		}
		held = append(held, p)
	}
	return held, lost, nil
}

// Memory is a file that is in memory.
type Memory []byte

// ReadAt implements io.ReaderAt.
func (m Memory) ReadAt(b []byte, at int64) (int, error) { return bytes.NewReader(m).ReadAt(b, at) }

// read returns bytes of a file; buf is used if the file is not in memory.
func read(r io.ReaderAt, s span.Span, buf *[]byte) ([]byte, error) {
	m, ok := r.(Memory)
	if c, has := r.(*Content); has {
		m, ok = c.Raw, true
	}
	if ok {
		if s.End > int64(len(m)) {
			return nil, io.ErrUnexpectedEOF
		}
		return m[s.Start:s.End], nil
	}
	*buf = slices.Grow((*buf)[:0], int(s.Len()))[:s.Len()]
	return *buf, span.ReadFull(r, *buf, s.Start)
}

// moved takes parts of a file in memory, which hold, through splices: those that no
// splice touches move, the others are hashed as they will be. The new bytes join them if
// shown is true.
func moved(raw []byte, parts []Part, splices []span.Splice, shown bool) (out []Part) {
	var touched []span.Span
	replaced := span.Replaced(splices)
	for _, p := range parts {
		if p.Touches(replaced) {
			touched = append(touched, p.Span)
			continue
		}
		p.Span = span.Set{p.Span}.Through(splices, false)[0]
		out = append(out, p)
	}
	return joined(out, PartsSpliced(raw, splices, span.SetOf(touched).Through(splices, shown)))
}

// PartsSpliced hashes spans of the file that splices make of raw.
func PartsSpliced(raw []byte, splices []span.Splice, spans span.Set) (parts []Part) {
	var b bytes.Buffer
	for _, s := range spans {
		for at := s.Start; at < s.End; at += MaxPart {
			b.Reset()
			piece := span.Span{Start: at, End: min(at+MaxPart, s.End)}
			_ = span.Copy(&b, Memory(raw), int64(len(raw)), splices, piece) // from memory
			parts = append(parts, PartsOf(b.Bytes(), at)...)
		}
	}
	return parts
}
