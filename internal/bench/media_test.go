//go:build linux

package bench

import (
	"bytes"
	_ "embed"
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"image/jpeg"
	"image/png"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/image/font"
	"golang.org/x/image/font/gofont/goregular"
	"golang.org/x/image/font/opentype"
	"golang.org/x/image/math/fixed"
	"golang.org/x/sys/unix"

	"github.com/fsmcp/fsmcp/internal/mcptest"
	"github.com/fsmcp/fsmcp/internal/media/pdftest"
)

// sharpVersion is the release of sharp that is measured beside fsmcp.
const sharpVersion = "0.35.5"

// sharpJob does fsmcp's work on a picture with sharp.
//
//go:embed sharp.js
var sharpJob []byte

// buildDecoder finds the program that decodes beside a given fsmcp, else builds it.
func buildDecoder(t *testing.T, b bins) string {
	t.Helper()
	path := filepath.Join(filepath.Dir(b.fsmcp), "fsmcp-media")
	if _, err := os.Stat(path); err != nil {
		compile(t, path, "github.com/fsmcp/fsmcp/cmd/fsmcp-media", "CGO_ENABLED=0")
	}
	return path
}

// buildVips finds or builds fsmcp-vips likewise; "" if libvips is not installed.
func buildVips(t *testing.T, b bins) string {
	t.Helper()
	if exec.Command("pkg-config", "--exists", "vips").Run() != nil {
		fmt.Println("!!! NOT MEASURED with libvips: it is not installed !!!")
		return ""
	}
	path := filepath.Join(filepath.Dir(b.fsmcp), "fsmcp-vips")
	if _, err := os.Stat(path); err != nil {
		compile(t, path, "github.com/fsmcp/fsmcp/cmd/fsmcp-vips", "CGO_ENABLED=1", "GOFLAGS=-tags=vips")
	}
	return path
}

// media measures pictures and PDFs.
func media(t *testing.T, r run, b bins, env []string, tb *table) {
	cache := filepath.Join(os.TempDir(), "fsmcp-bench-cache")
	env = append(slices.Clone(env), "FSMCP_MEDIA="+buildDecoder(t, b), "XDG_CACHE_HOME="+cache, "FSMCP_DEDUP=false")
	dir := t.TempDir()
	pictures := samplePictures(t, r, dir)
	// Else pages of text alone would come without the pictures that are measured.
	must(t, os.Mkdir(filepath.Join(dir, ".fsmcp"), 0o755))
	write(t, filepath.Join(dir, ".fsmcp", "settings.json"), []byte(`{"pdf": {"images": "always"}}`))
	pure := spawn(t, b.fsmcp, append(slices.Clone(env), "FSMCP_VIPS="+filepath.Join(dir, "no-such-program")), "serve", dir)
	pure.shake()
	defer pure.close()
	other := sharp(t, r)
	if other != nil {
		defer other.close()
	}
	besideSharp(t, r, "", pure, other, pictures, tb)
	if vips := buildVips(t, b); vips != "" {
		p := spawn(t, b.fsmcp, append(slices.Clone(env), "FSMCP_VIPS="+vips), "serve", dir)
		p.shake()
		for i := range pictures {
			pictures[i].bound = pictures[i].vips
		}
		besideSharp(t, r, ", by libvips", p, other, pictures, tb)
		p.close()
	}
	handedOn(t, r, b, env, pure, dir, tb)
	besidePoppler(t, r, pure, dir, tb)
	besideDecoding(t, r, pure, pictures[0].path, dir, tb)
	workers := 0.0
	for _, id := range mcptest.Children(pure.cmd.Process.Pid) {
		workers = max(workers, statusOf(t, id, "VmHWM")/1e6)
	}
	time.Sleep(300 * time.Millisecond)
	tb.row("resident memory after all of it", pure.memory("VmRSS")/1e6, 24, "MB", fmt.Sprintf("peak %.1f MB", pure.memory("VmHWM")/1e6))
	tb.row("  peak of its workers", workers, 512, "MB", "")
	firstPDF(t, r, b, env, dir, tb)
}

// sample is a picture to be shown.
type sample struct {
	what, path string
	bound      float64 // times sharp; 0: none
	vips       float64 // with libvips
	least      int     // bytes of base64 that an answer has at least
}

