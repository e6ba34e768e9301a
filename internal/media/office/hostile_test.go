package office

import (
	"encoding/xml"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/fsmcp/fsmcp/internal/media"
	"github.com/fsmcp/fsmcp/internal/media/officetest"
)

// Damaged archives and XML are refused or read, and never break the reader.
func TestMutants(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, kind := range officetest.Kinds() {
		read := 0
		for range 60 {
			b := officetest.Sample(kind)
			for range 1 + r.IntN(6) {
				b[r.IntN(len(b))] = byte(r.Uint32())
			}
			if d, err := (Reader{}).Read(b, media.DocumentRequest{}); err == nil {
				read++
				size := 0
				for _, s := range d.Sections {
					size += s.Size
				}
				if size != len(d.Body) {
					t.Fatalf("%s: sections of %d bytes, a body of %d", kind, size, len(d.Body))
				}
			}
		}
		t.Logf("%s: %d of 60 were read", kind, read)
	}
}

func TestBounds(t *testing.T) {
	row := func(s string) []byte {
		return officetest.Xlsx([][2]string{{`name="S"`, "<sheetData>" + s + "</sheetData>"}})
	}
	for name, c := range map[string]struct {
		data  []byte
		fault string // "" if it is read
		cut   bool
	}{
		"a part that unpacks to too much": {officetest.Docx(strings.Repeat("<w:p/>", 300_000)), "100 times", false},
		"nested elements":                 {officetest.Docx(strings.Repeat("<w:x>", 1000)), "nested", false},
		"a document type":                 {officetest.OpenDocument("text", "", "<!DOCTYPE x>"), "document type", false},
		"an element that is not closed":   {officetest.Docx("<w:p>"), "well-formed", false},
		"another one that is closed":      {officetest.Docx("<w:p></w:q>"), "well-formed", false},
		"columns behind the last one":     {row(`<row r="3"><c r="XFE3"><v>1</v></c><c r="B3"><v>2</v></c></row>`), "", false},
		"more text than is read":          {varied(), "", true},
	} {
		d, err := Reader{}.Read(c.data, media.DocumentRequest{})
		switch {
		case c.fault == "" && (err != nil || (d.Cut != "") != c.cut):
			t.Errorf("%s: %v %+v", name, err, d)
		case c.fault != "" && (err == nil || !strings.Contains(err.Error(), c.fault)):
			t.Errorf("%s: %v", name, err)
		}
	}
}

// varied has much text that does not pack well.
func varied() []byte {
	r := rand.New(rand.NewPCG(3, 4))
	var b strings.Builder
	for b.Len() < 2*media.MaxDocText {
		fmt.Fprintf(&b, "<row><c><v>%d</v></c></row>", r.Uint64())
	}
	return officetest.Xlsx([][2]string{{`name="S"`, "<sheetData>" + b.String() + "</sheetData>"}})
}

// A text comes whole whatever pieces the scanner reads it in.
func TestTextInPieces(t *testing.T) {
	text := strings.Repeat("äöü €uro &amp; 𝄞 ", 9_000)
	for shift := range 5 {
		d, err := Reader{}.Read(officetest.Docx("<w:p><w:r><w:t>"+strings.Repeat("x", shift)+text+"</w:t></w:r></w:p>"), media.DocumentRequest{})
		want := strings.Repeat("x", shift) + strings.ReplaceAll(text, "&amp;", "&")
		if err != nil || strings.TrimRight(d.Body, "\n ") != strings.TrimRight(want, " ") {
			t.Errorf("shift %d: %v, %d bytes, want %d", shift, err, len(d.Body), len(want))
		}
	}
}

// BenchmarkSheet gives the figures of the package comment.
func BenchmarkSheet(b *testing.B) {
	var s strings.Builder
	s.WriteString("<a>")
	for r := 1; s.Len() < 20<<20; r++ {
		fmt.Fprintf(&s, `<row r="%d" spans="1:5">`, r)
		for c := range 5 {
			fmt.Fprintf(&s, `<c r="%c%d" s="3" t="s"><v>%d</v></c>`, 'A'+c, r, r*5+c)
		}
		s.WriteString("</row>")
	}
	s.WriteString("</a>")
	b.Run("scanner", func(b *testing.B) {
		b.SetBytes(int64(s.Len()))
		for b.Loop() {
			sc := newScanner(strings.NewReader(s.String()))
			for sc.err == nil {
				sc.next()
			}
		}
	})
	b.Run("encoding/xml", func(b *testing.B) {
		b.SetBytes(int64(s.Len()))
		for b.Loop() {
			d := xml.NewDecoder(strings.NewReader(s.String()))
			for {
				if _, err := d.RawToken(); err != nil {
					break
				}
			}
		}
	})
}
