//go:build linux

package faults

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"image"
	"image/color"
	"image/draw"
	"image/gif"
	"image/jpeg"
	"image/png"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/sergeymakinen/go-bmp"
	"github.com/sergeymakinen/go-ico"
	"golang.org/x/image/font"
	"golang.org/x/image/font/gofont/goregular"
	"golang.org/x/image/font/opentype"
	"golang.org/x/image/math/fixed"
	"golang.org/x/image/tiff"

	"github.com/fsmcp/fsmcp/internal/mcptest"
)

// engines are the ways to decode that are tested: without C, and, where it is
// installed, with libvips.
func engines(t *testing.T) map[string][]string {
	t.Helper()
	all := map[string][]string{"go": {"FSMCP_VIPS=/nowhere"}}
	if exec.Command("pkg-config", "--exists", "vips").Run() != nil {
		fmt.Printf("%s: !!! NOT TESTED with libvips, which is not installed !!!\n", t.Name())
		return all
	}
	vips := filepath.Join(t.TempDir(), "fsmcp-vips")
	cmd := exec.Command("go", "build", "-tags", "vips", "-o", vips, "github.com/fsmcp/fsmcp/cmd/fsmcp-vips")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=1")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	all["vips"] = []string{"FSMCP_VIPS=" + vips}
	return all
}

// displayed is the image of an answer.
func displayed(t testing.TB, res mcptest.Result) (raw []byte, mime string) {
	t.Helper()
	var answer struct {
		Content []struct{ Type, Data, MimeType string }
	}
	must(t, json.Unmarshal(res.Raw, &answer))
	if len(answer.Content) < 2 || answer.Content[0].Type != "text" {
		t.Fatalf("an answer of %d blocks", len(answer.Content))
	}
	for _, b := range answer.Content {
		if b.Type == "image" {
			out, err := base64.StdEncoding.DecodeString(b.Data)
			must(t, err)
			if tokens := (len(b.Data) + 7) / 8; tokens > 83_334 || len(out) > 3_932_160 {
				t.Errorf("an image of %d bytes, %d tokens", len(out), tokens)
			}
			return out, b.MimeType
		}
	}
	t.Fatal("no image")
	return nil, ""
}

var fileKinds = []string{"png", "jpg", "gif", "bmp", "ico", "tiff"}

func encode(t testing.TB, kind string, img image.Image) []byte {
	t.Helper()
	var b bytes.Buffer
	var err error
	switch kind {
	case "png":
		err = png.Encode(&b, img)
	case "jpg":
		err = jpeg.Encode(&b, img, &jpeg.Options{Quality: 90})
	case "gif":
		err = gif.Encode(&b, img, &gif.Options{NumColors: 64})
	case "bmp":
		err = bmp.Encode(&b, img)
	case "ico":
		err = ico.Encode(&b, img)
	case "tiff":
		err = tiff.Encode(&b, img, &tiff.Options{Compression: tiff.Deflate})
	}
	must(t, err)
	return b.Bytes()
}

// random is a picture of some size and unrest.
func random(r *rand.Rand, w, h int) image.Image {
	img := image.NewNRGBA(image.Rect(0, 0, w, h))
	grain := r.IntN(3) * 60
	for y := range h {
		for x := range w {
			v := uint8(x*255/w) ^ uint8(y*3)&0x1f
			if grain > 0 {
				v += uint8(r.IntN(grain))
			}
			img.SetNRGBA(x, y, color.NRGBA{v, uint8(y * 255 / h), 255 - v, 255})
		}
	}
	return img
}