// samplePictures makes the pictures of the specification, a quarter of their
// sides in the short run: what a camera sees, and what a screen shows.
func samplePictures(t *testing.T, r run, dir string) []sample {
	t.Helper()
	w, h, pw, ph := 6000, 4000, 4000, 3000
	if !r.full {
		w, h, pw, ph = 3000, 2000, 2400, 1800
	}
	name := func(s string) string { return filepath.Join(dir, s) }
	var b bytes.Buffer
	must(t, jpeg.Encode(&b, landscape(w, h), &jpeg.Options{Quality: 92}))
	write(t, name("camera.jpg"), b.Bytes())
	b.Reset()
	fast := png.Encoder{CompressionLevel: png.DefaultCompression}
	must(t, fast.Encode(&b, landscape(pw, ph)))
	write(t, name("camera.png"), b.Bytes())
	b.Reset()
	must(t, fast.Encode(&b, screen(t, pw, ph, 4)))
	write(t, name("screen.png"), b.Bytes())
	b.Reset()
	must(t, fast.Encode(&b, screen(t, pw, ph, 1)))
	write(t, name("dense.png"), b.Bytes())
	mp := func(w, h int) string { return fmt.Sprintf("%.0f-megapixel", float64(w*h)/1e6) }
	return []sample{
		{mp(w, h) + " JPEG", name("camera.jpg"), 1.85, 1.2, 100_000},
		{mp(pw, ph) + " PNG of a camera", name("camera.png"), 3.5, 1.6, 100_000},
		{mp(pw, ph) + " PNG of a screen", name("screen.png"), 3.5, 1.6, 50_000},
		{mp(pw, ph) + " PNG full of text", name("dense.png"), 0, 0, 50_000},
	}
}

// landscape is a picture with soft and hard places and a sensor's noise.
func landscape(w, h int) *image.NRGBA {
	r := rand.New(rand.NewPCG(3, 4))
	img := image.NewNRGBA(image.Rect(0, 0, w, h))
	type layer struct {
		cell  int
		size  float64
		cols  int
		value []float64
	}
	var layers []layer
	for _, l := range []layer{{cell: 1500, size: 70}, {cell: 400, size: 30}, {cell: 60, size: 12}, {cell: 12, size: 6}} {
		l.cols = w/l.cell + 2
		l.value = make([]float64, 3*l.cols*(h/l.cell+2))
		for i := range l.value {
			l.value[i] = l.size * (2*r.Float64() - 1)
		}
		layers = append(layers, l)
	}
	for y := range h {
		for x := range w {
			p := img.Pix[y*img.Stride+4*x:][:4:4]
			var v [3]float64
			for _, l := range layers {
				gx, gy := x/l.cell, y/l.cell
				fx, fy := float64(x%l.cell)/float64(l.cell), float64(y%l.cell)/float64(l.cell)
				for c := range v {
					at := func(dx, dy int) float64 { return l.value[3*((gy+dy)*l.cols+gx+dx)+c] }
					v[c] += (at(0, 0)*(1-fx)+at(1, 0)*fx)*(1-fy) + (at(0, 1)*(1-fx)+at(1, 1)*fx)*fy
				}
			}
			if (x/97+y/61)%9 == 0 { // edges
				v[0], v[1], v[2] = v[0]*0.4-20, v[1]*0.4-20, v[2]*0.4-20
			}
			noise := float64(r.Uint32()&7) - 3.5
			for c := range v {
				p[c] = uint8(min(max(128+v[c]+noise, 0), 255))
			}
			p[3] = 255
		}
	}
	return img
}

// screen draws a screen: areas of one colour, and text in a number of columns.
func screen(t testing.TB, w, h, columns int) *image.NRGBA {
	t.Helper()
	img := image.NewNRGBA(image.Rect(0, 0, w, h))
	draw.Draw(img, img.Rect, image.NewUniform(color.NRGBA{250, 250, 252, 255}), image.Point{}, draw.Src)
	for i := range 12 {
		at := image.Rect(0, 0, w/5, h/14).Add(image.Pt(20, 20+i*h/13))
		draw.Draw(img, at, image.NewUniform(color.NRGBA{uint8(40 * i), uint8(200 - 10*i), 180, 255}), image.Point{}, draw.Src)
	}
	parsed, err := opentype.Parse(goregular.TTF)
	must(t, err)
	face, err := opentype.NewFace(parsed, &opentype.FaceOptions{Size: 24, DPI: 72, Hinting: font.HintingFull})
	must(t, err)
	d := font.Drawer{Dst: img, Src: image.NewUniform(color.NRGBA{20, 24, 40, 255}), Face: face}
	r := rand.New(rand.NewPCG(5, 6))
	for y := 50; y < h-20; y += 34 {
		d.Dot = fixed.P(w/4, y)
		for d.Dot.X < fixed.I(w/4+(3*w/4-200)/columns) {
			word := make([]byte, 2+r.IntN(8))
			for i := range word {
				word[i] = "etaoinshrdlucmfwypvbgkjqxz0123456789(){};="[r.IntN(42)]
			}
			d.DrawString(string(word) + " ")
		}
	}
	return img
}

