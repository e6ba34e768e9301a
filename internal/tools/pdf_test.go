package tools

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/fsmcp/fsmcp/internal/media"
	"github.com/fsmcp/fsmcp/internal/refusal"
	"github.com/fsmcp/fsmcp/internal/toolcall"
)

// elsewhere stands for the decoders: it keeps each request and answers as a test sets
// it.
type elsewhere struct {
	asked   media.PDFRequest
	request media.Request
	pages   media.PDFResult
	picture media.FittedPicture
	err     error

	meanwhile func() // what happens while they decode
}

func (e *elsewhere) PDF(_ context.Context, _ io.ReaderAt, _ int64, q media.PDFRequest, _ media.Progress) (media.PDFResult, error) {
	e.asked = q
	if e.meanwhile != nil {
		e.meanwhile()
	}
	return e.pages, e.err
}

func (e *elsewhere) Picture(_ context.Context, _ io.ReaderAt, _ int64, q media.Request, _ media.Progress) (media.FittedPicture, error) {
	e.request = q
	if e.meanwhile != nil {
		e.meanwhile()
	}
	return e.picture, e.err
}

func benchElsewhere(t *testing.T, p Preferences) (*bench, *elsewhere) {
	b, e := newBench(t), &elsewhere{}
	b.with(func(o *Options) {
		o.Pictures, o.Pages = e, e
		o.Preferences = func() Preferences { return p }
	})
	return b, e
}

// Whatever becomes of an image or a PDF, the answer says what to do next.
func TestErrorsOfPicturesNameTheNextStep(t *testing.T) {
	b, e := benchElsewhere(t, Preferences{})
	pdf := b.put("a.pdf", "%PDF-1.5\n")
	image := b.put("a.gif", "GIF89a\x10\x27\x10\x27\x00\x00\x00") // 10000 x 10000, so that it goes elsewhere
	lost := func(why media.Breakdown) error {
		return &media.BreakdownError{Why: why, Err: errors.New("an inner word")}
	}
	choice := &media.OutlineError{PagesError: media.PagesError{Reason: "more than 10 pages need pages", Count: 30}, Outline: []media.Chapter{{Title: "One", Page: 1}, {Title: "Two"}}, More: 4}
	for _, c := range []struct {
		path string
		err  error
		code int
		slug string
		next string
	}{
		{path: pdf, err: choice, code: 7, slug: refusal.SlugBadArgument, next: "It has 30 pages; a call shows at most 20 of them. Outline: One (page 1); Two (and 4 more)"},
		{path: pdf, err: media.ErrLocked, code: 8, slug: refusal.SlugBrokenFile, next: "Ask the user for an unlocked copy."},
		{path: pdf, err: &media.DamageError{Kind: media.PDF, What: "it has no pages"}, code: 8, slug: refusal.SlugBrokenFile, next: "(it has no pages). Have it made anew"},
		{path: pdf, err: media.ErrNoPDF, code: 4, slug: refusal.SlugBinary, next: "have the user put it there (make build makes both) or name it in FSMCP_MEDIA"},
		{path: pdf, err: lost(media.Unready), code: 16, slug: refusal.SlugBusy, next: "make the same call again in half a minute"},
		{path: pdf, err: lost(media.Unready), code: 16, slug: refusal.SlugBusy, next: "where the user's cache folder is full or cannot be written"},
		{path: pdf, err: lost(media.Absent), code: 11, slug: refusal.SlugIO, next: "Make the same call again; if that fails too, ask the user"},
		{path: pdf, err: lost(media.Died), code: 11, slug: refusal.SlugIO, next: "Make the same call again"},
		{path: pdf, err: lost(media.Stopped), code: 11, slug: refusal.SlugIO, next: "Make the same call again"},
		{path: pdf, err: context.Canceled, code: 16, slug: refusal.SlugBusy, next: "Make the same call again, with fewer of the kind beside it."},
		{path: image, err: context.Canceled, code: 16, slug: refusal.SlugBusy, next: "Make the same call again, with fewer of the kind beside it."},
		{path: image, err: media.ErrTooLong, code: 6, slug: refusal.SlugTooLarge, next: "has 13 bytes, which is more than is handed to a decoder. Have it converted"},
		{path: image, err: lost(media.Late), code: 6, slug: refusal.SlugTooLarge, next: "Where the machine is busy, make the same call again later"},
		{path: pdf, err: lost(media.Unread), code: 16, slug: refusal.SlugBusy, next: "its disk did not hand it over"},
		{path: pdf, err: lost(media.Late), code: 6, slug: refusal.SlugTooLarge, next: "have another program convert the file"},
		{path: pdf, err: lost(media.Greedy), code: 6, slug: refusal.SlugTooLarge, next: "have another program convert the file"},
		{path: image, err: lost(media.Died), code: 11, slug: refusal.SlugIO, next: "Make the same call again"},
		{path: image, err: media.ErrNoFit, code: 6, slug: refusal.SlugTooLarge, next: "maxImageTokens"},
		{path: image, err: media.ErrTooLarge, code: 6, slug: refusal.SlugTooLarge, next: "Have it scaled down by another program"},
		{path: image, err: &media.RegionError{Reason: "it is empty"}, code: 7, slug: refusal.SlugBadArgument, next: `region is "x,y,width,height"`},
		{path: image, err: &media.DamageError{Kind: media.TIFF, What: "its colours are of a sort of their own", Rare: true}, code: 8, slug: refusal.SlugBrokenFile, next: "is a TIFF of a sort that fsmcp does not decode (its colours"},
		{path: image, err: &media.DamageError{Kind: media.GIF, What: "it ends too soon"}, code: 8, slug: refusal.SlugBrokenFile, next: "Have it made anew"},
	} {
		e.err = c.err
		r := b.run(&ReadArgs{FilePath: c.path})
		text := r.Blocks[0].Text
		if !r.IsError || r.Facts.ErrorCode != c.code || r.Facts.Error != c.slug || !strings.Contains(text, c.next) || !strings.Contains(text, c.path) {
			t.Errorf("%v: %v\n%s", c.err, r.Facts, text)
		}
		if strings.Contains(text, "inner word") {
			t.Errorf("the library's words reach the caller: %s", text)
		}
	}
}

