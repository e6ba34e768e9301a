//go:build linux

package faults

import (
	"bytes"
	"compress/zlib"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"image"
	"image/jpeg"
	"image/png"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode"

	"golang.org/x/image/draw"
	"golang.org/x/text/unicode/norm"

	"github.com/fsmcp/fsmcp/internal/mcptest"
	"github.com/fsmcp/fsmcp/internal/media/pdftest"
	"github.com/fsmcp/fsmcp/internal/shortrun"
)

// companion builds what reads PDFs, names the cache of its compiled code that all
// tests share, and sees to it that it is there, however long that takes.
func companion(t *testing.T) []string {
	t.Helper()
	env := unready(t)
	p := newPlace(t)
	must(t, os.WriteFile(p.file("a.pdf"), pdftest.Pages(1, "", func(int) string { return "" }), 0o666))
	c := p.start(t, env...)
	for range 10 {
		res, err := c.Call("Read", args{"file_path": p.file("a.pdf")})
		must(t, err)
		if !res.IsError {
			must(t, c.Close())
			return env
		}
		if res.Slug != "busy" {
			t.Fatalf("%d %s: %s", res.Code, res.Slug, clip(res.Text))
		}
	}
	t.Fatal("PDFium is never compiled")
	return nil
}

// unready builds it alone.
func unready(t *testing.T) []string {
	t.Helper()
	if beside := filepath.Join(filepath.Dir(fsmcp), "fsmcp-media"); os.Getenv("FSMCP_BIN") != "" {
		if _, err := os.Stat(beside); err == nil {
			return []string{"XDG_CACHE_HOME=" + sharedCache()}
		}
	}
	path, err := build("fsmcp-media")
	must(t, err)
	return []string{"FSMCP_MEDIA=" + path, "XDG_CACHE_HOME=" + sharedCache()}
}

// sharedCache is where that lies.
func sharedCache() string { return filepath.Join(os.TempDir(), "fsmcp-faults-cache") }

// documents are real ones of many kinds: papers, standards, manuals, books,
// slides, forms, listings, scans, drawings, annotations, which come with the
// library that cuts PDFs, and CJK, which Debian's packages hold.
func documents(t *testing.T) []string {
	t.Helper()
	out, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "github.com/pdfcpu/pdfcpu").Output()
	must(t, err)
	dir := filepath.Join(strings.TrimSpace(string(out)), "pkg", "testdata")
	var all []string
	for _, name := range []string{
		"Acroforms2", "TheGoProgrammingLanguageCh1", "annotTest", "jphysiol01396-0132", "pike-stanford", "itu-t81",
		"schmager_plateau10", "adobe_errata", "CenterOfWhy", "The_Go_Language_Gigon-Odienne-Wartel", "FOSDEM14_HPC_devroom_14_GoCUDA",
		"go-lecture", "Walden", "BuildingWebappsWithGo", "HL1396", "ECSTR11-01", "gobook.0", "GoForOptimization", "xdp_2.0",
		"adobe_supplement_iso32000_1", "VectorApple", "read.go", "Hybrid-PDF", "blank-scan", "5116.DCT_Filter", "T4", "RA_CI",
		"testWithText", "golang",
	} {
		path := filepath.Join(dir, name+".pdf")
		if info, err := os.Stat(path); err == nil && info.Size() < 32<<20 {
			all = append(all, path)
		}
	}
	if len(all) < 24 {
		t.Fatalf("only %d documents", len(all))
	}
	for _, path := range []string{
		"/usr/share/developers-reference/ja/developers-reference.pdf", "/usr/share/debian-reference/debian-reference.ja.pdf",
		"/usr/share/debian-reference/debian-reference.zh-cn.pdf",
	} {
		_, err := os.Stat(path)
		if err == nil {
			_, err = os.Stat("/usr/share/poppler/cMap/Adobe-Japan1") // what pdftotext needs for them
		}
		if err != nil {
			fmt.Printf("%s: !!! NOT TESTED with %s, which is not installed, or poppler-data is not !!!\n", t.Name(), filepath.Base(path))
			continue
		}
		all = append(all, path)
	}
	return all
}

