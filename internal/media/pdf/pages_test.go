package pdf

import (
	"bytes"
	"compress/zlib"
	"fmt"
	"image"
	"image/color"
	"image/jpeg"
	"image/png"
	"math"
	"testing"

	"github.com/fsmcp/fsmcp/internal/media/enginetest"
	"github.com/fsmcp/fsmcp/internal/media/pdftest"
)

// What objects of the pages are made of.
const (
	rgb       = "/BitsPerComponent 8/ColorSpace/DeviceRGB"
	gray      = "/BitsPerComponent 8/ColorSpace/DeviceGray"
	helvetica = "<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>"
	negative  = "<</FunctionType 2/Domain[0 1]/C0[1]/C1[0]/N 1>>" // a function of transfer
)

// pageWith is a document of one page with such objects beside those of every
// document; the first of them is number 5. resources and page stand in
// dictionaries.
func pageWith(content, resources, page string, objects ...string) []byte {
	return pdftest.File(append([]string{
		"<</Type/Catalog/Pages 2 0 R>>",
		"<</Type/Pages/Kids[3 0 R]/Count 1>>",
		fmt.Sprintf("<</Type/Page/Parent 2 0 R/MediaBox[0 0 400 300]/Contents 4 0 R/Resources<<%s>>%s>>", resources, page),
		pdftest.Stream("", content),
	}, objects...)...)
}

// packedUpdate adds an object to a document, in a stream of objects.
func packedUpdate(doc []byte, number int, object string) []byte {
	b := bytes.NewBuffer(bytes.Clone(doc))
	before := bytes.LastIndex(doc, []byte("xref\n0 "))
	at := b.Len()
	index := fmt.Sprintf("%d 0 ", number)
	objects := zipped([]byte(index + object))
	fmt.Fprintf(b, "%d 0 obj\n<</Type/ObjStm/N 1/First %d/Filter/FlateDecode/Length %d>>\nstream\n%s\nendstream\nendobj\n", number+1, len(index), len(objects), objects)
	xref := b.Len()
	entry := func(kind byte, a uint32, c byte) string {
		return string([]byte{kind, byte(a >> 24), byte(a >> 16), byte(a >> 8), byte(a), c})
	}
	table := entry(2, uint32(number+1), 0) + entry(1, uint32(at), 0) + entry(1, uint32(xref), 0)
	fmt.Fprintf(b, "%d 0 obj\n<</Type/XRef/W[1 4 1]/Index[%d 3]/Size %d/Root 1 0 R/Prev %d/Length %d>>\nstream\n%s\nendstream\nendobj\nstartxref\n%d\n%%%%EOF\n",
		number+2, number, number+3, before, len(table), table, xref)
	return b.Bytes()
}

// photo has soft and hard places.
func photo(w, h int) *image.NRGBA {
	img := image.NewNRGBA(image.Rect(0, 0, w, h))
	for y := range h {
		for x := range w {
			c := color.NRGBA{uint8(255 * x / w), uint8(255 * y / h), uint8(128 + 100*math.Sin(float64(x+2*y)/40)), 255}
			if (x/60+y/60)%4 == 0 {
				c = color.NRGBA{30, 60, 200, 255}
			}
			img.SetNRGBA(x, y, c)
		}
	}
	return img
}

// picture is an object with what its dictionary says, and its samples as they are
// stored.
func picture(dict, raw string) string {
	return pdftest.Stream("/Type/XObject/Subtype/Image"+dict, raw)
}

// form is an object that draws something by itself.
func form(dict, content string) string {
	return pdftest.Stream("/Type/XObject/Subtype/Form/BBox[0 0 400 300]"+dict, content)
}

// profile is an object with a profile of such colours.
func profile(of enginetest.Colours) string {
	return pdftest.Stream("/N 3", string(enginetest.Profile(of)))
}

func zipped(b []byte) string {
	var out bytes.Buffer
	z := zlib.NewWriter(&out)
	z.Write(b)
	z.Close()
	return out.String()
}

func asJPEG(t *testing.T, img image.Image) string {
	t.Helper()
	var b bytes.Buffer
	if err := jpeg.Encode(&b, img, &jpeg.Options{Quality: 90}); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// asRows are a picture's samples: three a pixel, or its first alone.
func asRows(img *image.NRGBA, samples int) []byte {
	var out []byte
	for i := 0; i < len(img.Pix); i += 4 {
		out = append(out, img.Pix[i:i+samples]...)
	}
	return out
}

// asPNGRows are the packed rows of a PNG, with its filters.
func asPNGRows(t *testing.T, img image.Image) string {
	t.Helper()
	var b bytes.Buffer
	if err := png.Encode(&b, img); err != nil {
		t.Fatal(err)
	}
	var out []byte
	for rest := b.Bytes()[8:]; len(rest) > 12; {
		n := int(rest[0])<<24 | int(rest[1])<<16 | int(rest[2])<<8 | int(rest[3])
		if string(rest[4:8]) == "IDAT" {
			out = append(out, rest[8:8+n]...)
		}
		rest = rest[12+n:]
	}
	return string(out)
}

// onlyGray is a picture without its colours.
func onlyGray(img image.Image) *image.Gray {
	out := image.NewGray(img.Bounds())
	for y := range out.Rect.Dy() {
		for x := range out.Rect.Dx() {
			out.Set(x, y, img.At(x, y))
		}
	}
	return out
}
