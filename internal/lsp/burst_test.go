package lsp

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
	"time"
)

// A call that another one on its file follows does not wait; what it brought is in a later
// answer, once.
func TestFollowedCallDoesNotWait(t *testing.T) {
	f := newFake(t)
	p := newProject(t, f)
	p.begin()
	p.write("a.go", "x\n")
	p.edit("a.go", "y\n")
	block := make(chan struct{})
	f.change(func() {
		f.before = func(_ *fake, method string, _ json.RawMessage) bool {
			if method == "textDocument/didChange" {
				<-block
			}
			return true
		}
	})
	followed := make(chan struct{})
	close(followed)
	end := p.client.Begin(p.path("a.go"))
	p.write("a.go", "y\nbad\n")
	p.client.Changed(t.Context(), FileChange{Path: p.path("a.go"), Old: []byte("y\n"), Now: []byte("y\nbad\n"), Followed: followed})
	end()
	if got := p.client.Report(10_000); got != "" {
		t.Errorf("before the server has answered: %q", got)
	}
	close(block)
	if got := p.edit("a.go", "z\ny\nbad\n"); got != "fake reports 1 new error:\na.go:3:1: undefined: bad" {
		t.Errorf("%q", got)
	}
}

// Calls on many files at once get their problems, each once, and the server has the bytes of
// each file in the end.
func TestManyFilesAtOnce(t *testing.T) {
	f := newFake(t)
	p := newProject(t, f)
	p.begin()
	const files, edits = 8, 20
	var mu sync.Mutex
	var said strings.Builder
	var all sync.WaitGroup
	for i := range files {
		name := fmt.Sprintf("f%d.go", i)
		p.write(name, "x\n")
		all.Go(func() {
			for n := range edits {
				text := p.edit(name, fmt.Sprintf("x %d\nbad%d\n", n, n/5))
				mu.Lock()
				fmt.Fprintln(&said, text)
				mu.Unlock()
			}
		})
	}
	all.Wait()
	p.settled()
	said.WriteString(p.client.Report(10_000))
	for i := range files {
		name := fmt.Sprintf("f%d.go", i)
		want, err := os.ReadFile(p.path(name))
		if err != nil {
			t.Fatal(err)
		}
		if got := f.text(p.path(name)); got != string(want) {
			t.Errorf("%s: the server has %q, not %q", name, got, want)
		}
		last := name + fmt.Sprintf(":2:1: undefined: bad%d", (edits-1)/5)
		if n := strings.Count(said.String(), last); n != 1 {
			t.Errorf("%d times %q in %s", n, last, &said)
		}
	}
}

// A server knows a bounded number of documents; one that is closed is opened again with its
// next change, and nothing is said of the problems that the server drops with it.
func TestOldDocumentsAreClosed(t *testing.T) {
	f := newFake(t)
	p := newProject(t, f)
	p.begin()
	p.write("first.go", "x\n")
	if got := p.edit("first.go", "bad\n"); !strings.Contains(got, "1 new error") {
		t.Errorf("%q", got)
	}
	f.change(func() {
		f.before = func(f *fake, method string, params json.RawMessage) bool {
			if method == "textDocument/didClose" {
				var c documentParams
				f.decode(params, &c)
				f.set(c.Document.URI, "", 0)
				f.publish(c.Document.URI)
			}
			return true
		}
	})
	for i := range maxOpen + 8 {
		name := fmt.Sprintf("f%d.go", i)
		p.write(name, "x\n")
		if got := p.edit(name, "y\n"); got != "" {
			t.Errorf("%s: %q", name, got)
		}
	}
	p.settled()
	p.client.Close()
	f.mu.Lock()
	open := len(f.documents)
	f.mu.Unlock()
	if open > maxOpen {
		t.Errorf("%d documents are open", open)
	}
}

