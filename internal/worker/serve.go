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

// HandlerResult is a handler's answer: a value for JSON, and byte strings beside it.
type HandlerResult struct {
	Value any
	Blobs [][]byte
}

// Handler runs one job. Other errors than *Failure are answered with code "failed", a
// panic with code "crashed".
type Handler func(Task) (HandlerResult, error)

// MaxBody is the largest body a worker takes, in bytes.
const MaxBody = 1 << 30

// Serve answers jobs one after the other until the input ends. It calls gone as soon as it
// ends, even during a job: nothing reads the answer then.
func Serve(in io.Reader, out io.Writer, h Handler, gone func()) error {
	s := &serving{out: bufio.NewWriterSize(out, chunk), handle: h}
	jobs := make(chan received)
	go func() {
		readJobs(bufio.NewReaderSize(in, chunk), jobs)
		gone()
	}()
	for j := range jobs {
		if j.err != nil {
			return j.err
		}
		if err := s.job(j); err != nil {
			return err
		}
	}
	return nil
}

// received is a job as it came, or the error that ends the input.
type received struct {
	header
	body []byte
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

// readJobs passes on jobs until the input ends.
func readJobs(in io.Reader, jobs chan<- received) {
	defer close(jobs)
	for {
		j := readJob(in)
		if j.err == io.EOF {
			return
		}
		jobs <- j
		if j.err != nil {
			return
		}
	}
}

func readJob(in io.Reader) (j received) {
	if j.err = readMessage(in, &j.header); j.err != nil {
		return j
	}
	if j.Size < 0 || j.Size > MaxBody {
		j.err = errMessage
		return j
	}
	j.body = make([]byte, j.Size)
	if _, err := io.ReadFull(in, j.body); err != nil {
		j.err = fmt.Errorf("%w: %w", errMessage, err)
	}
	return j
}

// job runs a job, and answers.
func (s *serving) job(j received) error {
	if s.rest != nil {
		s.rest.Stop()
	}
	extendTime()
	r, err := s.guarded(Task{Op: j.Op, Params: j.Params, Body: j.body, Progress: s.progress})
	if err := s.answer(r, err); err != nil {
		return err
	}
	if j.Size > muchBody {
		s.rest = time.AfterFunc(restAfter, debug.FreeOSMemory)
	}
	return nil
}

// guarded runs the handler; after a panic only that job fails.
func (s *serving) guarded(t Task) (r HandlerResult, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = &Failure{Code: "crashed", Text: fmt.Sprint(p)}
		}
	}()
	return s.handle(t)
}

func (s *serving) progress(done, total int64, what string) {
	if writeMessage(s.out, outcome{Progress: &progress{done, total, what}}) == nil {
		s.out.Flush()
	}
}

func (s *serving) answer(r HandlerResult, failed error) error {
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
	if err := writeMessage(s.out, o); err != nil {
		return err
	}
	for _, b := range r.Blobs {
		if _, err := s.out.Write(b); err != nil {
			return err
		}
	}
	return s.out.Flush()
}
