package darkroom

import (
	"context"
	"encoding/json"
	"errors"
	"io"

	"github.com/fsmcp/fsmcp/internal/media"
	"github.com/fsmcp/fsmcp/internal/worker"
)

// read is a media.PDFResult whose bytes go beside it: each page's text, and its
// picture where it has one; last the document.
type read struct {
	Count       int
	Set         media.PageSet
	Pages       []page
	Attachments []string
	More        int // attachments
	Whole       bool
	Behind      int
	TooLarge    bool
}

// page is a media.PDFPage without its bytes.
type page struct {
	Number, Cut          int
	Drawn, Plain, Coarse bool
}

// PDF has pages of a document read. Beside the errors of the reader there are
// *media.BreakdownError, media.ErrNoPDF, the context's and the file's own.
func (d *Darkroom) PDF(ctx context.Context, file io.ReaderAt, size int64, q media.PDFRequest, told media.Progress) (media.PDFResult, error) {
	reply, err := d.counter.Do(ctx, worker.Job{Op: opPDF, Params: q, Body: file, Size: size, Progress: told})
	if err != nil {
		return media.PDFResult{}, cause(err)
	}
	var r read
	if err := json.Unmarshal(reply.Result, &r); err != nil {
		return media.PDFResult{}, senseless()
	}
	out := media.PDFResult{Count: r.Count, Set: r.Set, Attachments: r.Attachments, MoreAttached: r.More, Behind: r.Behind, TooLarge: r.TooLarge}
	blobs := reply.Blobs
	next := func() (b []byte) {
		if len(blobs) > 0 {
			b, blobs = blobs[0], blobs[1:]
		}
		return b
	}
	for _, had := range r.Pages {
		p := media.PDFPage{Number: had.Number, Text: string(next()), Cut: had.Cut, Plain: had.Plain, Coarse: had.Coarse}
		if had.Drawn {
			if p.Picture = next(); len(p.Picture) == 0 {
				return media.PDFResult{}, senseless()
			}
		}
		out.Pages = append(out.Pages, p)
	}
	if r.Whole {
		if out.Document = next(); len(out.Document) == 0 {
			return media.PDFResult{}, senseless()
		}
	}
	return out, nil
}

func senseless() error {
	return &media.BreakdownError{Why: media.Died, Err: errors.New("the worker's answer makes no sense")}
}

// readPDF carries out an order for pages.
func readPDF(pages PageReader, t worker.Task) (worker.Result, error) {
	var q media.PDFRequest
	if err := json.Unmarshal(t.Params, &q); err != nil {
		return worker.Result{}, err
	}
	res, err := pages.Read(t.Body, q, t.Progress)
	if err != nil {
		return worker.Result{}, packed(err)
	}
	r := read{Count: res.Count, Set: res.Set, Attachments: res.Attachments, More: res.MoreAttached, Behind: res.Behind, TooLarge: res.TooLarge, Whole: res.Document != nil}
	var blobs [][]byte
	for _, p := range res.Pages {
		r.Pages = append(r.Pages, page{Number: p.Number, Cut: p.Cut, Drawn: p.Picture != nil, Plain: p.Plain, Coarse: p.Coarse})
		blobs = append(blobs, []byte(p.Text))
		if p.Picture != nil {
			blobs = append(blobs, p.Picture)
		}
	}
	if r.Whole {
		blobs = append(blobs, res.Document)
	}
	return worker.Result{Value: r, Blobs: blobs}, nil
}
