//go:build unix

package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// provider counts tokens over HTTP on the loopback interface, as told.
type provider struct {
	*httptest.Server
	count atomic.Int64 // what it answers; 0: nothing, ever
	asked atomic.Int64
	text  atomic.Value // what it was sent last
}

func newProvider(t *testing.T) *provider {
	p := &provider{}
	p.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		p.asked.Add(1)
		body, _ := io.ReadAll(r.Body)
		p.text.Store(string(body))
		if p.count.Load() == 0 {
			<-r.Context().Done()
			return
		}
		fmt.Fprintf(w, `{"input_tokens": %d}`, p.count.Load())
	}))
	t.Cleanup(p.Close)
	return p
}

// counted starts a server whose user has tokens counted by p.
func counted(t *testing.T, p *provider, words ...string) (client *person, dir string) {
	t.Helper()
	home, dir := t.TempDir(), t.TempDir()
	settings, err := json.Marshal(map[string]any{"read": map[string]string{"overlong": "refuse"}, "tokens": map[string]any{"api": map[string]string{"url": p.URL, "key": "k", "model": "m"}}})
	if err != nil {
		t.Fatal(err)
	}
	own := filepath.Join(home, ".config", "fsmcp")
	if err := os.MkdirAll(own, 0o755); err != nil {
		t.Fatal(err)
	}
	writeFile(t, own, "settings.json", string(settings))
	return scene{revision: "2025-11-25", dir: dir, home: home}.meet(t, append(words, dir)...), dir
}

// TestTokensAreCountedByTheProvider, whose answer is waited for so long. Where the
// machine holds it up for longer, as the log tells, it is asked again by a new server.
func TestTokensAreCountedByTheProvider(t *testing.T) {
	for tries := 1; ; tries++ {
		log := filepath.Join(t.TempDir(), "log")
		judge := readCounted(t, log)
		said, err := os.ReadFile(log)
		if err != nil {
			t.Fatal(err)
		}
		if tries == 5 || !strings.Contains(string(said), "tokens are counted here instead") {
			judge()
			return
		}
	}
}

// readCounted reads two long texts and a short one, and returns what judges that.
func readCounted(t *testing.T, log string) (judge func()) {
	t.Helper()
	p := newProvider(t)
	c, dir := counted(t, p, "--log", log)
	p.count.Store(24_000)
	long := map[string]any{"file_path": writeFile(t, dir, "long.txt", strings.Repeat("a line of words\n", 1900))}
	first := c.try("Read", long)
	once, sent := p.asked.Load(), p.text.Load()
	p.count.Store(50_000)
	writeFile(t, dir, "long.txt", strings.Repeat("another line of words\n", 1500))
	second := c.try("Read", long)
	twice := p.asked.Load()
	short := c.try("Read", map[string]any{"file_path": writeFile(t, dir, "short.txt", "a line\n")})
	return func() {
		if first.isError || !strings.Contains(first.text, "1900\ta line of words") {
			t.Errorf("answered %+v", first)
		}
		if text, _ := sent.(string); once != 1 || !strings.Contains(text, "a line of words") {
			t.Errorf("asked %d times", once)
		}
		if !second.isError || !strings.Contains(second.text, "50000 tokens") || !strings.Contains(second.text, "A call that fits: Read offset=1, limit=7") {
			t.Errorf("answered %+v", second)
		}
		if twice != 2 {
			t.Errorf("one Read asked %d times", twice-1)
		}
		if short.isError || p.asked.Load() != 2 {
			t.Errorf("a short text was sent: %+v", short)
		}
	}
}

func TestTextReadThroughAnAskIsNotSent(t *testing.T) {
	p := newProvider(t)
	p.count.Store(24_000)
	c, dir := counted(t, p, "--ask", "Read(asked.txt)")
	outside := t.TempDir()
	text := strings.Repeat("a line of words\n", 1900)
	for _, path := range []string{writeFile(t, dir, "asked.txt", text), writeFile(t, outside, "outside.txt", text)} {
		file := map[string]any{"file_path": path}
		c.will("accept", "once")
		c.call("Read", file, false, "1900\ta line of words")
		c.will("accept", "session")
		c.call("Read", map[string]any{"file_path": path, "limit": 1800}, false)
		c.call("Read", map[string]any{"file_path": path, "limit": 1700}, false) // by then no provider is asked
		if len(c.questions()) != 2 {
			t.Error("not asked twice")
		}
	}
	if p.asked.Load() != 0 {
		t.Errorf("sent %d times", p.asked.Load())
	}
}

func TestTokensAreCountedHereWhereTheProviderIsSilent(t *testing.T) {
	best := time.Hour // the machine may hold one of them up
	for tries := 0; tries < 4 && best > 5*time.Second; tries++ {
		p := newProvider(t)
		c, dir := counted(t, p)
		long := map[string]any{"file_path": writeFile(t, dir, "long.txt", strings.Repeat("a line of words\n", 1900))}
		start := time.Now()
		c.call("Read", long, false, "1900\ta line of words")
		took := time.Since(start)
		if took < time.Second {
			t.Errorf("answered after %v", took)
		}
		best = min(best, took)
		writeFile(t, dir, "long.txt", strings.Repeat("another line of words\n", 1500))
		c.call("Read", long, false, "1500\tanother line")
		if p.asked.Load() != 1 {
			t.Errorf("asked again %d times", p.asked.Load()-1)
		}
	}
	if best > 5*time.Second {
		t.Errorf("answered after %v at best", best)
	}
}
