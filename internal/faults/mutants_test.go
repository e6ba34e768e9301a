//go:build linux

package faults

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"image"
	"image/color"
	"image/draw"
	"image/gif"
	"image/png"
	"io"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/fsmcp/fsmcp/internal/mcptest"
	"github.com/fsmcp/fsmcp/internal/media/enginetest"
	"github.com/fsmcp/fsmcp/internal/media/pdftest"
	"github.com/fsmcp/fsmcp/internal/shortrun"
)

// A mutant is a file whose parts are changed one by one and whose frame is then
// put right again: lengths, checks, tables of contents. Bytes changed at random
// hardly ever come past those.

// wide is a picture that is too wide to be handed on as it is: it has to be decoded.
func wide(r *rand.Rand) image.Image { return random(r, 2050, 40) }

// part is a chunk of a PNG or of a RIFF file, or a piece of a GIF.
type part struct {
	name string
	data []byte
}

func (p part) clone() part { return part{p.name, bytes.Clone(p.data)} }

// shuffled drops, repeats, swaps or damages one of the parts.
func shuffled(r *rand.Rand, parts []part) []part {
	i, j := r.IntN(len(parts)), r.IntN(len(parts))
	switch r.IntN(6) {
	case 0:
		return slices.Delete(parts, i, i+1)
	case 1:
		return slices.Insert(parts, j, parts[i].clone())
	case 2:
		parts[i], parts[j] = parts[j], parts[i]
	case 3:
		parts[i].data = parts[i].data[:r.IntN(len(parts[i].data)+1)]
	case 4:
		parts[i].data = append(bytes.Clone(parts[i].data), noise(r, r.IntN(64))...)
	default:
		parts[i].data = scratched(r, parts[i].data)
	}
	return parts
}

// scratched has a few bytes changed, most of them near the beginning.
func scratched(r *rand.Rand, b []byte) []byte {
	b = bytes.Clone(b)
	for range 1 + r.IntN(4) {
		if len(b) > 0 {
			b[r.IntN(min(len(b), 1+r.IntN(max(len(b), 16))))] = edge(r)
		}
	}
	return b
}

// edge is a byte, often one at the end of its range.
func edge(r *rand.Rand) byte {
	return []byte{0, 1, 2, 4, 8, 16, 0x7f, 0x80, 0xff, byte(r.Uint32())}[r.IntN(10)]
}

func noise(r *rand.Rand, n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(r.Uint32())
	}
	return b
}

// size32 is a number that lengths and sides are set to.
func size32(r *rand.Rand) uint32 {
	return []uint32{0, 1, 2, 40, 2050, 16384, 16385, 65535, 65536, 1 << 24, 1<<31 - 1, 1 << 31, 1<<32 - 1, r.Uint32()}[r.IntN(14)]
}

const pngMagic = "\x89PNG\r\n\x1a\n"

func pngParts(b []byte) (out []part) {
	for b = b[len(pngMagic):]; len(b) >= 12; {
		n := binary.BigEndian.Uint32(b)
		out = append(out, part{string(b[4:8]), bytes.Clone(b[8 : 8+n])})
		b = b[12+n:]
	}
	return out
}

func pngOf(parts []part) []byte {
	b := []byte(pngMagic)
	for _, p := range parts {
		b = binary.BigEndian.AppendUint32(b, uint32(len(p.data)))
		b = append(append(b, p.name...), p.data...)
		sum := crc32.ChecksumIEEE(append([]byte(p.name), p.data...))
		b = binary.BigEndian.AppendUint32(b, sum)
	}
	return b
}

// mutantPNG changes a PNG below its checks: its header, its lines before they were
// packed, how they were packed, and what stands around them.
func mutantPNG(r *rand.Rand, seed []byte) []byte {
	parts := pngParts(seed)
	for range 1 + r.IntN(3) {
		if len(parts) == 0 {
			break
		}
		switch r.IntN(6) {
		case 0:
			parts = shuffled(r, parts)
		case 1:
			if head := parts[0]; len(head.data) == 13 {
				switch r.IntN(3) {
				case 0:
					binary.BigEndian.PutUint32(head.data[4*r.IntN(2):], size32(r))
				case 1:
					head.data[8], head.data[9] = []byte{1, 2, 4, 8, 16}[r.IntN(5)], []byte{0, 2, 3, 4, 6}[r.IntN(5)]
				default:
					head.data[8+r.IntN(5)] = edge(r)
				}
			}
		case 2:
			parts = slices.Insert(parts, min(1, len(parts)), extraPNG(r))
		case 3:
			parts = slices.Insert(parts, r.IntN(len(parts)+1), extraPNG(r))
		default:
			parts = repacked(r, parts)
		}
	}
	return pngOf(parts)
}

