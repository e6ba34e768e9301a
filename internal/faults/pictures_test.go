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
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
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
	"github.com/fsmcp/fsmcp/internal/media/enginetest"
	"github.com/fsmcp/fsmcp/internal/shortrun"
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
	vips, err := build("fsmcp-vips", "-tags", "vips")
	must(t, err)
	all["vips"] = []string{"FSMCP_VIPS=" + vips}
	return all
}

// subject is a server that decodes by one engine.
type subject struct {
	name string
	c    *mcptest.Client
	place
	shown, refused, untouched int
	worst                     float64
}

// subjects are servers, one for each engine. What is made for a test is shown to
// all of them side by side.
func subjects(t *testing.T) (all []*subject) {
	t.Helper()
	for name, env := range engines(t) {
		p := newPlace(t)
		all = append(all, &subject{name: name, place: p, c: p.start(t, env...)})
	}
	return all
}

// side by side, for each of them.
func eachSubject(all []*subject, do func(*subject)) {
	var wg sync.WaitGroup
	for _, s := range all {
		wg.Go(func() { do(s) })
	}
	wg.Wait()
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
		err = (&png.Encoder{CompressionLevel: png.BestSpeed}).Encode(&b, img)
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
	n := count(t, "FSMCP_PICTURES", 40)
	all := subjects(t)
	r := rand.New(rand.NewPCG(11, 12))
	naive, cuts := 0, 0
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
		eachSubject(all, func(s *subject) { s.keepsTheLimits(t, kind, whole, b, w, h, cut) })
		if cut && cuts < 20 && kind != "bmp" && kind != "ico" {
			cuts++
			naive += naiveShows(t, all[0].file("x."+kind))
		}
	}
	for _, s := range all {
		must(t, s.c.Close())
		report(t, "%s: %d images, %d shown (%d untouched), %d refused", s.name, n, s.shown, s.untouched, s.refused)
		if s.shown < n/3 || s.refused < n/10 {
			t.Errorf("%s: %d shown, %d refused", s.name, s.shown, s.refused)
		}
	}
	// The control: a decoder that goes on where a file is cut short.
	if _, err := exec.LookPath("vips"); err != nil {
		fmt.Printf("%s: !!! NO CONTROL: vips is missing !!!\n", t.Name())
	} else if report(t, "libvips by itself shows %d of %d images that were cut short", naive, cuts); naive == 0 {
		t.Error("the naive way refuses all of them as well")
	}
}

// naiveShows is 1 where libvips by itself makes a picture of a file.
func naiveShows(t *testing.T, file string) int {
	if exec.Command("vips", "copy", file, filepath.Join(t.TempDir(), "shown.png")).Run() != nil {
		return 0
	}
	return 1
}

// keepsTheLimits reads b, which was made of a whole file.
func (s *subject) keepsTheLimits(t *testing.T, kind string, whole, b []byte, w, h int, cut bool) {
	file := s.file("x." + kind)
	if err := os.WriteFile(file, b, 0o666); err != nil {
		t.Error(err)
		return
	}
	res, err := s.c.Call("Read", args{"file_path": file})
	if err != nil {
		t.Error(err)
		return
	}
	if res.IsError {
		s.refused++
		if !slices.Contains([]string{"broken_file", "too_large", "binary"}, res.Slug) || bytes.Equal(b, whole) {
			t.Errorf("%s: %s of %dx%d: %d %s", s.name, kind, w, h, res.Code, clip(res.Text))
		}
		return
	}
	if !bytes.Contains(res.Raw, []byte(`"type":"image"`)) { // it became a text
		return
	}
	raw, mime := displayed(t, res)
	if cut {
		t.Errorf("%s: a %s cut to %d of %d bytes is shown", s.name, kind, len(b), len(whole))
	}
	s.shown++
	if bytes.Equal(raw, b) {
		s.untouched++
		return
	}
	got, _, err := image.DecodeConfig(bytes.NewReader(raw))
	if err != nil || got.Width > 2000 || got.Height > 2000 || bytes.Equal(b, whole) && (got.Width > w || got.Height > h) {
		t.Errorf("%s: %s of %dx%d as %s: %+v %v", s.name, kind, w, h, mime, got, err)
	}
	if bytes.Equal(b, whole) && w <= 2000 && h <= 2000 && len(b) <= 500_000 && (kind == "png" || kind == "jpg" || kind == "gif") {
		t.Errorf("%s: a %s of %d bytes was touched", s.name, kind, len(b))
	}
}

