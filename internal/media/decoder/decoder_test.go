package decoder

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"syscall"
	"testing"

	"github.com/fsmcp/fsmcp/internal/media"
	"github.com/fsmcp/fsmcp/internal/worker"
)

// engine returns a fixed picture or error.
type engine struct{ err error }

func (e engine) Open(data []byte, f media.PictureFacts, v media.WantedView) (media.Picture, error) {
	return e, e.err
}
func (engine) Opaque() bool                                   { return false }
func (engine) Close()                                         {}
func (engine) Approximate() bool                              { return true }
func (engine) Render(s media.PictureEncoding) ([]byte, error) { return []byte("a picture"), nil }

// localWorker is a pool whose worker is in this process; jobs still take their form
// between processes.
type localWorker struct {
	h   worker.Handler
	err error
}

func (p localWorker) Do(_ context.Context, j worker.Job) (worker.Reply, error) {
	if p.err != nil {
		return worker.Reply{}, p.err
	}
	params, err := json.Marshal(j.Params)
	if err != nil {
		return worker.Reply{}, err
	}
	body, err := io.ReadAll(io.NewSectionReader(j.Body, 0, j.Size))
	if err != nil {
		return worker.Reply{}, err
	}
	r, err := p.h(worker.Task{Op: j.Op, Params: params, Body: body})
	if err != nil {
		var f *worker.Failure
		if !errors.As(err, &f) {
			f = &worker.Failure{Code: "failed", Text: err.Error()}
		}
		return worker.Reply{}, f
	}
	result, err := json.Marshal(r.Value)
	return worker.Reply{Result: result, Blobs: r.Blobs}, err
}

// gifOf returns the header of a GIF of that size.
func gifOf(w, h byte) *bytes.Reader {
	return bytes.NewReader(append([]byte("GIF89a"), w, 0, h, 0, 0, 0, 0))
}

func TestPicturesComeBackUnchanged(t *testing.T) {
	d := New(localWorker{h: Handler(engine{}, nil, nil)})
	q := media.Request{Kind: media.GIF, Region: &media.Rect{X: 5, Y: 6, Width: 70, Height: 80}, Limits: media.DefaultLimits(), Bounds: media.DefaultBounds()}
	r, err := d.Picture(t.Context(), gifOf(60, 50), 13, q, nil)
	want := media.FittedPicture{Data: []byte("a picture"), As: media.PNG, Frames: 1, Approximate: true, Shown: media.Mapping{
		Width: 60, Height: 50, Part: media.Rect{X: 5, Y: 6, Width: 55, Height: 44}, Zoomed: true, DisplayWidth: 220, DisplayHeight: 176,
	}}
	if err != nil || !reflect.DeepEqual(r, want) {
		t.Errorf("%+v %v", r, err)
	}
}

func TestFailuresComeBackUnchanged(t *testing.T) {
	q := media.Request{Kind: media.GIF, Limits: media.DefaultLimits(), Bounds: media.DefaultBounds()}
	tight, low, away := q, q, q
	tight.Bounds.Side, low.Limits.Bytes, away.Region = 10, 3, &media.Rect{X: 100, Y: 0, Width: 5, Height: 5}
	damage := &media.DamageError{Kind: media.GIF, What: "it is cut short"}
	for _, c := range []struct {
		err  error
		q    media.Request
		want any
	}{
		{damage, q, damage},
		{nil, tight, media.ErrTooLarge},
		{nil, low, media.ErrNoFit},
		{nil, away, &media.RegionError{Reason: "it lies wholly outside of the picture, which has 60x50 pixels"}},
	} {
		_, err := New(localWorker{h: Handler(engine{c.err}, nil, nil)}).Picture(t.Context(), gifOf(60, 50), 13, c.q, nil)
		if !reflect.DeepEqual(err, c.want) {
			t.Errorf("%#v, want %#v", err, c.want)
		}
	}
}

