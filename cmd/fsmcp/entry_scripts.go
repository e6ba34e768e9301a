//go:build fsmcp_scripts

package main

import (
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/fsmcp/fsmcp/internal/reminders"
)

// main is the program that the tests of this package start: see buildProgram. fsmcp hears of what
// others do to files a moment later, and looks at them for at most a quarter of a second, so that
// what an answer tells depends on how busy the machine is. Here an answer knows all that was done
// before its call, and workers have more time, since other tests run beside them.
func main() {
	s := currentProcess()
	h := &heard{}
	s.app.ReminderWait, s.app.Slowdown = time.Minute, 4
	if info, ok := debug.ReadBuildInfo(); ok && slices.Contains(info.Settings, debug.BuildSetting{Key: "-race", Value: "true"}) {
		s.app.Slowdown = 40
	}
	s.page.Gone = 50 * time.Millisecond
	s.app.Watcher = func(w reminders.TouchWatcher) reminders.TouchWatcher {
		h.TouchWatcher = w
		return h
	}
	code := start(s)
	h.end()
	os.Exit(code)
}

// heard waits, before it says what was touched, until a change of its own is noted. A
// notifier tells of changes in their order: what was done before was noted before.
type heard struct {
	reminders.TouchWatcher

	mu     sync.Mutex
	dir    string // of its changes; "" before there is anything to hear of
	rounds int
}

func (h *heard) Follow(name string) (fresh bool, err error) {
	if fresh, err = h.TouchWatcher.Follow(name); err == nil {
		h.begin()
	}
	return fresh, err
}

func (h *heard) begin() {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, in := range []string{os.TempDir(), "/tmp"} { // the first may be another user's
		if h.dir == "" {
			h.dir, _ = os.MkdirTemp(in, "heard")
		}
	}
}

func (h *heard) end() {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.dir != "" {
		os.RemoveAll(h.dir)
	}
}

func (h *heard) Touched() (names []string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for end := time.Now().Add(time.Minute); h.dir != "" && time.Now().Before(end); {
		h.rounds++
		own := filepath.Join(h.dir, strconv.Itoa(h.rounds))
		if _, err := h.TouchWatcher.Follow(own); err != nil {
			break // there is no room for it: a file without a watch is looked at anyway
		}
		if os.WriteFile(own, nil, 0o600) != nil {
			break
		}
		os.Remove(own)
		for range 1000 { // then once more: what is noted may have run over
			names = append(names, h.TouchWatcher.Touched()...)
			if slices.Contains(names, own) {
				return names
			}
			time.Sleep(time.Millisecond / 5)
		}
	}
	return append(names, h.TouchWatcher.Touched()...)
}
