package pdf

import (
	"strings"
	"unicode"
	"unicode/utf16"

	"github.com/klippa-app/go-pdfium"
	"github.com/klippa-app/go-pdfium/enums"
	"github.com/klippa-app/go-pdfium/references"
	"github.com/klippa-app/go-pdfium/requests"
	"golang.org/x/text/unicode/norm"
)

// nameless stands for signs whose font does not say what they mean, so that
// "err != nil" drawn with such a sign does not come as "err nil".
const nameless = unicode.ReplacementChar

// text is a page's text in reading order, with that of its annotations and
// filled fields.
func (d *document) text(number int) (string, error) {
	d.flatten(number)
	loaded, err := d.in.FPDFText_LoadPage(&requests.FPDFText_LoadPage{Page: d.page(number)})
	if err != nil {
		return "", err
	}
	defer d.in.FPDFText_ClosePage(&requests.FPDFText_ClosePage{TextPage: loaded.TextPage})
	p := pageText{in: d.in, ref: loaded.TextPage}
	if err := p.load(); err != nil {
		return "", err
	}
	p.accents()
	p.spaces()
	return tidy(p.String()), nil
}

// mostAnnotations bounds how many annotations of a page are looked at.
const mostAnnotations = 2000

// flatten makes the annotations of a page that show something a part of it, as
// only what is part of it has text. Where that fails they are drawn all the same.
func (d *document) flatten(number int) {
	n, err := d.in.FPDFPage_GetAnnotCount(&requests.FPDFPage_GetAnnotCount{Page: d.page(number)})
	if err != nil {
		return
	}
	for i := range min(n.Count, mostAnnotations) {
		if !d.shows(number, i) {
			continue
		}
		if d.bound(number) {
			d.in.FPDFPage_Flatten(&requests.FPDFPage_Flatten{Page: d.page(number), Usage: requests.FPDFPage_FlattenUsageNormalDisplay})
			d.leave() // it is read anew
		}
		return
	}
}

// bound writes a page's bounds down with it, where flattening looks for them: it
// takes pages that have theirs from the document for letters.
func (d *document) bound(number int) bool {
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

// shows tells whether an annotation is one that may show text: links do not.
func (d *document) shows(number, i int) bool {
	a, err := d.in.FPDFPage_GetAnnot(&requests.FPDFPage_GetAnnot{Page: d.page(number), Index: i})
	if err != nil {
		return false
	}
	defer d.in.FPDFPage_CloseAnnot(&requests.FPDFPage_CloseAnnot{Annotation: a.Annotation})
	kind, err := d.in.FPDFAnnot_GetSubtype(&requests.FPDFAnnot_GetSubtype{Annotation: a.Annotation})
	return err == nil && kind.Subtype != enums.FPDF_ANNOT_SUBTYPE_LINK && kind.Subtype != enums.FPDF_ANNOT_SUBTYPE_POPUP
}

// pageText is the text of a page as PDFium has it: signs in reading order, and
// what it says of the place of each.
type pageText struct {
	in    pdfium.Pdfium
	ref   references.FPDF_TEXTPAGE
	signs []rune // halves of surrogate pairs are two; 0: left out
	// before are the signs in front of which a space is missing.
	before map[int]bool
	boxes  map[int]box
}

// load reads the signs. All at once is quicker by far than one by one, but leaves
// out those without a name.
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
			p.signs = append(p.signs, named(rune(u)))
		}
		return nil
	}
	for i := range n.Count {
		u, err := p.in.FPDFText_GetUnicode(&requests.FPDFText_GetUnicode{TextPage: p.ref, Index: i})
		if err != nil {
			return err
		}
		p.signs = append(p.signs, named(rune(u.Unicode)))
	}
	return nil
}

// named is a sign, or what stands for one that has no more than its number in a
// font.
func named(sign rune) rune {
	if sign < ' ' && !strings.ContainsRune("\t\n\r\u0002", sign) {
		return nameless
	}
	return sign
}

