package pdf

import (
	"bytes"
	"fmt"
	"image"
	"strconv"

	"github.com/klippa-app/go-pdfium/enums"
	"github.com/klippa-app/go-pdfium/references"
	"github.com/klippa-app/go-pdfium/requests"
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
	samples, bits int // of a pixel and of a sample; bits are 0 where nothing says how many
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
)

// stored is a picture of a page as its file holds it, if that says all.
func (d *document) stored(number int, ref references.FPDF_PAGEOBJECT) (s stored, ok bool) {
	facts, err := d.in.FPDFImageObj_GetImageMetadata(&requests.FPDFImageObj_GetImageMetadata{ImageObject: ref, Page: d.page(number)})
	if err != nil {
		return s, false
	}
	samples := 0
	switch facts.ImageMetadata.Colorspace {
	case enums.FPDF_COLORSPACE_DEVICEGRAY:
		samples = 1
	case enums.FPDF_COLORSPACE_DEVICERGB:
		samples = 3
	case enums.FPDF_COLORSPACE_ICCBASED:
		icc, err := d.in.FPDFImageObj_GetIccProfileDataDecoded(&requests.FPDFImageObj_GetIccProfileDataDecoded{ImageObject: ref, Page: d.page(number)})
		if err == nil && goengine.IsSRGB(icc.Data) {
			samples = 3
		}
	}
	if samples == 0 {
		return s, false
	}
	raw, err := d.in.FPDFImageObj_GetImageDataRaw(&requests.FPDFImageObj_GetImageDataRaw{ImageObject: ref})
	if err != nil {
		return s, false
	}
	s, ok = storedIn(d.data, raw.Data, samples)
	return s, ok && s.width == int(facts.ImageMetadata.Width) && s.height == int(facts.ImageMetadata.Height)
}

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
	for key, v := range dict {
		if !s.learn(file, key, v) {
			return s, false
		}
	}
	if !s.ordinary() {
		return s, false
	}
	if v, there := dict["DecodeParms"]; there {
		if s.filtered, ok = s.parameters(v); !ok {
			return s, false
		}
	}
	return s, dict["Filter"] != nil
}

// learn understands one entry of a dictionary; but for what has to be known of the
// others first.
func (s *stored) learn(file []byte, key string, v types.Object) (ok bool) {
	switch key {
	case "Width":
		s.width, ok = number(v)
	case "Height":
		s.height, ok = number(v)
	case "BitsPerComponent":
		s.bits, ok = number(v)
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
		ok = true
	}
	return ok
}

// ordinary tells whether a picture has a size, not too large a one, and samples of 8
// bits.
func (s *stored) ordinary() bool {
	most := mostUnpack
	if s.jpeg {
		most = mostDecoded
	}
	return s.width > 0 && s.height > 0 && s.width <= most/s.height &&
		(s.bits == 8 || s.jpeg && s.bits == 0) && !(s.inverted && s.samples != 1)
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
	dict, raw := streamIn(file, body)
	if raw == nil || name(dict["ColorSpace"]) != "DeviceGray" {
		return nil
	}
	if _, masked := dict["SMask"]; masked { // no mask has one, and this one's may be itself
		return nil
	}
	s, ok := describe(file, dict, raw, 1)
	if !ok || s.jpeg {
		return nil
	}
	return &s
}

// streamIn reads a stream, up to its end as its length says it; raw is nil where that
// is not its end.
func streamIn(file, body []byte) (dict types.Dict, raw []byte) {
	dict, rest := dictionary(body[:min(mostHead, len(body))])
	if dict == nil {
		return nil, nil
	}
	at := bytes.Index(body, rest[:min(len(rest), 64)])
	length, ok := number(dict["Length"])
	if !ok {
		if length, ok = lengthIn(file, dict["Length"]); !ok {
			return nil, nil
		}
	}
	for _, opening := range []string{"stream\n", "stream\r\n"} {
		if !bytes.HasPrefix(rest, []byte(opening)) {
			continue
		}
		from := at + len(opening)
		if at < 0 || length <= 0 || length > len(body)-from || !bytes.HasPrefix(bytes.TrimLeft(body[from+length:], "\r\n"), []byte("endstream")) {
			return nil, nil
		}
		return dict, body[from : from+length]
	}
	return nil, nil
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
