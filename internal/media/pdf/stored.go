package pdf

import (
	"bytes"
	"compress/zlib"
	"fmt"
	"image"
	"io"
	"strconv"

	"github.com/pdfcpu/pdfcpu/pkg/pdfcpu/model"
	"github.com/pdfcpu/pdfcpu/pkg/pdfcpu/types"

	"github.com/fsmcp/fsmcp/internal/media/goengine"
)

// stored is a picture as a file holds it: nothing but samples of 8 bits, one or
// three a pixel, as JPEG or packed by zlib, and perhaps what shines through it.
// PDFium does not tell all that a picture's dictionary says; but where there is a
// stream, its dictionary stands before it in plain letters.
type stored struct {
	width, height int
	samples       int
	jpeg          bool
	filtered      bool // rows have PNG's filters
	inverted      bool
	raw           []byte
	mask          *stored // how opaque it is; nil: wholly
}

// Bounds of pictures that are looked at.
const (
	leastRaw    = 256 // bytes, below which others may be the same
	mostHead    = 2048
	mostUnpack  = 16_000_000 // pixels that zlib packed: they have to be there all at once
	mostDecoded = 100_000_000
	mostObjects = 32 << 20 // bytes of packed objects that are searched
)

// storedIn finds a picture whose bytes are known, and how many samples a pixel has.
// ok is false where the bytes stand in more than one place, or anything about it is
// out of the ordinary.
func storedIn(file, raw []byte, samples int) (s stored, ok bool) {
	if len(raw) < leastRaw {
		return s, false
	}
	middle := len(raw) / 2
	sign := raw[middle:min(middle+64, len(raw))]
	at := bytes.Index(file, sign) - middle
	if at < 0 || !bytes.HasPrefix(file[at:], raw) || bytes.Contains(file[at+middle+1:], sign) {
		return s, false
	}
	head := file[max(0, at-mostHead):at]
	from := bytes.LastIndex(head, []byte("obj"))
	if from < 0 {
		return s, false
	}
	dict, rest := dictionary(head[from+len("obj"):])
	if dict == nil || string(rest) != "stream\n" && string(rest) != "stream\r\n" {
		return s, false
	}
	return describe(file, dict, raw, samples)
}

// dictionary reads one, and returns what comes behind it; nil where there is none.
func dictionary(b []byte) (dict types.Dict, rest []byte) {
	defer func() {
		if recover() != nil { // the library is meant for what is well-formed
			dict = nil
		}
	}()
	line := string(b)
	o, err := model.ParseObject(&line)
	if err != nil {
		return nil, nil
	}
	dict, _ = o.(types.Dict)
	return dict, bytes.TrimLeft([]byte(line), " \t\r\n")
}

// describe understands a dictionary, if there is nothing in it that is unknown.
func describe(file []byte, dict types.Dict, raw []byte, samples int) (s stored, ok bool) {
	s = stored{raw: raw, samples: samples}
	bits := 0
	for key, v := range dict {
		ok = true
		switch key {
		case "Width":
			s.width, ok = number(v)
		case "Height":
			s.height, ok = number(v)
		case "BitsPerComponent":
			bits, ok = number(v)
		case "Filter":
			filter := name(v)
			s.jpeg = filter == "DCTDecode"
			ok = s.jpeg || filter == "FlateDecode"
		case "Decode":
			s.inverted, ok = inverted(v)
		case "SMask":
			s.mask = maskIn(file, v)
			ok = s.mask != nil
		case "Subtype":
			ok = name(v) == "Image"
		case "ColorSpace", "DecodeParms", "Type", "Name", "Length", "DL", "Interpolate", "Intent", "Metadata", "StructParent", "ID":
		default:
			return s, false
		}
		if !ok {
			return s, false
		}
	}
	if s.width <= 0 || s.height <= 0 || bits != 8 && !(s.jpeg && bits == 0) || s.inverted && s.samples != 1 {
		return s, false
	}
	most := mostUnpack
	if s.jpeg {
		most = mostDecoded
	}
	if s.width > most/s.height {
		return s, false
	}
	if v, there := dict["DecodeParms"]; there {
		if s.filtered, ok = s.parameters(v); !ok {
			return s, false
		}
	}
	return s, dict["Filter"] != nil
}

// parameters understands those of a filter. filtered: rows have PNG's filters.
func (s stored) parameters(v types.Object) (filtered, ok bool) {
	if a, is := v.(types.Array); is && len(a) == 1 {
		v = a[0]
	}
	if v == nil {
		return false, true
	}
	dict, is := v.(types.Dict)
	if !is || s.jpeg {
		return false, is && len(dict) == 0
	}
	predictor, colors, bits, columns := 1, 1, 8, 1
	for key, to := range map[string]*int{"Predictor": &predictor, "Colors": &colors, "BitsPerComponent": &bits, "Columns": &columns} {
		if v, there := dict[key]; there {
			if *to, ok = number(v); !ok {
				return false, false
			}
		}
	}
	if predictor == 1 {
		return false, true
	}
	return true, predictor >= 10 && predictor <= 15 && s.samples == colors && bits == 8 && columns == s.width
}

func number(v types.Object) (int, bool) {
	n, ok := v.(types.Integer)
	return int(n), ok
}

// name is a name, alone or the only one of a list; empty: none.
func name(v types.Object) string {
	if a, is := v.(types.Array); is && len(a) == 1 {
		v = a[0]
	}
	n, _ := v.(types.Name)
	return string(n)
}

