package decoder

import (
	"context"
	"encoding/json"
	"io"

	"github.com/fsmcp/fsmcp/internal/media"
	"github.com/fsmcp/fsmcp/internal/worker"
)

// PDF reads pages of a document. Beside the reader's errors it returns
// *media.BreakdownError, media.ErrNoPDF, and those of the context and the file.
func (d *Client) PDF(ctx context.Context, file io.ReaderAt, size int64, q media.PDFRequest, progress media.Progress) (r media.PDFResult, err error) {
	blobs, err := d.do(ctx, worker.Job{Op: opPDF, Params: q, Body: file, Size: size, Progress: progress}, &r)
	if err != nil {
		return media.PDFResult{}, err
	}
	if len(blobs) != 2*len(r.Pages)+1 {
		return media.PDFResult{}, malformed()
	}
	for i := range r.Pages {
		r.Pages[i].Text, r.Pages[i].Picture = string(blobs[2*i]), some(blobs[2*i+1])
	}
	r.Document = some(blobs[len(blobs)-1])
	return r, nil
}

// some returns nil for an empty slice.
func some(b []byte) []byte {
	if len(b) == 0 {
		return nil
	}
	return b
}

// readPDF runs a job for pages. With the result come the text and the picture of each
// page, and the document; missing ones are empty.
func readPDF(pages PDFReader, t worker.Task) (worker.HandlerResult, error) {
	var q media.PDFRequest
	if err := json.Unmarshal(t.Params, &q); err != nil {
		return worker.HandlerResult{}, err
	}
	r, err := pages.Read(t.Body, q, t.Progress)
	if err != nil {
		return worker.HandlerResult{}, encodeFailure(err)
	}
	var blobs [][]byte
	for _, p := range r.Pages {
		blobs = append(blobs, []byte(p.Text), p.Picture)
	}
	return worker.HandlerResult{Value: r, Blobs: append(blobs, r.Document)}, nil
}
