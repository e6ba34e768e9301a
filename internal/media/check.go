package media

import (
	"encoding/binary"
	"errors"
	"hash/crc32"
	"iter"
)

// Check looks at the structure of a PNG, JPEG, GIF or WebP that is to be handed
// on as it is: its parts are whole and its end is there. Pixels are not decoded;
// bytes behind the end are no damage. The error is a *DamageError.
func Check(kind Kind, b []byte) error {
	var err error
	switch kind {
	case PNG:
		err = checkPNG(b)
	case JPEG:
		err = checkJPEG(b)
	case GIF:
		_, err = walkGIF(b)
	case WebP:
		_, err = walkWebP(b)
	default:
		err = errors.New("this kind of picture is not handed on")
	}
	if err != nil {
		return &DamageError{Kind: kind, What: err.Error()}
	}
	return nil
}

func checkPNG(b []byte) error {
	if len(b) < 8 || string(b[:8]) != "\x89PNG\r\n\x1a\n" {
		return errors.New("it has no PNG header")
	}
	data := false
	for b = b[8:]; ; {
		if len(b) < 12 {
			return errShort
		}
		n := binary.BigEndian.Uint32(b)
		if uint64(n)+12 > uint64(len(b)) {
			return errShort
		}
		name, end := string(b[4:8]), int(n)+8
		if crc32.ChecksumIEEE(b[4:end]) != binary.BigEndian.Uint32(b[end:]) {
			return errors.New("the checksum of its part " + printableName(name) + " is wrong")
		}
		switch name {
		case "IDAT":
			data = true
		case "IEND":
			if !data {
				return errors.New("it has no image data")
			}
			return nil
		}
		b = b[end+4:]
	}
}

// printableName returns a chunk's name, and "?" if it is not made of letters.
func printableName(s string) string {
	for _, c := range []byte(s) {
		if c < 'A' || c > 'z' {
			return "?"
		}
	}
	return s
}

func checkJPEG(b []byte) error {
	if len(b) < 4 || b[0] != 0xff || b[1] != 0xd8 {
		return errors.New("it has no JPEG header")
	}
	frame, scan := false, false
	for i := 2; ; {
		for i < len(b) && b[i] == 0xff && i+1 < len(b) && b[i+1] == 0xff {
			i++
		}
		if i+2 > len(b) {
			return errShort
		}
		if b[i] != 0xff {
			return errors.New("a marker is missing between its segments")
		}
		marker := b[i+1]
		i += 2
		if marker == 0xd9 {
			if !frame || !scan {
				return errors.New("it has no image data")
			}
			return nil
		}
		if marker >= 0xd0 && marker <= 0xd7 || marker == 1 {
			continue
		}
		if i+2 > len(b) {
			return errShort
		}
		n := int(binary.BigEndian.Uint16(b[i:]))
		if n < 2 {
			return errors.New("a segment has no length")
		}
		if i += n; i > len(b) {
			return errShort
		}
		switch {
		case marker >= 0xc0 && marker <= 0xcf && marker != 0xc4 && marker != 0xc8 && marker != 0xcc:
			frame = true
		case marker == 0xda:
			scan = true
			if i = entropyEnd(b, i); i < 0 {
				return errShort
			}
		}
	}
}

// entropyEnd is the place of the marker that ends a scan's data; -1: there is none.
func entropyEnd(b []byte, i int) int {
	for ; i+1 < len(b); i++ {
		if b[i] == 0xff && b[i+1] != 0 && b[i+1] != 0xff && (b[i+1] < 0xd0 || b[i+1] > 0xd7) {
			return i
		}
	}
	return -1
}

// walkGIF goes through the blocks up to the trailer and counts the frames.
func walkGIF(b []byte) (frames int, err error) {
	if len(b) < 13 {
		return 0, errShort
	}
	i := 13
	if b[10]&0x80 != 0 {
		i += 3 << (b[10]&7 + 1)
	}
	for i < len(b) {
		switch b[i] {
		case 0x3b:
			if frames == 0 {
				return 0, errors.New("it has no image data")
			}
			return frames, nil
		case 0x21:
			i += 2
		case 0x2c:
			if i+10 >= len(b) {
				return frames, errShort
			}
			frames++
			packed := b[i+9]
			i += 10
			if packed&0x80 != 0 {
				i += 3 << (packed&7 + 1)
			}
			i++ // the code size
		default:
			return frames, errors.New("a block has an unknown type")
		}
		for { // blocks of up to 255 bytes, an empty one last
			if i >= len(b) {
				return frames, errShort
			}
			n := int(b[i])
			if i += 1 + n; n == 0 {
				break
			}
		}
	}
	return frames, errShort
}

// walkWebP goes through the chunks that the RIFF length covers and counts the
// frames.
func walkWebP(b []byte) (frames int, err error) {
	if len(b) < 12 || string(b[:4]) != "RIFF" || string(b[8:12]) != "WEBP" {
		return 0, errors.New("it has no WebP header")
	}
	end := uint64(binary.LittleEndian.Uint32(b[4:])) + 8
	if end > uint64(len(b)) {
		return 0, errShort
	}
	still, left := 0, max(end, 12)-12
	for name, body := range RIFFChunks(b[:end]) {
		left -= min(uint64(8+len(body)+len(body)%2), left)
		switch name {
		case "VP8 ", "VP8L":
			still++
		case "ANMF":
			frames++
		}
	}
	if left >= 8 {
		return frames, errors.New("a part is longer than the file")
	}
	if frames == 0 {
		frames = still
	}
	if frames == 0 {
		return 0, errors.New("it has no image data")
	}
	return frames, nil
}

// RIFFChunks are the names and contents of the parts of a WebP, up to one that is longer
// than what is left of the file.
func RIFFChunks(b []byte) iter.Seq2[string, []byte] {
	return func(yield func(string, []byte) bool) {
		for b := b[min(12, len(b)):]; len(b) >= 8; {
			n := uint64(binary.LittleEndian.Uint32(b[4:]))
			if n > uint64(len(b)-8) || !yield(string(b[:4]), b[8:8+n]) {
				return
			}
			b = b[min(8+n+n&1, uint64(len(b))):]
		}
	}
}

// Frames counts the frames of a GIF or WebP, the icons of an ICO, or the pages
// of a TIFF: 1 for all else.
func Frames(kind Kind, b []byte) int {
	n := 1
	switch kind {
	case GIF:
		n, _ = walkGIF(b)
	case WebP:
		n, _ = walkWebP(b)
	case ICO:
		if len(b) > 6 {
			n = int(binary.LittleEndian.Uint16(b[4:]))
		}
	case TIFF:
		n = tiffPages(b)
	}
	return max(n, 1)
}
