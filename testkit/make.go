package main

import (
	"bytes"
	"compress/zlib"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"math/rand/v2"
	"strings"
)

// made is a file that is generated, as it is large or binary.
type made struct {
	Path string `json:"path"`
	Kind string `json:"kind"` // lines, png, pdf

	Line  string `json:"line"` // of lines: a format, with the number of each
	To    string `json:"to"`   // the format after the task, if it changes
	Count int    `json:"count"`

	Edits [][2]string `json:"edits"` // what the task changes: old and new texts

	Width  int `json:"width"` // of png
	Height int `json:"height"`
}

func (m made) text(line string) string {
	switch m.Kind {
	case "png":
		return picture(m.Width, m.Height)
	case "pdf":
		return contract()
	}
	var b strings.Builder
	for i := range m.Count {
		if strings.Contains(line, "%") {
			fmt.Fprintf(&b, line, i+1)
		} else {
			b.WriteString(line)
		}
	}
	return b.String()
}

// after returns the file as it is after the task.
func (m made) after() string {
	line := m.Line
	if m.To != "" {
		line = m.To
	}
	text := m.text(line)
	for _, e := range m.Edits {
		text = strings.Replace(text, e[0], e[1], 1)
	}
	return text
}

// picture returns a PNG of grey noise in blocks, the same on every machine.
func picture(width, height int) string {
	random := rand.New(rand.NewPCG(1, 2))
	img := image.NewGray(image.Rect(0, 0, width, height))
	for y := 0; y < height; y += 2 {
		for x := 0; x < width; x += 2 {
			shade := color.Gray{uint8(random.IntN(64)) + 128}
			for i := range 4 {
				img.SetGray(x+i%2, y+i/2, shade)
			}
		}
	}
	var b bytes.Buffer
	_ = png.Encode(&b, img) // a buffer takes everything
	return b.String()
}

// contract returns a PDF of 40 pages of clauses, packed as word processors pack them. Clause
// 29.18 is the one to find.
func contract() string {
	const pages, first = 40, 4 // the object of the first page; its content follows each
	var kids strings.Builder
	for i := range pages {
		fmt.Fprintf(&kids, "%d 0 R ", first+2*i)
	}
	objects := []string{
		"<</Type/Catalog/Pages 2 0 R>>",
		fmt.Sprintf("<</Type/Pages/Count %d/Kids[%s]/MediaBox[0 0 595 842]>>", pages, kids.String()),
		"<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>",
	}
	for page := range pages {
		var text, packed bytes.Buffer
		text.WriteString("BT /F1 11 Tf 15 TL 72 770 Td\n")
		for line := range 45 {
			words := fmt.Sprintf("%d.%d The party shall deliver goods under this agreement within reasonable time.", page+1, line+1)
			if page == 28 && line == 17 {
				words = "29.18 The notice period for termination is eleven weeks to the end of a quarter."
			}
			fmt.Fprintf(&text, "(%s) Tj T*\n", words)
		}
		text.WriteString("ET")
		w := zlib.NewWriter(&packed)
		w.Write(text.Bytes())
		w.Close()
		objects = append(objects,
			fmt.Sprintf("<</Type/Page/Parent 2 0 R/Resources<</Font<</F1 3 0 R>>>>/Contents %d 0 R>>", first+2*page+1),
			fmt.Sprintf("<</Filter/FlateDecode/Length %d>>\nstream\n%s\nendstream", packed.Len(), packed.String()))
	}
	var b bytes.Buffer
	b.WriteString("%PDF-1.7\n")
	var places []int
	for i, o := range objects {
		places = append(places, b.Len())
		fmt.Fprintf(&b, "%d 0 obj\n%s\nendobj\n", i+1, o)
	}
	table := b.Len()
	fmt.Fprintf(&b, "xref\n0 %d\n0000000000 65535 f \n", len(objects)+1)
	for _, at := range places {
		fmt.Fprintf(&b, "%010d 00000 n \n", at)
	}
	fmt.Fprintf(&b, "trailer<</Size %d/Root 1 0 R>>\nstartxref\n%d\n%%%%EOF\n", len(objects)+1, table)
	return b.String()
}