// TestPicturesKeepTheLimits reads generated and mutated images of every kind:
// what comes is within the limits, whole, and never enlarged; what fits is not
// touched; what is cut short is refused.
func TestPicturesKeepTheLimits(t *testing.T) {
	n := count(t, "FSMCP_PICTURES", 60)
	for name, env := range engines(t) {
		p := newPlace(t)
		c := p.start(t, env...)
		r := rand.New(rand.NewPCG(11, 12))
		shown, refused, untouched := 0, 0, 0
		for i := range n {
			kind := fileKinds[i%len(fileKinds)]
			w, h := 1+r.IntN(700), 1+r.IntN(500)
			switch {
			case kind == "ico":
				w, h = 1+r.IntN(255), 1+r.IntN(255)
			case i%17 == 0:
				w = 2000 + r.IntN(1500)
			case i%19 == 0:
				h = 2000 + r.IntN(1500)
			}
			whole := encode(t, kind, random(r, w, h))
			b := bytes.Clone(whole)
			cut := i%5 == 1
			switch {
			case cut:
				b = b[:len(b)/4+r.IntN(len(b)/2)]
			case i%5 == 2:
				for range 1 + r.IntN(6) {
					b[r.IntN(len(b))] = byte(r.Uint32())
				}
			}
			file := p.file("x." + kind)
			must(t, os.WriteFile(file, b, 0o666))
			res, err := c.Call("Read", args{"file_path": file})
			must(t, err)
			if res.IsError {
				refused++
				if !slices.Contains([]string{"broken_file", "too_large", "binary"}, res.Slug) || bytes.Equal(b, whole) {
					t.Errorf("%s: %s of %dx%d: %d %s", name, kind, w, h, res.Code, clip(res.Text))
				}
				continue
			}
			if !bytes.Contains(res.Raw, []byte(`"type":"image"`)) { // it became a text
				continue
			}
			raw, mime := displayed(t, res)
			if cut {
				t.Errorf("%s: a %s cut to %d of %d bytes is shown", name, kind, len(b), len(whole))
			}
			shown++
			if bytes.Equal(raw, b) {
				untouched++
				continue
			}
			got, _, err := image.DecodeConfig(bytes.NewReader(raw))
			if err != nil || got.Width > 2000 || got.Height > 2000 || bytes.Equal(b, whole) && (got.Width > w || got.Height > h) {
				t.Errorf("%s: %s of %dx%d as %s: %+v %v", name, kind, w, h, mime, got, err)
			}
			if bytes.Equal(b, whole) && w <= 2000 && h <= 2000 && len(b) <= 500_000 && (kind == "png" || kind == "jpg" || kind == "gif") {
				t.Errorf("%s: a %s of %d bytes was touched", name, kind, len(b))
			}
		}
		must(t, c.Close())
		report(t, "%s: %d images, %d shown (%d untouched), %d refused", name, n, shown, untouched, refused)
		if shown < n/3 || refused < n/10 {
			t.Errorf("%d shown, %d refused", shown, refused)
		}
	}
}

// marked is a picture with a red square around a place.
func marked(w, h int, at image.Point) *image.NRGBA {
	img := image.NewNRGBA(image.Rect(0, 0, w, h))
	draw.Draw(img, img.Rect, image.NewUniform(color.NRGBA{40, 150, 150, 255}), image.Point{}, draw.Src)
	draw.Draw(img, image.Rect(at.X-12, at.Y-12, at.X+13, at.Y+13), image.NewUniform(color.NRGBA{250, 20, 20, 255}), image.Point{}, draw.Src)
	return img
}

// lying stores an upright picture as EXIF's orientation has it.
func lying(img *image.NRGBA, orientation int) *image.NRGBA {
	w, h := img.Rect.Dx(), img.Rect.Dy()
	if orientation >= 5 {
		w, h = h, w
	}
	out := image.NewNRGBA(image.Rect(0, 0, w, h))
	for y := range img.Rect.Dy() {
		for x := range img.Rect.Dx() {
			sx := [9]int{0, x, w - 1 - x, w - 1 - x, x, y, y, w - 1 - y, w - 1 - y}[orientation]
			sy := [9]int{0, y, y, h - 1 - y, h - 1 - y, x, h - 1 - x, h - 1 - x, x}[orientation]
			out.SetNRGBA(sx, sy, img.NRGBAAt(x, y))
		}
	}
	return out
}

