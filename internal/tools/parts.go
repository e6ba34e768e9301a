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
	for _, s := range touched.Through(moves, true) {
		h := sha256.New()
		if err := copySpliced(h, old, size, splices, s); err != nil {
			return nil, nil, err
		}
		out = append(out, state.Part{Span: s, Sum: state.Sum(h.Sum(nil))})
		shown = shown.Add(s)
	}
	return out, shown, nil
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
	var at, pos int64 // position in the old and in the new file
	clip := func(n int64) (skip, take int64) {
		skip = min(max(s.Start-pos, 0), n)
		take = max(min(s.End-pos, n)-skip, 0)
		return skip, take
	}
	kept := func(until int64) error {
		skip, take := clip(until - at)
		_, err := io.Copy(w, io.NewSectionReader(old, at+skip, take))
		pos, at = pos+until-at, until
		return err
	}
	for _, c := range splices {
		if err := kept(c.Start); err != nil {
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
