package worker

import (
	"bufio"
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
	answered := make(chan answer, 1)
	go func() {
		r, err := w.exchange(j)
		answered <- answer{r, err}
	}()
	a, why := w.watch(ctx, answered, deadline, o.Memory)
	if why == nil {
		return a.reply, a.err
	}
	select {
	case a = <-answered: // it came meanwhile
		return a.reply, a.err
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
	if err := writeJSON(w.in, frameJob, h); err != nil {
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
		if err := writeFrame(w.in, frameData, room[:n]); err != nil {
			return ErrDied
		}
		at += int64(n)
	}
	if err := writeFrame(w.in, frameEnd, nil); err != nil {
		return ErrDied
	}
	return nil
}

func (w *process) receive(report Progress) (Reply, error) {
	for {
		kind, b, err := readFrame(w.out, nil)
		switch {
		case err != nil:
			return Reply{}, ErrDied
		case kind == frameProgress:
			var p progress
			if json.Unmarshal(b, &p) == nil && report != nil {
				report(p.Done, p.Total, p.What)
			}
			continue
		case kind != frameReply:
			return Reply{}, ErrDied
		}
		var o outcome
		if json.Unmarshal(b, &o) != nil {
			return Reply{}, ErrDied
		}
		if o.Failure != nil {
			return Reply{}, o.Failure
		}
		return readBlobs(w.out, o)
	}
}

func readBlobs(in *bufio.Reader, o outcome) (Reply, error) {
	r := Reply{Result: o.Result}
	total := 0
	for _, n := range o.Blobs {
		if total += n; n < 0 || total > maxBlobs {
			return Reply{}, ErrDied
		}
		blob := make([]byte, 0, n)
		for len(blob) < n {
			kind, b, err := readFrame(in, blob[len(blob):])
			if err != nil || kind != frameData || len(b) == 0 || len(blob)+len(b) > n {
				return Reply{}, ErrDied
			}
			blob = blob[:len(blob)+len(b)] // read in place: it fits
		}
		r.Blobs = append(r.Blobs, blob)
	}
	return r, nil
}