// drawAll has pages of text alone come with pictures, too.
func drawAll(t *testing.T, p place) {
	t.Helper()
	must(t, os.MkdirAll(p.file(".fsmcp"), 0o755))
	must(t, os.WriteFile(p.file(".fsmcp/settings.json"), []byte(`{"pdf": {"images": "always"}}`), 0o644))
}

// page is one page of an answer.
type page struct {
	text    string
	picture image.Image
}

var pageHead = regexp.MustCompile(`^--- page (\d+) of (\d+) ---\n`)

func pagesOf(t *testing.T, raw json.RawMessage) (out []page) {
	t.Helper()
	var answer struct {
		Content []struct{ Type, Text, Data string }
	}
	must(t, json.Unmarshal(raw, &answer))
	for _, b := range answer.Content {
		switch {
		case b.Type == "image":
			data, err := base64.StdEncoding.DecodeString(b.Data)
			must(t, err)
			img, err := jpeg.Decode(bytes.NewReader(data))
			must(t, err)
			out[len(out)-1].picture = img
		case pageHead.MatchString(b.Text):
			out = append(out, page{text: strings.TrimSuffix(pageHead.ReplaceAllString(b.Text, ""), "(no text on this page)")})
		}
	}
	return out
}

// leader are the dots that lead to a page's number in a table of contents: how
// many of them a line has is no part of its text.
var leader = regexp.MustCompile(`\.{4,}|(\. ){4,}`)

// bagOf counts the words of a text. What one writes in several ways (ligatures,
// soft hyphens, accents that stand apart or not) is one; signs without a name are
// none; a script that does not divide words has words of one sign.
func bagOf(s string) (words map[string]int, n int) {
	s = norm.NFKC.String(strings.NewReplacer("\u00ad", "", "\ufffd", " ").Replace(s))
	s = leader.ReplaceAllString(s, " ")
	var apart strings.Builder
	for _, r := range s {
		switch {
		case unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana) || r >= 0x3000 && r < 0x3040 || r == 'ー':
			apart.WriteString(" " + string(r) + " ")
		case r < ' ' || r >= 0xe000 && r < 0xf900: // control and private signs
			apart.WriteByte(' ')
		default:
			apart.WriteRune(r)
		}
	}
	words = map[string]int{}
	for _, w := range strings.Fields(apart.String()) {
		words[w]++
		n++
	}
	return words, n
}

// wordF1 compares two texts as bags of words.
func wordF1(a, b string) float64 {
	wa, na := bagOf(a)
	wb, nb := bagOf(b)
	if na+nb == 0 {
		return 1
	}
	both := 0
	for w, n := range wa {
		both += min(n, wb[w])
	}
	return 2 * float64(both) / float64(na+nb)
}

// small is a picture in gray, 400 pixels on its longer side.
func small(img image.Image, w, h int) *image.Gray {
	out := image.NewGray(image.Rect(0, 0, w, h))
	draw.CatmullRom.Scale(out, out.Rect, img, img.Bounds(), draw.Src, nil)
	return out
}

// ssim is the mean structural similarity over windows of 8 x 8 pixels.
func ssim(a, b *image.Gray) float64 {
	const c1, c2 = 6.5025, 58.5225
	sum, n := 0.0, 0.0
	for y := 0; y+8 <= a.Rect.Dy(); y += 4 {
		for x := 0; x+8 <= a.Rect.Dx(); x += 4 {
			var ma, mb, aa, bb, ab float64
			for dy := range 8 {
				for dx := range 8 {
					p, q := float64(a.Pix[(y+dy)*a.Stride+x+dx]), float64(b.Pix[(y+dy)*b.Stride+x+dx])
					ma, mb, aa, bb, ab = ma+p, mb+q, aa+p*p, bb+q*q, ab+p*q
				}
			}
			ma, mb = ma/64, mb/64
			va, vb, cov := aa/64-ma*ma, bb/64-mb*mb, ab/64-ma*mb
			sum += (2*ma*mb + c1) * (2*cov + c2) / ((ma*ma + mb*mb + c1) * (va + vb + c2))
			n++
		}
	}
	return sum / n
}

// seen is the text of some pages as tesseract reads it from their pictures.
func seen(t *testing.T, file string, pages int) string {
	t.Helper()
	var out strings.Builder
	base := filepath.Join(t.TempDir(), "page")
	must(t, exec.Command("pdftoppm", "-l", fmt.Sprint(pages), "-r", "200", "-gray", "-png", file, base).Run())
	made, err := filepath.Glob(base + "*.png")
	must(t, err)
	for _, picture := range made {
		text, err := tesseract(picture, "-", "--psm", "3").Output()
		must(t, err)
		out.Write(text)
	}
	return out.String()
}

