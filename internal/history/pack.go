package history

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
)

// Sum is the SHA-256 of a file's bytes.
type Sum [sha256.Size]byte

// String is the sum in hexadecimal digits.
func (s Sum) String() string { return hex.EncodeToString(s[:]) }

// MarshalText implements encoding.TextMarshaler.
func (s Sum) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// A pack is packMagic and then records, each with a frame of
//
//	kind (1 byte), length of the payload (4), check (4)
//
// A record is known by its offset, and names others only before its own.
const (
	packMagic = "fsmcph1\n"
	frameLen  = 9
)

// The kinds of records.
const (
	kindPiece  = 'P' // bytes of one that is too long for a record
	kindState  = 'S' // a file's bytes
	kindPlaces = 'L' // the places of a change, where the file is too large to be kept
)

// pieceLen is the length from which bytes are stored in pieces, so that a long
// file takes no room in memory but its own.
const pieceLen = 1 << 20

// errDamaged: what is stored is not what was put there.
var errDamaged = errors.New("what is stored is damaged")

func damaged(what string) error { return fmt.Errorf("%w: %s", errDamaged, what) }

// check covers kind, length and payload.
func check(head, payload []byte) uint32 {
	c := crc32.Update(0, castagnoli(), head[:5])
	return crc32.Update(c, castagnoli(), payload)
}

// castagnoli is the polynomial that processors know.
func castagnoli() *crc32.Table { return crc32.MakeTable(crc32.Castagnoli) }

// frame puts a record's frame into the room left for it at the front of b.
func frame(kind byte, b []byte) {
	b[0] = kind
	binary.LittleEndian.PutUint32(b[1:], uint32(len(b)-frameLen))
	binary.LittleEndian.PutUint32(b[5:], check(b, b[frameLen:]))
}

// pack reads records.
type pack struct {
	r io.ReaderAt
	// end is where the pack ends; it may grow behind that.
	end  int64
	code *coder
}

// record reads the record at an offset.
func (p *pack) record(at int64) (kind byte, payload []byte, err error) {
	var head [frameLen]byte
	if at < int64(len(packMagic)) || at+frameLen > p.end {
		return 0, nil, damaged("a record lies outside its pack")
	}
	if _, err := p.r.ReadAt(head[:], at); err != nil {
		return 0, nil, readFault(err)
	}
	n := int64(binary.LittleEndian.Uint32(head[1:]))
	if n > p.end-at-frameLen {
		return 0, nil, damaged("a record goes on behind its pack")
	}
	payload = make([]byte, n)
	if _, err := p.r.ReadAt(payload, at+frameLen); err != nil {
		return 0, nil, readFault(err)
	}
	if check(head[:], payload) != binary.LittleEndian.Uint32(head[5:]) {
		return 0, nil, damaged("a record's check does not fit")
	}
	return head[0], payload, nil
}

// readFault takes the end of a file that should go on for damage.
func readFault(err error) error {
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		return damaged("a pack ends too soon")
	}
	return err
}

// stored is a state as its record describes it.
type stored struct {
	sum  Sum
	size int64
	base int64 // offset of the state it leans on; 0: none
	cuts []cut
	lit  literal
}

// cut is one place of a change: after skip bytes that stay, gone ones go and
// added ones come, taken from the literal bytes in turn.
type cut struct{ skip, gone, added int64 }

// literal is bytes in a record: inline, or as offsets of pieces.
type literal struct {
	size   int64
	method byte
	inline []byte
	pieces []int64
}

// The methods of storing bytes.
const (
	plain      = 0
	zstandard  = 1
	worthwhile = 64 // bytes below which nothing is compressed
)

// appendLiteral writes a literal behind b.
func appendLiteral(b []byte, l literal) []byte {
	b = binary.AppendUvarint(b, uint64(l.size))
	b = binary.AppendUvarint(b, uint64(len(l.pieces)))
	for _, at := range l.pieces {
		b = binary.AppendUvarint(b, uint64(at))
	}
	if len(l.pieces) > 0 {
		return b
	}
	return append(append(b, l.method), l.inline...)
}

func appendCuts(b []byte, cuts []cut) []byte {
	b = binary.AppendUvarint(b, uint64(len(cuts)))
	for _, c := range cuts {
		b = binary.AppendUvarint(b, uint64(c.skip))
		b = binary.AppendUvarint(b, uint64(c.gone))
		b = binary.AppendUvarint(b, uint64(c.added))
	}
	return b
}

// appendState writes a state's payload behind b.
func appendState(b []byte, s stored) []byte {
	b = append(b, s.sum[:]...)
	b = binary.AppendUvarint(b, uint64(s.size))
	b = binary.AppendUvarint(b, uint64(s.base))
	if s.base != 0 {
		b = appendCuts(b, s.cuts)
	}
	return appendLiteral(b, s.lit)
}

// fields takes apart a payload; the first thing that does not fit spoils it.
type fields struct {
	b   []byte
	bad bool
}

func (f *fields) number() int64 {
	n, k := binary.Uvarint(f.b)
	if k <= 0 || n > 1<<50 {
		f.bad = true
		return 0
	}
	f.b = f.b[k:]
	return int64(n)
}