// What is written to while it is decoded is neither shown, for it may be half of one
// picture and half of another, nor called damaged; what is only renamed is shown.
func TestWhatIsWrittenMeanwhile(t *testing.T) {
	b, e := benchElsewhere(t, Preferences{})
	e.pages = media.PDFResult{Count: 1, Set: media.PageSet{Pages: []int{1}}, Pages: []media.PDFPage{{Number: 1, Text: "one"}}}
	e.picture = media.FittedPicture{Data: []byte("a picture"), As: media.PNG, Frames: 1}
	later := time.Now().Add(time.Minute)
	for name, content := range map[string]string{"a.pdf": "%PDF-1.5\n", "a.gif": "GIF89a\x10\x27\x10\x27\x00\x00\x00"} {
		path := b.put(name, content)
		for what, meanwhile := range map[string]func() error{
			"written": func() error { return os.Chtimes(path, later, later) },
			"growing": func() error { later = later.Add(time.Second); return os.WriteFile(path, []byte(content+"more"), 0o600) },
		} {
			for _, err := range []error{nil, &media.DamageError{Kind: media.PDF, What: "it ends too soon"}, io.ErrUnexpectedEOF} {
				later = later.Add(time.Second)
				b.put(name, content)
				e.err, e.meanwhile = err, func() {
					if err := meanwhile(); err != nil {
						t.Error(err)
					}
				}
				if r := b.run(&ReadArgs{FilePath: path}); r.Facts.Error != refusal.SlugBusy || !strings.Contains(r.Blocks[0].Text, "is being written to by another program right now") {
					t.Errorf("%s %s %v: %s", what, name, err, r.Blocks[0].Text)
				}
			}
		}
		b.put(name, content)
		e.err, e.meanwhile = nil, func() {
			if err := os.Rename(path, path+"2"); err != nil {
				t.Error(err)
			}
		}
		if r := b.run(&ReadArgs{FilePath: path}); r.IsError {
			t.Errorf("renamed %s: %s", name, r.Blocks[0].Text)
		}
	}
}

