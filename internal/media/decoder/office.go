package decoder

import (
	"context"
	"encoding/json"
	"io"
	"unsafe"

	"github.com/fsmcp/fsmcp/internal/media"
	"github.com/fsmcp/fsmcp/internal/worker"
)

// OfficeReader reads Office documents.
type OfficeReader interface {
	Read(data []byte, q media.DocumentRequest) (*media.Document, error)
	Pictures(data []byte, parts []string) ([][]byte, error)
}

// OfficeText reads the text of an Office document. Beside the reader's errors it returns
// *media.BreakdownError, and those of the context and the file.
func (d *Client) OfficeText(ctx context.Context, file io.ReaderAt, size int64, q media.DocumentRequest) (*media.Document, error) {
	return d.document(ctx, worker.Job{Op: opOffice, Params: q, Body: file, Size: size})
}

// PDFText reads the text of a PDF's pages. The errors are those of PDF.
func (d *Client) PDFText(ctx context.Context, file io.ReaderAt, size int64, q media.DocumentRequest) (*media.Document, error) {
	return d.document(ctx, worker.Job{Op: opPDFText, Params: q, Body: file, Size: size})
}

// document runs a job whose result is a document with its text.
func (d *Client) document(ctx context.Context, j worker.Job) (*media.Document, error) {
	r := new(media.Document)
	blobs, err := d.do(ctx, j, r)
	if err != nil {
		return nil, err
	}
	if len(blobs) != 1 {
		return nil, malformed()
	}
	r.Body = unsafe.String(unsafe.SliceData(blobs[0]), len(blobs[0])) // which nothing else has
	rest := len(r.Body)
	for _, s := range r.Sections {
		if rest -= s.Size; s.Size < 0 || rest < 0 {
			return nil, malformed()
		}
	}
	return r, nil
}

// OfficePictures reads pictures of an Office document, by the names of their parts; nil stands for
// one that is not there or too large.
func (d *Client) OfficePictures(ctx context.Context, file io.ReaderAt, size int64, parts []string) ([][]byte, error) {
	var none struct{}
	blobs, err := d.do(ctx, worker.Job{Op: opOffice, Params: media.DocumentRequest{Parts: parts}, Body: file, Size: size}, &none)
	if err == nil && len(blobs) != len(parts) {
		err = malformed()
	}
	for i := range blobs {
		blobs[i] = some(blobs[i])
	}
	return blobs, err
}

// readOffice runs a job for a text or for pictures.
func readOffice(r OfficeReader, t worker.Task) (worker.HandlerResult, error) {
	var q media.DocumentRequest
	if err := json.Unmarshal(t.Params, &q); err != nil {
		return worker.HandlerResult{}, err
	}
	if q.Parts != nil {
		blobs, err := r.Pictures(t.Body, q.Parts)
		if err != nil {
			return worker.HandlerResult{}, encodeFailure(err)
		}
		return worker.HandlerResult{Value: struct{}{}, Blobs: blobs}, nil
	}
	doc, err := r.Read(t.Body, q)
	if err != nil {
		return worker.HandlerResult{}, encodeFailure(err)
	}
	return documentResult(doc), nil
}

// readPDFText runs a job for the text of a PDF's pages.
func readPDFText(pages PDFReader, t worker.Task) (worker.HandlerResult, error) {
	var q media.DocumentRequest
	if err := json.Unmarshal(t.Params, &q); err != nil {
		return worker.HandlerResult{}, err
	}
	doc, err := pages.Text(t.Body, q, t.Progress)
	if err != nil {
		return worker.HandlerResult{}, encodeFailure(err)
	}
	return documentResult(doc), nil
}

func documentResult(doc *media.Document) worker.HandlerResult {
	return worker.HandlerResult{Value: doc, Blobs: [][]byte{[]byte(doc.Body)}}
}
