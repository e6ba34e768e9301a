package media

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
)

// PictureFacts holds what a picture's header says.
type PictureFacts struct {
	Kind Kind
	// Width and Height are those of the upright picture, in pixels.
	Width, Height int
	// Orientation is EXIF's: 1 upright, 5 to 8 are rotated by a quarter.
	Orientation int
	// Bytes is the size of all decoded pixels.
	Bytes int64
}

// DamageError says what of a file cannot be decoded. It is about the file alone:
// no path, no advice.
type DamageError struct {
	Kind Kind
	What string
	// Rare: the file may be sound, but is made in a way that is not decoded.
	Rare bool
	// ForVips: fsmcp-vips was not asked and may decode it.
	ForVips bool
}

func (e *DamageError) Error() string {
	if e.Rare {
		return fmt.Sprintf("%s that is not decoded: %s", e.Kind, e.What)
	}
	return fmt.Sprintf("damaged %s: %s", e.Kind, e.What)
}

// RareError is the fact that a sound file is made in a way that is not decoded.
type RareError string

func (e RareError) Error() string { return string(e) }

// errShort is the fact that a file ends too soon.
var errShort = errors.New("it ends in the middle of its data")

// Bounds of what is read of a header.
const (
	maxBlocks = 20_000
	maxExif   = 64 << 10
)

// Inspect reads a picture's header and orientation. It reads only these parts of the file, a
// bounded number of times, and decodes nothing. The error is a *DamageError, or the reader's
// own.
func Inspect(kind Kind, r io.ReaderAt, size int64) (PictureFacts, error) {
	l := headerReader{r: r, size: size}
	f := PictureFacts{Kind: kind, Orientation: 1}
	var err error
	switch kind {
	case PNG:
		err = l.png(&f)
	case JPEG:
		err = l.jpeg(&f)
	case GIF:
		l.gif(&f)
	case WebP:
		err = l.webp(&f)
	case BMP:
		l.bmp(&f)
	case ICO:
		err = l.ico(&f)
	case TIFF:
		err = l.tiff(&f)
	case HEIC, AVIF:
		err = l.heif(&f)
	default:
		err = errors.New("this kind of picture cannot be decoded")
	}
	if err == nil && (f.Width <= 0 || f.Height <= 0) {
		err = fmt.Errorf("its header says %d x %d pixels", f.Width, f.Height)
	}
	if l.failed != nil {
		return f, l.failed
	}
	if err = cmp.Or(l.fault, err); err != nil {
		return f, &DamageError{Kind: kind, What: err.Error(), Rare: errors.As(err, new(RareError))}
	}
	f.Bytes = pixelBytes(f.Width, f.Height, f.Bytes)
	if f.Orientation >= 5 {
		f.Width, f.Height = f.Height, f.Width
	}
	return f, nil
}

// pixelBytes is the size of so many pixels of each bytes.
func pixelBytes(width, height int, each int64) int64 {
	const most = 1 << 24 // whatever a header says, the product is a number
	if width > most || height > most {
		return math.MaxInt64
	}
	return int64(width) * int64(height) * max(each, 1)
}

// headerReader reads small pieces of a file.
type headerReader struct {
	r      io.ReaderAt
	size   int64
	blocks int
	fault  error // why the first piece that the header needs could not be read
	failed error // of the reader, not of the file
}

// at reads n bytes at an offset that the header needs. If it cannot, it returns zeros and notes
// the fault, which goes before all that is wrong with zeros.
func (l *headerReader) at(off int64, n int) []byte {
	b, err := l.read(off, n)
	if err != nil {
		l.fault = cmp.Or(l.fault, err)
		return make([]byte, n)
	}
	return b
}

// read reads n bytes at an offset.
func (l *headerReader) read(off int64, n int) ([]byte, error) {
	if l.blocks++; l.blocks > maxBlocks {
		return nil, errors.New("its header is in too many pieces")
	}
	if off < 0 || off+int64(n) > l.size {
		return nil, errShort
	}
	b := make([]byte, n)
	if k, err := l.r.ReadAt(b, off); k < n {
		if err != io.EOF && err != io.ErrUnexpectedEOF {
			l.failed = err
		}
		return nil, errShort
	}
	return b, nil
}

