package render

import (
	"bytes"
	"encoding/base64"
	"errors"
	"slices"
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

	base64 scan.Value
	noted  int // the end of its line in the text of the outputs
}

var (
	errNotText   = errors.New("is no text")
	errNotBase64 = errors.New("is not valid base64")
	errNoPicture = errors.New("does not begin like a picture")
)

// Bytes decodes the picture.
func (p *Picture) Bytes() []byte {
	data, _, _ := decode(nil, p.base64)
	return data
}

// decode checks the base64 text at v.
func (o *outputs) decode(v scan.Value) (*Picture, error) {
	data, scratch, err := decode(o.scratch, v)
	o.scratch = scratch
	if err != nil {
		return nil, err
	}
	mime := pictureMIME(data)
	if mime == "" {
		return nil, errNoPicture
	}
	return &Picture{MIME: mime, Size: len(data), base64: v}, nil
}

// decode decodes the base64 text at v in scratch and returns scratch, perhaps grown. White
// space is ignored. Base64 without padding is valid, too, as in browsers.
func decode(scratch []byte, v scan.Value) (data, grown []byte, err error) {
	scratch = slices.Grow(scratch[:0], (v.End()-v.Start())*7/4) // for the text and the data
	text, _, ok := v.AppendText(scratch)
	if !ok {
		return nil, scratch, errNotText
	}
	digits := withoutSpace(text)
	padded := len(digits)
	digits = bytes.TrimRight(digits, "=")
	n := len(digits)
	if padded > n && (padded%4 != 0 || padded > n+2) {
		return nil, text, errNotBase64
	}
	text = slices.Grow(text[:n], base64.RawStdEncoding.DecodedLen(n))
	size, err := base64.RawStdEncoding.Decode(text[n:cap(text)], text[:n])
	if err != nil {
		return nil, text, errNotBase64
	}
	return text[n : n+size], text, nil
}

// withoutSpace removes white space from text, in place.
func withoutSpace(text []byte) []byte {
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

// pictureMIME returns the type of a picture by its first bytes, "" for none.
func pictureMIME(data []byte) string {
	h := string(data[:min(len(data), 12)])
	switch {
	case strings.HasPrefix(h, "\x89PNG\r\n\x1a\n"):
		return "image/png"
	case strings.HasPrefix(h, "\xff\xd8\xff"):
		return "image/jpeg"
	case strings.HasPrefix(h, "GIF87a"), strings.HasPrefix(h, "GIF89a"):
		return "image/gif"
	case len(h) == 12 && h[:4] == "RIFF" && h[8:] == "WEBP":
		return "image/webp"
	}
	return ""
}
