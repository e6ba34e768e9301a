package lsp

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"
)

// What other programs change in the files of a server is noticed once: not what is hidden or
// generated, of no language of its, open, or denied.
func TestLookOutside(t *testing.T) {
	root := t.TempDir()
	put := func(name, text string) {
		t.Helper()
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	denied := filepath.Join(root, "denied.x")
	c := New(Options{Readable: func(name string) bool { return name != denied }})
	p := newProcess(c, Server{Languages: map[string]string{".x": "x"}, RootMarkers: []string{"x.mod"}}, root)
	look := func() (all []string) {
		for _, e := range p.lookOutside() {
			path, _ := pathOf(e.URI)
			name, _ := filepath.Rel(root, path)
			all = append(all, fmt.Sprint(filepath.ToSlash(name), " ", e.Type))
		}
		slices.Sort(all)
		return all
	}
	for _, name := range []string{"same.x", "changed.x", "gone.x", "open.x", "denied.x", "x.mod"} {
		put(name, "1")
	}
	if got := look(); got != nil {
		t.Errorf("at first: %q", got)
	}
	p.documents[filepath.Join(root, "open.x")] = &document{}
	time.Sleep(20 * time.Millisecond) // above the grain of file times
	for _, name := range []string{"changed.x", "open.x", "denied.x", "x.mod", "sub/new.X", "sub/other.y", ".git/hidden.x", "node_modules/a/made.x"} {
		put(name, "2")
	}
	if err := os.Remove(filepath.Join(root, "gone.x")); err != nil {
		t.Fatal(err)
	}
	if got, want := look(), []string{"changed.x 2", "gone.x 3", "sub/new.X 1", "x.mod 2"}; !slices.Equal(got, want) {
		t.Errorf("%q, not %q", got, want)
	}
	if got := look(); got != nil {
		t.Errorf("again: %q", got)
	}
}

// What another program mends is told if an answer has named it.
func TestMendedOutside(t *testing.T) {
	p := newProject(t, newFake(t))
	p.begin()
	p.write("b.go", "bad1\n")
	p.edit("b.go", "bad1\nx\n")
	p.edit("a.go", "x\n")
	p.edit("a.go", "x\nbad2\n")
	time.Sleep(20 * time.Millisecond) // above the grain of file times
	p.write("a.go", "x\n")
	p.write("b.go", "x\n")
	if got, want := p.edit("c.go", "x\n"), "fake no longer reports in a.go: undefined: bad2"; got != want {
		t.Errorf("%q, not %q", got, want)
	}
	p.write("a.go", "x\nbad3\n")
	if got := p.edit("c.go", "x\nx\n"); got != "" {
		t.Errorf("%q", got)
	}
}

// A call that comes while the base is taken anew is waited for, too.
func TestCallsAfterAnOutsideChange(t *testing.T) {
	f := newFake(t)
	p := newProject(t, f)
	p.begin()
	p.edit("a.go", "x\n")
	reported, held := make(chan bool, 100), make(chan bool)
	f.change(func() {
		f.before = func(_ *fake, method string, _ json.RawMessage) bool {
			if method == "workspace/didChangeWatchedFiles" {
				reported <- true
				<-held
			}
			return true
		}
	})
	p.write("outside.go", "x\n")
	first := make(chan bool)
	go func() {
		p.client.Changed(t.Context(), Change{Path: p.path("a.go"), Old: []byte("x\n"), Now: []byte("x bad1\n")})
		close(first)
	}()
	<-reported
	time.AfterFunc(50*time.Millisecond, func() { close(held) })
	p.client.Changed(t.Context(), Change{Path: p.path("b.go"), Now: []byte("bad2\n")})
	text := p.client.Report(10_000)
	<-first
	if got, want := text, "fake reports 2 new errors:\na.go:1:3: undefined: bad1\nb.go:1:1: undefined: bad2"; got != want {
		t.Errorf("%q, not %q", got, want)
	}
}
