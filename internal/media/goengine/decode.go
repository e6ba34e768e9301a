package goengine

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"image/gif"
	"image/png"

	"github.com/fsmcp/fsmcp/internal/media"
	"golang.org/x/image/webp"
)

// decode decodes all kinds but JPEG to a picture of w x h.
func decode(kind media.Kind, data []byte, w, h int) (image.Image, error) {
	switch kind {
	case media.PNG:
		return png.Decode(bytes.NewReader(data))
	case media.GIF:
		return firstFrame(data, w, h)
	case media.WebP:
		return decodeWebP(data, w, h)
	case media.BMP:
		return decodeBMP(data)
	case media.ICO:
		return largestIcon(data)
	case media.TIFF:
		return decodeTIFF(data)
	}
	return nil, fmt.Errorf("%s pictures cannot be decoded by this engine", kind)
}

// firstFrame lays a GIF's first frame on its canvas.
func firstFrame(data []byte, w, h int) (image.Image, error) {
	if err := media.Check(media.GIF, data); err != nil {
		return nil, err
	}
	img, err := gif.Decode(bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	if img.Bounds() == image.Rect(0, 0, w, h) {
		return img, nil
	}
	canvas := image.NewRGBA(image.Rect(0, 0, w, h))
	draw.Draw(canvas, img.Bounds(), img, img.Bounds().Min, draw.Src)
	return canvas, nil
}

// decodeWebP decodes a WebP, or the first frame of an animation.
func decodeWebP(data []byte, w, h int) (image.Image, error) {
	if err := media.Check(media.WebP, data); err != nil {
		return nil, err
	}
	still, x, y := firstStill(data)
	img, err := webp.Decode(bytes.NewReader(still))
	if err != nil {
		return nil, err
	}
	switch m := img.(type) {
	case *image.YCbCr:
		img = fromVideo(m, nil, 0)
	case *image.NYCbCrA:
		img = fromVideo(&m.YCbCr, m.A, m.AStride)
	}
	if img.Bounds().Dx() == w && img.Bounds().Dy() == h && x|y == 0 {
		return img, nil
	}
	at := image.Rect(x, y, x+img.Bounds().Dx(), y+img.Bounds().Dy())
	if !at.In(image.Rect(0, 0, w, h)) {
		return nil, errors.New("its first frame is larger than its canvas")
	}
	canvas := image.NewRGBA(image.Rect(0, 0, w, h))
	draw.Draw(canvas, at, img, img.Bounds().Min, draw.Src)
	return canvas, nil
}

// firstStill returns a WebP of the first frame of an animation, and its place;
// any other file as it is.
func firstStill(data []byte) (still []byte, x, y int) {
	for rest := data[12:]; len(rest) >= 8; {
		n := int(binary.LittleEndian.Uint32(rest[4:]))
		if n < 0 || n+8 > len(rest) {
			break
		}
		if body := rest[8 : 8+n]; string(rest[:4]) == "ANMF" && n > 16 {
			at := func(i int) int { return int(body[i]) | int(body[i+1])<<8 | int(body[i+2])<<16 }
			x, y = 2*at(0), 2*at(3)
			header := []byte("VP8X\x0a\x00\x00\x00\x10\x00\x00\x00") // with alpha
			header = append(header, body[6:12]...)
			if string(body[16:20]) != "ALPH" {
				header = nil
			}
			still = append([]byte("RIFF\x00\x00\x00\x00WEBP"), append(header, body[16:]...)...)
			binary.LittleEndian.PutUint32(still[4:], uint32(len(still)-8))
			return still, x, y
		}
		rest = rest[min(8+n+n&1, len(rest)):]
	}
	return data, 0, 0
}

// fromVideo makes colours of WebP's planes, whose samples have the range of
// video: 16 to 235.
func fromVideo(m *image.YCbCr, alpha []uint8, alphaStride int) image.Image {
	b := m.Bounds()
	out := image.NewNRGBA(image.Rect(0, 0, b.Dx(), b.Dy()))
	sideBySide(b.Dy(), func(from, to int) {
		for y := from; y < to; y++ {
			row := out.Pix[y*out.Stride:][:4*b.Dx()]
			for x := range b.Dx() {
				yy := 76309 * (int32(m.Y[m.YOffset(b.Min.X+x, b.Min.Y+y)]) - 16)
				c := m.COffset(b.Min.X+x, b.Min.Y+y)
				u, v := int32(m.Cb[c])-128, int32(m.Cr[c])-128
				p := row[4*x : 4*x+4 : 4*x+4]
				p[0] = clamp((yy + 104597*v + 1<<15) >> 16)
				p[1] = clamp((yy - 25675*u - 53279*v + 1<<15) >> 16)
				p[2] = clamp((yy + 132201*u + 1<<15) >> 16)
				p[3] = 255
				if alpha != nil {
					p[3] = alpha[y*alphaStride+x]
				}
			}
		}
	})
	return out
}

// onWhite lays a picture on white, for formats without transparency.
func onWhite(m *image.RGBA) *image.RGBA {
	out := image.NewRGBA(m.Bounds())
	draw.Draw(out, out.Rect, image.NewUniform(color.White), image.Point{}, draw.Src)
	draw.Draw(out, out.Rect, m, m.Bounds().Min, draw.Over)
	return out
}
