package tools

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"hash"
	"io"
	"slices"

	"github.com/fsmcp/fsmcp/internal/save"
	"github.com/fsmcp/fsmcp/internal/state"
)

// standing leaves out of parts those whose bytes are not in their place any more, and
// reports whether there are such. It looks at those that touch spans, nil: at all.
func standing(r io.ReaderAt, parts []state.Part, spans []state.Span) (out []state.Part, lost bool, err error) {
	for _, p := range parts {
		if spans == nil || touches(p.Span, spans) {
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
func partsIn(raw []byte, spans state.Ranges) []state.Part {
	parts := make([]state.Part, len(spans))
	for i, s := range spans {
		parts[i] = state.Part{Span: s, Sum: sha256.Sum256(raw[s.Start:s.End])}
	}
	return parts
}

// shownBy are the bytes of parts.
func shownBy(parts []state.Part) (shown state.Ranges) {
	for _, p := range parts {
		shown = shown.Add(p.Span)
	}
	return shown
}

// wholeSum is the hash of a file of so many bytes, if one of its parts is all of it.
func wholeSum(parts []state.Part, size int64) state.Sum {
	for _, p := range parts {
		if p.Span == (state.Span{End: size}) {
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
func carryParts(old io.ReaderAt, size int64, parts []state.Part, splices []save.Splice) ([]state.Part, error) {
	var out []state.Part
	var touched state.Ranges
	moves, spans := lengths(splices), spansOf(splices)
	for _, p := range parts {
		if touches(p.Span, spans) {
			touched = touched.Add(p.Span)
			continue
		}
		moved := state.Ranges{p.Span}.Through(moves, false)[0]
		out = append(out, state.Part{Span: moved, Sum: p.Sum})
	}
	hashed, err := partsOf(old, size, splices, touched.Through(moves, true))
	return append(out, hashed...), err
}

// partsOf hashes spans of the file as it will be.
func partsOf(old io.ReaderAt, size int64, splices []save.Splice, spans state.Ranges) ([]state.Part, error) {
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
func sumSpliced(old io.ReaderAt, size int64, splices []save.Splice, s state.Span) (state.Sum, error) {
	h := sha256.New()
	err := copySpliced(h, old, size, splices, s)
	return state.Sum(h.Sum(nil)), err
}

// touches reports whether one of the ascending spans overlaps s or begins where it
// ends.
func touches(s state.Span, spans []state.Span) bool {
	i, _ := slices.BinarySearchFunc(spans, s.Start, func(c state.Span, at int64) int { return cmp.Compare(c.End, at) })
	return i < len(spans) && spans[i].Start <= s.End
}

// lengths says of splices what the record needs to know.
func lengths(splices []save.Splice) []state.Splice {
	out := make([]state.Splice, len(splices))
	for i, c := range splices {
		out[i] = state.Splice{Start: c.Start, End: c.End, New: int64(len(c.New))}
	}
	return out
}

// sumsOf hashes a file in memory as it was and as it will be, of size bytes. Both begin
// alike, and that is hashed once.
func sumsOf(raw []byte, splices []save.Splice, size int64) (was, is state.Sum) {
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
		_ = copySpliced(twin, bytes.NewReader(raw), int64(len(raw)), splices, state.Span{Start: head, End: size}) // from memory
		twin.Sum(is[:0])
	}()
	h.Write(raw[head:])
	h.Sum(was[:0])
	<-done
	return was, is
}

// splicedBytes is a file in memory as it will be, of size bytes.
func splicedBytes(raw []byte, splices []save.Splice, size int64) []byte {
	out := make([]byte, 0, size)
	at := int64(0)
	for _, s := range splices {
		out = append(append(out, raw[at:s.Start]...), s.New...)
		at = s.End
	}
	return append(out, raw[at:]...)
}

// copySpliced writes the bytes [s.Start, s.End) of the file as it will be.
func copySpliced(w io.Writer, old io.ReaderAt, size int64, splices []save.Splice, s state.Span) error {
	buf := make([]byte, min(s.End-s.Start, 64<<10)) // one for all: there may be a million pieces
	var at, pos int64                               // position in the old and in the new file
	clip := func(n int64) (skip, take int64) {
		skip = min(max(s.Start-pos, 0), n)
		take = max(min(s.End-pos, n)-skip, 0)
		return skip, take
	}
	kept := func(until int64) error {
		skip, take := clip(until - at)
		from := at + skip
		pos, at = pos+until-at, until
		return copyRange(w, old, from, from+take, buf)
	}
	for _, c := range splices {
		if err := kept(c.Start); err != nil || pos >= s.End {
			return err
		}
		skip, take := clip(int64(len(c.New)))
		if _, err := w.Write(c.New[skip : skip+take]); err != nil {
			return err
		}
		pos, at = pos+int64(len(c.New)), c.End
	}
	return kept(size)
}

// copyRange writes the bytes [from, to) of a file, by way of buf. A file that
// ends sooner than it did is io.ErrUnexpectedEOF.
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