// extraPNG is a chunk that a PNG may have, in most cases wrongly.
func extraPNG(r *rand.Rand) part {
	name := []string{"PLTE", "tRNS", "gAMA", "cHRM", "sBIT", "hIST", "bKGD", "pHYs", "sRGB", "eXIf", "iCCP", "zTXt", "iTXt", "tEXt",
		"acTL", "fcTL", "fdAT", "IDAT", "IEND", "IHDR", "cICP", "ABCD", "abCd"}[r.IntN(23)]
	data := noise(r, []int{0, 1, 3, 4, 6, 8, 13, 26, 32, 768, 771, 5000}[r.IntN(12)])
	switch {
	case name == "eXIf" && r.IntN(2) == 0:
		data = []byte("MM\x00*\x00\x00\x00\x08\x00\x01\x01\x12\x00\x03\x00\x00\x00\x01\x00\x06\x00\x00\x00\x00\x00\x08")
		data[17+r.IntN(3)] = edge(r)
	case name == "zTXt" || name == "iCCP":
		var z bytes.Buffer
		w, _ := zlib.NewWriterLevel(&z, zlib.BestSpeed)
		w.Write(make([]byte, []int{10, 1 << 16, 1 << 24}[r.IntN(3)]))
		w.Close()
		data = append([]byte("name\x00\x00"), z.Bytes()...)
	}
	return part{name, data}
}

// repacked changes the lines of a picture, packs them anew, and cuts what came out
// into pieces.
func repacked(r *rand.Rand, parts []part) []part {
	var packed []byte
	first := -1
	parts = slices.DeleteFunc(slices.Clone(parts), func(p part) bool {
		if p.name == "IDAT" {
			packed = append(packed, p.data...)
		}
		return p.name == "IDAT"
	})
	if first = slices.IndexFunc(parts, func(p part) bool { return p.name == "IEND" }); first < 0 {
		first = len(parts)
	}
	lines := []byte{}
	if z, err := zlib.NewReader(bytes.NewReader(packed)); err == nil {
		lines, _ = io.ReadAll(io.LimitReader(z, 4<<20))
	}
	switch r.IntN(5) {
	case 0:
		lines = lines[:r.IntN(len(lines)+1)]
	case 1:
		lines = append(lines, make([]byte, r.IntN(1<<20))...)
	case 2: // how each line is to be read
		for at := 0; at < len(lines); at += max(1, len(lines)/40) {
			lines[at] = byte(r.IntN(7))
		}
	default:
		lines = scratched(r, lines)
	}
	var z bytes.Buffer
	w, _ := zlib.NewWriterLevel(&z, []int{0, 1, 9, -2}[r.IntN(4)])
	w.Write(lines)
	w.Close()
	packed = z.Bytes()
	if r.IntN(4) == 0 {
		packed = scratched(r, packed)
	}
	step := []int{1 << 20, 8192, 97, 1}[r.IntN(4)]
	if step == 1 {
		step = max(1, len(packed)/2000)
	}
	var pieces []part
	for at := 0; at < len(packed); at += step {
		pieces = append(pieces, part{"IDAT", packed[at:min(len(packed), at+step)]})
	}
	return slices.Insert(parts, first, pieces...)
}