// scanned is a scan of a document's first page, with the text that tesseract
// lays under such.
func scanned(t *testing.T, doc string) string {
	t.Helper()
	base := filepath.Join(t.TempDir(), "scan")
	must(t, exec.Command("pdftoppm", "-l", "1", "-r", "150", "-gray", "-png", "-singlefile", doc, base).Run())
	must(t, tesseract(base+".png", base+"-with-text", "pdf").Run())
	return base + "-with-text.pdf"
}

// comparison holds the times of a document's first pages beside poppler's.
type comparison struct {
	ours, theirs string
	like         float64 // the least of its pictures
}

// textPages and picturePages bound the compared pages of a document.
const (
	textPages    = 7
	picturePages = 3
)

func compare(t *testing.T, c *mcptest.Client, file string) (out comparison, ok bool) {
	t.Helper()
	res, err := c.Call("Read", args{"file_path": file, "pages": fmt.Sprintf("1-%d", textPages)})
	must(t, err)
	if res.IsError {
		t.Errorf("%s: %d %s", file, res.Code, clip(res.Text))
		return out, false
	}
	out.like = 1
	var ours strings.Builder
	for i, pg := range pagesOf(t, res.Raw) {
		ours.WriteString(pg.text + "\n")
		if i >= picturePages || pg.picture == nil {
			continue
		}
		b := pg.picture.Bounds()
		longer := fmt.Sprint(max(b.Dx(), b.Dy()))
		other := poppler(t, file, i+1, "-scale-to", longer)
		if other.Bounds().Size() != b.Size() { // by what one rounds up and the other down
			other = poppler(t, file, i+1, "-scale-to-x", fmt.Sprint(b.Dx()), "-scale-to-y", fmt.Sprint(b.Dy()))
		}
		if other.Bounds().Dx() != b.Dx() {
			t.Fatalf("%s: page %d of %v, poppler's of %v", file, i+1, b.Size(), other.Bounds().Size())
		}
		w, h := 400, 400*b.Dy()/b.Dx()
		if h > w {
			w, h = 400*b.Dx()/b.Dy(), 400
		}
		out.like = min(out.like, ssim(small(pg.picture, w, h), small(other, w, h)))
	}
	theirs, err := exec.Command("pdftotext", "-l", fmt.Sprint(textPages), file, "-").Output()
	must(t, err)
	out.ours, out.theirs = ours.String(), string(theirs)
	return out, true
}

// poppler is its picture of a page.
func poppler(t *testing.T, file string, page int, size ...string) image.Image {
	t.Helper()
	number := fmt.Sprint(page)
	raw, err := exec.Command("pdftoppm", append([]string{"-f", number, "-l", number, "-cropbox", "-png"}, append(size, file)...)...).Output()
	must(t, err)
	img, err := png.Decode(bytes.NewReader(raw))
	must(t, err)
	return img
}