// withExif puts an orientation into a JPEG or PNG.
func withExif(kind string, b []byte, orientation int) []byte {
	exif := append([]byte("MM\x00*\x00\x00\x00\x08\x00\x01\x01\x12\x00\x03\x00\x00\x00\x01\x00"), byte(orientation), 0, 0, 0, 0, 0, 0)
	if kind == "jpg" {
		seg := append([]byte("\xff\xd8\xff\xe1\x00\x22Exif\x00\x00"), exif...)
		return append(seg, b[2:]...)
	}
	chunk := append([]byte("eXIf"), exif...)
	out := binary.BigEndian.AppendUint32(bytes.Clone(b[:33]), uint32(len(exif)))
	out = binary.BigEndian.AppendUint32(append(out, chunk...), crc32.ChecksumIEEE(chunk))
	return append(out, b[33:]...)
}

// redMiddle is the middle of what is red.
func redMiddle(img image.Image) (x, y float64) {
	n := 0.0
	b := img.Bounds()
	for py := range b.Dy() {
		for px := range b.Dx() {
			r, g, _, _ := img.At(b.Min.X+px, b.Min.Y+py).RGBA()
			if w := (float64(r)-float64(g))/65535 + 0.43; w > 0.1 {
				x, y, n = x+w*float64(px), y+w*float64(py), n+w
			}
		}
	}
	return x / n, y / n
}

var (
	oneFactor  = regexp.MustCompile(`Multiply coordinates by ([0-9.]+)`)
	twoFactors = regexp.MustCompile(`Multiply x by ([0-9.]+) and y by ([0-9.]+)`)
	added      = regexp.MustCompile(`and add (\d+),(\d+) to map`)
)

// mapped takes a place as the answer's line says.
func mapped(t *testing.T, text string, x, y float64) (float64, float64) {
	t.Helper()
	number := func(s string) float64 {
		v, err := strconv.ParseFloat(s, 64)
		must(t, err)
		return v
	}
	fx, fy := 1.0, 1.0
	if m := oneFactor.FindStringSubmatch(text); m != nil {
		fx, fy = number(m[1]), number(m[1])
	} else if m := twoFactors.FindStringSubmatch(text); m != nil {
		fx, fy = number(m[1]), number(m[2])
	}
	// A pixel's coordinate is its middle's.
	x, y = (x+0.5)*fx-0.5, (y+0.5)*fy-0.5
	if m := added.FindStringSubmatch(text); m != nil {
		x, y = x+number(m[1]), y+number(m[2])
	}
	return x, y
}

// TestCoordinatesMapBack: a marker's place in what is shown, taken as the
// answer's own line says, is its place in the original: all eight orientations,
// with and without zoom.
func TestCoordinatesMapBack(t *testing.T) {
	n := count(t, "FSMCP_COORDINATES", 32)
	for name, env := range engines(t) {
		p := newPlace(t)
		c := p.start(t, env...)
		r := rand.New(rand.NewPCG(21, 22))
		worst := 0.0
		for i := range n {
			kind := []string{"png", "jpg"}[i%2]
			orientation := 1 + i/2%8
			w, h := 300+r.IntN(3700), 300+r.IntN(1700)
			at := image.Pt(20+r.IntN(w-40), 20+r.IntN(h-40))
			file := p.file("m." + kind)
			must(t, os.WriteFile(file, withExif(kind, encode(t, kind, lying(marked(w, h, at), orientation)), orientation), 0o666))
			a := args{"file_path": file}
			if i%3 == 0 {
				a["region"] = fmt.Sprintf("%d,%d,%d,%d", at.X-14-r.IntN(200), at.Y-14-r.IntN(200), 230+r.IntN(2500), 230+r.IntN(900))
			}
			res := mustCall(t, c, "Read", a)
			raw, _ := displayed(t, res)
			img, _, err := image.Decode(bytes.NewReader(raw))
			must(t, err)
			x, y := redMiddle(img)
			x, y = mapped(t, res.Text, x, y)
			off := max(math.Abs(x-float64(at.X)), math.Abs(y-float64(at.Y)))
			if worst = max(worst, off); !(off <= 2) {
				t.Errorf("%s: %s %dx%d, orientation %d, %v: the marker at %v is found at %.1f,%.1f\n%s", name, kind, w, h, orientation, a["region"], at, x, y, res.Text)
			}
		}
		must(t, c.Close())
		report(t, "%s: %d places, at most %.2f pixels off", name, n, worst)
	}
}

