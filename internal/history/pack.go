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
// A record is named by its offset, and names only records before it.
const (
	packMagic = "fsmcph1\n"
	frameLen  = 9
)

// The kinds of records.
const (
	kindPiece  = 'P' // a part of bytes that are too long for one record
	kindState  = 'S' // a file's bytes
	kindPlaces = 'L' // the places of a change of a file above WholeLimit
)

// pieceLen is the length from which bytes are stored in pieces, so that a long
// file takes no room in memory but its own.
const pieceLen = 1 << 20

// errDamaged says that stored bytes are not those that were written.
var errDamaged = errors.New("what is stored is damaged")

func damaged(what string) error { return fmt.Errorf("%w: %s", errDamaged, what) }

// check covers kind, length and payload.
func check(head, payload []byte) uint32 {
	c := crc32.Update(0, castagnoli(), head[:5])
	return crc32.Update(c, castagnoli(), payload)
}

// castagnoli is the polynomial for which processors have an instruction.
func castagnoli() *crc32.Table { return crc32.MakeTable(crc32.Castagnoli) }

// frame writes a record's frame into the room at the front of b.
func frame(kind byte, b []byte) {
	b[0] = kind
	binary.LittleEndian.PutUint32(b[1:], uint32(len(b)-frameLen))
	binary.LittleEndian.PutUint32(b[5:], check(b, b[frameLen:]))
}

// pack reads records.
type pack struct {
	r io.ReaderAt
	// end is the size that is read; the file may grow meanwhile.
	end  int64
	code *coder
}

// payload reads the payload of the record at an offset.
func (p *pack) payload(at int64) (kind byte, payload []byte, err error) {
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

// readFault returns err, and damage for the end of a file that should go on.
func readFault(err error) error {
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		return damaged("a pack ends too soon")
	}
	return err
}

// record is a state of a file, or the places of a change.
type record struct {
	kind byte

	// Of a state.
	sum  Sum
	size int64
	base int64 // offset of the state that it is a change of; 0: it is whole
	cuts []cut

	// Of places: the sizes of the file, and the places.
	before, after int64
	places        []place

	lit literal
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

// code writes a record's payload behind c.b, or reads it from there.
func (r *record) code(c *codec) {
	switch r.kind {
	case kindState:
		c.bytes(r.sum[:])
		c.numbers(&r.size, &r.base)
		if r.base != 0 {
			codeList(c, &r.cuts, func(x *cut) { c.numbers(&x.skip, &x.gone, &x.added) })
		}
	case kindPlaces:
		c.numbers(&r.before, &r.after)
		codeList(c, &r.places, func(p *place) { c.numbers(&p.at, &p.gone, &p.added, &p.lead, &p.tail) })
	default:
		c.bad = true
	}
	c.numbers(&r.lit.size)
	codeList(c, &r.lit.pieces, func(at *int64) { c.numbers(at) })
	if len(r.lit.pieces) > 0 {
		return
	}
	method := []byte{r.lit.method}
	c.bytes(method)
	r.lit.method = method[0]
	if c.reading {
		r.lit.inline = c.b
	} else {
		c.b = append(c.b, r.lit.inline...)
	}
}

// codec writes a payload or takes one apart; the first thing that does not fit spoils it.
type codec struct {
	b       []byte
	reading bool
	bad     bool
}

func (c *codec) numbers(fields ...*int64) {
	for _, n := range fields {
		if !c.reading {
			c.b = binary.AppendUvarint(c.b, uint64(*n))
			continue
		}
		v, size := binary.Uvarint(c.b)
		if size <= 0 || v > 1<<50 {
			c.bad = true
			return
		}
		*n, c.b = int64(v), c.b[size:]
	}
}

func (c *codec) bytes(b []byte) {
	switch {
	case !c.reading:
		c.b = append(c.b, b...)
	case len(c.b) < len(b):
		c.bad = true
	default:
		c.b = c.b[copy(b, c.b):]
	}
}

// codeList codes the number of items and each of them; an item takes at least a byte.
func codeList[T any](c *codec, items *[]T, item func(*T)) {
	n := int64(len(*items))
	if c.numbers(&n); c.reading && (c.bad || n > int64(len(c.b))) {
		c.bad = true
		return
	}
	if c.reading && n > 0 {
		*items = make([]T, n)
	}
	for i := range *items {
		item(&(*items)[i])
	}
}

// read reads the record at an offset, which is no piece.
func (p *pack) read(at int64) (r record, err error) {
	kind, payload, err := p.payload(at)
	if err != nil {
		return r, err
	}
	r.kind = kind
	c := codec{b: payload, reading: true}
	if r.code(&c); c.bad || r.base >= at {
		return r, damaged("a record is not what was expected")
	}
	return r, nil
}

// bytes returns the literal's bytes.
func (p *pack) bytes(l literal) ([]byte, error) {
	if l.pieces == nil {
		return p.code.unpack(nil, l.method, l.inline, l.size)
	}
	var out []byte
	for _, at := range l.pieces {
		payload, err := p.piece(at)
		if err != nil {
			return nil, err
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

// piece reads a piece: its method and its bytes.
func (p *pack) piece(at int64) ([]byte, error) {
	kind, payload, err := p.payload(at)
	if err == nil && (kind != kindPiece || len(payload) == 0) {
		err = damaged("a piece is none")
	}
	return payload, err
}

// load returns the bytes of the state at an offset, exactly as they were stored, or an
// error.
func (p *pack) load(at int64) ([]byte, Sum, error) {
	r, err := p.read(at)
	if err != nil {
		return nil, Sum{}, err
	}
	content, err := p.build(r)
	if err == nil && Sum(sha256.Sum256(content)) != r.sum {
		err = damaged("the bytes are not those that were kept")
	}
	return content, r.sum, err
}

// build returns the bytes of a state, made from those of its base.
func (p *pack) build(r record) ([]byte, error) {
	switch {
	case r.kind != kindState:
		return nil, damaged("a record is not what was expected")
	case r.base == 0:
		return p.bytes(r.lit)
	}
	base, err := p.read(r.base)
	if err != nil {
		return nil, err
	}
	old, err := p.build(base)
	if err != nil {
		return nil, err
	}
	lit, err := p.bytes(r.lit)
	if err != nil {
		return nil, err
	}
	return spliced(old, r.cuts, lit, r.size)
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

// verify checks the record at an offset and all records that it needs, without unpacking
// them. It remembers the results in known.
func (p *pack) verify(at int64, known map[int64]error) error {
	if err, seen := known[at]; seen {
		return err
	}
	r, err := p.read(at)
	if err == nil && r.base != 0 {
		err = p.verify(r.base, known)
	}
	for _, piece := range r.lit.pieces {
		if err == nil {
			_, err = p.piece(piece)
		}
	}
	known[at] = err
	return err
}