// What settings and clients allow reaches the decoder.
func TestPDFsWithinWhatIsAllowed(t *testing.T) {
	style := func(s PDFStyle) Preferences {
		return Preferences{PDF: func(toolcall.ClientLimits) PDFStyle { return s }}
	}
	for _, c := range []struct {
		p      Preferences
		client toolcall.ClientLimits
		is     func(q media.PDFRequest) bool
	}{
		{Preferences{}, toolcall.ClientLimits{}, func(q media.PDFRequest) bool {
			return q.Pictures == 7 && q.Choose && q.Document == 0 && q.Room <= 2_621_440 && q.Room > 2_600_000 && q.Text <= 200_000
		}},
		{Preferences{}, toolcall.ClientLimits{Chars: 1_048_576, Answer: 1_048_576}, func(q media.PDFRequest) bool { return q.Room < 1_048_576 && q.Room > 1_030_000 }},
		{Preferences{}, toolcall.ClientLimits{Tokens: 10_000}, func(q media.PDFRequest) bool { return q.Text < 30_000 && q.Text > 20_000 }},
		{style(PDFStyle{Pictures: PicturesAlways}), toolcall.ClientLimits{}, func(q media.PDFRequest) bool { return !q.Choose && q.Pictures == 7 }},
		{style(PDFStyle{Pictures: PicturesNever}), toolcall.ClientLimits{}, func(q media.PDFRequest) bool { return q.Pictures == 0 }},
		{style(PDFStyle{Document: true}), toolcall.ClientLimits{}, func(q media.PDFRequest) bool { return q.Document == 5_767_168 }},
		{style(PDFStyle{Document: true}), toolcall.ClientLimits{Answer: 1_048_576}, func(q media.PDFRequest) bool {
			return media.Base64Len(q.Document) <= 1_048_576-toolcall.AnswerRest && q.Document > 780_000
		}},
	} {
		b, e := benchElsewhere(t, c.p)
		b.call.Client = c.client
		e.pages = media.PDFResult{Count: 1, Set: media.PageSet{Pages: []int{1}}, Pages: []media.PDFPage{{Number: 1, Text: "one"}}}
		if r := b.run(&ReadArgs{FilePath: b.put("a.pdf", "%PDF-1.5\n")}); r.IsError || !c.is(e.asked) {
			t.Errorf("%+v: %+v", c.client, e.asked)
		}
	}
	b, e := benchElsewhere(t, Preferences{ImageTokens: 50, Bounds: media.Bounds{Pixels: 200, Side: 20, Bytes: 1000}})
	e.err = media.ErrNoFit
	b.run(&ReadArgs{FilePath: b.put("a.bmp", "BM"+strings.Repeat("\x00", 12)+"\x28\x00\x00\x00\x0a\x00\x00\x00\x0a\x00\x00\x00"+strings.Repeat("\x00", 28))})
	if e.request.Limits.Tokens != 50 || e.request.Bounds.Side != 20 {
		t.Errorf("%+v", e.request)
	}
	for _, size := range []string{"\x15\x00\x01\x00", "\x0f\x00\x0f\x00"} { // 21 x 1: a side too long; 15 x 15: too many pixels
		r := b.run(&ReadArgs{FilePath: b.put("b.gif", "GIF89a"+size+"\x00\x00\x00")})
		if !r.IsError || r.Facts.Error != refusal.SlugTooLarge || !strings.Contains(r.Blocks[0].Text, "20 pixels a side") {
			t.Errorf("%q: %s", size, r.Blocks[0].Text)
		}
	}
}

