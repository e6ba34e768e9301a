// Package decoder passes jobs for pictures and PDFs to worker processes: the client that
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

// Codes of failures that come back as their own errors.
const (
	codeDamaged = "damaged"
	codeBounds  = "bounds"
	codeNoFit   = "no_fit"
	codeRegion  = "region"
	codePages   = "pages"
	codeLocked  = "locked"
	codeNoPDF   = "no_pdf"
)

// pictureResult is a media.Result without its bytes.
type pictureResult struct {
	As     media.Kind
	Shown  media.Shown
	Frames int
	// Approximate is as in media.Result.
	Approximate bool
}

// Picture decodes, scales and encodes a picture. Beside the errors of media.Develop it
// returns media.ErrTooLong, *media.BreakdownError, and those of the context and the file.
func (d *Client) Picture(ctx context.Context, file io.ReaderAt, size int64, q media.Request, progress media.Progress) (media.Result, error) {
	if size > MaxBytes {
		return media.Result{}, media.ErrTooLong
	}
	reply, err := d.workers.Do(ctx, worker.Job{Op: opPicture, Params: q, Body: file, Size: size, Progress: progress})
	if err != nil {
		return media.Result{}, translate(err)
	}
	var r pictureResult
	if err := json.Unmarshal(reply.Result, &r); err != nil || len(reply.Blobs) != 1 {
		return media.Result{}, malformed()
	}
	return media.Result{Data: reply.Blobs[0], As: r.As, Shown: r.Shown, Frames: r.Frames, Approximate: r.Approximate}, nil
}

// translate returns the meaning of a worker's error.
func translate(err error) error {
	var f *worker.Failure
	if errors.As(err, &f) {
		return decodeFailure(f)
	}
	for _, c := range []struct {
		is  error
		why media.Breakdown
	}{
		{worker.ErrStart, media.Absent}, {worker.ErrDied, media.Died}, {worker.ErrDeadline, media.Late}, {worker.ErrUnread, media.Unread}, {worker.ErrMemory, media.Greedy},
		{worker.ErrStopped, media.Stopped}, {worker.ErrUnready, media.Unready}, {worker.ErrClosed, media.Absent},
	} {
		if errors.Is(err, c.is) {
			return &media.BreakdownError{Why: c.why, Err: err}
		}
	}
	return err
}

// decodeFailure returns the error that a failure stands for.
func decodeFailure(f *worker.Failure) error {
	switch f.Code {
	case codeDamaged:
		var e media.DamageError
		if json.Unmarshal(f.Detail, &e) == nil {
			return &e
		}
	case codeRegion:
		return &media.RegionError{Reason: f.Text}
	case codePages:
		var e media.OutlineError
		if json.Unmarshal(f.Detail, &e) == nil {
			return &e
		}
	case codeLocked:
		return media.ErrLocked
	case codeNoPDF:
		return media.ErrNoPDF
	case codeBounds:
		return media.ErrTooLarge
	case codeNoFit:
		return media.ErrNoFit
	}
	return &media.BreakdownError{Why: media.Died, Err: f}
}

// encodeFailure returns an error in its form between the processes.
func encodeFailure(err error) error {
	var damage *media.DamageError
	var region *media.RegionError
	var outline *media.OutlineError
	switch {
	case errors.As(err, &outline):
		detail, _ := json.Marshal(outline) // strings and numbers
		return &worker.Failure{Code: codePages, Text: outline.Reason, Detail: detail}
	case errors.Is(err, media.ErrLocked):
		return &worker.Failure{Code: codeLocked, Text: err.Error()}
	case errors.Is(err, media.ErrNoPDF):
		return &worker.Failure{Code: codeNoPDF, Text: err.Error()}
	case errors.As(err, &damage):
		detail, _ := json.Marshal(damage) // strings and a number
		return &worker.Failure{Code: codeDamaged, Text: damage.What, Detail: detail}
	case errors.As(err, &region):
		return &worker.Failure{Code: codeRegion, Text: region.Reason}
	case errors.Is(err, media.ErrTooLarge):
		return &worker.Failure{Code: codeBounds, Text: err.Error()}
	case errors.Is(err, media.ErrNoFit):
		return &worker.Failure{Code: codeNoFit, Text: err.Error()}
	}
	return err
}

// PDFReader reads PDFs.
type PDFReader interface {
	Warm(progress media.Progress) error
	Prepare(progress media.Progress) error
	Read(data []byte, q media.PDFRequest, progress media.Progress) (media.PDFResult, error)
}

// Handler runs jobs with an engine, and those for PDFs with a reader; nil reads none.
func Handler(e media.Engine, pages PDFReader) worker.Handler {
	return func(t worker.Task) (worker.Result, error) {
		switch t.Op {
		case opPicture:
			return decodePicture(e, t)
		case opPDF, opWarm, opPrepare:
		default:
			return worker.Result{}, errors.New("this worker does not know the order " + t.Op)
		}
		switch {
		case pages == nil:
			return worker.Result{}, encodeFailure(media.ErrNoPDF)
		case t.Op == opWarm:
			return worker.Result{}, pages.Warm(t.Progress)
		case t.Op == opPrepare:
			return worker.Result{}, pages.Prepare(t.Progress)
		}
		return readPDF(pages, t)
	}
}

// decodePicture runs a job for a picture.
func decodePicture(e media.Engine, t worker.Task) (worker.Result, error) {
	var q media.Request
	if err := json.Unmarshal(t.Params, &q); err != nil {
		return worker.Result{}, err
	}
	r, err := media.Develop(e, t.Body, q)
	if err != nil {
		return worker.Result{}, encodeFailure(err)
	}
	return worker.Result{Value: pictureResult{r.As, r.Shown, r.Frames, r.Approximate}, Blobs: [][]byte{r.Data}}, nil
}
