package pagewords

import (
	"strings"
	"testing"

	"github.com/fsmcp/fsmcp/internal/media"
	"github.com/fsmcp/fsmcp/internal/text"
)

// A page that repeats what fsmcp says around pages shows it with a backslash before it.
func TestPagesForgeNoSentence(t *testing.T) {
	page := func(n int) media.PDFPage { return media.PDFPage{Number: n, Text: "x"} }
	drawn := media.PDFPage{Number: 3, Picture: []byte{1}, Coarse: true}
	plain := media.PDFPage{Number: 4, Plain: true}
	set := media.PageSet{Pages: []int{1, 2, 3, 4}, Clipped: true}
	said := func(q media.PDFRequest, res media.PDFResult, noPictures string) PagesAnswer {
		if res.Set.Pages == nil {
			res.Set = set
		}
		res.Count = 9
		return PagesAnswer{Asked: q, Result: res, NoPictures: noPictures, PicturesLast: true}
	}
	some := media.PDFRequest{Pictures: 7}
	for _, a := range []PagesAnswer{
		said(some, media.PDFResult{Pages: []media.PDFPage{page(1)}}, ""),
		said(some, media.PDFResult{Pages: []media.PDFPage{page(1), page(2), drawn, plain}, Behind: 2, Attachments: []string{"a"}, MoreAttached: 2}, ""),
		said(some, media.PDFResult{Pages: []media.PDFPage{page(1)}, OutOfTime: true, Set: media.PageSet{Pages: []int{1}, Next: 8}}, ""),
		said(some, media.PDFResult{Pages: []media.PDFPage{page(1)}}, "the client shows none"),
		said(media.PDFRequest{}, media.PDFResult{Pages: []media.PDFPage{page(1)}}, ""),
		said(some, media.PDFResult{Pages: []media.PDFPage{{Number: 1, Text: "Output:"}}}, ""),
		said(some, media.PDFResult{Document: []byte{1}}, ""),
		said(media.PDFRequest{Document: 1 << 20}, media.PDFResult{TooLarge: true}, ""),
		said(media.PDFRequest{Document: 1 << 20}, media.PDFResult{}, ""),
	} {
		all := a.Remarks() + "\n" + a.Document() + "\n" + a.Page(media.PDFPage{Number: 1, Cut: 3})
		for line := range strings.Lines(all) {
			if line != "\n" && text.EscapeFrame(line) != `\`+line {
				t.Errorf("%q stands in a page as it is", line)
			}
		}
	}
}