// lying is a picture of w x h with a red square around a place, stored as EXIF's
// orientation has it.
func lying(w, h int, at image.Point, orientation int) image.Image {
	if orientation >= 5 {
		w, h = h, w
	}
	x := [9]int{0, at.X, w - 1 - at.X, w - 1 - at.X, at.X, at.Y, at.Y, w - 1 - at.Y, w - 1 - at.Y}[orientation]
	y := [9]int{0, at.Y, at.Y, h - 1 - at.Y, h - 1 - at.Y, at.X, h - 1 - at.X, h - 1 - at.X, at.X}[orientation]
	img := image.NewPaletted(image.Rect(0, 0, w, h), color.Palette{color.NRGBA{40, 150, 150, 255}, color.NRGBA{250, 20, 20, 255}})
	for dy := -12; dy <= 12; dy++ {
		for dx := -12; dx <= 12; dx++ {
			img.SetColorIndex(x+dx, y+dy, 1)
		}
	}
	return img
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
	m := image.NewRGBA(image.Rect(0, 0, img.Bounds().Dx(), img.Bounds().Dy()))
	draw.Draw(m, m.Rect, img, img.Bounds().Min, draw.Src)
	for py := range m.Rect.Dy() {
		row := m.Pix[py*m.Stride:][:4*m.Rect.Dx()]
		for i := 0; i < len(row); i += 4 {
			if w := (float64(row[i])-float64(row[i+1]))/255 + 0.43; w > 0.1 {
				x, y, n = x+w*float64(i/4), y+w*float64(py), n+w
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
	shortrun.Leave(t, "it decodes many pictures twice")
	n := count(t, "FSMCP_COORDINATES", 16)
	all := subjects(t)
	r := rand.New(rand.NewPCG(21, 22))
	for i := range n {
		kind := []string{"png", "jpg"}[i%2]
		orientation := 1 + i/2%8
		w, h := 300+r.IntN(3700), 300+r.IntN(1700)
		at := image.Pt(20+r.IntN(w-40), 20+r.IntN(h-40))
		a := args{}
		if i%3 == 0 {
			a["region"] = fmt.Sprintf("%d,%d,%d,%d", at.X-14-r.IntN(200), at.Y-14-r.IntN(200), 230+r.IntN(2500), 230+r.IntN(900))
		}
		b := withExif(kind, encode(t, kind, lying(w, h, at, orientation)), orientation)
		eachSubject(all, func(s *subject) {
			if off, said := s.mapsBack(t, kind, b, maps.Clone(a), at); !(off <= 2) {
				t.Errorf("%s: %s %dx%d, orientation %d, %v: the marker at %v is found %.1f pixels away\n%s", s.name, kind, w, h, orientation, a["region"], at, off, said)
			}
		})
	}
	for _, s := range all {
		must(t, s.c.Close())
		report(t, "%s: %d places, at most %.2f pixels off", s.name, n, s.worst)
	}
}

// mapsBack returns the distance of an image's marker from its expected place.
func (s *subject) mapsBack(t *testing.T, kind string, b []byte, a args, at image.Point) (off float64, said string) {
	file := s.file("m." + kind)
	a["file_path"] = file
	if err := os.WriteFile(file, b, 0o666); err != nil {
		return math.Inf(1), err.Error()
	}
	res, err := s.c.Call("Read", a)
	if err != nil || res.IsError {
		return math.Inf(1), fmt.Sprintf("%v %s", err, clip(res.Text))
	}
	raw, _ := displayed(t, res)
	img, _, err := image.Decode(bytes.NewReader(raw))
	if err != nil {
		return math.Inf(1), err.Error()
	}
	x, y := redMiddle(img)
	x, y = mapped(t, res.Text, x, y)
	off = max(math.Abs(x-float64(at.X)), math.Abs(y-float64(at.Y)))
	s.worst = max(s.worst, off)
	return off, res.Text
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

// tesseract recognises words, in one thread: its threads wait for each other in
// loops, and on two busy processors it takes ten times as long with them.
func tesseract(args ...string) *exec.Cmd {
	cmd := exec.Command("tesseract", args...)
	cmd.Env = append(os.Environ(), "OMP_THREAD_LIMIT=1")
	return cmd
}

// recognised is the share of words that tesseract finds.
func recognised(t *testing.T, file string, words []string) float64 {
	t.Helper()
	out, err := tesseract(file, "-", "--psm", "6").Output()
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
	shortrun.Leave(t, "a program reads the words in pictures of a whole screen")
	for _, tool := range []string{"tesseract", "vips"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("!!! NOT TESTED: %s is missing !!!", tool)
		}
	}
	sizes := []image.Point{{2560, 1440}}
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

// resident is a process's memory in bytes.
func resident(t testing.TB, pid int) int {
	t.Helper()
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/statm", pid))
	must(t, err)
	pages, err := strconv.Atoi(strings.Fields(string(b))[1])
	must(t, err)
	return pages * os.Getpagesize()
}

// TestWorkersMayBeKilledAtAnyTime kills, stops and crashes workers at random: every call
// gets the right answer, byte for byte, or a clear error, and the server does not notice.
// Some servers suffer beside each other, as most of the time goes into waiting for stopped
// workers. They share a compiled PDFium, as all servers of a user do: a worker stopped
// while it loads it keeps none of the others waiting.
func TestWorkersMayBeKilledAtAnyTime(t *testing.T) {
	shortrun.Leave(t, "it starts decoders anew all the time")
	n := count(t, "FSMCP_WORKER_KILLS", 8)
	r := rand.New(rand.NewPCG(31, 32))
	picture := encode(t, "jpg", random(r, 2400, 1600))
	for name, env := range engines(t) {
		env = append(env, companion(t)...)
		var mu sync.Mutex
		var all sync.WaitGroup
		right, wrong, hit, calls := 0, 0, 0, 0
		servers := min(5, 1+n/6)
		for s := range servers {
			p := newPlace(t)
			files := []string{p.file("k.jpg"), p.file("k.pdf")}
			must(t, os.WriteFile(files[0], picture, 0o666))
			must(t, os.WriteFile(files[1], read(t, documents(t)[1]), 0o666))
			c := p.start(t, env...)
			all.Go(func() {
				r := rand.New(rand.NewPCG(33, uint64(s)))
				var wants []mcptest.Result
				var long time.Duration // what a call takes
				for _, file := range files {
					args := callFor(file)
					if _, err := c.Call("Read", args); err != nil { // it readies the worker
						t.Errorf("%s: %v", name, err)
						return
					}
					var res mcptest.Result
					least := time.Hour // what the machine held up is no measure for blows
					for range 3 {
						var err error
						begin := time.Now()
						if res, err = c.Call("Read", args); err != nil || res.IsError {
							t.Errorf("%s: %v %s", name, err, clip(res.Text))
							return
						}
						least = min(least, time.Since(begin))
					}
					wants, long = append(wants, res), max(long, least)
				}
				// struckCall makes a call; half of the calls are struck before they end.
				struckCall := func(i int) (res mcptest.Result, took time.Duration, struck bool, err error) {
					hits := make(chan bool, 1)
					over := make(chan struct{})
					after := time.Duration(r.Int64N(int64(2 * long)))
					go func() { hits <- strike(c.PID(), i%3, after, over) }()
					begin := time.Now()
					res, err = c.Call("Read", callFor(files[i/servers%len(files)]))
					took = time.Since(begin)
					close(over)
					return res, took, <-hits, err
				}
				few := func() bool { // blows, for what the run is to show
					mu.Lock()
					defer mu.Unlock()
					return calls < 10*n && (right < n/4 || wrong == 0 || hit < n/5)
				}
				judge := func(i int, res mcptest.Result, err error, struck bool) {
					mu.Lock()
					defer mu.Unlock()
					calls++
					if struck {
						hit++
					}
					switch {
					case err != nil:
						t.Errorf("%s: %v", name, err)
					case res.IsError:
						wrong++
						if res.Slug != "io" || !strings.Contains(res.Text, "Make the same call again") {
							t.Errorf("%s: %d %s %s", name, res.Code, res.Slug, res.Text)
						}
					case sameAnswer(res, wants[i/servers%len(files)]):
						right++
					default:
						t.Errorf("%s: another answer than before, of %d instead of %d bytes", name, len(res.Raw), len(wants[i/servers%len(files)].Raw))
					}
				}
				for i := s; i < n || few(); i += servers {
					for late := 0; ; { // which may be the machine's: then the blow is struck again
						res, took, struck, err := struckCall(i)
						judge(i, res, err, struck)
						if err != nil || took <= slowestAnswer && (late == 0 || struck) {
							break
						}
						if took > slowestAnswer {
							late++
						}
						if late == 3 {
							t.Errorf("%s: answered after %v, and so late %d times", name, took, late)
							break
						}
					}
				}
				if err := c.Close(); err != nil {
					t.Errorf("%s: %v", name, err)
				}
			})
		}
		all.Wait()
		report(t, "%s: %d calls, %d times workers were struck meanwhile, %d right answers, %d clear errors", name, calls, hit, right, wrong)
		if right < n/4 || wrong == 0 || right+wrong != calls || hit < n/5 {
			t.Errorf("%s: %d right answers and %d errors, %d struck", name, right, wrong, hit)
		}
	}
}

func callFor(file string) args {
	if strings.HasSuffix(file, ".pdf") {
		return args{"file_path": file, "pages": "1-2"}
	}
	return args{"file_path": file}
}

// sameAnswer reports whether two answers have the same content.
func sameAnswer(a, b mcptest.Result) bool {
	content := func(raw json.RawMessage) string {
		var answer struct{ Content json.RawMessage }
		if json.Unmarshal(raw, &answer) != nil {
			return ""
		}
		return string(answer.Content)
	}
	return content(a.Raw) == content(b.Raw) && content(a.Raw) != ""
}

// strike waits, and kills, stops or crashes a server's children, unless the call
// was over before. It tells whether it struck.
func strike(pid, how int, after time.Duration, over chan struct{}) bool {
	select {
	case <-over:
		return false
	case <-time.After(after):
	}
	signal := []syscall.Signal{syscall.SIGKILL, syscall.SIGSTOP, syscall.SIGSEGV}[how]
	for _, child := range mcptest.Children(pid) {
		syscall.Kill(child, signal)
	}
	return true
}

// bombs are pictures that are made to harm: large ones that pack to nothing, and false ones. Three
// of the large ones are made only if slow is set.
func bombs(t *testing.T, slow bool) map[string][]byte {
	out := map[string][]byte{
		"flat.png":    encode(t, "png", image.NewPaletted(image.Rect(0, 0, 9900, 9900), color.Palette{color.Black, color.White})),
		"pretend.png": []byte("<svg xmlns='http://www.w3.org/2000/svg' width='99999' height='99999'><rect width='1' height='1'/></svg>"),
		"pdf.png":     []byte("%PDF-1.4\n1 0 obj<</Type/Catalog>>endobj\ntrailer<</Root 1 0 R>>"),
	}
	if slow {
		out["flat.gif"] = encode(t, "gif", image.NewPaletted(image.Rect(0, 0, 9000, 9000), color.Palette{color.Black, color.White}))
		out["flat.tiff"] = encode(t, "tiff", image.NewGray(image.Rect(0, 0, 9000, 9000)))
		out["deep.png"] = encode(t, "png", image.NewNRGBA64(image.Rect(0, 0, 6000, 5000)))
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

// TestHostilePictures: whatever an image holds, each call is answered, the server
// stays small, and a text is read as quickly as ever.
func TestHostilePictures(t *testing.T) {
	n := count(t, "FSMCP_HOSTILE_PICTURES", 24)
	slow := n >= 100 // large pictures take seconds each
	files := bombs(t, slow)
	names := slices.Sorted(maps.Keys(files))
	if !slow {
		names = slices.DeleteFunc(names, func(s string) bool { return s == "flat.png" })
	}
	r := rand.New(rand.NewPCG(51, 52))
	var seeds [][]byte
	for _, kind := range fileKinds {
		seeds = append(seeds, encode(t, kind, random(r, 90, 70)))
	}
	still, err := enginetest.WebP(random(r, 90, 70), 80)
	must(t, err)
	seeds = append(seeds, still, encode(t, "png", image.NewPaletted(image.Rect(0, 0, 90, 70), color.Palette{color.Black, color.White})), withExif("jpg", seeds[1], 6))
	kinds := append(slices.Clone(fileKinds), "webp", "png", "jpg")
	for name, env := range engines(t) {
		p := newPlace(t)
		smallTexts(t, p)
		c := p.start(t, env...)
		harmless := besiege(t, c, p, max(100, n/20), 2, nil, func(i int, _ *rand.Rand) missile {
			return missile{name: "h." + kinds[i%len(kinds)], content: seeds[i%len(seeds)]}
		})
		if harmless.shown != harmless.files {
			t.Errorf("%s: %d of %d harmless files shown", name, harmless.shown, harmless.files)
		}
		bombing := func(i int, _ *rand.Rand) missile {
			f := names[i]
			return missile{f, files[f], func(res mcptest.Result) {
				if strings.HasPrefix(f, "garbage") && !res.IsError || (f == "lie.png" || f == "huge.gif" || f == "webp.webp") && res.Slug != "too_large" {
					t.Errorf("%s: %s: %d %s %s", name, f, res.Code, res.Slug, clip(res.Text))
				}
				if f == "pretend.png" && !strings.Contains(res.Text, "<svg") {
					t.Errorf("%s: an SVG called .png: %s", name, clip(res.Text))
				}
				if strings.HasPrefix(f, "flat") && res.IsError && res.Slug != "too_large" {
					t.Errorf("%s: %s: %d %s %s", name, f, res.Code, res.Slug, clip(res.Text))
				}
			}}
		}
		mutating := func(i int, r *rand.Rand) missile {
			k := i % len(seeds)
			return missile{name: "h." + kinds[k], content: mutated(r, seeds[k])}
		}
		largely := func() siege { return besiege(t, c, p, len(names), 2, nil, bombing) }
		slightly := func() siege { return besiege(t, c, p, n, 2, nil, mutating) }
		large, small := largely(), slightly()
		large.judge(t, name+", bombs", harmless, largely)
		small.judge(t, name+", mutated", harmless, slightly)
		must(t, c.Close())
		if small.crashes > 0 || large.crashes > 0 || small.shown < n/50 {
			t.Errorf("%s: %d and %d workers broke, %d shown", name, small.crashes, large.crashes, small.shown)
		}
	}
	// The control decodes a bomb within its own process.
	if most := naiveMemory(t, "naive-decoder", files["flat.png"]); most < 64e6 {
		t.Errorf("a naive server takes %.1f MB for it", float64(most)/1e6)
	} else {
		report(t, "a naive server takes %.1f MB for one of the bombs", float64(most)/1e6)
	}
}

// mutated is a file with a few bytes changed, and sometimes a piece cut out. PNG's
// checks are set right half of the time, or its decoder would never see them.
func mutated(r *rand.Rand, seed []byte) []byte {
	b := bytes.Clone(seed)
	for range 1 + r.IntN(20) {
		b[r.IntN(len(b))] = byte(r.Uint32())
	}
	if r.IntN(3) == 0 {
		from := r.IntN(len(b))
		b = append(b[:from], b[min(len(b), from+r.IntN(40)):]...)
	}
	if r.IntN(2) == 0 && bytes.HasPrefix(seed, []byte("\x89PNG")) {
		copy(b, seed[:min(8, len(b))])
		for at := 8; at+12 <= len(b); {
			size := int(binary.BigEndian.Uint32(b[at:]))
			if size < 0 || at+12+size > len(b) {
				break
			}
			binary.BigEndian.PutUint32(b[at+8+size:], crc32.ChecksumIEEE(b[at+4:at+8+size]))
			at += 12 + size
		}
	}
	return b
}

// naiveMemory is the most memory that a role takes for a file.
func naiveMemory(t *testing.T, role string, content []byte) int {
	t.Helper()
	file := filepath.Join(t.TempDir(), "bomb")
	must(t, os.WriteFile(file, content, 0o666))
	cmd := exec.Command(os.Args[0], file)
	cmd.Env = append(os.Environ(), "FAULTS_ROLE="+role)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return int(cmd.ProcessState.SysUsage().(*syscall.Rusage).Maxrss) << 10
}

// TestInkWithoutAProfileIsNoted: colours that are a guess are not passed off as
// the file's own.
func TestInkWithoutAProfileIsNoted(t *testing.T) {
	if _, err := exec.LookPath("vips"); err != nil {
		t.Skipf("!!! NOT TESTED: vips is missing !!!")
	}
	p := newPlace(t)
	c := p.start(t, "FSMCP_VIPS=/nowhere")
	must(t, os.WriteFile(p.file("in.png"), encode(t, "png", random(rand.New(rand.NewPCG(1, 2)), 200, 100)), 0o666))
	for name, options := range map[string]string{"with.jpg": "[profile=cmyk]", "without.jpg": "[strip]"} {
		must(t, exec.Command("vips", "icc_export", p.file("in.png"), p.file(name)+options, "--output-profile", "cmyk").Run())
		res := mustCall(t, c, "Read", args{"file_path": p.file(name), "region": "0,0,100,100"})
		displayed(t, res)
		if noted := strings.Contains(res.Text, "colours are approximate"); noted != (name == "without.jpg") {
			t.Errorf("%s: %s", name, res.Text)
		}
	}
	must(t, c.Close())
}
