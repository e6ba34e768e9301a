package worker

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"runtime/debug"
	"time"
)

// Task is a job on the handler's side.
type Task struct {
	Op     string
	Params json.RawMessage
	Body   []byte
	// Progress reports progress of a long job.
	Progress Progress
}

// Result is a handler's answer: a value for JSON, and byte strings beside it.
type Result struct {
	Value any
	Blobs [][]byte
}

// Handler runs one job. Other errors than *Failure are answered with code "failed", a
// panic with code "crashed".
type Handler func(Task) (Result, error)

// MaxBody is the largest body a worker takes, in bytes.
const MaxBody = 1 << 30

// Serve answers jobs one after the other until the input ends. It calls gone as soon as it
// ends, even during a job: nothing reads the answer then.
func Serve(in io.Reader, out io.Writer, h Handler, gone func()) error {
	s := &serving{out: bufio.NewWriterSize(out, chunk), handle: h}
	frames := make(chan frame)
	go func() {
		s.read(bufio.NewReaderSize(in, chunk), frames)
		gone()
	}()
	for f := range frames {
		if f.err != nil {
			return f.err
		}
		if err := s.job(f, frames); err != nil {
			return err
		}
	}
	return nil
}

type frame struct {
	kind byte
	b    []byte
	err  error
}

type serving struct {
	out    *bufio.Writer
	handle Handler
	rest   *time.Timer // frees memory unless another job comes
}

// A job whose body is longer than muchBody takes much memory. It is freed only after
// restAfter: mostly the next job comes at once and needs as much.
const (
	muchBody  = 1 << 20
	restAfter = 300 * time.Millisecond
)

// read passes on frames until the input ends.
func (s *serving) read(in io.Reader, frames chan<- frame) {
	defer close(frames)
	for {
		kind, b, err := readFrame(in, nil)
		if err == io.EOF {
			return
		}
		frames <- frame{kind, b, err}
		if err != nil {
			return
		}
	}
}

// job reads the rest of a job, runs it, and answers.
func (s *serving) job(first frame, frames <-chan frame) error {
	if s.rest != nil {
		s.rest.Stop()
	}
	var h header
	if first.kind != frameJob || json.Unmarshal(first.b, &h) != nil || h.Size < 0 || h.Size > MaxBody {
		return errFrame
	}
	body, err := bodyOf(h, frames)
	if err != nil {
		return err
	}
	extendTime()
	r, err := s.guarded(Task{Op: h.Op, Params: h.Params, Body: body, Progress: s.progress})
	if err := s.answer(r, err); err != nil {
		return err
	}
	if h.Size > muchBody {
		s.rest = time.AfterFunc(restAfter, debug.FreeOSMemory)
	}
	return nil
}

// bodyOf reads a job's body to its end.
func bodyOf(h header, frames <-chan frame) ([]byte, error) {
	body := make([]byte, 0, h.Size)
	for f := range frames {
		switch {
		case f.err != nil:
			return nil, f.err
		case f.kind == frameEnd:
			return body, nil
		case f.kind != frameData || int64(len(body)+len(f.b)) > h.Size:
			return nil, errFrame
		}
		body = append(body, f.b...)
	}
	return nil, io.ErrUnexpectedEOF
}

// guarded runs the handler; after a panic only that job fails.
func (s *serving) guarded(t Task) (r Result, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = &Failure{Code: "crashed", Text: fmt.Sprint(p)}
		}
	}()
	return s.handle(t)
}

func (s *serving) progress(done, total int64, what string) {
	if writeJSON(s.out, frameProgress, progress{done, total, what}) == nil {
		s.out.Flush()
	}
}

func (s *serving) answer(r Result, failed error) error {
	var o outcome
	if failed != nil {
		if !errors.As(failed, &o.Failure) {
			o.Failure = &Failure{Code: "failed", Text: failed.Error()}
		}
		r.Blobs = nil
	} else {
		value, err := json.Marshal(r.Value)
		if err != nil {
			return err
		}
		o.Result = value
	}
	for _, b := range r.Blobs {
		o.Blobs = append(o.Blobs, len(b))
	}
	if err := writeJSON(s.out, frameReply, o); err != nil {
		return err
	}
	for _, b := range r.Blobs {
		for len(b) > 0 {
			n := min(len(b), chunk)
			if err := writeFrame(s.out, frameData, b[:n]); err != nil {
				return err
			}
			b = b[n:]
		}
	}
	return s.out.Flush()
}
