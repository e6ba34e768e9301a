package historypage

import (
	"cmp"
	"net/http"
	"sync"
	"time"
)

// viewers counts the open pages: each holds a stream of events. It ends the server when there is
// none.
type viewers struct {
	gone time.Duration
	end  func()

	mu    sync.Mutex
	open  int
	timer *time.Timer
}

// newViewers begins to wait for the first page.
func newViewers(first, gone time.Duration, end func()) *viewers {
	v := &viewers{gone: cmp.Or(gone, 6*time.Second), end: end}
	v.timer = time.AfterFunc(cmp.Or(first, time.Minute), v.check)
	return v
}

// check ends the server if no page has come meanwhile.
func (v *viewers) check() {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.open == 0 {
		v.end()
	}
}

// serve holds a stream of events, without any, until the page is closed.
func (v *viewers) serve(w http.ResponseWriter, r *http.Request) {
	v.mu.Lock()
	v.open++
	v.timer.Stop()
	v.mu.Unlock()
	defer func() {
		v.mu.Lock()
		defer v.mu.Unlock()
		if v.open--; v.open == 0 {
			v.timer = time.AfterFunc(v.gone, v.check)
		}
	}()
	w.Header().Set("Content-Type", "text/event-stream")
	w.WriteHeader(http.StatusOK)
	if http.NewResponseController(w).Flush() == nil {
		<-r.Context().Done()
	}
}