// orient takes the orientation from EXIF data, which starts like a TIFF.
func (f *PictureFacts) orient(exif []byte) {
	if o := Orientation(exif); o != 0 {
		f.Orientation = o
	}
}

func (l *headerReader) png(f *PictureFacts) error {
	b := l.at(0, 29)
	if string(b[:8]) != "\x89PNG\r\n\x1a\n" || string(b[12:16]) != "IHDR" || binary.BigEndian.Uint32(b[8:]) != 13 {
		return errors.New("it has no PNG header")
	}
	be := binary.BigEndian
	f.Width, f.Height = int(be.Uint32(b[16:])&0x7fffffff), int(be.Uint32(b[20:])&0x7fffffff)
	channels := map[byte]int64{0: 1, 2: 3, 3: 1, 4: 2, 6: 4}[b[25]]
	depth := b[24]
	if channels == 0 || depth != 1 && depth != 2 && depth != 4 && depth != 8 && depth != 16 {
		return errors.New("its header names a colour type that PNG does not have")
	}
	f.Bytes = channels * int64(max(depth, 8)/8)
	// eXIf may be anywhere; Check finds a file that is cut short.
	for off := int64(33); ; {
		h, err := l.read(off, 8)
		if err != nil {
			return nil
		}
		n := int64(be.Uint32(h))
		switch string(h[4:]) {
		case "IEND":
			return nil
		case "eXIf":
			if exif, err := l.read(off+8, int(min(n, maxExif))); err == nil {
				f.orient(exif)
			}
			return nil
		}
		off += 12 + n
	}
}

func (l *headerReader) jpeg(f *PictureFacts) error {
	found, turned := false, false
	for off := int64(2); ; {
		h := l.at(off, 4)
		if h[0] != 0xff {
			return errors.New("a marker is missing in its header")
		}
		if h[1] == 0xff { // fill
			off++
			continue
		}
		marker, n := h[1], int64(binary.BigEndian.Uint16(h[2:]))
		if marker == 0xd9 || marker == 0xda {
			if !found {
				return errors.New("it has no frame header")
			}
			return nil
		}
		if n < 2 {
			return errors.New("a segment of its header has no length")
		}
		switch {
		case marker >= 0xc0 && marker <= 0xcf && marker != 0xc4 && marker != 0xc8 && marker != 0xcc:
			b := l.at(off+4, 6)
			f.Height, f.Width = int(binary.BigEndian.Uint16(b[1:])), int(binary.BigEndian.Uint16(b[3:]))
			f.Bytes = int64(b[5]) * (int64(b[0]) + 7) / 8
			found = true
			if f.Height == 0 && f.Width > 0 {
				return RareError("its header leaves open how high it is")
			}
		case marker == 0xe1 && n > 8:
			b, err := l.read(off+4, int(n-2))
			if err == nil && string(b[:6]) == "Exif\x00\x00" && !turned { // the first of several counts, as in other programs
				f.orient(b[6:])
				turned = true
			}
		}
		off += 2 + n
	}
}

func (l *headerReader) gif(f *PictureFacts) {
	b := l.at(6, 4)
	f.Width, f.Height = int(binary.LittleEndian.Uint16(b)), int(binary.LittleEndian.Uint16(b[2:]))
	f.Bytes = 1
}

func (l *headerReader) webp(f *PictureFacts) error {
	b := l.at(12, 18)
	le := binary.LittleEndian
	switch string(b[:4]) {
	case "VP8X":
		f.Width, f.Height = 1+(int(b[12])|int(b[13])<<8|int(b[14])<<16), 1+(int(b[15])|int(b[16])<<8|int(b[17])<<16)
		if b[8]&0x08 != 0 {
			l.webpExif(f)
		}
	case "VP8L":
		if b[8] != 0x2f {
			return errors.New("its image data has no signature")
		}
		v := le.Uint32(b[9:])
		f.Width, f.Height = int(v&0x3fff)+1, int(v>>14&0x3fff)+1
	case "VP8 ":
		if b[11] != 0x9d || b[12] != 0x01 || b[13] != 0x2a {
			return errors.New("its image data has no signature")
		}
		f.Width, f.Height = int(le.Uint16(b[14:])&0x3fff), int(le.Uint16(b[16:])&0x3fff)
	default:
		return errors.New("it has no image header")
	}
	f.Bytes = 4
	return nil
}

