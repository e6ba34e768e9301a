package lsp

import "time"

// pace helps to tell whether a server has reported on a text.
type pace struct {
	heard    time.Time       // when the server sent anything
	reported time.Time       // when it sent diagnostics
	progress map[string]bool // work that the server has begun, by its tokens
	worked   bool            // it has begun work since the last text was sent
	// unversioned and silent note how the server sends diagnostics: without a version, and
	// only if they differ.
	unversioned, silent bool
}

// waiting is a wait for diagnostics.
type waiting struct {
	paths    []string // that the server is to report on
	changes  bool     // they are texts after changes
	sent     time.Time
	answered bool // the server has answered since
}

// await waits until the server has reported on the documents as they were sent, or until
// it may be taken to have nothing to report. With changes, it also ends when another change is
// delivered.
func (r *run) await(paths []string, changes bool) error {
	r.worked = false
	w := waiting{paths: paths, changes: changes, sent: time.Now()}
	alive := make(chan struct{})
	go func() {
		_ = r.conn.Call(r.ctx, "$/alive", nil, nil) // an unknown method gets an error
		close(alive)
		r.wake()
	}()
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-alive:
			w.answered = true
		default:
		}
		end, complete := r.until(w)
		left := time.Until(end)
		if left <= 0 && changes && r.reported.Before(w.sent) {
			r.silent = true
		}
		switch {
		case changes && r.process.pending():
			return nil
		case left <= 0 && !complete && r.heard.Before(w.sent):
			return errHung
		case left <= 0:
			return nil
		}
		timer.Reset(left)
		if err := r.sleep(timer.C); err != nil {
			return err
		}
	}
}

// until returns when the wait for diagnostics ends, as far as is known now, and whether the
// server has reported on all documents.
func (r *run) until(w waiting) (end time.Time, complete bool) {
	t := r.process.client.t
	working := len(r.progress) > 0
	if !w.changes && !r.based && working { // what it reports first is not new, however late
		return w.sent.Add(t.load), r.complete(w.paths)
	}
	last := w.sent.Add(t.settle)
	complete = r.complete(w.paths)
	quiet := t.quiet
	switch {
	case !r.based: // on a busy machine other packages follow later
		quiet = max(t.first, later(r.reported, r.began).Sub(r.began))
	case r.unversioned:
		quiet = t.unversioned
	}
	switch {
	case complete && w.changes && working: // other files may follow
		end = later(r.reported, w.sent).Add(t.work)
	case complete && w.changes && r.worked:
		end = w.sent
	case complete:
		end = later(r.reported, w.sent).Add(quiet)
	case r.silent && w.answered:
		end = later(r.heard, w.sent).Add(t.silent)
	case w.changes && w.answered: // it may have nothing to report
		end = later(r.reported, w.sent).Add(t.wait)
	default:
		end = last
	}
	if last.Before(end) {
		end = last
	}
	return end, complete
}

// complete reports whether the server has reported on the last texts of documents.
func (r *run) complete(paths []string) bool {
	for _, path := range paths {
		if d := r.process.documents[path]; d != nil && d.open && d.published < d.version {
			return false
		}
	}
	return true
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}
