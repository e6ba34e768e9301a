package hooks

import "sync"

// keepOutput bounds what is kept of each output stream, in bytes.
const keepOutput = 4 << 10

// head keeps the beginning of its input, and discards the rest.
type head struct {
	mu   sync.Mutex
	kept []byte
	more bool
}

// Write implements io.Writer; it never fails.
func (h *head) Write(p []byte) (int, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	room := keepOutput - len(h.kept)
	h.kept = append(h.kept, p[:min(len(p), room)]...)
	h.more = h.more || len(p) > room
	return len(p), nil
}

func (h *head) text() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.more {
		return string(h.kept) + "…"
	}
	return string(h.kept)
}