// sharp starts a program that does sharp's job for each path it is sent; nil
// where sharp cannot be had. The short run does not fetch it.
func sharp(t *testing.T, r run) *peer {
	t.Helper()
	cache, err := os.UserCacheDir()
	if err != nil {
		cache = os.TempDir()
	}
	dir := filepath.Join(cache, "fsmcp-bench", "sharp-"+sharpVersion)
	if _, err := os.Stat(filepath.Join(dir, "node_modules", "sharp", "package.json")); err != nil {
		if !r.full {
			fmt.Println("!!! NOT MEASURED beside sharp: it is not there, and a short run does not fetch it !!!")
			return nil
		}
		if err := installSharp(dir); err != nil {
			fmt.Printf("!!! NOT MEASURED beside sharp: npm cannot install it: %v !!!\n", err)
			return nil
		}
	}
	script := filepath.Join(dir, "job.js")
	write(t, script, sharpJob)
	p := spawn(t, "node", nil, script)
	// Workers stand behind everything else on the machine: sharp, too, so that what
	// else runs slows both alike.
	unix.Setpriority(unix.PRIO_PROCESS, p.cmd.Process.Pid, 10)
	p.line() // it is ready
	return p
}

// installSharp installs sharp beside dir and renames it to dir when it is complete, so
// that another run never starts half of it.
func installSharp(dir string) error {
	if err := os.MkdirAll(filepath.Dir(dir), 0o777); err != nil {
		return err
	}
	fresh, err := os.MkdirTemp(filepath.Dir(dir), "installing-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(fresh)
	out, err := exec.Command("npm", "install", "--prefix", fresh, "--no-audit", "--no-fund", "--no-save", "sharp@"+sharpVersion).CombinedOutput()
	if err != nil {
		return fmt.Errorf("%w: %.300s", err, out)
	}
	return os.Rename(fresh, dir)
}

// settled waits until a program has finished the work after its answer, which the next
// measurement must not include.
const settled = 50 * time.Millisecond

// besideSharp compares a server with sharp; how says what the server decodes with. other is
// nil where sharp is not there.
func besideSharp(t *testing.T, r run, how string, p, other *peer, pictures []sample, tb *table) {
	for _, s := range pictures {
		var took, ratios, theirs []float64
		for i := range r.pictures + 1 {
			var base time.Duration
			size := 0
			time.Sleep(settled)
			if other != nil {
				begin := time.Now()
				other.write([]byte(s.path + "\n"))
				size = len(other.line())
				base = time.Since(begin)
			}
			time.Sleep(settled)
			one, answer := p.call("Read", map[string]any{"file_path": s.path})
			if !bytes.Contains(answer, []byte(`"type":"image"`)) || len(answer) < s.least {
				t.Fatalf("%.300s", answer)
			}
			if i == 0 {
				tb.aside("%s%s: %d KB of base64, sharp %d KB", s.what, how, len(answer)/1000, size/1000)
				continue // warming up
			}
			took = append(took, ms(one))
			if other != nil {
				theirs, ratios = append(theirs, ms(base)), append(ratios, float64(one)/float64(base))
			}
		}
		if other == nil || s.bound == 0 { // sharp does not look for what fits
			tb.note(s.what+how, median(took), "ms", fmt.Sprintf("median of %d; sharp %.0f ms", len(took), medianOf(theirs)))
			continue
		}
		tb.row(s.what+how+", times sharp", median(ratios), s.bound, "x", fmt.Sprintf("median of %d pairs: %.0f ms against %.0f ms", len(took), median(took), median(theirs)))
	}
}

// medianOf is a median, where there are any figures.
func medianOf(v []float64) float64 {
	if len(v) == 0 {
		return 0
	}
	return median(v)
}

// handedOn compares with a floor that reads the file and encodes it.
func handedOn(t *testing.T, r run, b bins, env []string, p *peer, dir string, tb *table) {
	const files = 60
	noise := image.NewNRGBA(image.Rect(0, 0, 256, 198))
	rnd := rand.New(rand.NewPCG(7, 8))
	for i := range noise.Pix {
		noise.Pix[i] = byte(rnd.Uint32())
	}
	var packed bytes.Buffer
	must(t, png.Encode(&packed, noise))
	for i := range files {
		write(t, filepath.Join(dir, fmt.Sprintf("p%02d.png", i)), packed.Bytes())
	}
	floor := spawn(t, b.floor, env)
	floor.shake()
	var ratios, ours, theirs []float64
	for i := range r.reads {
		path := filepath.Join(dir, fmt.Sprintf("p%02d.png", i%files))
		one, answer := p.call("Read", map[string]any{"file_path": path})
		base, _ := floor.call("echo", map[string]any{"file": path})
		if len(answer) < packed.Len() {
			t.Fatalf("%.300s", answer)
		}
		if i < r.reads/10 {
			continue
		}
		ours, theirs, ratios = append(ours, ms(one)), append(theirs, ms(base)), append(ratios, float64(one)/float64(base))
	}
	floor.close()
	tb.row(fmt.Sprintf("PNG of %d KB as it is, times the floor", packed.Len()/1000), median(ratios), 1.3, "x", fmt.Sprintf("median of %d pairs: %.3f ms against %.3f ms", len(ours), median(ours), median(theirs)))
}

// papers are documents of several kinds that come with the library that cuts
// PDFs.
func papers(t *testing.T, dir string) (out []string) {
	t.Helper()
	where, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "github.com/pdfcpu/pdfcpu").Output()
	must(t, err)
	for _, name := range []string{"TheGoProgrammingLanguageCh1", "gobook.0", "ECSTR11-01", "BuildingWebappsWithGo", "xdp_2.0", "go-lecture"} {
		b, err := os.ReadFile(filepath.Join(strings.TrimSpace(string(where)), "pkg", "testdata", name+".pdf"))
		must(t, err)
		path := filepath.Join(dir, name+".pdf")
		write(t, path, b)
		out = append(out, path)
	}
	return out
}

