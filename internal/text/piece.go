package text

import (
	"context"
	"io"
	"unicode/utf8"

	"github.com/fsmcp/fsmcp/internal/span"
	"github.com/fsmcp/fsmcp/internal/text/charset"
)

// A Piece is a part of a scanned file, cut to whole characters.
type Piece struct {
	Text      string
	Raw       []byte // the bytes that Text stands for
	span.Span        // where they are in the file
	eol       byte
}

// Number returns the piece as numbered lines; first is the number of its first line.
func (p Piece) Number(first int) []byte { return p.EOL().Number(p.Text, first) }

// EOL tells what ends the lines of the file, as its pages count them.
func (p Piece) EOL() EOL {
	if p.eol == '\r' {
		return EOL{CR: 1}
	}
	return EOL{LF: 1}
}

// Piece reads the part [start, end) of the file as text. Characters that lie
// only partly in it are left out. ErrBinary where it is no text.
func (s *Scan) Piece(ctx context.Context, r io.ReaderAt, start, end int64) (Piece, error) {
	eol, err := s.decide(ctx, r)
	if err != nil {
		return Piece{}, err
	}
	b := Boundaries{scan: s, r: r}
	if start, err = b.from(start); err != nil {
		return Piece{}, err
	}
	raw := make([]byte, max(end-start, 0))
	if err := span.ReadFull(r, raw, start); err != nil {
		return Piece{}, err
	}
	text, used := prefix(s.enc, raw)
	if used < 0 {
		return Piece{}, ErrBinary
	}
	return Piece{Text: text, Raw: raw[:used], Span: span.Span{Start: start, End: start + int64(used)}, eol: eol}, nil
}

// prefix reads the whole characters of raw. What a legacy charset cannot hold
// is left as stray bytes, as pages leave it; used is negative where UTF-16 has
// half a character.
func prefix(e charset.Encoding, raw []byte) (text string, used int) {
	if e.Set != charset.UTF8 {
		b, used := e.Set.DecodePrefix(raw)
		switch {
		case len(raw)-used < utf8.UTFMax:
			return string(b), used
		case e.Set.Wide():
			return "", -1
		}
	}
	used = len(raw) - OpenTail(raw)
	return string(raw[:used]), used
}

// Boundaries tells where characters begin in a scanned file. Asked for places
// that ascend, it reads no stretch of the file twice.
type Boundaries struct {
	scan  *Scan
	r     io.ReaderAt
	known int64 // a character begins here
}

// Boundaries looks at the characters of the file behind r.
func (s *Scan) Boundaries(r io.ReaderAt) *Boundaries { return &Boundaries{scan: s, r: r} }

// At tells whether a character begins at off, where whole characters were found
// by their bytes: in Shift-JIS and its like these may lie within another one.
func (b *Boundaries) At(off int64) (bool, error) {
	if set := b.scan.enc.Set; set == charset.UTF8 || set.Wide() || set.Table() != nil {
		return true, nil
	}
	at, err := b.from(off)
	return at == off, err
}

// from is where the first character begins at off or behind it.
func (b *Boundaries) from(off int64) (int64, error) {
	set := b.scan.enc.Set
	switch {
	case set == charset.UTF8 || set.Wide():
		return b.skip(off)
	case set.Table() != nil:
		return off, nil
	}
	at, err := b.before(off)
	buf := make([]byte, 4<<10)
	for err == nil && at < off {
		part := buf[:min(int64(len(buf)), off-at)]
		if err = span.ReadFull(b.r, part, at); err != nil {
			break
		}
		n := 0
		for n < len(part) {
			n += set.CharLen(part[n])
		}
		at += int64(n)
	}
	b.known = at
	return at, err
}

// skip passes what belongs to the character before off, in encodings that tell
// so by the bytes themselves.
func (b *Boundaries) skip(off int64) (int64, error) {
	raw := make([]byte, min(utf8.UTFMax-1, b.scan.Size()-off))
	if off == 0 || len(raw) == 0 {
		return off, nil
	}
	if err := span.ReadFull(b.r, raw, off); err != nil {
		return off, err
	}
	if set := b.scan.enc.Set; set.Wide() {
		off += off & 1
		if len(raw) >= 2 && set.UnitAt(raw, 0)>>10 == 0xDC00>>10 {
			off += 2
		}
		return off, nil
	}
	for _, c := range raw {
		if utf8.RuneStart(c) {
			break
		}
		off++
	}
	return off, nil
}

// lone bounds the bytes that are never a part of a longer character in the
// charsets that have such (blanks, line ends, most punctuation).
const lone = 0x30

// before is a place at or before off at which a character begins.
func (b *Boundaries) before(off int64) (int64, error) {
	floor := int64(0)
	if b.known <= off {
		floor = b.known
	}
	buf := make([]byte, 4<<10)
	for end := off; end > floor; {
		start := max(floor, end-int64(len(buf)))
		part := buf[:end-start]
		if err := span.ReadFull(b.r, part, start); err != nil {
			return 0, err
		}
		for i := len(part) - 1; i >= 0; i-- {
			if part[i] < lone {
				return start + int64(i) + 1, nil
			}
		}
		end = start
	}
	return floor, nil
}