// gifParts cuts a GIF into its header, its tables, its extensions and its frames,
// each frame's data without the lengths of its blocks.
func gifParts(b []byte) (out []part) {
	table := func(flags byte) int {
		if flags&0x80 == 0 {
			return 0
		}
		return 3 << (flags&7 + 1)
	}
	take := func(name string, n int) {
		out, b = append(out, part{name, bytes.Clone(b[:n])}), b[n:]
	}
	blocks := func(name string) {
		var data []byte
		for b[0] != 0 {
			n := 1 + int(b[0])
			data, b = append(data, b[1:n]...), b[n:]
		}
		b = b[1:]
		out = append(out, part{name, data})
	}
	take("head", 13)
	take("table", table(out[0].data[10]))
	for len(b) > 0 {
		switch b[0] {
		case 0x21:
			take("extension", 2)
			blocks("blocks")
		case 0x2c:
			take("frame", 10)
			take("table", table(out[len(out)-1].data[9]))
			take("width", 1)
			blocks("blocks")
		default:
			take("end", len(b))
		}
	}
	return out
}

func gifOf(r *rand.Rand, parts []part) []byte {
	step := []int{255, 255, 254, 1, 7}[r.IntN(5)]
	var b []byte
	for _, p := range parts {
		if p.name != "blocks" {
			b = append(b, p.data...)
			continue
		}
		for at := 0; at < len(p.data); at += step {
			piece := p.data[at:min(len(p.data), at+step)]
			b = append(append(b, byte(len(piece))), piece...)
		}
		b = append(b, 0)
	}
	return b
}

// mutantGIF changes a GIF between the lengths of its blocks: sides and places of
// its frames, their tables, the width of their codes, and the codes.
func mutantGIF(r *rand.Rand, seed []byte) []byte {
	parts := gifParts(seed)
	for range 1 + r.IntN(3) {
		if len(parts) == 0 {
			break
		}
		p := &parts[r.IntN(len(parts))]
		switch {
		case r.IntN(4) == 0:
			parts = shuffled(r, parts)
		case p.name == "head" && len(p.data) == 13:
			if r.IntN(2) == 0 {
				p.data[10] = byte(r.Uint32())
			} else {
				binary.LittleEndian.PutUint16(p.data[6+2*r.IntN(2):], uint16(size32(r)))
			}
		case p.name == "frame" && len(p.data) == 10:
			if r.IntN(2) == 0 {
				p.data[9] = byte(r.Uint32())
			} else {
				binary.LittleEndian.PutUint16(p.data[1+2*r.IntN(4):], uint16(size32(r)))
			}
		case p.name == "width":
			p.data = []byte{byte(r.IntN(14))}
		case len(p.data) > 0:
			p.data = scratched(r, p.data)
		}
	}
	if r.IntN(40) == 0 { // very many frames
		if at := slices.IndexFunc(parts, func(p part) bool { return p.name == "frame" }); at >= 0 && at+4 <= len(parts) {
			frame := parts[at : at+4]
			for range 500 {
				parts = append(parts, frame...)
			}
		}
	}
	return gifOf(r, parts)
}

func riffParts(b []byte) (out []part) {
	for b = b[12:]; len(b) >= 8; {
		n := int(binary.LittleEndian.Uint32(b[4:]))
		out = append(out, part{string(b[:4]), bytes.Clone(b[8:min(len(b), 8+n)])})
		b = b[min(len(b), 8+n+n&1):]
	}
	return out
}

func riffOf(parts []part) []byte {
	b := []byte("RIFF\x00\x00\x00\x00WEBP")
	for _, p := range parts {
		b = append(binary.LittleEndian.AppendUint32(append(b, p.name...), uint32(len(p.data))), p.data...)
		if len(p.data)%2 == 1 {
			b = append(b, 0)
		}
	}
	binary.LittleEndian.PutUint32(b[4:], uint32(len(b)-8))
	return b
}

// mutantWebP changes a WebP within its chunks, whose lengths stay right but for now
// and then one.
func mutantWebP(r *rand.Rand, seed []byte) []byte {
	parts := riffParts(seed)
	for range 1 + r.IntN(3) {
		if len(parts) == 0 {
			break
		}
		p := &parts[r.IntN(len(parts))]
		switch {
		case r.IntN(5) == 0:
			parts = shuffled(r, parts)
		case r.IntN(6) == 0:
			name := []string{"VP8X", "ALPH", "ANIM", "ANMF", "ICCP", "EXIF", "XMP ", "VP8 ", "VP8L", "ABCD"}[r.IntN(10)]
			parts = slices.Insert(parts, r.IntN(len(parts)+1), part{name, noise(r, []int{0, 1, 6, 10, 16, 24, 300}[r.IntN(7)])})
		case len(p.data) >= 10 && r.IntN(2) == 0: // the headers are at the beginning
			p.data = append(scratched(r, p.data[:10]), p.data[10:]...)
		default:
			p.data = scratched(r, p.data)
		}
	}
	b := riffOf(parts)
	if r.IntN(5) == 0 {
		at := 4
		if n := bytes.Index(b[12:], []byte("VP8")); n >= 0 && r.IntN(2) == 0 {
			at = 12 + n + 4
		}
		if at+4 <= len(b) {
			binary.LittleEndian.PutUint32(b[at:], size32(r))
		}
	}
	return b
}