const prose = `The quick brown fox jumps over the lazy dog while seven wizards quietly measure the height of every mountain
Settings Preferences Account Network Storage Keyboard Display Language Privacy Security Updates Backup Restore Export
Every morning the librarian opened the heavy wooden door and counted the books that had been returned during the night
Invoice number customer address delivery amount total payment received balance account reference discount shipping
A river that forgets its source will soon run dry said the old fisherman before he pushed his boat into the water
Error connection refused while reading response header from upstream please check the server configuration and retry
Several independent measurements confirmed that the temperature increased steadily between April and September
Copyright notice redistribution and use in source and binary forms with or without modification are permitted`

// screenshot is a page of known text as a screen shows it.
func screenshot(t *testing.T, w, h int, px float64) (image.Image, []string) {
	t.Helper()
	parsed, err := opentype.Parse(goregular.TTF)
	must(t, err)
	face, err := opentype.NewFace(parsed, &opentype.FaceOptions{Size: px, DPI: 72, Hinting: font.HintingFull})
	must(t, err)
	img := image.NewRGBA(image.Rect(0, 0, w, h))
	draw.Draw(img, img.Rect, image.White, image.Point{}, draw.Src)
	d := font.Drawer{Dst: img, Src: image.NewUniform(color.Gray{30}), Face: face}
	var words []string
	lines := strings.Split(prose, "\n")
	for i, y := 0, 40.0; y < float64(h)-30 && i < 24; i, y = i+1, y+px*2.2 {
		line := lines[i%len(lines)]
		d.Dot = fixed.P(40, int(y))
		d.DrawString(line)
		words = append(words, strings.Fields(line)...)
	}
	return img, words
}

// recognised is the share of words that tesseract finds.
func recognised(t *testing.T, file string, words []string) float64 {
	t.Helper()
	out, err := exec.Command("tesseract", file, "-", "--psm", "6").Output()
	must(t, err)
	found := map[string]int{}
	for _, w := range strings.Fields(strings.ToLower(string(out))) {
		found[strings.Trim(w, ".,:;'\"|")]++
	}
	hits := 0
	for _, w := range words {
		if w = strings.ToLower(w); found[w] > 0 {
			found[w]--
			hits++
		}
	}
	return float64(hits) / float64(len(words))
}

// TestScreenshotsStayLegible: what tesseract reads in the picture that a model
// is shown is no worse than in the original scaled once by libvips.
func TestScreenshotsStayLegible(t *testing.T) {
	for _, tool := range []string{"tesseract", "vips"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("!!! NOT TESTED: %s is missing !!!", tool)
		}
	}
	sizes := []image.Point{{2560, 1440}, {3840, 2160}}
	types := []float64{12}
	if count(t, "FSMCP_SCREENSHOTS", 1) > 1 {
		sizes = []image.Point{{1920, 1080}, {2560, 1440}, {3840, 2160}}
		types = []float64{9, 10, 11, 12, 13, 14}
	}
	for name, env := range engines(t) {
		p := newPlace(t)
		c := p.start(t, env...)
		for _, size := range sizes {
			for _, px := range types {
				img, words := screenshot(t, size.X, size.Y, px*float64(size.X)/1920)
				file := p.file("s.png")
				must(t, os.WriteFile(file, encode(t, "png", img), 0o666))
				raw, mime := displayed(t, mustCall(t, c, "Read", args{"file_path": file}))
				ours := p.file("ours." + strings.TrimPrefix(mime, "image/"))
				must(t, os.WriteFile(ours, raw, 0o666))
				got, _, err := image.DecodeConfig(bytes.NewReader(raw))
				must(t, err)
				theirs := p.file("theirs.png")
				scale := float64(got.Width) / float64(size.X)
				if out, err := exec.Command("vips", "resize", file, theirs, fmt.Sprint(scale), "--kernel", "lanczos3").CombinedOutput(); err != nil {
					t.Fatalf("%v %s", err, out)
				}
				a, b := recognised(t, ours, words), recognised(t, theirs, words)
				report(t, "%s: %dx%d, %2.0f px: %s of %dx%d, %d bytes, words %.3f, by libvips %.3f", name, size.X, size.Y, px, mime, got.Width, got.Height, len(raw), a, b)
				if a < b-0.02 {
					t.Errorf("%s: %v at %.0f px: %.3f against %.3f", name, size, px, a, b)
				}
			}
		}
		must(t, c.Close())
	}
}

