package decoder

import (
	"context"
	"encoding/json"
	"errors"
	"io"

	"github.com/fsmcp/fsmcp/internal/media"
	"github.com/fsmcp/fsmcp/internal/worker"
)

// pdfResult is a media.PDFResult whose bytes follow it: each page's text, and its picture
// if it has one; last the document.
type pdfResult struct {
	Count       int
	Set         media.PageSet
	Pages       []pdfPage
	Attachments []string
	More        int // attachments
	Whole       bool
	Behind      int
	TooLarge    bool
	OutOfTime   bool
}

// pdfPage is a media.PDFPage without its bytes.
type pdfPage struct {
	Number, Cut          int
	Drawn, Plain, Coarse bool
}

// PDF reads pages of a document. Beside the reader's errors it returns
// *media.BreakdownError, media.ErrNoPDF, and those of the context and the file.
func (d *Client) PDF(ctx context.Context, file io.ReaderAt, size int64, q media.PDFRequest, progress media.Progress) (media.PDFResult, error) {
	reply, err := d.workers.Do(ctx, worker.Job{Op: opPDF, Params: q, Body: file, Size: size, Progress: progress})
	if err != nil {
		return media.PDFResult{}, translate(err)
	}
	var r pdfResult
	if err := json.Unmarshal(reply.Result, &r); err != nil {
		return media.PDFResult{}, malformed()
	}
	out := media.PDFResult{Count: r.Count, Set: r.Set, Attachments: r.Attachments, MoreAttached: r.More, Behind: r.Behind, TooLarge: r.TooLarge, OutOfTime: r.OutOfTime}
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
				return media.PDFResult{}, malformed()
			}
		}
		out.Pages = append(out.Pages, p)
	}
	if r.Whole {
		if out.Document = next(); len(out.Document) == 0 {
			return media.PDFResult{}, malformed()
		}
	}
	return out, nil
}

func malformed() error {
	return &media.BreakdownError{Why: media.Died, Err: errors.New("the worker's answer makes no sense")}
}

// readPDF runs a job for pages.
func readPDF(pages PDFReader, t worker.Task) (worker.Result, error) {
	var q media.PDFRequest
	if err := json.Unmarshal(t.Params, &q); err != nil {
		return worker.Result{}, err
	}
	res, err := pages.Read(t.Body, q, t.Progress)
	if err != nil {
		return worker.Result{}, encodeFailure(err)
	}
	r := pdfResult{Count: res.Count, Set: res.Set, Attachments: res.Attachments, More: res.MoreAttached, Behind: res.Behind, TooLarge: res.TooLarge, OutOfTime: res.OutOfTime, Whole: res.Document != nil}
	var blobs [][]byte
	for _, p := range res.Pages {
		r.Pages = append(r.Pages, pdfPage{Number: p.Number, Cut: p.Cut, Drawn: p.Picture != nil, Plain: p.Plain, Coarse: p.Coarse})
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
