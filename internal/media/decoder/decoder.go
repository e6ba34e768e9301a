// Package decoder passes jobs for pictures, PDFs and Office documents to worker processes: the client that
// sends a job, the handler that runs it with an engine, and the form of jobs, results and
// errors between them. It promises that an error of the worker comes back as the same
// fact.
//
// It decodes nothing itself and starts no process: the worker's pool does.
package decoder

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"time"

	"github.com/fsmcp/fsmcp/internal/media"
	"github.com/fsmcp/fsmcp/internal/worker"
)

// Workers runs jobs in worker processes.
type Workers interface {
	Do(ctx context.Context, j worker.Job) (worker.Reply, error)
}

// Client sends jobs.
type Client struct{ workers Workers }

// MaxBytes bounds a file to decode.
const MaxBytes = worker.MaxBody

// New makes a client of a pool of workers.
func New(c Workers) *Client { return &Client{c} }

// The names of the jobs.
const (
	opPicture = "picture"
	opPDF     = "pdf"
	opPDFText = "pdf_text"
	opOffice  = "office"
	opWarm    = "warm"
	opPrepare = "prepare"
)

// warmTimeout bounds the time in which a worker compiles PDFium, which it does if the
// cache lacks it.
const warmTimeout = 120 * time.Second

// WarmJob returns the first job of a worker that reads PDFs: compile or load PDFium.
func WarmJob() *worker.Job { return &worker.Job{Op: opWarm, Deadline: warmTimeout} }

// PrepareJob returns the job that compiles PDFium into the cache for later workers, unless
// it is there.
func PrepareJob() worker.Job { return worker.Job{Op: opPrepare, Deadline: warmTimeout} }

// Picture decodes, scales and encodes a picture. Beside the errors of media.Fit it
// returns media.ErrTooLong, *media.BreakdownError, and those of the context and the file.
func (d *Client) Picture(ctx context.Context, file io.ReaderAt, size int64, q media.Request, progress media.Progress) (r media.FittedPicture, err error) {
	if size > MaxBytes {
		return r, media.ErrTooLong
	}
	blobs, err := d.do(ctx, worker.Job{Op: opPicture, Params: q, Body: file, Size: size, Progress: progress}, &r)
	if err != nil {
		return media.FittedPicture{}, err
	}
	if len(blobs) != 1 {
		return media.FittedPicture{}, malformed()
	}
	r.Data = blobs[0]
	return r, nil
}

// do runs a job, fills its result in, and returns the bytes that come with it.
func (d *Client) do(ctx context.Context, j worker.Job, result any) (blobs [][]byte, err error) {
	reply, err := d.workers.Do(ctx, j)
	if err != nil {
		return nil, translate(err)
	}
	if json.Unmarshal(reply.Result, result) != nil {
		return nil, malformed()
	}
	return reply.Blobs, nil
}

func malformed() error {
	return &media.BreakdownError{Why: media.Died, Err: errors.New("the worker's answer makes no sense")}
}

// PDFReader reads PDFs.
type PDFReader interface {
	Warm(progress media.Progress) error
	Prepare(progress media.Progress) error
	Read(data []byte, q media.PDFRequest, progress media.Progress) (media.PDFResult, error)
	Text(data []byte, q media.DocumentRequest, progress media.Progress) (*media.Document, error)
}

// Handler runs jobs with an engine, those for PDFs with a reader, and those for Office documents
// with another one; nil reads none.
func Handler(e media.Engine, pages PDFReader, office OfficeReader) worker.Handler {
	return func(t worker.Task) (worker.HandlerResult, error) {
		switch t.Op {
		case opPicture:
			return decodePicture(e, t)
		case opOffice:
			if office == nil {
				return worker.HandlerResult{}, encodeFailure(media.ErrNoPDF)
			}
			return readOffice(office, t)
		case opPDF, opPDFText, opWarm, opPrepare:
		default:
			return worker.HandlerResult{}, errors.New("this worker does not know the order " + t.Op)
		}
		switch {
		case pages == nil:
			return worker.HandlerResult{}, encodeFailure(media.ErrNoPDF)
		case t.Op == opWarm:
			return worker.HandlerResult{}, pages.Warm(t.Progress)
		case t.Op == opPrepare:
			return worker.HandlerResult{}, pages.Prepare(t.Progress)
		case t.Op == opPDFText:
			return readPDFText(pages, t)
		}
		return readPDF(pages, t)
	}
}

// decodePicture runs a job for a picture.
func decodePicture(e media.Engine, t worker.Task) (worker.HandlerResult, error) {
	var q media.Request
	if err := json.Unmarshal(t.Params, &q); err != nil {
		return worker.HandlerResult{}, err
	}
	r, err := media.Fit(e, t.Body, q)
	if err != nil {
		return worker.HandlerResult{}, encodeFailure(err)
	}
	return worker.HandlerResult{Value: r, Blobs: [][]byte{r.Data}}, nil
}
