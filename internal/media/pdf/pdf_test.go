package pdf

import (
	"bytes"
	"errors"
	"fmt"
	"image/jpeg"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pdfcpu/pdfcpu/pkg/api"
	"github.com/pdfcpu/pdfcpu/pkg/pdfcpu/model"

	"github.com/fsmcp/fsmcp/internal/media"
	"github.com/fsmcp/fsmcp/internal/media/pdftest"
)

// cache keeps what was compiled for all tests of a run, and for the next.
func cache() string { return filepath.Join(os.TempDir(), "fsmcp-test-pdfium") }

// sample is a PDF of so many pages, each with two lines of text, and an outline
// that names every fifth page. more stands in its catalogue.
func sample(pages int, more string) []byte { return drawn(pages, more, func(int) string { return "" }) }

// drawn is such a document with something more drawn on its pages.
func drawn(pages int, more string, on func(page int) string) []byte {
	return pdftest.Pages(pages, more, func(page int) string {
		return fmt.Sprintf("BT /F1 24 Tf 72 700 Td (This is page %d of the sample.) Tj 0 -40 Td (A second line.) Tj ET%s", page, on(page))
	})
}

func quiet(int64, int64, string) {}

func ask(pages string) media.PDFRequest {
	return media.PDFRequest{Pages: pages, Pictures: media.PagePictures, Room: 2_621_440, Text: 200_000}
}

func TestPagesComeWithTextAndPicture(t *testing.T) {
	r := warmed(t)
	res, err := r.Read(sample(9, ""), ask(""), quiet)
	if err != nil || res.Count != 9 || len(res.Pages) != 9 {
		t.Fatalf("%d of %d pages: %v", len(res.Pages), res.Count, err)
	}
	for i, p := range res.Pages {
		if p.Number != i+1 || p.Text != fmt.Sprintf("This is page %d of the sample.\nA second line.", i+1) {
			t.Errorf("page %d: %q", p.Number, p.Text)
		}
		if (p.Picture != nil) != (i < media.PagePictures) {
			t.Errorf("page %d has %d bytes of picture", p.Number, len(p.Picture))
		}
	}
	c, err := jpeg.DecodeConfig(bytes.NewReader(res.Pages[0].Picture))
	if err != nil || c.Height != media.PageSizes()[0].Side || c.Width < 1100 || c.Width > 1115 {
		t.Errorf("%dx%d %v", c.Width, c.Height, err)
	}
	// What has no room is left out: first pictures, then text.
	tight := ask("1-9")
	tight.Room = 2 * media.Base64Len(len(res.Pages[0].Picture))
	if res, err = r.Read(sample(9, ""), tight, quiet); err != nil || res.Pages[0].Picture == nil {
		t.Error("no picture has room", err)
	}
	used := 0
	for _, p := range res.Pages {
		used += media.Base64Len(len(p.Picture))
	}
	if used > tight.Room || used < tight.Room/3 {
		t.Errorf("pictures take %d characters of %d", used, tight.Room)
	}
	tight.Text = 100
	if res, err = r.Read(sample(9, ""), tight, quiet); err != nil || len(res.Pages) != 2 || res.Behind != 3 {
		t.Errorf("%d pages, next %d: %v", len(res.Pages), res.Behind, err)
	}
}

