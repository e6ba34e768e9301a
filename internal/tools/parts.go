package tools

import (
	"crypto/sha256"
	"io"
	"slices"

	"github.com/fsmcp/fsmcp/internal/save"
	"github.com/fsmcp/fsmcp/internal/state"
)

// partOf hashes a range of a big file as it is now.
func partOf(r io.ReaderAt, s state.Span) (state.Part, error) {
	h := sha256.New()
	if _, err := io.Copy(h, io.NewSectionReader(r, s.Start, s.End-s.Start)); err != nil {
		return state.Part{}, err
	}
	return state.Part{Span: s, Sum: state.Sum(h.Sum(nil))}, nil
}

// holding returns the parts whose bytes are still in their place.
func holding(r io.ReaderAt, parts []state.Part) ([]state.Part, error) {
	var out []state.Part
	for _, p := range parts {
		now, err := partOf(r, p.Span)
		if err != nil {
			return nil, err
		}
		if now.Sum == p.Sum {
			out = append(out, p)
		}
	}
	return out, nil
}

// withPart adds a part; one that lies within it goes.
func withPart(parts []state.Part, p state.Part) []state.Part {
	out := slices.DeleteFunc(slices.Clone(parts), func(q state.Part) bool {
		return p.Start <= q.Start && q.End <= p.End
	})
	return append(out, p)
}

// carryParts takes parts through an edit: those before and behind a splice
// move, those it touches are hashed as they will be.
func carryParts(old io.ReaderAt, size int64, parts []state.Part, splices []save.Splice) ([]state.Part, state.Ranges, error) {
	var out []state.Part
	var shown, touched state.Ranges
	moves := lengths(splices)
	for _, p := range parts {
		if touches(p.Span, splices) {
			touched = touched.Add(p.Span)
			continue
		}
		moved := state.Ranges{p.Span}.Through(moves, false)[0]
		out = append(out, state.Part{Span: moved, Sum: p.Sum})
		shown = shown.Add(moved)
	}
	hashed, err := partsOf(old, size, splices, touched.Through(moves, true))
	if err != nil {
		return nil, nil, err
	}
	for _, p := range hashed {
		shown = shown.Add(p.Span)
	}
	return append(out, hashed...), shown, nil
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

func touches(s state.Span, splices []save.Splice) bool {
	for _, c := range splices {
		if c.Start <= s.End && s.Start <= c.End {
			return true
		}
	}
	return false
}

// lengths says of splices what the record needs to know.
func lengths(splices []save.Splice) []state.Splice {
	out := make([]state.Splice, len(splices))
	for i, c := range splices {
		out[i] = state.Splice{Start: c.Start, End: c.End, New: int64(len(c.New))}
	}
	return out
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