// besidePoppler compares two calls of five pages each with poppler's two
// programs, each of ten pages.
func besidePoppler(t *testing.T, r run, p *peer, dir string, tb *table) {
	for _, tool := range []string{"pdftotext", "pdftoppm"} {
		if _, err := exec.LookPath(tool); err != nil {
			fmt.Printf("!!! NOT MEASURED beside poppler: %s is not installed !!!\n", tool)
			return
		}
	}
	docs := papers(t, dir)
	drawn := filepath.Join(t.TempDir(), "page")
	poppler := func(doc string) time.Duration {
		begin := time.Now()
		for _, cmd := range []*exec.Cmd{
			exec.Command("pdftotext", "-l", "10", doc, drawn+".txt"),
			exec.Command("pdftoppm", "-l", "10", "-scale-to", "1568", "-jpeg", "-jpegopt", "quality=80", doc, drawn),
		} {
			must(t, cmd.Start())
			unix.Setpriority(unix.PRIO_PROCESS, cmd.Process.Pid, 10) // as the workers are
			must(t, cmd.Wait())
		}
		return time.Since(begin)
	}
	read := func(doc string) (took time.Duration) {
		for _, pages := range []string{"1-5", "6-10"} {
			one, answer := p.call("Read", map[string]any{"file_path": doc, "pages": pages})
			if bytes.Count(answer, []byte(`"image/jpeg"`)) != 5 || bytes.Count(answer, []byte("--- page ")) != 5 {
				t.Fatalf("%s %s: %d pictures in %d bytes: %.300s", doc, pages, bytes.Count(answer, []byte(`"image/jpeg"`)), len(answer), answer)
			}
			took += one
		}
		return took
	}
	ours, theirs := make([][]float64, len(docs)), make([][]float64, len(docs))
	p.patiently("Read", map[string]any{"file_path": docs[0], "pages": "1"})
	read(docs[0]) // the worker is warm
	var ratios []float64
	for range r.documents {
		var sum, base time.Duration
		for k, doc := range docs {
			b, o := poppler(doc), read(doc)
			ours[k], theirs[k] = append(ours[k], ms(o)), append(theirs[k], ms(b))
			sum, base = sum+o, base+b
		}
		ratios = append(ratios, float64(sum)/float64(base))
	}
	for k, doc := range docs {
		tb.aside("%s: %.0f ms against %.0f ms", filepath.Base(doc), median(ours[k]), median(theirs[k]))
	}
	tb.row("ten PDF pages, times poppler", median(ratios), 1.8, "x", fmt.Sprintf("median of %d rounds of %d documents", len(ratios), len(docs)))
}