var (
	pdfNumber  = regexp.MustCompile(`-?\d+(\.\d+)?`)
	pdfRef     = regexp.MustCompile(`\d+ 0 R`)
	pdfName    = regexp.MustCompile(`/[A-Za-z0-9]+`)
	pdfObject  = regexp.MustCompile(`(?m)^(\d+) 0 obj\b`)
	pdfStartAt = regexp.MustCompile(`startxref\s+\d+\s+%%EOF\s*$`)
)

// mutantPDF changes numbers, references and names of a document's objects, or what
// its streams unpack to, and mostly writes its table of contents anew.
func mutantPDF(r *rand.Rand, seed []byte) []byte {
	b := bytes.Clone(seed)
	for range 1 + r.IntN(6) {
		switch r.IntN(6) {
		case 0, 1:
			b = replacedOne(r, b, pdfNumber, func(string) string {
				return []string{"0", "1", "-1", "2147483647", "-2147483648", "4294967296", "99999999999999999999", "1e30", "0.0000001", "65536", "3"}[r.IntN(11)]
			})
		case 2:
			b = replacedOne(r, b, pdfRef, func(string) string { return strconv.Itoa(r.IntN(12)) + " 0 R" })
		case 3:
			all := pdfName.FindAllString(string(b), 200)
			b = replacedOne(r, b, pdfName, func(was string) string {
				names := append(all, "/FlateDecode", "/LZWDecode", "/ASCII85Decode", "/DCTDecode", "/CCITTFaxDecode", "/JBIG2Decode", "/JPXDecode", "/RunLengthDecode",
					"/ObjStm", "/XRef", "/Pages", "/Page", "/Image", "/Form", "/Pattern", "/Separation", "/DeviceN", "/Indexed", "/ICCBased", "/Type0", "/Type3", "/Encrypt")
				return names[r.IntN(len(names))]
			})
		case 4:
			b = restreamed(r, b)
		default:
			b = scratched(r, b)
		}
	}
	if r.IntN(3) > 0 {
		b = reindexed(b)
	}
	return b
}

// replacedOne replaces one of the places where a pattern fits, outside of streams
// as far as those do not fit it.
func replacedOne(r *rand.Rand, b []byte, pattern *regexp.Regexp, with func(string) string) []byte {
	places := pattern.FindAllIndex(b, 3000)
	if len(places) == 0 {
		return b
	}
	at := places[r.IntN(len(places))]
	return slices.Concat(b[:at[0]], []byte(with(string(b[at[0]:at[1]]))), b[at[1]:])
}

// restreamed unpacks a stream, changes what it holds, and packs it again.
func restreamed(r *rand.Rand, b []byte) []byte {
	starts := regexp.MustCompile(`stream\r?\n`).FindAllIndex(b, 500)
	if len(starts) == 0 {
		return b
	}
	from := starts[r.IntN(len(starts))][1]
	size := bytes.Index(b[from:], []byte("endstream"))
	if size <= 0 {
		return b
	}
	content := b[from : from+size]
	z, err := zlib.NewReader(bytes.NewReader(content))
	if err != nil {
		return slices.Concat(b[:from], replacedOne(r, bytes.Clone(content), pdfNumber, func(string) string { return strconv.Itoa(int(int32(size32(r)))) }), b[from+size:])
	}
	inside, _ := io.ReadAll(io.LimitReader(z, 2<<20))
	if r.IntN(2) == 0 {
		inside = scratched(r, inside)
	} else {
		inside = replacedOne(r, inside, pdfNumber, func(string) string { return strconv.Itoa(int(int32(size32(r)))) })
	}
	var packed bytes.Buffer
	w := zlib.NewWriter(&packed)
	w.Write(inside)
	w.Close()
	return slices.Concat(b[:from], packed.Bytes(), []byte("\n"), b[from+size:])
}

