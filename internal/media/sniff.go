// Package media knows pictures and PDFs by their first bytes. The bytes decide
// what a file is; its name decides nothing.
//
// It reads headers, checks the structure of what is handed on as it is, and
// holds the limits and the order in which smaller forms are tried; it decodes no
// pixel. Engines do that, in a process of their own.
package media

import (
	"bytes"
	"encoding/binary"
	"unicode/utf8"
)

// Kind is the kind of a file by its first bytes.
type Kind uint8

// The kinds. None covers text and everything unknown.
const (
	None Kind = iota
	PNG
	JPEG
	GIF
	WebP
	BMP
	ICO
	TIFF
	HEIC
	AVIF
	PDF
	Office // an archive that may be an Office document
)

// String is the kind's usual name.
func (k Kind) String() string {
	return [...]string{"", "PNG", "JPEG", "GIF", "WebP", "BMP", "ICO", "TIFF", "HEIC", "AVIF", "PDF", "Office document"}[k]
}

// IsImage reports whether the kind is a picture.
func (k Kind) IsImage() bool { return k != None && k != PDF && k != Office }

// MIME is the media type of a kind that models are shown, else empty.
func (k Kind) MIME() string {
	switch k {
	case PNG:
		return "image/png"
	case JPEG:
		return "image/jpeg"
	case GIF:
		return "image/gif"
	case WebP:
		return "image/webp"
	case PDF:
		return "application/pdf"
	}
	return ""
}

// HeadSize is the number of first bytes that Sniff needs.
const HeadSize = 1024

// Sniff tells the kind of a file by its head (HeadSize bytes, or all of a
// shorter file). ext is the name's extension in lower case without the dot: it
// counts only for a PDF header behind other bytes. Valid text that merely
// begins like a picture ("BMW", "GIF89a is a format") is None.
func Sniff(head []byte, ext string) Kind {
	head = head[:min(len(head), HeadSize)]
	if isPDF(head, ext) {
		return PDF
	}
	if mayBeOffice(head) {
		return Office
	}
	k := magic(head)
	if k == None || strong(k) {
		return k
	}
	if plainText(head) {
		return None
	}
	return k
}

func magic(b []byte) Kind {
	has := func(at int, s string) bool { return len(b) >= at+len(s) && string(b[at:at+len(s)]) == s }
	switch {
	case has(0, "\x89PNG"):
		return PNG
	case has(0, "\xff\xd8\xff"):
		return JPEG
	case has(0, "GIF87a"), has(0, "GIF89a"):
		return GIF
	case has(0, "RIFF") && has(8, "WEBP"):
		return WebP
	case has(0, "II*\x00"), has(0, "MM\x00*"), has(0, bigLittle), has(0, bigBig):
		return TIFF
	case has(0, "BM") && bmpHeader(b):
		return BMP
	case has(0, "\x00\x00\x01\x00") && len(b) >= 22 && b[4]|b[5] != 0 && b[9] == 0:
		return ICO
	case has(4, "ftyp"):
		return brand(b)
	}
	return None
}

// bigLittle and bigBig begin TIFFs whose places are numbers of 64 bits.
const (
	bigLittle = "II+\x00\x08\x00\x00\x00"
	bigBig    = "MM\x00+\x00\x08\x00\x00"
)

// strong reports whether the first bytes of a kind are in no text.
func strong(k Kind) bool {
	return k == PNG || k == JPEG || k == TIFF || k == ICO || k == HEIC || k == AVIF
}

// bmpHeader checks the size of the DIB header at byte 14.
func bmpHeader(b []byte) bool {
	if len(b) < 18 {
		return false
	}
	switch binary.LittleEndian.Uint32(b[14:]) {
	case 12, 40, 52, 56, 64, 108, 124:
		return true
	}
	return false
}

// brand tells HEIC and AVIF apart by the major brand of their ftyp box.
func brand(b []byte) Kind {
	if len(b) < 12 {
		return None
	}
	switch string(b[8:12]) {
	case "avif", "avis":
		return AVIF
	case "heic", "heix", "hevc", "hevx", "heim", "heis", "mif1", "msf1":
		return HEIC
	}
	return None
}

// isPDF finds the header at byte 0 (after a byte order mark or blanks), and
// elsewhere in the head only under the extension pdf.
func isPDF(b []byte, ext string) bool {
	const header = "%PDF-"
	start := bytes.TrimLeft(bytes.TrimPrefix(b, []byte("\xef\xbb\xbf")), " \t\r\n")
	return bytes.HasPrefix(start, []byte(header)) || ext == "pdf" && bytes.Contains(b, []byte(header))
}

// plainText reports whether a head is valid UTF-8 without NUL. The last character may be cut
// off.
func plainText(b []byte) bool {
	if bytes.IndexByte(b, 0) >= 0 {
		return false
	}
	for len(b) > 0 {
		r, n := utf8.DecodeRune(b)
		if r == utf8.RuneError && n == 1 {
			return len(b) < utf8.UTFMax && !utf8.FullRune(b)
		}
		b = b[n:]
	}
	return true
}
