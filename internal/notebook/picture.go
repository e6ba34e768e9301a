package notebook

import (
	"bytes"
	"encoding/base64"
	"errors"
	"strings"

	"github.com/fsmcp/fsmcp/internal/notebook/scan"
)

// A Picture is an output's picture: valid base64 that begins like a picture. It may still be
// damaged.
type Picture struct {
	// Cell is the index of the cell whose output it is.
	Cell int
	// MIME follows from the picture's first bytes, not from the notebook.
	MIME string
	// Size is the number of decoded bytes.
	Size int
	// Plain is the output's plain form if the text does not have it. A caller that does not
	// show the picture shows this.
	Plain string

	raw []byte
	at  scan.Extent

	noted int // the end of its line in the text of the outputs
}

// Bytes decodes the picture.
func (p *Picture) Bytes() []byte {
	text := bytes.TrimRight(packed(nil, p.raw, p.at), "=")
	out := make([]byte, base64.RawStdEncoding.DecodedLen(len(text)))
	n, _ := base64.RawStdEncoding.Decode(out, text)
	return out[:n]
}

// packed appends the base64 text at v to dst without its white space.
func packed(dst, raw []byte, v scan.Extent) []byte {
	text, _, _ := scan.JoinText(dst, raw, v)
	out := text[:0]
	for len(text) > 0 {
		gap := bytes.IndexAny(text, " \t\r\n")
		if gap < 0 {
			gap = len(text)
		}
		out = append(out, text[:gap]...)
		text = text[min(gap+1, len(text)):]
	}
	return out
}

var (
	errNotText   = errors.New("is no text")
	errNotBase64 = errors.New("is not valid base64")
	errNoPicture = errors.New("does not begin like a picture")
)

// picture checks the base64 text at v. It works in scratch and returns it, perhaps grown.
func (nb *Notebook) picture(scratch []byte, v scan.Extent) (*Picture, []byte, error) {
	if !scan.IsText(nb.raw, v) {
		return nil, scratch, errNotText
	}
	text := packed(scratch[:0], nb.raw, v)
	digits := bytes.TrimRight(text, "=")
	if !isBase64(digits, len(text)-len(digits)) {
		return nil, text, errNotBase64
	}
	var head [12]byte
	n, _ := base64.RawStdEncoding.Decode(head[:], digits[:min(len(digits), 16)])
	mime := pictureMIME(head[:n])
	if mime == "" {
		return nil, text, errNoPicture
	}
	return &Picture{MIME: mime, Size: base64.RawStdEncoding.DecodedLen(len(digits)), raw: nb.raw, at: v}, text, nil
}

// isBase64 reports whether digits are base64 with that number of padding signs. Base64
// without padding is valid, too, as in browsers.
func isBase64(digits []byte, padding int) bool {
	if len(digits)%4 == 1 || padding != 0 && (len(digits)+padding)%4 != 0 || padding > 2 {
		return false
	}
	for _, c := range digits {
		if !(c|0x20-'a' < 26 || c-'0' < 10 || c == '+' || c == '/') {
			return false
		}
	}
	return true
}

// pictureMIME returns the type of a picture by its first bytes, "" for none.
func pictureMIME(head []byte) string {
	h := string(head)
	switch {
	case strings.HasPrefix(h, "\x89PNG\r\n\x1a\n"):
		return "image/png"
	case strings.HasPrefix(h, "\xff\xd8\xff"):
		return "image/jpeg"
	case strings.HasPrefix(h, "GIF87a"), strings.HasPrefix(h, "GIF89a"):
		return "image/gif"
	case len(h) >= 12 && h[:4] == "RIFF" && h[8:12] == "WEBP":
		return "image/webp"
	}
	return ""
}
