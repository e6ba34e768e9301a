package state

import (
	"bytes"
	"crypto/sha256"
	"hash"
	"io"
	"slices"

	"github.com/fsmcp/fsmcp/internal/span"
)

// Standing leaves out of parts those whose bytes are not in their place any more, and
// reports whether there are such. It looks at those that touch spans, nil: at all.
func Standing(r io.ReaderAt, parts []Part, spans []span.Span) (out []Part, lost bool, err error) {
	for _, p := range parts {
		if spans == nil || p.Touches(spans) {
			h := sha256.New()
			if _, err := io.Copy(h, io.NewSectionReader(r, p.Start, p.End-p.Start)); err != nil {
				return nil, false, err
			}
			if p.Sum != Sum(h.Sum(nil)) {
				lost = true
				continue
			}
		}
		out = append(out, p)
	}
	return out, lost, nil
}

// PartsIn hashes spans of a file that is held in memory.
func PartsIn(raw []byte, spans span.Set) []Part {
	parts := make([]Part, len(spans))
	for i, s := range spans {
		parts[i] = Part{Span: s, Sum: sha256.Sum256(raw[s.Start:s.End])}
	}
	return parts
}

// ShownBy are the bytes of parts.
func ShownBy(parts []Part) (shown span.Set) {
	for _, p := range parts {
		shown = shown.Add(p.Span)
	}
	return shown
}

// WholeSum is the hash of a file of so many bytes, if one of its parts is all of it.
func WholeSum(parts []Part, size int64) Sum {
	for _, p := range parts {
		if p.Span == (span.Span{End: size}) {
			return p.Sum
		}
	}
	return Sum{}
}

// WithPart adds a part; one that lies within it goes.
func WithPart(parts []Part, p Part) []Part {
	out := slices.DeleteFunc(slices.Clone(parts), func(q Part) bool {
		return p.Start <= q.Start && q.End <= p.End
	})
	return append(out, p)
}

// CarryParts takes parts through an edit: those before and behind a splice
// move, those it touches, which must stand, are hashed as they will be.
func CarryParts(old io.ReaderAt, size int64, parts []Part, splices []span.Splice) ([]Part, error) {
	var out []Part
	var touched span.Set
	spans := span.Replaced(splices)
	for _, p := range parts {
		if p.Touches(spans) {
			touched = touched.Add(p.Span)
			continue
		}
		moved := span.Set{p.Span}.Through(splices, false)[0]
		out = append(out, Part{Span: moved, Sum: p.Sum})
	}
	hashed, err := PartsOf(old, size, splices, touched.Through(splices, true))
	return append(out, hashed...), err
}

// PartsOf hashes spans of the file as it will be.
func PartsOf(old io.ReaderAt, size int64, splices []span.Splice, spans span.Set) ([]Part, error) {
	var out []Part
	for _, s := range spans {
		sum, err := SumSpliced(old, size, splices, s)
		if err != nil {
			return nil, err
		}
		out = append(out, Part{Span: s, Sum: sum})
	}
	return out, nil
}

// SumSpliced hashes the bytes [s.Start, s.End) of the file as it will be.
func SumSpliced(old io.ReaderAt, size int64, splices []span.Splice, s span.Span) (Sum, error) {
	h := sha256.New()
	err := span.Copy(h, old, size, splices, s)
	return Sum(h.Sum(nil)), err
}

// SumsOf hashes a file in memory as it was and as it will be, of size bytes. Both begin
// alike, and that is hashed once.
func SumsOf(raw []byte, splices []span.Splice, size int64) (was, is Sum) {
	head := splices[0].Start
	h := sha256.New()
	h.Write(raw[:head])
	twin, err := h.(hash.Cloner).Clone()
	if err != nil {
		panic(err) // a SHA-256 can be cloned
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = span.Copy(twin, bytes.NewReader(raw), int64(len(raw)), splices, span.Span{Start: head, End: size}) // from memory
		twin.Sum(is[:0])
	}()
	h.Write(raw[head:])
	h.Sum(was[:0])
	<-done
	return was, is
}