// children are the processes whose parent is pid.
func children(pid int) (out []int) {
	stats, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, name := range stats {
		b, err := os.ReadFile(name)
		if err != nil {
			continue
		}
		fields := strings.Fields(string(b[bytes.LastIndexByte(b, ')')+1:]))
		if len(fields) > 1 && fields[1] == strconv.Itoa(pid) && fields[0] != "Z" {
			if id, err := strconv.Atoi(strings.Split(name, "/")[2]); err == nil {
				out = append(out, id)
			}
		}
	}
	return out
}

// resident is a process's memory in bytes.
func resident(t testing.TB, pid int) int {
	t.Helper()
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/statm", pid))
	must(t, err)
	pages, err := strconv.Atoi(strings.Fields(string(b))[1])
	must(t, err)
	return pages * os.Getpagesize()
}

// TestWorkersMayBeKilledAtAnyTime kills and stops workers at random: every call
// gets a right answer or a clear error, and the server does not notice.
func TestWorkersMayBeKilledAtAnyTime(t *testing.T) {
	n := count(t, "FSMCP_WORKER_KILLS", 30)
	for name, env := range engines(t) {
		p := newPlace(t)
		c := p.start(t, env...)
		r := rand.New(rand.NewPCG(31, 32))
		file := p.file("k.jpg")
		must(t, os.WriteFile(file, encode(t, "jpg", random(r, 2400, 1600)), 0o666))
		right, wrong := 0, 0
		for i := range n {
			done := make(chan struct{})
			go func() {
				defer close(done)
				time.Sleep(time.Duration(r.IntN(900)) * time.Millisecond)
				signal := syscall.SIGKILL
				switch i % 3 {
				case 1:
					signal = syscall.SIGSTOP
				case 2:
					signal = syscall.SIGSEGV
				}
				for _, pid := range children(c.PID()) {
					syscall.Kill(pid, signal)
				}
			}()
			begin := time.Now()
			res, err := c.Call("Read", args{"file_path": file})
			must(t, err)
			<-done
			if took := time.Since(begin); took > 12*time.Second {
				t.Errorf("%s: answered after %v", name, took)
			}
			if res.IsError {
				wrong++
				if res.Slug != "io" || !strings.Contains(res.Text, "Make the same call again") {
					t.Errorf("%s: %d %s %s", name, res.Code, res.Slug, res.Text)
				}
				continue
			}
			right++
			if raw, _ := displayed(t, res); len(raw) < 1000 {
				t.Errorf("%s: %d bytes", name, len(raw))
			}
		}
		must(t, c.Close())
		report(t, "%s: %d calls, %d right answers, %d clear errors", name, n, right, wrong)
		if right == 0 {
			t.Errorf("%s: no right answer", name)
		}
	}
}

