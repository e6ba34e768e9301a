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
	settings, err := json.Marshal(map[string]any{"tokens": map[string]any{"api": map[string]string{"url": p.URL, "key": "k", "model": "m"}}})
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

func TestTokensAreCountedByTheProvider(t *testing.T) {
	p := newProvider(t)
	c, dir := counted(t, p)
	p.count.Store(24_000)
	long := map[string]any{"file_path": writeFile(t, dir, "long.txt", strings.Repeat("a line of words\n", 1900))}
	c.call("Read", long, false, "1900\ta line of words")
	if p.asked.Load() != 1 || !strings.Contains(p.text.Load().(string), "a line of words") {
		t.Fatalf("asked %d times", p.asked.Load())
	}
	p.count.Store(50_000)
	writeFile(t, dir, "long.txt", strings.Repeat("another line of words\n", 1500))
	c.call("Read", long, true, "50000 tokens", "A call that fits: Read offset=1, limit=7")
	if n := p.asked.Load(); n != 2 {
		t.Errorf("one Read asked %d times", n-1)
	}
	c.call("Read", map[string]any{"file_path": writeFile(t, dir, "short.txt", "a line\n")}, false)
	if p.asked.Load() != 2 {
		t.Error("a short text was sent")
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
		c.call("Read", map[string]any{"file_path": path, "limit": 1700}, false) // by then nobody is asked
		if len(c.questions()) != 2 {
			t.Error("not asked twice")
		}
	}
	if p.asked.Load() != 0 {
		t.Errorf("sent %d times", p.asked.Load())
	}
}

func TestTokensAreCountedHereWhereTheProviderIsSilent(t *testing.T) {
	p := newProvider(t)
	c, dir := counted(t, p)
	long := map[string]any{"file_path": writeFile(t, dir, "long.txt", strings.Repeat("a line of words\n", 1900))}
	start := time.Now()
	c.call("Read", long, false, "1900\ta line of words")
	if took := time.Since(start); took < time.Second || took > 5*time.Second {
		t.Errorf("answered after %v", took)
	}
	writeFile(t, dir, "long.txt", strings.Repeat("another line of words\n", 1500))
	c.call("Read", long, false, "1500\tanother line")
	if p.asked.Load() != 1 {
		t.Errorf("asked again %d times", p.asked.Load()-1)
	}
}
