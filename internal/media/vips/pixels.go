//go:build vips && cgo

package vips

/*
#cgo pkg-config: vips
#include <stdlib.h>
#include "pixels.h"
*/
import "C"

import (
	"errors"
	"image"
	"math"
	"runtime"
	"unsafe"

	"github.com/fsmcp/fsmcp/internal/media"
	"github.com/fsmcp/fsmcp/internal/media/raster"
)

// limit has libvips use no cache and no threads of its own.
func limit() { C.fsmcp_limit() }

// library implements raster.Library.
type library struct{}

// loaders are the kinds that libvips decodes by one of its trusted loaders. Those for GIF and
// TIFF show incomplete files: 222 and 806 of 1,500 that were cut short or had bytes changed,
// and that raster finds damaged. Those for PNG and WebP showed none, and that for JPEG 0.6 %,
// none of them cut short.
var loaders = map[media.Kind]C.int{media.JPEG: C.fsmcp_jpeg, media.PNG: C.fsmcp_png, media.WebP: C.fsmcp_webp}

// Decode implements raster.Library.
func (library) Decode(data []byte, kind media.Kind, whole image.Point, v raster.StoredView) image.Image {
	loader, known := loaders[kind]
	if !known {
		return nil
	}
	shrink := 1
	if kind == media.JPEG {
		shrink = v.Shrink()
	}
	var pin runtime.Pinner
	defer pin.Unpin()
	pin.Pin(&data[0])
	j := C.fsmcp_open(unsafe.Pointer(&data[0]), C.size_t(len(data)), loader, C.int(shrink))
	if j == nil {
		return nil
	}
	defer C.fsmcp_close(j)
	if int(j.in.Xsize) != whole.X/shrink || int(j.in.Ysize) != whole.Y/shrink || whole.X*whole.Y > math.MaxInt32/4 {
		return nil
	}
	j.left, j.top = C.int(v.Part.Min.X/shrink), C.int(v.Part.Min.Y/shrink)
	j.width, j.height = C.int(v.Part.Dx()/shrink), C.int(v.Part.Dy()/shrink)
	if at := image.Pt(int(j.width), int(j.height)); v.Width > at.X || v.Height > at.Y || at == image.Pt(v.Width, v.Height) {
		return decoded(j)
	}
	return scaled(j, v.Width, v.Height, &pin)
}

// decoded is the part at its own size; nil: it is damaged.
func decoded(j *C.fsmcp_job) image.Image {
	if C.fsmcp_decode(j) != 0 {
		return nil
	}
	pix := C.GoBytes(unsafe.Pointer(j.part), j.width*j.height*j.bands)
	return pictureOf(pix, int(j.width), int(j.height), j.clear != 0)
}

// scaled is the part at a size; nil: it is damaged. One goroutine decodes, another scales,
// and both scale when all is decoded. What has alpha is taken to be opaque until a pixel is
// not: raster scales that then. It took 1.9 s of processor time for 98 megapixels, and
// libvips 6.9, with a mean of whole pixels before Lanczos.
func scaled(j *C.fsmcp_job, width, height int, pin *runtime.Pinner) image.Image {
	bands := min(int(j.bands), 3)
	out := make([]byte, width*height*bands)
	pin.Pin(&out[0])
	j.out, j.out_width, j.out_height, j.out_bands = (*C.uchar)(&out[0]), C.int(width), C.int(height), C.int(bands)
	other := make(chan bool)
	go func() { other <- C.fsmcp_scale(j) == 0 }()
	whole := C.fsmcp_decode(j) == 0
	ok := whole && C.fsmcp_scale(j) == 0
	ok = <-other && ok
	switch {
	case whole && j.clear != 0:
		part := unsafe.Slice((*byte)(j.part), j.width*j.height*j.bands)
		return raster.Resized(pictureOf(part, int(j.width), int(j.height), true).(*image.NRGBA), width, height)
	case !ok:
		return nil
	}
	return pictureOf(out, width, height, false)
}

// pictureOf makes a picture of its pixels, of one, three or four bytes each.
func pictureOf(pix []byte, w, h int, clear bool) image.Image {
	at := image.Rect(0, 0, w, h)
	switch bands := len(pix) / (w * h); {
	case bands == 1:
		return &image.Gray{Pix: pix, Stride: w, Rect: at}
	case bands == 3:
		return &raster.RGB{Pix: pix, Stride: 3 * w, Rect: at}
	case clear:
		return &image.NRGBA{Pix: pix, Stride: 4 * w, Rect: at}
	}
	return &image.RGBA{Pix: pix, Stride: 4 * w, Rect: at}
}

// pixelsOf is the reverse: the pixels without gaps, how many bytes each has, and how many of
// these count. nil: the picture has another form.
func pixelsOf(img image.Image) (pix []byte, bands, keep int) {
	stride := 0
	switch m := img.(type) {
	case *image.Gray:
		pix, stride, bands, keep = m.Pix, m.Stride, 1, 1
	case *raster.RGB:
		pix, stride, bands, keep = m.Pix, m.Stride, 3, 3
	case *image.RGBA: // which is opaque
		pix, stride, bands, keep = m.Pix, m.Stride, 4, 3
	case *image.NRGBA:
		pix, stride, bands, keep = m.Pix, m.Stride, 4, 4
	default:
		return nil, 0, 0
	}
	size := img.Bounds().Size()
	line := size.X * bands
	if stride == line {
		return pix[:line*size.Y], bands, keep
	}
	out := make([]byte, 0, line*size.Y)
	for y := range size.Y {
		out = append(out, pix[y*stride:][:line]...)
	}
	return out, bands, keep
}

// Resize implements raster.Library.
func (library) Resize(img image.Image, width, height int) image.Image {
	size := img.Bounds().Size()
	pix, bands, keep := pixelsOf(img)
	if pix == nil || keep == 4 || width > size.X || height > size.Y {
		return nil
	}
	var pin runtime.Pinner
	defer pin.Unpin()
	pin.Pin(&pix[0])
	j := C.fsmcp_wrap(unsafe.Pointer(&pix[0]), C.int(size.X), C.int(size.Y), C.int(bands))
	if j == nil {
		return nil
	}
	defer C.fsmcp_close(j)
	j.width, j.height = C.int(size.X), C.int(size.Y)
	return scaled(j, width, height, &pin)
}

// Encode implements raster.Library.
func (library) Encode(img image.Image, s media.PictureEncoding, level int) ([]byte, error) {
	pix, bands, keep := pixelsOf(img)
	if pix == nil {
		return nil, errors.ErrUnsupported
	}
	size := img.Bounds().Size()
	var out unsafe.Pointer
	var length C.size_t
	quality := s.Quality
	if s.As == media.PNG {
		quality = 0
	}
	result := C.fsmcp_encode(unsafe.Pointer(&pix[0]), C.int(size.X), C.int(size.Y), C.int(bands), C.int(keep),
		C.int(quality), C.int(level), (*C.gint64)(unsafe.Pointer(s.Most)), &out, &length)
	defer C.free(out)
	switch result {
	case 0:
		return C.GoBytes(out, C.int(length)), nil
	case 1:
		return nil, media.ErrLonger
	}
	return nil, errors.New("libvips cannot encode the picture")
}
