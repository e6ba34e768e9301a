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

	"golang.org/x/image/draw"
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

// documents are real ones of many kinds, which come with the library that cuts
// PDFs: papers, standards, manuals, books, slides, forms, a scan, drawings.
func documents(t *testing.T) []string {
	t.Helper()
	out, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "github.com/pdfcpu/pdfcpu").Output()
	must(t, err)
	dir := filepath.Join(strings.TrimSpace(string(out)), "pkg", "testdata")
	var all []string
	for _, name := range []string{
		"jphysiol01396-0132", "pike-stanford", "Acroforms2", "itu-t81", "TheGoProgrammingLanguageCh1", "schmager_plateau10",
		"adobe_errata", "CenterOfWhy", "The_Go_Language_Gigon-Odienne-Wartel", "FOSDEM14_HPC_devroom_14_GoCUDA", "go-lecture",
		"Walden", "BuildingWebappsWithGo", "HL1396", "ECSTR11-01", "gobook.0", "GoForOptimization", "xdp_2.0",
		"adobe_supplement_iso32000_1", "VectorApple", "read.go", "Hybrid-PDF", "blank-scan", "annotTest",
	} {
		path := filepath.Join(dir, name+".pdf")
		if info, err := os.Stat(path); err == nil && info.Size() < 32<<20 {
			all = append(all, path)
		}
	}
	if len(all) < 15 {
		t.Fatalf("only %d documents", len(all))
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

// wordF1 compares two texts as bags of words.
func wordF1(a, b string) float64 {
	bag := func(s string) (map[string]int, int) {
		s = strings.NewReplacer("\u00ad", "", "ﬁ", "fi", "ﬂ", "fl", "ﬀ", "ff", "ﬃ", "ffi", "ﬄ", "ffl").Replace(s)
		words := map[string]int{}
		n := 0
		for _, w := range strings.Fields(s) {
			words[w]++
			n++
		}
		return words, n
	}
	wa, na := bag(a)
	wb, nb := bag(b)
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

// TestPDFsReadLikePoppler compares text and pictures of real documents' first
// pages with those of poppler's programs.
func TestPDFsReadLikePoppler(t *testing.T) {
	for _, tool := range []string{"pdftotext", "pdftoppm"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("!!! NOT TESTED: %s is missing !!!", tool)
		}
	}
	docs := documents(t)
	alike, drawn := 0, 0
	docs = docs[:min(len(docs), count(t, "FSMCP_PDFS", 3))]
	p := newPlace(t)
	c := p.start(t, companion(t)...)
	for _, doc := range docs {
		name := filepath.Base(doc)
		file := p.file(name)
		must(t, os.WriteFile(file, read(t, doc), 0o666))
		res, err := c.Call("Read", args{"file_path": file, "pages": "1-3"})
		must(t, err)
		if res.IsError {
			t.Errorf("%s: %d %s", name, res.Code, clip(res.Text))
			continue
		}
		var ours, theirs strings.Builder
		like := 1.0
		for i, pg := range pagesOf(t, res.Raw) {
			number := fmt.Sprint(i + 1)
			text, err := exec.Command("pdftotext", "-f", number, "-l", number, file, "-").Output()
			must(t, err)
			ours.WriteString(pg.text + "\n")
			theirs.Write(text)
			if pg.picture == nil {
				continue
			}
			raw, err := exec.Command("pdftoppm", "-f", number, "-l", number, "-scale-to", "1568", "-cropbox", "-png", file).Output()
			must(t, err)
			other, err := png.Decode(bytes.NewReader(raw))
			must(t, err)
			b := pg.picture.Bounds()
			w, h := 400, 400*b.Dy()/b.Dx()
			if h > w {
				w, h = 400*b.Dx()/b.Dy(), 400
			}
			like = min(like, ssim(small(pg.picture, w, h), small(other, w, h)))
		}
		f1 := wordF1(ours.String(), theirs.String())
		report(t, "%-44s words %.3f  pictures %.3f", name, f1, like)
		if words := len(strings.Fields(theirs.String())) > 20; f1 >= 0.98 && words {
			alike++
		} else if words && f1 < 0.9 {
			t.Errorf("%s: words %.3f", name, f1)
		}
		if like >= 0.95 {
			drawn++
		} else if like < 0.9 {
			t.Errorf("%s: pictures %.3f", name, like)
		}
	}
	must(t, c.Close())
	report(t, "%d of %d documents with words alike to 0.98, %d with pictures alike to 0.95", alike, len(docs), drawn)
	// The rest differ in what one takes for a word: small capitals, ligatures
	// without a name, lines of dots.
	if len(docs) >= 24 && (alike < 15 || drawn < 20) {
		t.Errorf("%d and %d of %d", alike, drawn, len(docs))
	}
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
