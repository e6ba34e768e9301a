package lsp

import (
	"slices"
	"time"
)

// waiting is a wait for diagnostics.
type waiting struct {
	documents []*file // that the server is to report on
	changes   bool    // they are as changes have left them
	sent      time.Time
	answered  bool // the server has answered since
}

// await waits until the server has reported on documents as they were sent, or until it may
// be taken to have nothing to report. With changes, it also ends when another change is
// delivered. It returns false once the run has ended.
func (r *run) await(documents []*file, changes bool) bool {
	p := r.process
	r.worked = false
	w := &waiting{documents: documents, changes: changes, sent: time.Now()}
	go func() {
		_ = r.conn.Call(r.ctx, "$/alive", nil, nil) // an unknown method gets an error
		p.client.mu.Lock()
		defer p.client.mu.Unlock()
		w.answered = true
		r.wake()
	}()
	timer := time.NewTimer(0)
	defer timer.Stop()
	for r.ctx.Err() == nil {
		most, complete := r.until(w)
		left := most - time.Since(w.sent)
		if changes && p.pending() {
			return true
		}
		if left <= 0 {
			if !complete && r.heard.Before(w.sent) {
				r.end(errHung)
			}
			r.silent = r.silent || changes && r.reported.Before(w.sent)
			break
		}
		timer.Reset(left)
		r.sleep(timer.C)
	}
	return r.ctx.Err() == nil
}

// until returns for how long after sending documents the client waits for diagnostics, as
// far as is known now, and whether the server has reported on all documents.
func (r *run) until(w *waiting) (most time.Duration, complete bool) {
	t := r.process.client.t
	complete = !slices.ContainsFunc(w.documents, func(f *file) bool { return f.open && f.published < f.version })
	working := len(r.progress) > 0
	reported := max(r.reported.Sub(w.sent), 0)
	quiet := t.quiet
	switch {
	case !r.based: // on a busy machine other packages follow later
		quiet = max(t.first, r.reported.Sub(r.began))
	case r.unversioned:
		quiet = t.unversioned
	}
	switch {
	case !w.changes && !r.based && working: // what it reports first is not new, however late
		return t.load, complete
	case complete && w.changes && working: // other files may follow
		most = reported + t.work
	case complete && w.changes && r.worked: // nothing follows
	case complete:
		most = reported + quiet
	case r.silent && w.answered:
		most = max(r.heard.Sub(w.sent), 0) + t.silent
	case w.changes && w.answered: // it may have nothing to report
		most = reported + t.wait
	default:
		most = t.settle
	}
	return min(most, t.settle), complete
}