// bomb is a PNG that says it is large and packs to nothing.
func bombs(t *testing.T) map[string][]byte {
	out := map[string][]byte{
		"flat.png":    encode(t, "png", image.NewPaletted(image.Rect(0, 0, 9900, 9900), color.Palette{color.Black, color.White})),
		"flat.gif":    encode(t, "gif", image.NewPaletted(image.Rect(0, 0, 9000, 9000), color.Palette{color.Black, color.White})),
		"flat.tiff":   encode(t, "tiff", image.NewGray(image.Rect(0, 0, 9000, 9000))),
		"deep.png":    encode(t, "png", image.NewNRGBA64(image.Rect(0, 0, 6000, 5000))),
		"pretend.png": []byte("<svg xmlns='http://www.w3.org/2000/svg' width='99999' height='99999'><rect width='1' height='1'/></svg>"),
		"pdf.png":     []byte("%PDF-1.4\n1 0 obj<</Type/Catalog>>endobj\ntrailer<</Root 1 0 R>>"),
	}
	lie := bytes.Clone(out["flat.png"])
	binary.BigEndian.PutUint32(lie[16:], 0x7fffffff)
	out["lie.png"] = lie
	huge := encode(t, "gif", image.NewPaletted(image.Rect(0, 0, 10, 10), color.Palette{color.Black, color.White}))
	binary.LittleEndian.PutUint16(huge[6:], 65535)
	binary.LittleEndian.PutUint16(huge[8:], 65535)
	out["huge.gif"] = huge
	webp := append([]byte("RIFF\x30\x00\x00\x00WEBPVP8X\x0a\x00\x00\x00\x00\x00\x00\x00\xff\x3f\x00\xff\x3f\x00VP8L\x0e\x00\x00\x00\x2f\xff\xff\xff\x0f"), make([]byte, 12)...)
	out["webp.webp"] = webp
	garbage := make([]byte, 32<<20)
	r := rand.New(rand.NewPCG(41, 42))
	for i := 0; i < len(garbage); i += 8 {
		binary.LittleEndian.PutUint64(garbage[i:], r.Uint64())
	}
	copy(garbage, "\xff\xd8\xff\xe0")
	out["garbage.jpg"] = garbage
	pixels := bytes.Clone(garbage)
	copy(pixels, encode(t, "png", image.NewGray(image.Rect(0, 0, 50, 50)))[:33])
	out["garbage.png"] = pixels
	return out
}

// TestHostilePictures: whatever an image holds, each call is answered, and the
// server stays small.
func TestHostilePictures(t *testing.T) {
	n := count(t, "FSMCP_HOSTILE_PICTURES", 100)
	files := bombs(t)
	var names []string
	for name := range files {
		names = append(names, name)
	}
	slices.Sort(names)
	for name, env := range engines(t) {
		p := newPlace(t)
		c := p.start(t, env...)
		most, slowest := 0, time.Duration(0)
		try := func(file string) mcptest.Result {
			begin := time.Now()
			res, err := c.Call("Read", args{"file_path": file})
			if err != nil {
				t.Fatalf("%s: %s: %v", name, file, err)
			}
			slowest = max(slowest, time.Since(begin))
			most = max(most, resident(t, c.PID()))
			return res
		}
		for _, f := range names {
			file := p.file(f)
			must(t, os.WriteFile(file, files[f], 0o666))
			res := try(file)
			if strings.HasPrefix(f, "garbage") && !res.IsError || f == "lie.png" && res.Slug != "too_large" || f == "huge.gif" && res.Slug != "too_large" || f == "webp.webp" && res.Slug != "too_large" {
				t.Errorf("%s: %s: %d %s %s", name, f, res.Code, res.Slug, clip(res.Text))
			}
			if f == "pretend.png" && !strings.Contains(res.Text, "<svg") {
				t.Errorf("%s: an SVG called .png: %s", name, clip(res.Text))
			}
			must(t, os.Remove(file))
		}
		r := rand.New(rand.NewPCG(51, 52))
		var seeds [][]byte
		for _, kind := range fileKinds {
			seeds = append(seeds, encode(t, kind, random(r, 90, 70)))
		}
		for i := range n {
			b := bytes.Clone(seeds[i%len(seeds)])
			for range 1 + r.IntN(20) {
				b[r.IntN(len(b))] = byte(r.Uint32())
			}
			if i%3 == 0 {
				from := r.IntN(len(b))
				b = append(b[:from], b[min(len(b), from+r.IntN(40)):]...)
			}
			file := p.file("h." + fileKinds[i%len(fileKinds)])
			must(t, os.WriteFile(file, b, 0o666))
			try(file)
		}
		must(t, c.Close())
		report(t, "%s: %d files, the slowest answered in %v, server at most %.1f MB", name, n+len(names), slowest.Round(time.Millisecond), float64(most)/1e6)
		if slowest > 12*time.Second || most > 64e6 {
			t.Errorf("%s: %v, %.1f MB", name, slowest, float64(most)/1e6)
		}
	}
}