// TestPDFsReadLikePoppler compares text and pictures of real documents' first
// pages with those of poppler's programs. Where the words differ, what tesseract
// reads from the page has to be nearer to ours than to poppler's.
func TestPDFsReadLikePoppler(t *testing.T) {
	for _, tool := range []string{"pdftotext", "pdftoppm", "tesseract"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("!!! NOT TESTED: %s is missing !!!", tool)
		}
	}
	docs := documents(t)
	if n := count(t, "FSMCP_PDFS", 2); n >= 24 {
		docs = append(docs[:min(len(docs), n)], scanned(t, docs[0]))
	} else {
		docs = docs[:n]
	}
	p := newPlace(t)
	drawAll(t, p)
	c := p.start(t, companion(t)...)
	withText, alike, nearer, drawn, lent := 0, 0, 0, 0, 0
	for _, doc := range docs {
		name := filepath.Base(doc)
		file := p.file(name)
		must(t, os.WriteFile(file, read(t, doc), 0o666))
		got, ok := compare(t, c, file)
		if !ok {
			continue
		}
		_, words := bagOf(got.theirs)
		f1 := wordF1(got.ours, got.theirs)
		line := fmt.Sprintf("%-44s %5d words %.3f  pictures %.3f", name, words, f1, got.like)
		switch {
		case words == 0:
			line += "  (no text layer)"
		case f1 >= 0.98:
			withText++
			alike++
		default:
			withText++
			page := seen(t, file, textPages)
			ours, theirs := wordF1(got.ours, page), wordF1(got.theirs, page)
			line += fmt.Sprintf("  as tesseract sees it: ours %.3f, pdftotext %.3f", ours, theirs)
			if ours >= theirs {
				nearer++
			} else {
				t.Errorf("%s: words %.3f, and what is seen is nearer to pdftotext's", name, f1)
			}
		}
		switch {
		case got.like >= 0.95:
			drawn++
		case !embedded(t, file):
			line += "  (fonts that are not embedded)"
			lent++
		default:
			t.Errorf("%s: pictures %.3f", name, got.like)
		}
		report(t, "%s", line)
	}
	must(t, c.Close())
	report(t, "%d documents: of %d with text %d have the words of pdftotext to 0.98, %d are nearer to what is seen than pdftotext; pictures of %d are alike to 0.95, %d have lent fonts",
		len(docs), withText, alike, nearer, drawn, lent)
	if len(docs) >= 24 && (alike < 20 || drawn < 24) {
		t.Errorf("words of %d alike, pictures of %d", alike, drawn)
	}
}

// embedded reports whether a document brings all fonts of the pages that are
// compared: others are drawn with whatever there is.
func embedded(t *testing.T, file string) bool {
	t.Helper()
	out, err := exec.Command("pdffonts", "-l", fmt.Sprint(picturePages), file).Output()
	must(t, err)
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	for _, line := range lines[min(2, len(lines)):] {
		// The last are: embedded, subset, unicode, and two of an object's number.
		if fields := strings.Fields(line); len(fields) > 5 && fields[len(fields)-5] == "no" {
			return false
		}
	}
	return true
}

// packed is a stream that becomes a piece so many times.
func packed(t *testing.T, dict, piece string, times int) string {
	t.Helper()
	var b bytes.Buffer
	z, err := zlib.NewWriterLevel(&b, zlib.BestSpeed)
	must(t, err)
	many := max(1, 1<<16/len(piece))
	chunk := strings.Repeat(piece, many)
	for i := 0; i < times; i += many {
		z.Write([]byte(chunk))
	}
	must(t, z.Close())
	return pdftest.Stream(dict+"/Filter/FlateDecode", b.String())
}