// reindexed ends a document with a table of the places where its objects are now.
func reindexed(b []byte) []byte {
	b = pdfStartAt.ReplaceAll(b, nil)
	places, most := map[int]int{}, 0
	for _, m := range pdfObject.FindAllSubmatchIndex(b, -1) {
		n, err := strconv.Atoi(string(b[m[2]:m[3]]))
		if err == nil && n < 10_000 {
			places[n], most = m[0], max(most, n)
		}
	}
	start := len(b)
	root := regexp.MustCompile(`/Root \d+ 0 R`).Find(b)
	if root == nil {
		root = []byte("/Root 1 0 R")
	}
	b = fmt.Appendf(b, "\nxref\n0 %d\n0000000000 65535 f \n", most+1)
	for n := 1; n <= most; n++ {
		if at, there := places[n]; there {
			b = fmt.Appendf(b, "%010d 00000 n \n", at)
		} else {
			b = append(b, "0000000000 00000 f \n"...)
		}
	}
	return fmt.Appendf(b, "trailer\n<</Size %d%s>>\nstartxref\n%d\n%%%%EOF\n", most+1, root, start+1)
}

// breed is a kind of mutants: what they come from, and how they are changed.
type breed struct {
	name   string // the extension
	seeds  [][]byte
	mutate func(*rand.Rand, []byte) []byte
	more   args
}

func pngSeeds(t *testing.T, r *rand.Rand) (out [][]byte) {
	t.Helper()
	img := wide(r)
	for _, like := range []draw.Image{image.NewNRGBA(img.Bounds()), image.NewNRGBA64(img.Bounds()), image.NewGray(img.Bounds()), image.NewGray16(img.Bounds()),
		image.NewPaletted(img.Bounds(), color.Palette{color.Black, color.White, color.Transparent, color.NRGBA{200, 20, 20, 255}})} {
		draw.Draw(like, img.Bounds(), img, image.Point{}, draw.Src)
		if n, ok := like.(*image.NRGBA); ok {
			for i := 3; i < len(n.Pix); i += 4 {
				n.Pix[i] = byte(i)
			}
		}
		var b bytes.Buffer
		must(t, (&png.Encoder{CompressionLevel: png.BestSpeed}).Encode(&b, like))
		out = append(out, b.Bytes())
	}
	return out
}

func gifSeeds(t *testing.T, r *rand.Rand) [][]byte {
	t.Helper()
	palette := color.Palette{color.Transparent, color.Black, color.White, color.NRGBA{200, 20, 20, 255}}
	var frames gif.GIF
	for i := range 3 {
		frame := image.NewPaletted(image.Rect(i*10, i, 2050-i*10, 40-i), palette)
		draw.Draw(frame, frame.Bounds(), wide(r), image.Point{}, draw.Src)
		frames.Image, frames.Delay, frames.Disposal = append(frames.Image, frame), append(frames.Delay, 10), append(frames.Disposal, byte(i+1))
	}
	var b bytes.Buffer
	must(t, gif.EncodeAll(&b, &frames))
	return [][]byte{b.Bytes(), encode(t, "gif", wide(r))}
}

// webpSeeds returns files of the server's own writer, and, if libvips' tools are
// installed, of the other two kinds and an animated one.
func webpSeeds(t *testing.T, r *rand.Rand) [][]byte {
	t.Helper()
	lossy, err := enginetest.WebP(wide(r), 80)
	must(t, err)
	out := [][]byte{lossy}
	if _, err := exec.LookPath("vips"); err != nil {
		fmt.Printf("%s: !!! NOT TESTED with WebP of other kinds: vips is not installed !!!\n", t.Name())
		return out
	}
	dir := t.TempDir()
	from := func(name string, b []byte) string {
		must(t, os.WriteFile(filepath.Join(dir, name), b, 0o666))
		return filepath.Join(dir, name)
	}
	through, moving := from("a.png", pngSeeds(t, r)[0]), from("a.gif", gifSeeds(t, r)[0])
	for i, command := range [][]string{{through, "[lossless]"}, {through, "[Q=50,alpha-q=50]"}, {moving + "[n=-1]", "[Q=50]"}} {
		to := filepath.Join(dir, fmt.Sprintf("%d.webp", i))
		if said, err := exec.Command("vips", "copy", command[0], to+command[1]).CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, said)
		}
		out = append(out, read(t, to))
	}
	return out
}