// inverted tells whether samples mean the opposite. ok: they mean this or that.
func inverted(v types.Object) (is, ok bool) {
	a, isArray := v.(types.Array)
	if !isArray || len(a) == 0 || len(a)%2 != 0 {
		return false, false
	}
	first, ok := number(a[0])
	for i, v := range a {
		if n, whole := number(v); !whole || n != (first+i)%2 {
			return false, false
		}
	}
	return first == 1, ok && (first == 0 || first == 1)
}

// maskIn is the mask that a reference leads to; nil where it is out of the ordinary.
func maskIn(file []byte, v types.Object) *stored {
	body, ok := objectIn(file, v)
	if !ok {
		return nil
	}
	dict, rest := dictionary(body[:min(mostHead, len(body))])
	if dict == nil {
		return nil
	}
	if _, masked := dict["SMask"]; masked { // no mask has one, and this one's may be itself
		return nil
	}
	at := bytes.Index(body, rest[:min(len(rest), 64)])
	length, ok := number(dict["Length"])
	if !ok {
		if length, ok = lengthIn(file, dict["Length"]); !ok {
			return nil
		}
	}
	for _, opening := range []string{"stream\n", "stream\r\n"} {
		if !bytes.HasPrefix(rest, []byte(opening)) {
			continue
		}
		from := at + len(opening)
		if at < 0 || length <= 0 || length > len(body)-from || !bytes.HasPrefix(bytes.TrimLeft(body[from+length:], "\r\n"), []byte("endstream")) {
			return nil
		}
		s, ok := describe(file, dict, body[from:from+length], 1)
		if !ok || name(dict["ColorSpace"]) != "DeviceGray" || s.jpeg {
			return nil
		}
		return &s
	}
	return nil
}

// objectIn is what stands behind the head of the object that a reference leads to,
// if there is one such head alone.
func objectIn(file []byte, v types.Object) (body []byte, ok bool) {
	ref, is := v.(types.IndirectRef)
	if !is {
		return nil, false
	}
	head := []byte(fmt.Sprintf("%d %d obj", ref.ObjectNumber, ref.GenerationNumber))
	for rest := file; ; {
		at := bytes.Index(rest, head)
		if at < 0 {
			return body, body != nil
		}
		if at == 0 || rest[at-1] < '0' || rest[at-1] > '9' {
			if body != nil {
				return nil, false
			}
			body = rest[at+len(head):]
		}
		rest = rest[at+len(head):]
	}
}

func lengthIn(file []byte, v types.Object) (int, bool) {
	body, ok := objectIn(file, v)
	if !ok {
		return 0, false
	}
	digits, _, _ := bytes.Cut(body[:min(64, len(body))], []byte("endobj"))
	n, err := strconv.Atoi(string(bytes.TrimSpace(digits)))
	return n, err == nil
}

// transferred tells whether a file may have colours pass through functions on
// their way to paper, of which PDFium tells nothing: pictures pass them, too.
func transferred(file []byte) bool {
	if namesTransfer(file) {
		return true
	}
	room := int64(mostObjects)
	for rest := file; ; {
		at := bytes.Index(rest, []byte("/ObjStm"))
		if at < 0 {
			return false
		}
		rest = rest[at:]
		from := bytes.Index(rest[:min(len(rest), mostHead)], []byte("stream"))
		if from < 0 {
			return true // who knows what it holds
		}
		z, err := zlib.NewReader(bytes.NewReader(bytes.TrimLeft(rest[from+len("stream"):], "\r\n")))
		if err != nil {
			return true
		}
		objects, _ := io.ReadAll(io.LimitReader(z, room)) // what can be read of a damaged one is what counts
		if room -= int64(len(objects)); room <= 0 || namesTransfer(objects) {
			return true
		}
		rest = rest[from:]
	}
}

// namesTransfer tells whether there is a key of a function of transfer whose value
// is not a name: those say that there is none.
func namesTransfer(objects []byte) bool {
	for rest := objects; ; {
		at := bytes.Index(rest, []byte("/TR"))
		if at < 0 {
			return false
		}
		rest = bytes.TrimPrefix(rest[at+len("/TR"):], []byte("2"))
		value := bytes.TrimLeft(rest, " \t\r\n")
		if len(value) > 0 && (value[0] == '[' || value[0] == '<' || len(value) < len(rest) && value[0] >= '0' && value[0] <= '9') {
			return true
		}
	}
}

// fitted is the picture in a size: an *image.Gray if it has one sample a pixel.
func (s stored) fitted(w, h int) (img image.Image, err error) {
	if s.jpeg {
		img, err = goengine.FittedJPEG(s.raw, s.width, s.height, w, h)
	} else {
		img, err = goengine.FittedRows(s.raw, s.width, s.height, s.samples, s.filtered, w, h)
	}
	if err != nil {
		return nil, err
	}
	g, ok := img.(*image.Gray)
	if ok != (s.samples == 1) { // a JPEG has its own idea of its colours
		return nil, fmt.Errorf("pdf: of %d samples a pixel there is %T", s.samples, img)
	}
	if s.inverted {
		for i, v := range g.Pix {
			g.Pix[i] = 255 - v
		}
	}
	return img, nil
}

// opacity is a mask in a size; nil: it hides nothing.
func (s stored) opacity(w, h int) (image.Image, error) {
	img, err := s.fitted(w, h)
	if err != nil {
		return nil, err
	}
	g, ok := img.(*image.Gray)
	if !ok {
		return nil, fmt.Errorf("pdf: a mask is %T", img)
	}
	all := byte(255)
	for _, v := range g.Pix {
		all &= v
	}
	if all == 255 {
		return nil, nil
	}
	return &image.Alpha{Pix: g.Pix, Stride: g.Stride, Rect: g.Rect}, nil
}
