package worker

import (
	"context"
	"encoding/json"
	"io"
	"time"
)

// answer holds the result of a job.
type answer struct {
	reply Reply
	err   error
}

// do sends a job and reads its answer while it watches the worker. It returns at the
// deadline even if the worker or the disk of the body hangs.
func (w *process) do(ctx context.Context, j Job, o Options) (Reply, error) {
	w.jobs++
	deadline := j.Deadline
	if deadline <= 0 {
		deadline = o.Deadline
	}
	w.group.RenewTime()
	answered := make(chan answer, 1)
	go func() {
		r, err := w.exchange(j)
		answered <- answer{r, err}
	}()
	a, why := w.watch(ctx, answered, deadline, o.Memory)
	if why == nil {
		return a.reply, w.cause(a.err)
	}
	select {
	case a = <-answered: // it came meanwhile
		return a.reply, w.cause(a.err)
	default:
	}
	if why == ErrDeadline && w.readingBody.Load() {
		why = ErrUnread
	}
	w.end()
	select {
	case <-answered: // the body must not be read after this returns
	case <-time.After(leaveWithin):
	}
	return Reply{}, why
}

// cause returns ErrForbidden in place of ErrDied if the kernel ended the worker for a
// system call. It kills a worker that still runs.
func (w *process) cause(err error) error {
	if err != ErrDied {
		return err
	}
	w.kill()
	select {
	case <-w.gone:
		if forbidden(w.cmd.ProcessState) {
			return ErrForbidden
		}
	default:
	}
	return err
}

// exchange writes the job and reads the answer.
func (w *process) exchange(j Job) (Reply, error) {
	params, err := json.Marshal(j.Params)
	if err != nil {
		return Reply{}, &Failure{Code: "failed", Text: err.Error()}
	}
	if err := w.send(header{Op: j.Op, Params: params, Size: j.Size}, j.Body); err != nil {
		return Reply{}, err
	}
	return w.receive(j.Progress)
}

func (w *process) send(h header, body io.ReaderAt) error {
	if err := writeMessage(w.in, h); err != nil {
		return ErrDied
	}
	room := make([]byte, min(h.Size, chunk))
	for at := int64(0); at < h.Size; {
		w.readingBody.Store(true)
		n, err := body.ReadAt(room[:min(int64(len(room)), h.Size-at)], at)
		w.readingBody.Store(false)
		if n == 0 {
			if err == nil || err == io.EOF {
				err = io.ErrUnexpectedEOF
			}
			return err // the worker waits for the rest: it cannot be used again
		}
		if _, err := w.in.Write(room[:n]); err != nil {
			return ErrDied
		}
		at += int64(n)
	}
	return nil
}

func (w *process) receive(report Progress) (Reply, error) {
	for {
		var o outcome
		switch err := readMessage(w.out, &o); {
		case err != nil:
			return Reply{}, ErrDied
		case o.Progress == nil && o.Failure == nil:
			return readBlobs(w.out, o)
		case o.Failure != nil:
			return Reply{}, o.Failure
		case report != nil:
			report(o.Progress.Done, o.Progress.Total, o.Progress.What)
		}
	}
}

func readBlobs(in io.Reader, o outcome) (Reply, error) {
	r := Reply{Result: o.Result}
	total := 0
	for _, n := range o.Blobs {
		if total += n; n < 0 || total > maxBlobs {
			return Reply{}, ErrDied
		}
		blob := make([]byte, n)
		if _, err := io.ReadFull(in, blob); err != nil {
			return Reply{}, ErrDied
		}
		r.Blobs = append(r.Blobs, blob)
	}
	return r, nil
}