// besideDecoding compares reads of text while pictures are decoded with reads
// while none are.
func besideDecoding(t *testing.T, r run, p *peer, picture, dir string, tb *table) {
	text := bytes.Repeat([]byte("a line of text of sixty-four characters, as there are many of.\n"), 16)
	const files = 60
	for i := range files {
		write(t, name(dir, i), text)
	}
	pause := func() { time.Sleep(500 * time.Microsecond) } // as clients come, not all the time
	quiet := func() float64 {
		var took []float64
		for i := range r.reads {
			one, _ := p.call("Read", map[string]any{"file_path": name(dir, i%files)})
			took = append(took, ms(one))
			pause()
		}
		return percentile(took, 0.99)
	}
	busy := func() float64 {
		var took []float64
		for len(took) < r.reads {
			p.write(p.request("Read", map[string]any{"file_path": picture}))
			waiting := fmt.Appendf(nil, `"id":%d,`, p.id)
			for done := false; !done; {
				request := p.request("Read", map[string]any{"file_path": name(dir, len(took)%files)})
				mine := fmt.Appendf(nil, `"id":%d,`, p.id)
				begin := time.Now()
				p.write(request)
				for {
					line := p.line()
					head := line[:min(len(line), 200)]
					if bytes.Contains(head, waiting) {
						done = true // what was waited for in vain does not count
						continue
					}
					if !bytes.Contains(head, mine) {
						t.Fatalf("answered %.300s", line)
					}
					break
				}
				if !done {
					took = append(took, ms(time.Since(begin)))
				}
				pause()
			}
		}
		return percentile(took, 0.99)
	}
	quiet()
	var ratios, with, without []float64
	for range r.busy {
		b, q := busy(), quiet()
		with, without, ratios = append(with, b), append(without, q), append(ratios, b/q)
	}
	tb.row("Read 1 KB while a picture is decoded, p99", median(ratios), 2, "x", fmt.Sprintf("median of %d pairs of %d reads: %.3f ms against %.3f ms", len(ratios), r.reads, median(with), median(without)))
}

func percentile(v []float64, share float64) float64 {
	s := slices.Clone(v)
	slices.Sort(s)
	return s[min(int(share*float64(len(s))), len(s)-1)]
}

// firstPDF measures the first document on a machine, and the first of a server
// where earlier ones have left compiled code.
func firstPDF(t *testing.T, r run, b bins, env []string, dir string, tb *table) {
	doc := filepath.Join(dir, "one.pdf")
	write(t, doc, onePage())
	first := func(cache string) (took, again time.Duration) {
		p := spawn(t, b.fsmcp, append(slices.Clone(env), "XDG_CACHE_HOME="+cache), "serve", dir)
		p.shake()
		took, _ = p.patiently("Read", map[string]any{"file_path": doc})
		again, _ = p.call("Read", map[string]any{"file_path": doc})
		p.close()
		return took, again
	}
	cache := t.TempDir()
	var empty, next, warm []float64
	for range r.firsts {
		must(t, os.RemoveAll(cache))
		one, _ := first(cache)
		empty = append(empty, ms(one)/1000)
		for range 3 {
			one, again := first(cache)
			next, warm = append(next, ms(one)), append(warm, ms(again))
		}
	}
	tb.row("the first PDF ever", median(empty), 4, "s", fmt.Sprintf("median of %d", len(empty)))
	tb.row("the first PDF of a server after that", median(next), 150, "ms", fmt.Sprintf("median of %d; the next one %.0f ms", len(next), median(warm)))
}

// onePage is a small document.
func onePage() []byte {
	return pdftest.File(
		"<</Type/Catalog/Pages 2 0 R>>",
		"<</Type/Pages/Kids[3 0 R]/Count 1>>",
		"<</Type/Page/Parent 2 0 R/MediaBox[0 0 595 842]/Contents 4 0 R/Resources<</Font<</F1 5 0 R>>>>>>",
		pdftest.Stream("", "BT /F1 24 Tf 72 700 Td (The only page of a small document) Tj ET"),
		"<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>",
	)
}
