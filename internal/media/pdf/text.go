package pdf

import (
	"strings"
	"unicode"
	"unicode/utf16"

	"github.com/klippa-app/go-pdfium"
	"github.com/klippa-app/go-pdfium/enums"
	"github.com/klippa-app/go-pdfium/references"
	"github.com/klippa-app/go-pdfium/requests"
)

// unknownChar replaces characters whose font does not say what they mean, so that "err != nil"
// drawn with such a character does not become "err nil".
const unknownChar = unicode.ReplacementChar

// text returns a page's text in reading order, with the text of its annotations and filled
// fields.
func (d *document) text(number int) (string, error) {
	d.flatten(number)
	p, err := d.chars(number)
	if err != nil {
		return "", err
	}
	if back := d.turnUpright(number, p); back != nil {
		defer back()
		p.close()
		if p, err = d.chars(number); err != nil {
			return "", err
		}
	}
	defer p.close()
	p.joinAccents()
	p.fixSpaces()
	p.fixRightToLeft()
	return tidy(p.String()), nil
}

// chars reads the text of a page as PDFium has it.
func (d *document) chars(number int) (*pageText, error) {
	loaded, err := d.in.FPDFText_LoadPage(&requests.FPDFText_LoadPage{Page: d.page(number)})
	if err != nil {
		return nil, err
	}
	p := &pageText{places: places{in: d.in, ref: loaded.TextPage}}
	if err := p.load(); err != nil {
		p.close()
		return nil, err
	}
	return p, nil
}

// maxAnnotations bounds how many annotations of a page are looked at.
const maxAnnotations = 2000

// flatten makes visible annotations part of the page, as PDFium reads no text of others. If it
// fails, they are drawn all the same.
func (d *document) flatten(number int) {
	if _, done := d.attached[number]; done {
		return
	}
	if d.attached == nil {
		d.attached = map[int][]string{}
	}
	shows, files := d.annotations(number)
	d.attached[number] = files
	if shows && d.storeBounds(number) {
		d.makeAppearances(number)
		d.in.FPDFPage_Flatten(&requests.FPDFPage_Flatten{Page: d.page(number), Usage: requests.FPDFPage_FlattenUsageNormalDisplay})
		d.closePage() // the next call reads it again
	}
}

// annotations reports whether a page has annotations that may show text, as links do not, and
// names the files that are attached to the page.
func (d *document) annotations(number int) (shows bool, files []string) {
	d.eachAnnotation(d.page(number), func(kind enums.FPDF_ANNOTATION_SUBTYPE, a references.FPDF_ANNOTATION) {
		switch kind {
		case enums.FPDF_ANNOT_SUBTYPE_LINK, enums.FPDF_ANNOT_SUBTYPE_POPUP:
			return
		case enums.FPDF_ANNOT_SUBTYPE_FILEATTACHMENT:
			f, err := d.in.FPDFAnnot_GetFileAttachment(&requests.FPDFAnnot_GetFileAttachment{Document: d.ref, Annotation: a})
			if err == nil && len(files) < maxAttachments {
				files = append(files, d.fileName(f.Attachment)...)
			}
		}
		shows = true
	})
	return shows, files
}

// eachAnnotation calls look for the annotations of a page, and reports whether it reached all
// of them.
func (h handle) eachAnnotation(page requests.Page, look func(enums.FPDF_ANNOTATION_SUBTYPE, references.FPDF_ANNOTATION)) (whole bool) {
	n, err := h.in.FPDFPage_GetAnnotCount(&requests.FPDFPage_GetAnnotCount{Page: page})
	if err != nil {
		return false
	}
	whole = n.Count <= maxAnnotations
	for i := range min(n.Count, maxAnnotations) {
		a, err := h.in.FPDFPage_GetAnnot(&requests.FPDFPage_GetAnnot{Page: page, Index: i})
		if err != nil {
			whole = false
			continue
		}
		kind, err := h.in.FPDFAnnot_GetSubtype(&requests.FPDFAnnot_GetSubtype{Annotation: a.Annotation})
		if err == nil {
			look(kind.Subtype, a.Annotation)
		}
		whole = whole && err == nil
		h.in.FPDFPage_CloseAnnot(&requests.FPDFPage_CloseAnnot{Annotation: a.Annotation})
	}
	return whole
}

// makeAppearances has PDFium make the missing appearances of annotations: marks, and fields
// filled by a program that made none. PDFium makes them when it draws, even if it draws beside
// the page; flattening leaves out annotations without an appearance.
func (d *document) makeAppearances(number int) {
	on, err := newBitmap(d.in, 1, 1)
	if err != nil {
		return
	}
	defer on.close()
	d.in.FPDF_RenderPageBitmap(&requests.FPDF_RenderPageBitmap{
		Bitmap: on.bitmap, Page: d.page(number), StartX: 2, StartY: 2, SizeX: 1, SizeY: 1, Flags: enums.FPDF_RENDER_FLAG_ANNOT,
	})
}