// pdfBombs are documents made to take all there is, to go on for ever, or to have
// something run; those that touch a file are to touch marker.
func pdfBombs(t *testing.T, marker string) map[string][]byte {
	t.Helper()
	const catalog, tree, box = "<</Type/Catalog/Pages 2 0 R>>", "<</Type/Pages/Kids[3 0 R]/Count 1>>", "/Type/Page/Parent 2 0 R/MediaBox[0 0 600 800]"
	page := func(more string) string { return "<<" + box + more + "/Contents 4 0 R>>" }
	const mb = 1 << 20
	garbage := make([]byte, 32*mb)
	r := rand.New(rand.NewPCG(71, 72))
	for i := range garbage {
		garbage[i] = byte(r.Uint32())
	}
	copy(garbage, "%PDF-1.7\n")
	laughs := []string{catalog, tree, page("/Resources<</XObject<</X 5 0 R>>>>"), pdftest.Stream("", "/X Do")}
	for i := range 12 { // each level draws the next ten times
		laughs = append(laughs, pdftest.Stream(fmt.Sprintf("/Type/XObject/Subtype/Form/BBox[0 0 600 800]/Resources<</XObject<</X %d 0 R>>>>", 6+i), strings.Repeat("/X Do ", 10)))
	}
	laughs = append(laughs, pdftest.Stream("/Type/XObject/Subtype/Form/BBox[0 0 600 800]", "0 0 600 800 re f"))
	annotations := append([]string{catalog, tree, page("/Annots[" + strings.Repeat("18 0 R ", 5000) + "]"), pdftest.Stream("", "0 0 9 9 re f")}, laughs[4:]...)
	annotations = append(annotations, "<</Type/Annot/Subtype/Stamp/F 4/Rect[0 0 600 800]/AP<</N 5 0 R>>>>")
	// An object stream of an object that fills gigabytes, which the page needs.
	objects := "<</Type/Catalog/Pages 2 0 R/Names 9 0 R>>"
	run := fmt.Sprintf("/F(%s)/Win<</F(%s)>>", marker, marker)
	return map[string][]byte{
		"garbage":        garbage,
		"circle":         pdftest.File("<</Type/Catalog/Pages 2 0 R/Outlines 4 0 R>>", "<</Type/Pages/Kids[2 0 R]/Count 999999999>>", "null", "<</First 5 0 R/Last 5 0 R>>", "<</Title(x)/Next 5 0 R/First 5 0 R>>"),
		"outline":        pdftest.File("<</Type/Catalog/Pages 2 0 R/Outlines 5 0 R>>", "<</Type/Pages/Kids["+strings.Repeat("3 0 R ", 40)+"]/Count 40>>", page(""), pdftest.Stream("", ""), "<</First 6 0 R/Last 7 0 R>>", "<</Title(x)/Next 7 0 R/First 7 0 R>>", "<</Title(y)/Next 6 0 R/First 6 0 R/Parent 6 0 R>>"),
		"parents":        pdftest.File(catalog, "<</Type/Pages/Kids[3 0 R]/Count 1/Parent 2 0 R>>", "<</Type/Page/Parent 2 0 R/Contents 4 0 R>>", pdftest.Stream("", "")),
		"object-stream":  pdftest.File(objects, tree, page(""), pdftest.Stream("", "0 0 9 9 re f"), packed(t, "/Type/ObjStm/N 1/First 4", "9 0 (", 1)+"", packed(t, "/Type/ObjStm/N 100000000/First 1000000000", "1 0 ", 50*mb)),
		"content":        pdftest.File(catalog, tree, page(""), packed(t, "", "0 0 m 9 9 l S ", 20*mb)),
		"text":           pdftest.File(catalog, tree, page("/Resources<</Font<</F<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>>>>>"), packed(t, "", "BT /F 9 Tf (much of it) Tj ET ", 5*mb)),
		"image":          pdftest.File(catalog, tree, page("/Resources<</XObject<</X 5 0 R>>>>"), pdftest.Stream("", "600 0 0 800 0 0 cm /X Do"), packed(t, "/Type/XObject/Subtype/Image/Width 40000/Height 40000/ColorSpace/DeviceGray/BitsPerComponent 8", strings.Repeat("\x00", 4096), 40000*10)),
		"laughs":         pdftest.File(laughs...),
		"annotations":    pdftest.File(annotations...),
		"self":           pdftest.File(catalog, tree, page("/Resources<</XObject<</X 5 0 R>>>>"), pdftest.Stream("", "/X Do"), pdftest.Stream("/Type/XObject/Subtype/Form/BBox[0 0 9 9]/Resources<</XObject<</X 5 0 R>>>>", "/X Do /X Do")),
		"endless-page":   pdftest.File(catalog, tree, "<</Type/Page/Parent 2 0 R/MediaBox[0 0 1e30 1e30]/Contents 4 0 R>>", pdftest.Stream("", "0 0 9 9 re f")),
		"thin-page":      pdftest.File(catalog, tree, "<</Type/Page/Parent 2 0 R/MediaBox[0 0 1e9 0.0001]/Contents 4 0 R>>", pdftest.Stream("", "0 0 9 9 re f")),
		"tiles":          pdftest.File(catalog, tree, page("/Resources<</Pattern<</P 5 0 R>>>>"), pdftest.Stream("", "/Pattern cs /P scn 0 0 600 800 re f"), pdftest.Stream("/Type/Pattern/PatternType 1/PaintType 1/TilingType 1/BBox[0 0 1 1]/XStep 0.0001/YStep 0.0001/Resources<<>>", "0 0 1 1 re f")),
		"nested":         pdftest.File(catalog, tree, "<<"+box+"/Contents 4 0 R/X "+strings.Repeat("[", 500_000)+strings.Repeat("]", 500_000)+">>", pdftest.Stream("", "")),
		"previous":       append(pdftest.File(catalog, tree, page(""), pdftest.Stream("", "")), []byte("xref\n0 0\ntrailer<</Size 5/Root 1 0 R/Prev 9>>\nstartxref\n9\n%%EOF\n")...),
		"script":         pdftest.File("<</Type/Catalog/Pages 2 0 R/OpenAction<</S/JavaScript/JS(while\\(true\\){app.launchURL\\('file://"+marker+"'\\)})>>/AA<</WC<</S/Launch"+run+">>>>/Names<</JavaScript<</Names[(a)<</S/JavaScript/JS(while\\(true\\){})>>]>>>>>>", tree, page("/AA<</O<</S/Launch"+run+">>>>/Annots[<</Type/Annot/Subtype/Link/Rect[0 0 600 800]/A<</S/Launch"+run+">>/PA<</S/Launch"+run+">>>>]"), pdftest.Stream("", "0 0 9 9 re f")),
		"nothing-at-all": []byte("%PDF-1.4\n"),
	}
}

