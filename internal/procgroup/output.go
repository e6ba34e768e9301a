package procgroup

import "sync"

// Head keeps the first Limit bytes of a command's output, and discards the rest.
type Head struct {
	Limit int
	Full  func() // called at the first byte that is discarded; nil: nothing is

	mu   sync.Mutex // a command that Wait gave up on may still write
	kept []byte
	more bool
}

// Write implements io.Writer; it never fails.
func (h *Head) Write(p []byte) (int, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	room := min(len(p), h.Limit-len(h.kept))
	h.kept = append(h.kept, p[:room]...)
	if room < len(p) && !h.more {
		h.more = true
		if h.Full != nil {
			h.Full()
		}
	}
	return len(p), nil
}

// Bytes returns what was kept, and whether there was more.
func (h *Head) Bytes() (kept []byte, more bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.kept, h.more
}