// A page that comes without its picture, or not whole, says why, and the call
// that shows more is one that shows more.
func TestPagesSayWhatIsMissing(t *testing.T) {
	picture := []byte("a picture")
	page := func(n int, drawn bool) media.PDFPage {
		p := media.PDFPage{Number: n, Text: fmt.Sprint("text of ", n)}
		if drawn {
			p.Picture = picture
		}
		return p
	}
	for _, c := range []struct {
		style PDFStyle
		res   media.PDFResult
		want  []string
		not   string
	}{
		{PDFStyle{}, media.PDFResult{Pages: []media.PDFPage{page(1, true), page(2, true)}}, nil, "text alone"},
		{style: PDFStyle{}, res: media.PDFResult{Pages: []media.PDFPage{page(1, true), page(2, false)}}, want: []string{`(Page 2 comes as text alone: one answer has room for 1 page picture. Read pages="2" shows more.)`}, not: ""},
		{style: PDFStyle{}, res: media.PDFResult{Pages: []media.PDFPage{page(1, false), page(2, true), page(3, false)}}, want: []string{`(Pages 1,3 come as text alone: one answer has room for 1 page picture. Read pages="1,3" shows more.)`}, not: ""},
		{style: PDFStyle{}, res: media.PDFResult{Pages: []media.PDFPage{{Number: 1, Text: "t", Plain: true}, page(2, true), {Number: 3, Text: "t", Plain: true}}}, want: []string{`(Pages 1,3 are text alone, without pictures. Read pages="1" shows one page with its picture.)`}, not: "come"},
		{style: PDFStyle{}, res: media.PDFResult{Pages: []media.PDFPage{{Number: 1, Text: "t", Plain: true}, page(2, false)}}, want: []string{`(Page 1 is text alone, without a picture. Read pages="1" shows one page with its picture.)`, "(Page 2 comes as text alone: no picture of a page fits"}, not: ""},
		{style: PDFStyle{}, res: media.PDFResult{Pages: []media.PDFPage{page(1, true), {Number: 2, Picture: picture, Coarse: true}}}, want: []string{"(Page 2 is shown coarser: one answer has no room for finer pictures.)"}, not: "alone"},
		{style: PDFStyle{}, res: media.PDFResult{Pages: []media.PDFPage{page(1, false)}}, want: []string{"(Page 1 comes as text alone: no picture of a page fits"}, not: "shows more"},
		{style: PDFStyle{Pictures: PicturesNever}, res: media.PDFResult{Pages: []media.PDFPage{page(1, false)}}, want: []string{"the setting pdf.images is never"}, not: "Read pages"},
		{style: PDFStyle{}, res: media.PDFResult{Behind: 2, Pages: []media.PDFPage{page(1, true)}}, want: []string{"), page 1 of 3"}, not: "pages 1 of"},
		{style: PDFStyle{}, res: media.PDFResult{Behind: 3, Pages: []media.PDFPage{page(1, true), page(2, true)}}, want: []string{"pages 1-2 of 3", `(One answer has no room for more text. Next: Read pages="3".)`}, not: ""},
		{style: PDFStyle{}, res: media.PDFResult{Pages: []media.PDFPage{{Number: 1, Text: "start", Cut: 99, Picture: picture}}}, want: []string{"start\n(99 more bytes of this page's text have no room in an answer."}, not: ""},
		{style: PDFStyle{}, res: media.PDFResult{Attachments: []string{"a.txt", "b.txt"}, Pages: []media.PDFPage{page(1, true)}}, want: []string{"not opened: a.txt, b.txt.)"}, not: "more"},
		{style: PDFStyle{}, res: media.PDFResult{Attachments: []string{"a.txt", "b.txt"}, MoreAttached: 7, Pages: []media.PDFPage{page(1, true)}}, want: []string{"not opened: a.txt, b.txt (and 7 more).)"}, not: ""},
		{style: PDFStyle{Document: true}, res: media.PDFResult{TooLarge: true, Pages: []media.PDFPage{page(1, true)}}, want: []string{"more than the 5.5 MB that are handed on; its pages follow instead"}, not: "cannot be cut"},
		{style: PDFStyle{Document: true}, res: media.PDFResult{Pages: []media.PDFPage{page(1, true)}}, want: []string{"cannot be cut out as a document"}, not: "5.5 MB"},
		{style: PDFStyle{Document: true}, res: media.PDFResult{Document: []byte("%PDF-")}, want: []string{"follows as a PDF of 3 pages"}, not: "text alone"},
	} {
		b, e := benchElsewhere(t, Preferences{PDF: func(toolcall.ClientLimits) PDFStyle { return c.style }})
		c.res.Count, c.res.Set.Pages = 3, []int{1, 2, 3}
		e.pages = c.res
		r := b.run(&ReadArgs{FilePath: b.put("a.pdf", "%PDF-1.5\n")})
		var all strings.Builder
		for _, block := range r.Blocks {
			all.WriteString(block.Text + "\n")
		}
		for _, want := range c.want {
			if !strings.Contains(all.String(), want) {
				t.Errorf("%q is not in\n%s", want, all.String())
			}
		}
		if c.not != "" && strings.Contains(all.String(), c.not) {
			t.Errorf("%q is in\n%s", c.not, all.String())
		}
		if r.IsError || r.Blocks[0].MIME != "" || !strings.HasPrefix(r.Blocks[0].Text, "PDF file read: "+b.path("a.pdf")) {
			t.Errorf("it does not begin with a text that stands on its own: %+v", r.Blocks[0])
		}
	}
}
