package history

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"slices"
	"sync"

	"github.com/klauspost/compress/zstd"

	"github.com/fsmcp/fsmcp/internal/span"
)

// Sum is the SHA-256 of a file's bytes.
type Sum [sha256.Size]byte

// String is the sum in hexadecimal digits.
func (s Sum) String() string { return hex.EncodeToString(s[:]) }

// MarshalText implements encoding.TextMarshaler.
func (s Sum) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText implements encoding.TextUnmarshaler.
func (s *Sum) UnmarshalText(b []byte) error {
	if len(b) != hex.EncodedLen(len(s)) {
		return hex.ErrLength
	}
	_, err := hex.Decode(s[:], b)
	return err
}

// object is stored bytes: a state of a file, or the places of a change.
type object struct {
	Sum    *Sum    `json:"sum,omitempty"` // of a state
	Chunks []chunk `json:"in,omitempty"`
	// Base is an earlier state, which is stored whole. Chunks then hold the changes since.
	Base []chunk `json:"base,omitempty"`
	// Thinned says that the bytes were removed, since their file took up too much room.
	Thinned bool `json:"thinned,omitempty"`
}

// chunk is a frame of zstd in the pack, of at most chunkLen bytes.
type chunk struct {
	At    int64  `json:"at"`
	Len   int64  `json:"len"`
	Check uint32 `json:"crc"`
}

// chunkLen bounds a chunk before it is compressed, so that a long file takes no room in
// memory but its own.
const chunkLen = 1 << 20

func (o *object) sum() *Sum {
	if o == nil {
		return nil
	}
	return o.Sum
}

// errDamaged says that stored bytes are not those that were written.
var errDamaged = errors.New("what is stored is damaged")

// errThinned says that an object is Thinned.
var errThinned = errors.New("its bytes were removed, since the file took up more than a quarter of history.maxSize")

func damaged(what string) error { return fmt.Errorf("%w: %s", errDamaged, what) }

// checkOf returns the CRC-32C, for which processors have an instruction.
func checkOf(b []byte) uint32 { return crc32.Checksum(b, crc32.MakeTable(crc32.Castagnoli)) }

// The encoder and the decoder are made at first use: most sessions never read the history,
// and many change nothing. A chunk has a check of its own. Source files fit into the window;
// more would cost memory for good.
var (
	encoder = sync.OnceValue(func() *zstd.Encoder {
		e, _ := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderConcurrency(1),
			zstd.WithLowerEncoderMem(true), zstd.WithWindowSize(128<<10), zstd.WithEncoderCRC(false))
		return e
	})
	decoder = sync.OnceValue(func() *zstd.Decoder {
		d, _ := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxMemory(2*chunkLen))
		return d
	})
)

// pack reads the objects of a segment.
type pack struct{ r io.ReaderAt }

// frame returns the bytes of a chunk as they are in the pack.
func (p pack) frame(c chunk) ([]byte, error) {
	b := make([]byte, c.Len)
	if _, err := p.r.ReadAt(b, c.At); err == io.EOF {
		return nil, damaged("a pack ends too soon")
	} else if err != nil {
		return nil, err
	}
	if checkOf(b) != c.Check {
		return nil, damaged("the bytes do not fit their check")
	}
	return b, nil
}

// content returns the bytes of chunks.
func (p pack) content(chunks []chunk) (out []byte, err error) {
	out = []byte{}
	for _, c := range chunks {
		b, err := p.frame(c)
		if err != nil {
			return nil, err
		}
		if b, err = decoder().DecodeAll(b, nil); err != nil {
			return nil, damaged("it cannot be decompressed")
		}
		out = append(out, b...)
	}
	return out, nil
}

// state returns the bytes of a state, exactly as they were stored, or an error.
func (p pack) state(o *object) ([]byte, error) {
	if o.Thinned {
		return nil, errThinned
	}
	base, changes, err := p.parts(o)
	if err != nil {
		return nil, err
	}
	b, err := p.content(base)
	for _, splices := range changes {
		if err == nil && !span.Fit(splices, int64(len(b))) {
			err = damaged("a change does not fit its base")
		}
		if err == nil {
			b = span.Apply(b, splices)
		}
	}
	if err == nil && Sum(sha256.Sum256(b)) != *o.Sum {
		err = damaged("the bytes are not those that were stored")
	}
	return b, err
}

// parts returns the base of a state and the changes since, which are none if the state is
// stored whole.
func (p pack) parts(o *object) (base []chunk, changes [][]span.Splice, err error) {
	if o.Base == nil {
		return o.Chunks, nil, nil
	}
	b, err := p.content(o.Chunks)
	if err == nil && json.Unmarshal(b, &changes) != nil {
		err = damaged("changes cannot be read")
	}
	return o.Base, changes, err
}

// verify checks the bytes of an object and of its base, without decompressing them. It
// remembers the results by offset in known.
func (p pack) verify(o *object, known map[int64]error) error {
	for _, c := range slices.Concat(o.Base, o.Chunks) {
		err, seen := known[c.At]
		if !seen {
			_, err = p.frame(c)
			known[c.At] = err
		}
		if err != nil {
			return err
		}
	}
	return nil
}
