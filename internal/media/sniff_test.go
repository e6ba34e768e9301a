package media

import "testing"

func TestSniffKnowsFilesByTheirBytes(t *testing.T) {
	bmp := "BM\x46\x00\x00\x00\x00\x00\x00\x00\x36\x00\x00\x00\x28\x00\x00\x00\x02\x00"
	for _, c := range []struct {
		name, head, ext string
		want            Kind
	}{
		{"png", "\x89PNG\r\n\x1a\n", "txt", PNG},
		{"jpeg", "\xff\xd8\xff\xe0", "", JPEG},
		{"gif", "GIF89a\x01\x00\x01\x00\x80", "", GIF},
		{"text about gif", "GIF89a is a format of 1989.\n", "gif", None},
		{"webp", "RIFF\x24\x00\x00\x00WEBPVP8 ", "", WebP},
		{"wave is no webp", "RIFF\x24\x00\x00\x00WAVEfmt ", "webp", None},
		{"bmp", bmp, "", BMP},
		{"BMW", "BMW is a maker of cars, and of more.", "bmp", None},
		{"tiff little", "II*\x00\x08\x00", "", TIFF},
		{"tiff big", "MM\x00*\x00\x00", "", TIFF},
		{"bigtiff little", "II+\x00\x08\x00\x00\x00\x10", "", TIFF},
		{"bigtiff big", "MM\x00+\x00\x08\x00\x00\x00", "", TIFF},
		{"nearly one", "II+\x00\x09\x00\x00\x00", "tif", None},
		{"ico", "\x00\x00\x01\x00\x01\x00\x10\x10\x00\x00\x01\x00\x20\x00\x68\x04\x00\x00\x16\x00\x00\x00", "", ICO},
		{"heic", "\x00\x00\x00\x18ftypheic", "", HEIC},
		{"avif", "\x00\x00\x00\x1cftypavif", "", AVIF},
		{"mp4 is none", "\x00\x00\x00\x1cftypisom", "", None},
		{"pdf", "%PDF-1.7\n", "txt", PDF},
		{"pdf after a mark", "\xef\xbb\xbf%PDF-1.7", "", PDF},
		{"pdf late, called pdf", "garbage\n%PDF-1.4", "pdf", PDF},
		{"pdf late, called txt", "about %PDF-1.4", "txt", None},
		{"svg is text", "<svg xmlns='http://www.w3.org/2000/svg'/>", "png", None},
		{"empty", "", "png", None},
	} {
		if got := Sniff([]byte(c.head), c.ext); got != c.want {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}

func FuzzSniff(f *testing.F) {
	f.Add([]byte("BM"), "bmp")
	f.Add([]byte("\x00\x00\x00\x18ftyp"), "heic")
	f.Fuzz(func(t *testing.T, head []byte, ext string) { Sniff(head, ext) })
}
