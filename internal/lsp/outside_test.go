package lsp

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// What other programs change in the files of a server is noticed once: not files that are
// hidden or generated, or of no language of its. A busy file is left to the next look.
func TestEvents(t *testing.T) {
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
	s := LanguageServer{Languages: map[string]string{".x": "x"}, RootMarkers: []string{"x.mod"}}
	before := make(map[string]fileTime)
	look := func(want string, busy ...string) {
		t.Helper()
		left, now := make(map[string]bool), sources(root, s.isSource)
		for _, name := range busy {
			left[filepath.Join(root, name)] = true
		}
		var all []string
		for path, event := range events(before, now, left) {
			name, _ := filepath.Rel(root, path)
			all = append(all, fmt.Sprint(filepath.ToSlash(name), " ", event))
		}
		slices.Sort(all)
		if got := strings.Join(all, ", "); got != want {
			t.Errorf("%q, not %q", got, want)
		}
		before = now
	}
	for _, name := range []string{"same.x", "changed.x", "gone.x", "busy.x", "x.mod", "vendor/v.x", "deep/er/d.x"} {
		put(name, "1")
	}
	look("busy.x 1, changed.x 1, deep/er/d.x 1, gone.x 1, same.x 1, x.mod 1")
	look("")
	time.Sleep(20 * time.Millisecond) // above the grain of file times
	for _, name := range []string{"changed.x", "busy.x", "made.x", "x.mod", "sub/new.X", "sub/other.y", ".git/hidden.x", "node_modules/a/made.x"} {
		put(name, "2")
	}
	if err := os.Remove(filepath.Join(root, "gone.x")); err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(filepath.Join(root, "deep")); err != nil {
		t.Fatal(err)
	}
	look("changed.x 2, deep/er/d.x 3, gone.x 3, sub/new.X 1, x.mod 2", "busy.x", "made.x")
	look("busy.x 2, made.x 1")
	look("")
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
	p := newSlowProject(t, f) // the second call is to wait for the first, however long that takes
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
		p.client.Changed(t.Context(), FileChange{Path: p.path("a.go"), Old: []byte("x\n"), Now: []byte("x bad1\n")})
		close(first)
	}()
	<-reported
	time.AfterFunc(50*time.Millisecond, func() { close(held) })
	p.client.Changed(t.Context(), FileChange{Path: p.path("b.go"), Now: []byte("bad2\n")})
	text := p.client.Report(10_000)
	<-first
	if got, want := text, "fake reports 2 new errors:\na.go:1:3: undefined: bad1\nb.go:1:1: undefined: bad2"; got != want {
		t.Errorf("%q, not %q", got, want)
	}
}

// A server is told at once of files that a call has moved and removed: of an open one that it is
// closed, and of all that their names have changed. It is told nothing of what may not be read.
func TestRenamedIsReportedAtOnce(t *testing.T) {
	f := newFake(t)
	p := newProject(t, f)
	p.begin()
	p.write("other.go", "x\n")
	p.write("secret.go", "x\n")
	p.edit("open.go", "x\n")
	reported := make(chan string, 100)
	f.change(func() {
		f.before = func(_ *fake, method string, params json.RawMessage) bool {
			switch method {
			case "textDocument/didClose":
				var d documentParams
				f.decode(params, &d)
				reported <- "closed " + filepath.Base(d.Document.URI)
			case "workspace/didChangeWatchedFiles":
				var w watchedFilesParams
				f.decode(params, &w)
				for _, c := range w.Changes {
					reported <- fmt.Sprint(filepath.Base(c.URI), " ", c.Type)
				}
			}
			return true
		}
	})
	p.hidden.Store(p.path("hidden.go"), true)
	must := func(err error) {
		if err != nil {
			t.Fatal(err)
		}
	}
	must(os.Rename(p.path("open.go"), p.path("moved.go")))
	must(os.Rename(p.path("secret.go"), p.path("hidden.go")))
	must(os.Remove(p.path("other.go")))
	p.client.Renamed([]string{p.path("open.go"), p.path("moved.go"), p.path("secret.go"), p.path("hidden.go"), p.path("other.go")})
	want := []string{"closed open.go", "moved.go 1", "open.go 3", "other.go 3", "secret.go 3"}
	var got []string
	for range want {
		select {
		case what := <-reported:
			got = append(got, what)
		case <-time.After(20 * time.Second):
			t.Fatalf("told only of %q", got)
		}
	}
	if slices.Sort(got); !slices.Equal(got, want) {
		t.Errorf("told of %q, want %q", got, want)
	}
	p.client.Renamed([]string{filepath.Join(filepath.Dir(p.dir), "elsewhere.go")})
	p.settled()
	if len(reported) > 0 {
		t.Errorf("told of %q, too", <-reported)
	}
}

// BenchmarkSources looks at 5,000 files in 250 folders that stay as they are.
func BenchmarkSources(b *testing.B) {
	root := b.TempDir()
	for d := range 250 {
		dir := filepath.Join(root, fmt.Sprint(d%30), fmt.Sprint(d))
		if err := os.MkdirAll(dir, 0o755); err != nil {
			b.Fatal(err)
		}
		for f := range 20 {
			if err := os.WriteFile(filepath.Join(dir, fmt.Sprint(f, ".go")), nil, 0o644); err != nil {
				b.Fatal(err)
			}
		}
	}
	wanted := func(string) bool { return true }
	before := sources(root, wanted)
	if len(before) != 5_000 {
		b.Fatalf("%d files", len(before))
	}
	for b.Loop() {
		now := sources(root, wanted)
		if all := events(before, now, nil); len(all) > 0 {
			b.Fatal(all)
		}
		before = now
	}
}