func pdfSeeds(t *testing.T) (out [][]byte) {
	t.Helper()
	for _, doc := range documents(t) {
		if b := read(t, doc); len(b) < 300_000 {
			out = append(out, b)
		}
	}
	const box = "/Type/Page/Parent 2 0 R/MediaBox[0 0 300 400]"
	form := pdftest.File("<</Type/Catalog/Pages 2 0 R/Outlines 8 0 R>>", "<</Type/Pages/Kids[3 0 R 3 0 R]/Count 2>>",
		"<<"+box+"/Resources<</Font<</F 5 0 R>>/XObject<</X 6 0 R/I 7 0 R>>>>/Contents 4 0 R>>", pdftest.Stream("", "BT /F 12 Tf 20 300 Td (some text) Tj ET /X Do q 90 0 0 90 20 20 cm /I Do Q 10 10 m 90 90 l S"),
		"<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>", pdftest.Stream("/Type/XObject/Subtype/Form/BBox[0 0 99 99]/Matrix[1 0 0 1 0 0]", "1 0 0 rg 0 0 50 50 re f"),
		pdftest.Stream("/Type/XObject/Subtype/Image/Width 4/Height 4/ColorSpace/DeviceGray/BitsPerComponent 8", "0123456789abcdef"),
		"<</First 9 0 R/Last 9 0 R/Count 1>>", "<</Title(a title)/Parent 8 0 R/Dest[3 0 R/Fit]>>")
	return append(out, form, form)
}

// TestMutants reads files that were changed below their checks, through each engine:
// each is answered, no worker breaks, the server stays small, and what is shown is
// within the limits.
func TestMutants(t *testing.T) {
	shortrun.Leave(t, "it sends damaged pictures and PDFs of four kinds to two decoders")
	n := count(t, "FSMCP_MUTANTS", 10)
	r := rand.New(rand.NewPCG(81, 82))
	breeds := []breed{
		{name: "png", seeds: pngSeeds(t, r), mutate: mutantPNG},
		{name: "gif", seeds: gifSeeds(t, r), mutate: mutantGIF},
		{name: "webp", seeds: webpSeeds(t, r), mutate: mutantWebP},
		{name: "pdf", seeds: pdfSeeds(t), mutate: mutantPDF, more: args{"pages": "1-2"}},
	}
	media := companion(t)
	all := engines(t)
	for _, name := range slices.Sorted(maps.Keys(all)) {
		env := all[name]
		p := newPlace(t)
		smallTexts(t, p)
		c := p.start(t, append(env, media...)...)
		for _, b := range breeds {
			if b.name == "pdf" && name != "go" {
				continue // PDFs have one engine
			}
			seed := func(i int, _ *rand.Rand) missile {
				return missile{name: "h." + b.name, content: b.seeds[i%len(b.seeds)]}
			}
			harmless := besiege(t, c, p, max(20, len(b.seeds)), 2, b.more, seed)
			if harmless.shown != harmless.files {
				t.Errorf("%s: %d of %d harmless %s shown", name, harmless.shown, harmless.files, b.name)
			}
			mutating := func(i int, r *rand.Rand) missile {
				return missile{"h." + b.name, b.mutate(r, b.seeds[i%len(b.seeds)]), func(res mcptest.Result) {
					if !res.IsError && b.name != "pdf" && strings.Contains(string(res.Raw), `"image"`) {
						displayed(t, res)
					}
				}}
			}
			all := n
			if b.name == "pdf" {
				all = max(12, n/5)
			}
			assault := func() siege { return besiege(t, c, p, all, 2, b.more, mutating) }
			s := assault()
			s.judge(t, name+", "+b.name, harmless, assault)
			if s.crashes > 0 || s.shown < s.files/50 || s.shown == s.files {
				t.Errorf("%s, %s: %d workers broke, %d of %d shown", name, b.name, s.crashes, s.shown, s.files)
			}
		}
		must(t, c.Close())
	}
}