// count is a number of things that take at least a byte each.
func (f *fields) count() int64 {
	n := f.number()
	if n > int64(len(f.b)) {
		f.bad = true
		return 0
	}
	return n
}

func (f *fields) sum() (s Sum) {
	if len(f.b) < len(s) {
		f.bad = true
		return s
	}
	copy(s[:], f.b)
	f.b = f.b[len(s):]
	return s
}

func (f *fields) cuts() []cut {
	cuts := make([]cut, f.count())
	for i := range cuts {
		cuts[i] = cut{f.number(), f.number(), f.number()}
	}
	return cuts
}

func (f *fields) literal() (l literal) {
	l.size = f.number()
	if n := f.count(); n > 0 {
		l.pieces = make([]int64, n)
		for i := range l.pieces {
			l.pieces[i] = f.number()
		}
		return l
	}
	if len(f.b) == 0 {
		f.bad = true
		return l
	}
	l.method, l.inline, f.b = f.b[0], f.b[1:], nil
	return l
}

// state reads the state recorded at an offset.
func (p *pack) state(at int64) (s stored, err error) {
	kind, payload, err := p.record(at)
	if err != nil {
		return s, err
	}
	f := fields{b: payload}
	s.sum, s.size, s.base = f.sum(), f.number(), f.number()
	if s.base != 0 {
		s.cuts = f.cuts()
	}
	s.lit = f.literal()
	if kind != kindState || f.bad || s.base >= at {
		return s, damaged("a record is not what was expected")
	}
	return s, nil
}

// bytes gives the literal's bytes.
func (p *pack) bytes(l literal) ([]byte, error) {
	if l.pieces == nil {
		return p.code.unpack(nil, l.method, l.inline, l.size)
	}
	var out []byte
	for _, at := range l.pieces {
		kind, payload, err := p.record(at)
		if err != nil {
			return nil, err
		}
		if kind != kindPiece || len(payload) == 0 {
			return nil, damaged("a piece is none")
		}
		if out, err = p.code.unpack(out, payload[0], payload[1:], min(pieceLen, l.size-int64(len(out)))); err != nil {
			return nil, err
		}
	}
	if int64(len(out)) != l.size {
		return nil, damaged("pieces are missing")
	}
	return out, nil
}

// load gives the bytes of the state at an offset, which are exactly those that
// were kept, or an error.
func (p *pack) load(at int64) ([]byte, Sum, error) {
	var chain []stored
	for {
		s, err := p.state(at)
		if err != nil {
			return nil, Sum{}, err
		}
		chain = append(chain, s)
		if s.base == 0 {
			break
		}
		at = s.base
	}
	var content []byte
	for i := len(chain) - 1; i >= 0; i-- {
		s := chain[i]
		lit, err := p.bytes(s.lit)
		if err != nil {
			return nil, Sum{}, err
		}
		if s.base != 0 {
			if lit, err = spliced(content, s.cuts, lit, s.size); err != nil {
				return nil, Sum{}, err
			}
		}
		content = lit
	}
	sum := chain[0].sum
	if Sum(sha256.Sum256(content)) != sum {
		return nil, Sum{}, damaged("the bytes are not those that were kept")
	}
	return content, sum, nil
}

// spliced applies cuts to old bytes.
func spliced(old []byte, cuts []cut, lit []byte, size int64) ([]byte, error) {
	out := make([]byte, 0, min(size, int64(len(old)+len(lit))))
	for _, c := range cuts {
		if c.skip > int64(len(old)) || c.gone > int64(len(old))-c.skip || c.added > int64(len(lit)) {
			return nil, damaged("a change does not fit what it was made to")
		}
		out = append(append(out, old[:c.skip]...), lit[:c.added]...)
		old, lit = old[c.skip+c.gone:], lit[c.added:]
	}
	out = append(out, old...)
	if int64(len(out)) != size || len(lit) > 0 {
		return nil, damaged("a change does not fit what it was made to")
	}
	return out, nil
}

// verify makes sure that all records that the one at an offset stands on are
// whole, without unpacking them. What was seen is remembered in known.
func (p *pack) verify(at int64, known map[int64]error) error {
	var way []int64
	var err error
	for {
		seen, ok := known[at]
		if ok {
			err = seen
			break
		}
		way = append(way, at)
		var base int64
		if base, err = p.verifyOne(at); err != nil || base == 0 {
			break
		}
		at = base
	}
	for _, at := range way {
		known[at] = err
	}
	return err
}

func (p *pack) verifyOne(at int64) (base int64, err error) {
	kind, payload, err := p.record(at)
	if err != nil {
		return 0, err
	}
	var lit literal
	f := fields{b: payload}
	switch kind {
	case kindState:
		f.sum()
		f.number()
		if base = f.number(); base != 0 {
			f.cuts()
		}
		lit = f.literal()
	case kindPlaces:
		lit = readPlaces(&f).lit
	default:
		f.bad = true
	}
	if f.bad || base >= at {
		return 0, damaged("a record is not what was expected")
	}
	for _, piece := range lit.pieces {
		if kind, _, err := p.record(piece); err != nil || kind != kindPiece {
			return 0, errors.Join(err, damaged("a piece is none"))
		}
	}
	return base, nil
}
