package tools

import (
	"bytes"
	"crypto/sha256"
	"hash"
	"io"
	"slices"

	"github.com/fsmcp/fsmcp/internal/span"
	"github.com/fsmcp/fsmcp/internal/state"
)

// standing leaves out of parts those whose bytes are not in their place any more, and
// reports whether there are such. It looks at those that touch spans, nil: at all.
func standing(r io.ReaderAt, parts []state.Part, spans []span.Span) (out []state.Part, lost bool, err error) {
	for _, p := range parts {
		if spans == nil || p.Touches(spans) {
			h := sha256.New()
			if _, err := io.Copy(h, io.NewSectionReader(r, p.Start, p.End-p.Start)); err != nil {
				return nil, false, err
			}
			if p.Sum != state.Sum(h.Sum(nil)) {
				lost = true
				continue
			}
		}
		out = append(out, p)
	}
	return out, lost, nil
}

// partsIn hashes spans of a file that is held in memory.
func partsIn(raw []byte, spans span.Set) []state.Part {
	parts := make([]state.Part, len(spans))
	for i, s := range spans {
		parts[i] = state.Part{Span: s, Sum: sha256.Sum256(raw[s.Start:s.End])}
	}
	return parts
}

// shownBy are the bytes of parts.
func shownBy(parts []state.Part) (shown span.Set) {
	for _, p := range parts {
		shown = shown.Add(p.Span)
	}
	return shown
}

// wholeSum is the hash of a file of so many bytes, if one of its parts is all of it.
func wholeSum(parts []state.Part, size int64) state.Sum {
	for _, p := range parts {
		if p.Span == (span.Span{End: size}) {
			return p.Sum
		}
	}
	return state.Sum{}
}

// withPart adds a part; one that lies within it goes.
func withPart(parts []state.Part, p state.Part) []state.Part {
	out := slices.DeleteFunc(slices.Clone(parts), func(q state.Part) bool {
		return p.Start <= q.Start && q.End <= p.End
	})
	return append(out, p)
}

// carryParts takes parts through an edit: those before and behind a splice
// move, those it touches, which must stand, are hashed as they will be.
func carryParts(old io.ReaderAt, size int64, parts []state.Part, splices []span.Splice) ([]state.Part, error) {
	var out []state.Part
	var touched span.Set
	spans := span.Replaced(splices)
	for _, p := range parts {
		if p.Touches(spans) {
			touched = touched.Add(p.Span)
			continue
		}
		moved := span.Set{p.Span}.Through(splices, false)[0]
		out = append(out, state.Part{Span: moved, Sum: p.Sum})
	}
	hashed, err := partsOf(old, size, splices, touched.Through(splices, true))
	return append(out, hashed...), err
}

// partsOf hashes spans of the file as it will be.
func partsOf(old io.ReaderAt, size int64, splices []span.Splice, spans span.Set) ([]state.Part, error) {
	var out []state.Part
	for _, s := range spans {
		sum, err := sumSpliced(old, size, splices, s)
		if err != nil {
			return nil, err
		}
		out = append(out, state.Part{Span: s, Sum: sum})
	}
	return out, nil
}

// sumSpliced hashes the bytes [s.Start, s.End) of the file as it will be.
func sumSpliced(old io.ReaderAt, size int64, splices []span.Splice, s span.Span) (state.Sum, error) {
	h := sha256.New()
	err := span.Copy(h, old, size, splices, s)
	return state.Sum(h.Sum(nil)), err
}

// sumsOf hashes a file in memory as it was and as it will be, of size bytes. Both begin
// alike, and that is hashed once.
func sumsOf(raw []byte, splices []span.Splice, size int64) (was, is state.Sum) {
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
