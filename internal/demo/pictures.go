package main

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"image"
	"image/color"
	"image/draw"
	_ "image/jpeg" // what Read may answer with
	"image/png"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/fsmcp/fsmcp/internal/mcptest"
	"github.com/fsmcp/fsmcp/internal/media/pdftest"
)

// button returns the place of a small red button on the screen.
func button() image.Rectangle { return image.Rect(2440, 1530, 2500, 1556) }

// screen is a picture of a screen, larger than a model is shown: lines of grey,
// and the button.
func screen() ([]byte, error) {
	img := image.NewRGBA(image.Rect(0, 0, 3200, 2000))
	draw.Draw(img, img.Rect, image.NewUniform(color.White), image.Point{}, draw.Src)
	for y := 40; y < 1960; y += 40 {
		for x := 60; x < 3000; x += 160 {
			wide := 40 + (x*7+y*13)%100
			draw.Draw(img, image.Rect(x, y, x+wide, y+16), image.NewUniform(color.Gray{uint8(200 - wide)}), image.Point{}, draw.Src)
		}
	}
	draw.Draw(img, button(), image.NewUniform(color.RGBA{210, 20, 30, 255}), image.Point{}, draw.Src)
	var b bytes.Buffer
	err := png.Encode(&b, img)
	return b.Bytes(), err
}

// report is a PDF of twelve pages in three chapters, with bars on the seventh.
func report() []byte { return pdftest.Pages(12, "", reportPage) }

// reportPage is the content of a page of the report.
func reportPage(number int) string {
	content := fmt.Sprintf("BT /F1 20 Tf 72 740 Td (Page %d of the yearly report) Tj 0 -32 Td (Growth was %d per cent.) Tj ET", number, 1+number)
	if number == 7 {
		for bar := range 8 {
			content += fmt.Sprintf("\n0.2 0.4 0.7 rg %d 300 40 %d re f", 80+55*bar, 40+35*bar)
		}
	}
	return content
}

// block is a part of an answer as it came.
type block struct{ Type, Text, Data, MimeType string }

func blocks(res mcptest.Result) []block {
	var answer struct{ Content []block }
	if json.Unmarshal(res.Raw, &answer) != nil {
		return nil
	}
	return answer.Content
}

// transcript returns an answer as a person reads it: it names pictures and never prints them.
func transcript(res mcptest.Result) string {
	var out []string
	for _, b := range blocks(res) {
		if b.Type == "text" {
			out = append(out, b.Text)
			continue
		}
		size := ""
		if img, err := b.picture(); err == nil {
			size = fmt.Sprintf(" of %dx%d pixels", img.Bounds().Dx(), img.Bounds().Dy())
		}
		out = append(out, fmt.Sprintf("[here stands %s%s, %d characters as base64]", b.MimeType, size, len(b.Data)))
	}
	return strings.Join(out, "\n")
}

func (b block) picture() (image.Image, error) {
	raw, err := base64.StdEncoding.DecodeString(b.Data)
	if err != nil {
		return nil, err
	}
	img, _, err := image.Decode(bytes.NewReader(raw))
	return img, err
}

// pictureOf is the first picture of an answer.
func (s *session) pictureOf(res mcptest.Result) image.Image {
	for _, b := range blocks(res) {
		if b.Type == "image" {
			img, err := b.picture()
			if err != nil {
				s.fail("the picture cannot be decoded: %v", err)
			}
			return img
		}
	}
	s.fail("there is no picture")
	return nil
}

// reds returns the bounds of the red pixels of a picture.
func reds(img image.Image) (r image.Rectangle) {
	if img == nil {
		return r
	}
	for y := img.Bounds().Min.Y; y < img.Bounds().Max.Y; y++ {
		for x := img.Bounds().Min.X; x < img.Bounds().Max.X; x++ {
			if red, green, _, _ := img.At(x, y).RGBA(); red > 0x9000 && green < 0x6000 {
				r = r.Union(image.Rect(x, y, x+1, y+1))
			}
		}
	}
	return r
}

// playPictures looks at a screen, finds the button on it, and looks closer.
func (s *session) playPictures() {
	s.title("A picture too large for a model is scaled, with a line that maps coordinates back")
	path := s.file("screen.png")
	whole := s.done("Read", args{"file_path": path}, "[Image: original 3200x2000, displayed at 2000x1250. Multiply coordinates by 1.60 to map to original image.]")
	seen := reds(s.pictureOf(whole))
	x, y := int(float64(seen.Min.X+seen.Max.X)/2*1.6), int(float64(seen.Min.Y+seen.Max.Y)/2*1.6)
	fmt.Fprintf(s.out, ".. in the picture something red is seen at %d,%d: in the original that is %d,%d\n", (seen.Min.X+seen.Max.X)/2, (seen.Min.Y+seen.Max.Y)/2, x, y)
	if !image.Pt(x, y).In(button()) {
		s.fail("the button is at %v", button())
	}

	s.title("A closer look: a small region of it, four times as large")
	near := s.done("Read", args{"file_path": path, "region": fmt.Sprintf("%d,%d,200,120", x-100, y-60)}, "Multiply coordinates by 0.25 and add")
	if close := reds(s.pictureOf(near)); close.Dx() != 4*button().Dx() || close.Dy() != 4*button().Dy() {
		s.fail("the button is shown as %v", close)
	}
}

// playPDF reads a report by its outline.
func (s *session) playPDF(binary string) {
	name := "fsmcp-media"
	if runtime.GOOS == "windows" {
		name += ".exe"
	}
	if _, err := os.Stat(filepath.Join(filepath.Dir(binary), name)); err != nil {
		s.title("No PDF is shown: fsmcp-media does not lie beside fsmcp")
		return
	}
	path := s.file("report.pdf")
	s.title("A long PDF comes as text, and a page of it as it is printed")
	s.done("Read", args{"file_path": path}, "Page 7 of the yearly report")
	res := s.done("Read", args{"file_path": path, "pages": "6-7"}, "Page 7 of the yearly report")
	if img := s.pictureOf(res); img != nil && max(img.Bounds().Dx(), img.Bounds().Dy()) != 1568 {
		s.fail("the page has %v", img.Bounds())
	}
}
