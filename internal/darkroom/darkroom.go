// Package darkroom has pictures developed in a worker: the orders as they go
// over the wire, the side that places them, and the side that carries them out
// with an engine. It promises that what fails in the worker comes back as the
// same fact it was there.
//
// It decodes nothing itself and starts no process: the worker's pool does.
package darkroom

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"time"

	"github.com/fsmcp/fsmcp/internal/media"
	"github.com/fsmcp/fsmcp/internal/worker"
)

// Counter takes jobs for workers.
type Counter interface {
	Do(ctx context.Context, j worker.Job) (worker.Reply, error)
}

// Darkroom places orders.
type Darkroom struct{ counter Counter }

// MostBytes is the longest file that is decoded, in bytes.
const MostBytes = worker.MaxBody

// New makes a darkroom whose work is done by the workers of a pool.
func New(c Counter) *Darkroom { return &Darkroom{c} }

// The names of the orders.
const (
	opPicture = "picture"
	opPDF     = "pdf"
	opWarm    = "warm"
	opPrepare = "prepare"
)

// readying is how long a worker may take to get ready to read PDFs: on a machine
// where that was never done, code has to be compiled.
const readying = 120 * time.Second

// Warming is the first job of workers that read PDFs.
func Warming() *worker.Job { return &worker.Job{Op: opWarm, Deadline: readying} }

// Preparing is a job that leaves what reads PDFs ready for later workers, where
// no earlier one has.
func Preparing() worker.Job { return worker.Job{Op: opPrepare, Deadline: readying} }

// Codes of failures that come back as what they were.
const (
	codeDamaged = "damaged"
	codeBounds  = "bounds"
	codeNoFit   = "no_fit"
	codeRegion  = "region"
	codePages   = "pages"
	codeLocked  = "locked"
	codeNoPDF   = "no_pdf"
)

// developed is a media.Result without its bytes.
type developed struct {
	As     media.Kind
	Shown  media.Shown
	Frames int
	// Approximate is as in media.Result.
	Approximate bool
}

// Picture has a picture developed. Beside the errors of media.Develop there are
// media.ErrTooLong, *media.BreakdownError, the context's and the file's own.
func (d *Darkroom) Picture(ctx context.Context, file io.ReaderAt, size int64, q media.Request, told media.Progress) (media.Result, error) {
	if size > MostBytes {
		return media.Result{}, media.ErrTooLong
	}
	reply, err := d.counter.Do(ctx, worker.Job{Op: opPicture, Params: q, Body: file, Size: size, Progress: told})
	if err != nil {
		return media.Result{}, cause(err)
	}
	var r developed
	if err := json.Unmarshal(reply.Result, &r); err != nil || len(reply.Blobs) != 1 {
		return media.Result{}, senseless()
	}
	return media.Result{Data: reply.Blobs[0], As: r.As, Shown: r.Shown, Frames: r.Frames, Approximate: r.Approximate}, nil
}

// cause is what an error of the worker means.
func cause(err error) error {
	var f *worker.Failure
	if errors.As(err, &f) {
		return unpacked(f)
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

// unpacked is a worker's failure as the error that it was there.
func unpacked(f *worker.Failure) error {
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

// packed is an error as it goes over the wire.
func packed(err error) error {
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

// PageReader reads PDFs.
type PageReader interface {
	Warm(told media.Progress) error
	Prepare(told media.Progress) error
	Read(data []byte, q media.PDFRequest, told media.Progress) (media.PDFResult, error)
}

// Handler carries out orders with an engine, and those for pages of PDFs with a
// reader; nil reads none.
func Handler(e media.Engine, pages PageReader) worker.Handler {
	return func(t worker.Task) (worker.Result, error) {
		switch t.Op {
		case opPicture:
			return develop(e, t)
		case opPDF, opWarm, opPrepare:
		default:
			return worker.Result{}, errors.New("this worker does not know the order " + t.Op)
		}
		switch {
		case pages == nil:
			return worker.Result{}, packed(media.ErrNoPDF)
		case t.Op == opWarm:
			return worker.Result{}, pages.Warm(t.Progress)
		case t.Op == opPrepare:
			return worker.Result{}, pages.Prepare(t.Progress)
		}
		return readPDF(pages, t)
	}
}

// develop carries out an order for a picture.
func develop(e media.Engine, t worker.Task) (worker.Result, error) {
	var q media.Request
	if err := json.Unmarshal(t.Params, &q); err != nil {
		return worker.Result{}, err
	}
	r, err := media.Develop(e, t.Body, q)
	if err != nil {
		return worker.Result{}, packed(err)
	}
	return worker.Result{Value: developed{r.As, r.Shown, r.Frames, r.Approximate}, Blobs: [][]byte{r.Data}}, nil
}
