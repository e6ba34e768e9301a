package history

import (
	"sync"

	"github.com/klauspost/compress/zstd"
)

// coder compresses and decompresses bytes. It makes its encoder and decoder at first use:
// most sessions never read the history, and many change nothing.
type coder struct {
	in, out sync.Once
	encoder *zstd.Encoder
	decoder *zstd.Decoder
}

// window bounds the compressor's view of earlier bytes. Source files fit into it; more
// would cost memory for good.
const window = 128 << 10

func (c *coder) start() {
	c.encoder, _ = zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderConcurrency(1),
		zstd.WithLowerEncoderMem(true), zstd.WithWindowSize(window), zstd.WithEncoderCRC(false))
}

// pack appends the packed form of raw to dst, and returns the method. It adds no check:
// records have one of their own.
func (c *coder) pack(dst, raw []byte) (method byte, out []byte) {
	if len(raw) >= worthwhile {
		c.in.Do(c.start)
		packed := c.encoder.EncodeAll(raw, dst)
		if len(packed)-len(dst) < len(raw) {
			return zstandard, packed
		}
	}
	return plain, append(dst, raw...)
}

// unpack appends the size bytes that packed holds to dst.
func (c *coder) unpack(dst []byte, method byte, packed []byte, size int64) ([]byte, error) {
	was := len(dst)
	switch method {
	case plain:
		dst = append(dst, packed...)
	case zstandard:
		c.out.Do(func() {
			c.decoder, _ = zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxMemory(2*pieceLen))
		})
		raw, err := c.decoder.DecodeAll(packed, nil) // not onto dst, which its bound would count in
		if err != nil {
			return nil, damaged("it cannot be unpacked")
		}
		if dst == nil {
			dst = raw
		} else {
			dst = append(dst, raw...)
		}
	default:
		return nil, damaged("it is packed in an unknown way")
	}
	if int64(len(dst)-was) != size {
		return nil, damaged("it has another length")
	}
	return dst, nil
}