func TestTextIsMadePlain(t *testing.T) {
	for in, want := range map[string]string{
		"a\r\nb\rc":                    "a\nb\nc",
		"exam\ufffeple, well\u0002off": "example, welloff",
		"\n\n a \t\n\n\n\nb\n\n":       " a\n\nb",
		"":                             "",
	} {
		if got := tidy(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}

func TestManyPagesNeedAChoice(t *testing.T) {
	r := warmed(t)
	_, err := r.Read(sample(12, ""), ask(""), quiet)
	var o *media.OutlineError
	if !errors.As(err, &o) || o.Count != 12 || len(o.Outline) != 3 || o.Outline[1] != (media.Chapter{Title: "Chapter 2", Page: 6}) {
		t.Errorf("%+v %v", o.Outline, err)
	}
	res, err := r.Read(sample(12, ""), ask("11-"), quiet)
	if err != nil || len(res.Pages) != 2 || !strings.Contains(res.Pages[0].Text, "page 11 of") {
		t.Errorf("%+v %v", res.Set, err)
	}
}

// The outline of a thick book: its beginning, each entry with its page, and how much
// more there is.
func TestALongOutlineNamesPages(t *testing.T) {
	r := warmed(t)
	thick := pdftest.Pages(11_000, "", func(int) string { return "" })
	_, err := r.Read(thick, ask(""), quiet)
	var o *media.OutlineError
	if !errors.As(err, &o) || len(o.Outline) != maxChapters || o.Outline[59] != (media.Chapter{Title: "Chapter 60", Page: 296}) || o.More != 2140 {
		t.Errorf("%+v", err)
	}
}

func TestASmallerPDFIsCut(t *testing.T) {
	r := warmed(t)
	q := ask("2-3")
	q.Document = media.WholeDocument
	res, err := r.Read(sample(9, ""), q, quiet)
	if err != nil || len(res.Document) == 0 || len(res.Pages) != 0 {
		t.Fatalf("%d bytes, %d pages: %v", len(res.Document), len(res.Pages), err)
	}
	again, err := r.Read(res.Document, ask(""), quiet)
	if err != nil || again.Count != 2 || !strings.Contains(again.Pages[0].Text, "page 2 of") {
		t.Errorf("%+v %v", again.Set, err)
	}
	q.Pages = ""
	if res, err = r.Read(sample(9, ""), q, quiet); err != nil || !bytes.Equal(res.Document, sample(9, "")) {
		t.Error("the whole is not handed on as it is", err)
	}
	if q.Document = len(sample(9, "")) - 1; q.Document > 0 {
		if res, err = r.Read(sample(9, ""), q, quiet); err != nil || !res.TooLarge || res.Document != nil || len(res.Pages) != 9 {
			t.Errorf("larger than it may be: %d bytes, %d pages: %v", len(res.Document), len(res.Pages), err)
		}
	}
}

// A document that only the owner's password protects is read and handed on
// unlocked, whole or in part; one that needs a password is not opened.
func TestEncrypted(t *testing.T) {
	r := warmed(t)
	locked := func(user string) []byte {
		var out bytes.Buffer
		if err := api.Encrypt(bytes.NewReader(sample(4, "")), &out, model.NewAESConfiguration(user, "owner", 256)); err != nil {
			t.Fatal(err)
		}
		return out.Bytes()
	}
	if _, err := r.Read(locked("user"), ask(""), quiet); !errors.Is(err, media.ErrLocked) {
		t.Error(err)
	}
	owned := locked("")
	if res, err := r.Read(owned, ask("3"), quiet); err != nil || !strings.Contains(res.Pages[0].Text, "page 3 of") {
		t.Error(err)
	}
	for pages, first := range map[string]string{"": "page 1 of", "3-4": "page 3 of"} {
		q := ask(pages)
		q.Document = media.WholeDocument
		res, err := r.Read(owned, q, quiet)
		if err != nil || res.Document == nil || bytes.Contains(res.Document, []byte("/Encrypt")) {
			t.Errorf("%q: %d bytes %v", pages, len(res.Document), err)
			continue
		}
		if again, err := r.Read(res.Document, ask(""), quiet); err != nil || !strings.Contains(again.Pages[0].Text, first) {
			t.Errorf("%q: %v", pages, err)
		}
	}
}

func TestDamagedAndHostile(t *testing.T) {
	r := warmed(t)
	var damage *media.DamageError
	for _, b := range [][]byte{[]byte("%PDF-1.4\n"), []byte("%PDF-1.7\nnothing here\n%%EOF"), bytes.Repeat([]byte{0}, 1000)} {
		if _, err := r.Read(b, ask(""), quiet); !errors.As(err, &damage) {
			t.Errorf("%q: %v", b[:9], err)
		}
	}
	script := "/OpenAction<</S/JavaScript/JS(app.alert('x'))>>/AA<</WC<</S/Launch/F(/bin/sh)>>>>"
	if res, err := r.Read(sample(2, script), ask(""), quiet); err != nil || len(res.Pages) != 2 {
		t.Errorf("with scripts: %v", err)
	}
	whole := sample(3, "")
	circle := bytes.Replace(whole, []byte("/Title(Chapter 1)/Parent 4 0 R"), []byte("/Title(Chap)/Next 11 0 R/Parent 4 0 R"), 1)
	if _, err := r.Read(circle, ask("99"), quiet); err == nil {
		t.Error("page 99 of 3")
	}
	if _, err := r.Read(whole, ask("1"), quiet); err != nil {
		t.Error("it is lost afterwards:", err)
	}
}

// A result counts the attachments that it does not name. If one page cannot be read, the
// error says that other pages can be named.
func TestWhatIsNotNamedIsCounted(t *testing.T) {
	r := warmed(t)
	var names strings.Builder
	for i := range maxAttachments + 5 {
		fmt.Fprintf(&names, "(%02d)<</Type/Filespec/F(%d.txt)/EF<</F 4 0 R>>>>", i, i)
	}
	page := "<</Type/Page/Parent 2 0 R/MediaBox[0 0 100 100]/Annots[" +
		"<</Type/Annot/Subtype/FileAttachment/F 4/Rect[50 50 70 70]/FS<</Type/Filespec/F(pinned.csv)/EF<</F 4 0 R>>>>>>]>>"
	doc := pdftest.File("<</Type/Catalog/Pages 2 0 R/Names<</EmbeddedFiles<</Names["+names.String()+"]>>>>>>",
		"<</Type/Pages/Kids[3 0 R 9 0 R]/Count 2>>", page, pdftest.Stream("/Type/EmbeddedFile", "content"))
	res, err := r.Read(doc, ask("1"), quiet)
	if err != nil || len(res.Attachments) != maxAttachments || res.Attachments[3] != "3.txt" || res.MoreAttached != 6 {
		t.Errorf("%v and %d more: %v", res.Attachments, res.MoreAttached, err)
	}
	var damage *media.DamageError
	if _, err := r.Read(doc, ask(""), quiet); !errors.As(err, &damage) || damage.What != "page 2 cannot be read; name others in pages" {
		t.Error(err)
	}
}