func (l *headerReader) webpExif(f *PictureFacts) {
	for off := int64(12); ; {
		h, err := l.read(off, 8)
		if err != nil {
			return
		}
		n := int64(binary.LittleEndian.Uint32(h[4:]))
		if string(h[:4]) == "EXIF" {
			if exif, err := l.read(off+8, int(min(n, maxExif))); err == nil {
				if len(exif) > 6 && string(exif[:6]) == "Exif\x00\x00" { // some writers keep JPEG's prefix
					exif = exif[6:]
				}
				f.orient(exif)
			}
			return
		}
		off += 8 + n + n&1
	}
}

func (l *headerReader) bmp(f *PictureFacts) {
	b := l.at(14, 12)
	le := binary.LittleEndian
	if le.Uint32(b) == 12 {
		f.Width, f.Height = int(le.Uint16(b[4:])), int(le.Uint16(b[6:]))
	} else {
		height := int(int32(le.Uint32(b[8:])))
		f.Width, f.Height = int(int32(le.Uint32(b[4:]))), max(height, -height)
	}
	f.Bytes = 4
}

// ico reads the size of the largest icon.
func (l *headerReader) ico(f *PictureFacts) error {
	best, err := l.largestIcon()
	f.Width, f.Height, f.Bytes = best.width, best.height, 4
	return err
}

// icon is one of an ICO, as its own header says.
type icon struct {
	at            int64
	width, height int
	bits          int // of a pixel
}

// LargestIcon returns the bytes of an ICO from its largest icon to the end. Among icons of
// the same size it takes the one with the most colours. It returns nil if there is no icon.
func LargestIcon(data []byte) ([]byte, error) {
	l := headerReader{r: bytes.NewReader(data), size: int64(len(data))}
	best, err := l.largestIcon()
	if err = cmp.Or(l.fault, err); err != nil || best.width == 0 {
		return nil, err
	}
	return data[best.at:], nil
}

func (l *headerReader) largestIcon() (best icon, err error) {
	le := binary.LittleEndian
	for i := range int64(le.Uint16(l.at(4, 2))) {
		one, err := l.icon(int64(le.Uint32(l.at(6+16*i, 16)[12:])))
		if err != nil {
			return best, err
		}
		if more := one.width*one.height - best.width*best.height; more > 0 || more == 0 && one.bits > best.bits {
			best = one
		}
	}
	return best, nil
}

func (l *headerReader) icon(at int64) (icon, error) {
	b := l.at(at, 24)
	if string(b[:4]) == "\x89PNG" {
		be := binary.BigEndian
		return icon{at, int(be.Uint32(b[16:]) & 0x7fffffff), int(be.Uint32(b[20:]) & 0x7fffffff), 32}, nil
	}
	le := binary.LittleEndian
	if le.Uint32(b) < 16 {
		return icon{}, errors.New("an icon has no header")
	}
	// The height counts picture and mask.
	one := icon{at, int(int32(le.Uint32(b[4:]))), int(int32(le.Uint32(b[8:]))) / 2, int(le.Uint16(b[14:]))}
	if one.width <= 0 || one.height <= 0 {
		return icon{}, errors.New("an icon has no size")
	}
	return one, nil
}

func (l *headerReader) tiff(f *PictureFacts) error {
	h := l.at(0, 8)
	if s := string(h); s == bigLittle || s == bigBig {
		return RareError("it is a BigTIFF")
	}
	order := byteOrder(h)
	d := l.directory(order, int64(order.Uint32(h[4:])))
	f.Width, f.Height = d.number(256, 0), d.number(257, 0)
	if o := d.orientation(); o != 0 {
		f.Orientation = o
	}
	samples, bits := int64(d.number(277, 1)), int64(d.number(258, 1))
	if e := d[258]; e.count > 2 { // a number for each sample, at an offset: the greatest counts
		bits = 16
		if b, err := l.read(int64(e.value), 2*int(min(e.count, 8))); err == nil {
			for bits = 1; len(b) > 0; b = b[2:] {
				bits = max(bits, int64(order.Uint16(b)))
			}
		}
	}
	if samples > 1<<10 {
		return fmt.Errorf("its header says %d samples a pixel", samples)
	}
	f.Bytes = max(samples, 1) * max((bits+7)/8, 1)
	return nil
}