func (p *pageText) String() string {
	var out strings.Builder
	last := rune(0)
	for i, sign := range p.signs {
		if p.before[i] {
			out.WriteByte(' ')
		}
		switch {
		case sign == 0 || sign == nameless && last == nameless:
			continue
		case utf16.IsSurrogate(sign):
			if i+1 < len(p.signs) {
				if r := utf16.DecodeRune(sign, p.signs[i+1]); r != nameless {
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

// box is where a sign stands, in points. The wide one reaches to where the next
// one is meant to begin, the tight one around its ink.
type box struct{ left, right, bottom, top float64 }

func (p *pageText) wide(i int) (box, bool) {
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

func (p *pageText) tight(i int) (box, bool) {
	r, err := p.in.FPDFText_GetCharBox(&requests.FPDFText_GetCharBox{TextPage: p.ref, Index: i})
	if err != nil {
		return box{}, false
	}
	return box{r.Left, r.Right, r.Bottom, r.Top}, true
}

// spacing are the accents that stand as signs of their own, and what they are
// above or below a letter.
var spacing = map[rune]rune{
	'´': '\u0301', '`': '\u0300', '¨': '\u0308', 'ˆ': '\u0302', '˜': '\u0303', 'ˇ': '\u030c', '˘': '\u0306',
	'˙': '\u0307', '˚': '\u030a', '˝': '\u030b', '¯': '\u0304', '¸': '\u0327', '˛': '\u0328',
}

// accents puts accents that are drawn over a letter of their own, as older TeX
// does, together with it: "J´erˆome" is "Jérôme".
func (p *pageText) accents() {
	for i, sign := range p.signs {
		mark := spacing[sign]
		if mark == 0 {
			continue
		}
		for _, k := range []int{i + 1, i - 1} {
			if k < 0 || k >= len(p.signs) || !unicode.IsLetter(p.signs[k]) || !p.over(i, k) {
				continue
			}
			if whole := composed(p.signs[k], mark); whole != 0 {
				p.signs[k], p.signs[i] = whole, 0
				break
			}
		}
	}
}

// composed is a letter with a mark; 0 where there is none.
func composed(letter, mark rune) rune {
	switch letter {
	case 'ı':
		letter = 'i'
	case 'ȷ':
		letter = 'j'
	}
	if whole := []rune(norm.NFC.String(string([]rune{letter, mark}))); len(whole) == 1 {
		return whole[0]
	}
	return 0
}

// over tells whether the middle of a sign's ink lies within another's width.
func (p *pageText) over(i, k int) bool {
	a, ok := p.tight(i)
	b, ok2 := p.wide(k)
	middle := (a.left + a.right) / 2
	return ok && ok2 && b.left < middle && middle < b.right && a.top > b.bottom && a.bottom < b.top
}

// Bounds of the gap between two signs, in parts of the height of their line.
const (
	noGap   = 0.03 // what a space is no space below
	someGap = 0.13 // what is a space above, beyond the gaps beside it
	looks   = 150  // how many pairs of a page are looked at, before all are
)

// spaces sets right where words end, which some documents leave to their
// geometry alone: there are signs of spaces within words, where nothing is seen,
// and gaps between words without a sign. To look at every pair takes longer than
// all else about a text; so it is done where a few of them gave reason to.
func (p *pageText) spaces() {
	pairs := p.pairs()
	step := max(1, len(pairs)/looks)
	wrong := 0
	for n, pair := range pairs {
		if suspect := p.suspect(pair); suspect || n%step == 0 {
			if p.mend(pair) && !suspect {
				wrong++
			}
		}
	}
	if wrong < 2 {
		return
	}
	for _, pair := range pairs {
		p.mend(pair)
	}
}

// pairs are the places of every two signs that stand beside each other on a line
// of a script that divides words by spaces.
func (p *pageText) pairs() (out [][2]int) {
	last := -1
	for i, sign := range p.signs {
		switch {
		case sign == ' ' || sign == '\u00a0' || sign == 0:
		case !unicode.IsPrint(sign) || sign == nameless || sign >= 0x1100 && !unicode.IsPunct(sign) && !ligature(sign):
			last = -1
		default:
			if last >= 0 {
				out = append(out, [2]int{last, i})
			}
			last = i
		}
	}
	return out
}

func ligature(r rune) bool { return r >= 'ﬀ' && r <= 'ﬆ' }

// suspect tells of a pair that is often wrong: letters that fonts draw as one,
// which are wider than they say, before a space, and a sentence's end without.
func (p *pageText) suspect(pair [2]int) bool {
	i, k := pair[0], pair[1]
	if k > i+1 {
		if i == 0 {
			return false
		}
		switch string(p.signs[i-1 : i+1]) {
		case "ff", "fi", "fl", "ft", "fj", "Th", "tt", "ti", "ct", "st":
			return unicode.IsLetter(p.signs[k])
		}
		return false
	}
	return unicode.IsUpper(p.signs[k]) && (unicode.IsLower(p.signs[i]) || unicode.IsPunct(p.signs[i]))
}

// mend takes spaces between two signs away where there is no gap, or adds one
// where there is. It tells whether it did.
func (p *pageText) mend(pair [2]int) bool {
	i, k := pair[0], pair[1]
	gap, ok := p.gap(i, k)
	if !ok {
		return false
	}
	beside := p.beside(i, k)
	if k == i+1 {
		if p.before[k] || gap < someGap+max(beside, 0) {
			return false
		}
		p.before[k] = true
		return true
	}
	// Signs may be set closer than they are wide, and a space may have no width
	// where its font is not at hand: that says nothing.
	if gap > beside+someGap || gap > noGap && !p.touch(i, k) || !p.wideSpaces(i+1, k) {
		return false
	}
	found := false
	for s := i + 1; s < k; s++ {
		found = found || p.signs[s] != 0
		p.signs[s] = 0
	}
	return found
}

// gap is what lies between two signs of a line, in parts of its height. ok: they
// stand on one line, one behind the other.
func (p *pageText) gap(i, k int) (gap float64, ok bool) {
	a, okA := p.wide(i)
	b, okB := p.wide(k)
	height := min(a.top-a.bottom, b.top-b.bottom)
	if !okA || !okB || height <= 0 {
		return 0, false
	}
	level := max(a.bottom-b.bottom, b.bottom-a.bottom) < 0.1*height && max(a.top-b.top, b.top-a.top) < 0.1*height
	return (b.left - a.right) / height, level && b.left > a.left && b.right > a.right
}

// beside is the least gap of those around a pair within words, 0 where there is
// none: signs may be set apart, or close.
func (p *pageText) beside(i, k int) float64 {
	least, any := 0.0, false
	for _, pair := range [][2]int{{i - 2, i - 1}, {i - 1, i}, {k, k + 1}, {k + 1, k + 2}} {
		if pair[0] < 0 || pair[1] >= len(p.signs) || p.signs[pair[0]] <= ' ' || p.signs[pair[1]] <= ' ' {
			continue
		}
		if gap, ok := p.gap(pair[0], pair[1]); ok && (!any || gap < least) {
			least, any = gap, true
		}
	}
	return least
}

// wideSpaces tells whether all spaces in a place have a width of their own.
func (p *pageText) wideSpaces(from, to int) bool {
	for i := from; i < to; i++ {
		if b, _ := p.wide(i); p.signs[i] != 0 && b.right-b.left < 0.01*(b.top-b.bottom) {
			return false
		}
	}
	return true
}

// touch tells whether the ink of two signs of a line meets.
func (p *pageText) touch(i, k int) bool {
	a, okA := p.tight(i)
	b, okB := p.tight(k)
	return okA && okB && b.left <= a.right
}