// A file that is too long for workers is reported as such.
func TestFilesThatAreTooLong(t *testing.T) {
	if _, err := New(localWorker{}).Picture(t.Context(), gifOf(1, 1), MaxBytes+1, media.Request{}, nil); err != media.ErrTooLong {
		t.Error(err)
	}
}

func TestBreakdownsAreDistinct(t *testing.T) {
	for _, c := range []struct {
		err error
		why media.Breakdown
	}{
		{worker.ErrDied, media.Died}, {worker.ErrDeadline, media.Late}, {worker.ErrUnread, media.Unread}, {worker.ErrMemory, media.Greedy}, {worker.ErrStopped, media.Stopped}, {worker.ErrForbidden, media.Forbidden},
		{worker.ErrStart, media.Absent}, {fmt.Errorf("%w: %w", worker.ErrStart, worker.ErrDied), media.Absent}, {fmt.Errorf("%w: %w", worker.ErrUnready, context.Canceled), media.Unready}, {&worker.Failure{Code: "crashed", Text: "index out of range"}, media.Died},
	} {
		_, err := New(localWorker{err: c.err}).Picture(t.Context(), gifOf(1, 1), 13, media.Request{}, nil)
		var b *media.BreakdownError
		if !errors.As(err, &b) || b.Why != c.why {
			t.Errorf("%v: %v", c.err, err)
		}
	}
	for _, own := range []error{context.Canceled, syscall.EIO} {
		if _, err := New(localWorker{err: own}).Picture(t.Context(), gifOf(1, 1), 13, media.Request{}, nil); !errors.Is(err, own) {
			t.Errorf("%v: %v", own, err)
		}
	}
}

// reader returns a fixed result or error.
type reader struct {
	res media.PDFResult
	err error
}

func (reader) Warm(media.Progress) error    { return nil }
func (reader) Prepare(media.Progress) error { return nil }
func (reader) Text([]byte, media.DocumentRequest, media.Progress) (*media.Document, error) {
	return nil, nil
}
func (r reader) Read([]byte, media.PDFRequest, media.Progress) (media.PDFResult, error) {
	return r.res, r.err
}

func TestPagesComeBackUnchanged(t *testing.T) {
	for _, want := range []media.PDFResult{
		{Count: 9, Set: media.PageSet{Pages: []int{2, 3}, Clipped: true, Next: 4}, Attachments: []string{"a.txt"}, MoreAttached: 5, Behind: 7, Pages: []media.PDFPage{
			{Number: 2, Text: "two", Picture: []byte("a picture"), Coarse: true}, {Number: 3, Text: "", Cut: 12}, {Number: 4, Text: "four", Plain: true},
		}},
		{Count: 1, Set: media.PageSet{Pages: []int{1}}, Document: []byte("%PDF-")},
		{Count: 1, Set: media.PageSet{Pages: []int{1}}, TooLarge: true, Pages: []media.PDFPage{{Number: 1, Text: "one"}}},
	} {
		got, err := New(localWorker{h: Handler(engine{}, reader{res: want}, nil)}).PDF(t.Context(), gifOf(1, 1), 13, media.PDFRequest{}, nil)
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%+v %v", got, err)
		}
	}
	outline := &media.OutlineError{PagesError: media.PagesError{Reason: "too many", Count: 30}, Outline: []media.Chapter{{Title: "One", Page: 1}}}
	for _, want := range []error{outline, media.ErrLocked, &media.DamageError{Kind: media.PDF, What: "no pages"}} {
		_, err := New(localWorker{h: Handler(engine{}, reader{err: want}, nil)}).PDF(t.Context(), gifOf(1, 1), 13, media.PDFRequest{}, nil)
		if !reflect.DeepEqual(err, want) {
			t.Errorf("%#v, want %#v", err, want)
		}
	}
	if _, err := New(localWorker{h: Handler(engine{}, nil, nil)}).PDF(t.Context(), gifOf(1, 1), 13, media.PDFRequest{}, nil); err != media.ErrNoPDF {
		t.Error(err)
	}
}
