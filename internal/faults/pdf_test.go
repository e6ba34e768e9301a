//go:build linux

package faults

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"image"
	"image/jpeg"
	"image/png"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
	"unicode"

	"golang.org/x/image/draw"
	"golang.org/x/text/unicode/norm"

	"github.com/fsmcp/fsmcp/internal/mcptest"
)

// companion builds what reads PDFs, and names the cache of its compiled code
// that all tests share.
func companion(t *testing.T) []string {
	t.Helper()
	if beside := filepath.Join(filepath.Dir(fsmcp), "fsmcp-media"); os.Getenv("FSMCP_BIN") != "" {
		if _, err := os.Stat(beside); err == nil {
			return []string{"XDG_CACHE_HOME=" + filepath.Join(os.TempDir(), "fsmcp-faults-cache")}
		}
	}
	path := filepath.Join(t.TempDir(), "fsmcp-media")
	cmd := exec.Command("go", "build", "-o", path, "github.com/fsmcp/fsmcp/cmd/fsmcp-media")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return []string{"FSMCP_MEDIA=" + path, "XDG_CACHE_HOME=" + filepath.Join(os.TempDir(), "fsmcp-faults-cache")}
}

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
		text, err := exec.Command("tesseract", picture, "-", "--psm", "3").Output()
		must(t, err)
		out.Write(text)
	}
	return out.String()
}

// comparison is what a document's first pages come to beside poppler's.
type comparison struct {
	ours, theirs string
	like         float64 // the least of its pictures
}

// textPages and picturePages are how many of a document are compared.
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
	docs = docs[:min(len(docs), count(t, "FSMCP_PDFS", 3))]
	p := newPlace(t)
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

// embedded tells whether a document brings all fonts of the pages that are
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

// TestHostilePDFs: mutated documents, garbage, bombs and circles: each is
// answered, and the server stays small.
func TestHostilePDFs(t *testing.T) {
	n := count(t, "FSMCP_HOSTILE_PDFS", 12)
	p := newPlace(t)
	c := p.start(t, companion(t)...)
	r := rand.New(rand.NewPCG(61, 62))
	most, slowest, shown := 0, time.Duration(0), 0
	try := func(b []byte) {
		file := p.file("h.pdf")
		must(t, os.WriteFile(file, b, 0o666))
		begin := time.Now()
		res, err := c.Call("Read", args{"file_path": file, "pages": "1-2"})
		if err != nil {
			t.Fatal(err)
		}
		slowest = max(slowest, time.Since(begin))
		most = max(most, resident(t, c.PID()))
		if !res.IsError {
			shown++
		}
	}
	try([]byte("%PDF-1.4\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj 2 0 obj<</Type/Pages/Kids[3 0 R]/Count 1>>endobj 3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 9 9]>>endobj\ntrailer<</Root 1 0 R>>"))
	first := shown
	slowest = 0 // what readies the reader has a time of its own
	garbage := make([]byte, 32<<20)
	for i := range garbage {
		garbage[i] = byte(r.Uint32())
	}
	copy(garbage, "%PDF-1.7\n")
	try(garbage)
	try([]byte("%PDF-1.4\n1 0 obj<</Type/Catalog/Pages 2 0 R/Outlines 4 0 R>>endobj 2 0 obj<</Type/Pages/Kids[2 0 R]/Count 999999999>>endobj 4 0 obj<</First 5 0 R/Last 5 0 R>>endobj 5 0 obj<</Title(x)/Next 5 0 R/First 5 0 R>>endobj\ntrailer<</Root 1 0 R>>"))
	var seeds [][]byte
	for _, doc := range documents(t) {
		if b := read(t, doc); len(b) < 600_000 {
			seeds = append(seeds, b)
		}
	}
	for i := range n {
		b := bytes.Clone(seeds[i%len(seeds)])
		for range 1 + r.IntN(200) {
			b[r.IntN(len(b))] = byte(r.Uint32())
		}
		try(b)
	}
	must(t, c.Close())
	report(t, "%d documents, %d shown, the slowest answered in %v, server at most %.1f MB", n+3, shown, slowest.Round(time.Millisecond), float64(most)/1e6)
	if first != 1 || slowest > 12*time.Second || most > 64e6 {
		t.Errorf("first %d, slowest %v, %.1f MB", first, slowest, float64(most)/1e6)
	}
}
