package pdf

import (
	"strings"
	"time"

	"github.com/klippa-app/go-pdfium/requests"

	"github.com/fsmcp/fsmcp/internal/media"
)

// Text returns the text of a document's pages, in reading order and without pictures, from one
// page on. A page that cannot be read has no text. The errors are those of Read.
func (r *Reader) Text(data []byte, q media.DocumentRequest, progress media.Progress) (*media.Document, error) {
	if err := r.Warm(progress); err != nil {
		return nil, err
	}
	d, err := r.open(data)
	if err != nil {
		return nil, err
	}
	sound := false
	defer func() { r.close(d, sound) }()
	n, err := d.in.FPDF_GetPageCount(&requests.FPDF_GetPageCount{Document: d.ref})
	if err != nil || n.PageCount <= 0 {
		return nil, damaged("it has no pages")
	}
	doc := &media.Document{Kind: media.Pages, Format: "pdf", Count: n.PageCount}
	until := time.Now().Add(time.Duration(q.Millis) * time.Millisecond)
	var body strings.Builder
	for number := max(q.From, 1); number <= n.PageCount; number++ {
		if len(doc.Sections) > 0 && (time.Now().After(until) || len(doc.Sections) >= media.MaxSections || body.Len() > media.MaxDocText/2) {
			doc.Next = number
			break
		}
		words, _ := d.text(number)
		doc.AddSection(&body, head(words, media.MaxDocText/2))
	}
	doc.Body = body.String()
	sound = true
	return doc, nil
}