// TestHostilePDFs: mutated documents, garbage, bombs, circles and scripts: each is
// answered, nothing is run, the server stays small, and a text is read as quickly
// as ever.
func TestHostilePDFs(t *testing.T) {
	shortrun.Leave(t, "it reads documents that take seconds each, and has a naive server unpack one")
	n := count(t, "FSMCP_HOSTILE_PDFS", 5)
	p := newPlace(t)
	smallTexts(t, p)
	drawAll(t, p)
	c := p.start(t, companion(t)...)
	var seeds [][]byte
	for _, doc := range documents(t) {
		if b := read(t, doc); len(b) < 600_000 {
			seeds = append(seeds, b)
		}
	}
	two := args{"pages": "1-2"}
	seed := func(i int, _ *rand.Rand) missile { return missile{name: "h.pdf", content: seeds[i%len(seeds)]} }
	besiege(t, c, p, 1, 1, two, seed) // what readies the reader has a time of its own
	harmless := besiege(t, c, p, min(n, len(seeds)), 1, two, seed)
	if harmless.shown != harmless.files {
		t.Errorf("%d of %d harmless documents shown", harmless.shown, harmless.files)
	}

	marker := filepath.Join(t.TempDir(), "touched")
	bombs := pdfBombs(t, marker)
	names := slices.Sorted(maps.Keys(bombs))
	if n < 100 { // these take all the time there is
		names = slices.DeleteFunc(names, func(s string) bool {
			return slices.Contains([]string{"image", "tiles", "content", "annotations", "self", "text", "laughs", "garbage", "nested"}, s)
		})
	}
	bombing := func(i int, _ *rand.Rand) missile {
		begin := time.Now()
		return missile{names[i] + ".pdf", bombs[names[i]], func(res mcptest.Result) {
			if took := time.Since(begin); took > 2*time.Second {
				report(t, "%s: %v, %s", names[i], took.Round(time.Millisecond), clip(res.Text))
			}
			if slices.Contains([]string{"script", "thin-page"}, names[i]) && res.IsError || slices.Contains([]string{"garbage", "circle", "nothing-at-all"}, names[i]) && res.Slug != "broken_file" {
				t.Errorf("%s: %d %s %s", names[i], res.Code, res.Slug, clip(res.Text))
			}
		}}
	}
	largely := func() siege { return besiege(t, c, p, len(names), 1, two, bombing) }
	large := largely()
	if _, err := os.Lstat(marker); err == nil {
		t.Error("a launch action was followed")
	}
	mutating := func(i int, r *rand.Rand) missile {
		b := bytes.Clone(seeds[i%len(seeds)])
		for range 1 + r.IntN(200) {
			b[r.IntN(len(b))] = byte(r.Uint32())
		}
		return missile{name: "h.pdf", content: b}
	}
	slightly := func() siege { return besiege(t, c, p, n, 1, two, mutating) }
	small := slightly()
	large.judge(t, "bombs", harmless, largely)
	small.judge(t, "mutated", harmless, slightly)
	must(t, c.Close())
	if small.shown < n/4 {
		t.Errorf("%d mutated documents shown", small.shown)
	}
	// The control unpacks a document's content within its own process.
	if most := naiveMemory(t, "naive-reader", bombs["content"]); most < 64e6 {
		t.Errorf("a naive server takes %.1f MB for it", float64(most)/1e6)
	} else {
		report(t, "a naive server takes %.1f MB for one of the bombs", float64(most)/1e6)
	}
}