// The first change of a session may make a file: old problems of others are no news.
func TestFirstChangeMakesAFile(t *testing.T) {
	f := newFake(t)
	p := newProject(t, f)
	f.before = func(f *fake, method string, _ json.RawMessage) bool {
		switch method {
		case "initialize": // its answer follows, so that the client knows of the work before it asks for anything
			f.frame(`{"jsonrpc":"2.0","method":"$/progress","params":{"token":1,"value":{"kind":"begin","title":"loading"}}}`)
		case "initialized":
			go func() {
				time.Sleep(50 * time.Millisecond) // longer than a server may be quiet
				f.frame(`{"jsonrpc":"2.0","method":"textDocument/publishDiagnostics","params":{"uri":"` + uriOf(p.path("old.go")) + `","diagnostics":[{"message":"old"}]}}`)
				f.frame(`{"jsonrpc":"2.0","method":"$/progress","params":{"token":1,"value":{"kind":"end"}}}`)
			}()
		}
		return true
	}
	p.write("old.go", "x\n")
	p.edit("a.go", "bad\n")
	p.settled()
	if got := p.client.Report(10_000); got != "fake reports 1 new error:\na.go:1:1: undefined: bad" {
		t.Errorf("%q", got)
	}
}

// A report fits its room; where there is little, the problems are counted.
func TestRoomOfAReport(t *testing.T) {
	f := newFake(t)
	p := newProject(t, f)
	p.begin()
	p.write("a.go", "x\n")
	p.client.Changed(t.Context(), FileChange{Path: p.path("a.go"), Old: []byte("x\n"), Now: []byte(strings.Repeat("bad"+strings.Repeat("x", 100)+"\n", 9))})
	if got := p.client.Report(100); got != "" {
		t.Errorf("%q", got)
	}
	got := p.client.Report(450)
	if !strings.HasPrefix(got, "fake reports 9 new errors:\na.go:1:1:") || !strings.HasSuffix(got, "\nand 7 more") || len(got) > 450 {
		t.Errorf("%q", got)
	}
	if got := p.client.Report(10_000); got != "" {
		t.Errorf("again: %q", got)
	}
}

// News are told in little room, too, beside a long line on a problem that is gone.
func TestRoomBesideAProblemThatIsGone(t *testing.T) {
	p := newProject(t, newFake(t))
	p.begin()
	long := "bad" + strings.Repeat("d", 280) + "\n"
	p.edit("a.go", "x\n")
	p.edit("a.go", long)
	p.client.Changed(t.Context(), FileChange{Path: p.path("a.go"), Old: []byte(long), Now: []byte("bad1\n")})
	const want = "fake no longer reports 1 problem that it reported before.\nfake reports 1 new error:\na.go:1:1: undefined: bad1"
	if got := p.client.Report(250); got != want {
		t.Errorf("%q, not %q", got, want)
	}
}

// A problem of a text that was changed again meanwhile is not told.
func TestProblemsOfAnEarlierText(t *testing.T) {
	f := newFake(t)
	p := newProject(t, f)
	p.begin()
	p.edit("a.go", "x\n")
	change := func(old, now string, followed chan struct{}) {
		p.write("a.go", now)
		p.client.Changed(t.Context(), FileChange{Path: p.path("a.go"), Old: []byte(old), Now: []byte(now), Followed: followed})
	}
	change("x\n", "x bad1\n", nil)
	block := make(chan struct{})
	f.change(func() {
		f.before = func(*fake, string, json.RawMessage) bool {
			<-block
			return true
		}
	})
	followed := make(chan struct{})
	close(followed)
	change("x bad1\n", "x bad2\n", followed)
	if got := p.client.Report(10_000); got != "" {
		t.Errorf("before the server has answered: %q", got)
	}
	close(block)
	p.settled()
	if got, want := p.client.Report(10_000), "fake reports 1 new error:\na.go:1:3: undefined: bad2"; got != want {
		t.Errorf("%q, not %q", got, want)
	}
}