// storeBounds sets a page's boxes on the page itself. Flattening takes a page that inherits
// its boxes for one of letter size.
func (d *document) storeBounds(number int) bool {
	if _, _, ok := d.size(number); !ok && !d.ignoreCropBox(number) {
		return false
	}
	b, err := d.in.FPDF_GetPageBoundingBox(&requests.FPDF_GetPageBoundingBox{Page: d.page(number)})
	if err != nil {
		return false
	}
	_, err = d.in.FPDFPage_SetMediaBox(&requests.FPDFPage_SetMediaBox{Page: d.page(number), Left: b.Rect.Left, Bottom: b.Rect.Bottom, Right: b.Rect.Right, Top: b.Rect.Top})
	if err != nil {
		return false
	}
	_, err = d.in.FPDFPage_SetCropBox(&requests.FPDFPage_SetCropBox{Page: d.page(number), Left: b.Rect.Left, Bottom: b.Rect.Bottom, Right: b.Rect.Right, Top: b.Rect.Top})
	return err == nil
}

// pageText is the text of a page as PDFium has it: characters in reading order, with their
// places.
type pageText struct {
	places
	chars []rune // halves of surrogate pairs are two; 0: left out
	// before holds the characters that lack a space in front.
	before map[int]bool
}

// places finds the place of each character of a page, by its index.
type places struct {
	in    pdfium.Pdfium
	ref   references.FPDF_TEXTPAGE
	boxes map[int]box
}

func (p *pageText) close() {
	p.in.FPDFText_ClosePage(&requests.FPDFText_ClosePage{TextPage: p.ref})
}

// load reads the characters. Reading all at once is much quicker than one by one, but leaves
// out those that the font does not map.
func (p *pageText) load() error {
	n, err := p.in.FPDFText_CountChars(&requests.FPDFText_CountChars{TextPage: p.ref})
	if err != nil || n.Count <= 0 {
		return err
	}
	p.before, p.boxes = map[int]bool{}, map[int]box{}
	all, err := p.in.FPDFText_GetText(&requests.FPDFText_GetText{TextPage: p.ref, Count: n.Count})
	if err != nil {
		return err
	}
	if units := utf16.Encode([]rune(strings.TrimSuffix(all.Text, "\x00"))); len(units) == n.Count {
		for _, u := range units {
			p.chars = append(p.chars, named(rune(u)))
		}
		return nil
	}
	for i := range n.Count {
		u, err := p.in.FPDFText_GetUnicode(&requests.FPDFText_GetUnicode{TextPage: p.ref, Index: i})
		if err != nil {
			return err
		}
		p.chars = append(p.chars, named(rune(u.Unicode)))
	}
	return nil
}

// named returns a character, and unknownChar for one that is only a number in its font.
func named(sign rune) rune {
	if sign < ' ' && !strings.ContainsRune("\t\n\r\u0002", sign) {
		return unknownChar
	}
	return sign
}

func (p *pageText) String() string {
	var out strings.Builder
	last := rune(0)
	for i, sign := range p.chars {
		if p.before[i] {
			out.WriteByte(' ')
		}
		switch {
		case sign == 0 || sign == unknownChar && last == unknownChar:
			continue
		case utf16.IsSurrogate(sign):
			if i+1 < len(p.chars) {
				if r := utf16.DecodeRune(sign, p.chars[i+1]); r != unknownChar {
					out.WriteRune(r)
				}
			}
		default:
			out.WriteRune(sign)
		}
		last = sign
	}
	return out.String()
}

// box is the place of a character, in points. The wide box reaches to where the next character
// is meant to begin, the tight box holds the ink.
type box struct{ left, right, bottom, top float64 }

func (p *places) wide(i int) (box, bool) {
	if b, ok := p.boxes[i]; ok {
		return b, b.top > b.bottom
	}
	r, err := p.in.FPDFText_GetLooseCharBox(&requests.FPDFText_GetLooseCharBox{TextPage: p.ref, Index: i})
	var b box
	if err == nil {
		b = box{float64(r.Rect.Left), float64(r.Rect.Right), float64(r.Rect.Bottom), float64(r.Rect.Top)}
	}
	p.boxes[i] = b
	return b, b.top > b.bottom
}

func (p *places) tight(i int) (box, bool) {
	r, err := p.in.FPDFText_GetCharBox(&requests.FPDFText_GetCharBox{TextPage: p.ref, Index: i})
	if err != nil {
		return box{}, false
	}
	return box{r.Left, r.Right, r.Bottom, r.Top}, true
}

// tidy makes plain lines of PDFium's text: one newline each, no blanks at the end, at most one
// empty line in a row, and words joined that a hyphen divides at the end of a line, as by
// poppler.
func tidy(s string) string {
	s = strings.NewReplacer("\r\n", "\n", "\r", "\n", "\u0002", "", "\ufffe", "", "\x00", "").Replace(s)
	var out strings.Builder
	blank := 0
	for line := range strings.Lines(s) {
		line = strings.TrimRight(line, " \t\n")
		if blank++; line != "" {
			blank = 0
		}
		if blank < 2 {
			out.WriteString(line)
			out.WriteByte('\n')
		}
	}
	return strings.Trim(out.String(), "\n")
}

// head returns at most n bytes of a text, cut between characters.
func head(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return strings.ToValidUTF8(s[:max(n, 0)], "")
}
