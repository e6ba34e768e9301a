package lsp

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/fsmcp/fsmcp/internal/shortrun"
)

// mostDelay is the time that a change may take in all. Tests wait half a second less than
// usual for diagnostics: beside others, a test may not get the processor in time.
const mostDelay = 1600 * time.Millisecond

func TestUsualWait(t *testing.T) {
	if wait := usualTiming.wait; wait > 1500*time.Millisecond {
		t.Errorf("%v", wait)
	}
}

// slowEdit edits as with the usual bounds, and fails if that takes too long.
func (p *project) slowEdit(name, now string) string {
	p.t.Helper()
	began := time.Now()
	said := p.edit(name, now)
	if took := time.Since(began); took > mostDelay {
		p.t.Errorf("an edit took %v", took)
	}
	return said
}

// newSlowProject is newProject with about the usual wait.
func newSlowProject(t *testing.T, f *fake) *project {
	t.Helper()
	p := newProject(t, f)
	p.client.t.wait = time.Second
	return p
}

// A server that hangs at any step delays one edit for the time of a wait, and the next ones not
// at all.
func TestServerThatHangs(t *testing.T) {
	for _, method := range []string{"initialize", "initialized", "textDocument/didOpen", "textDocument/didChange", "textDocument/didSave", "shutdown", "exit"} {
		t.Run(method, func(t *testing.T) {
			t.Parallel()
			hang := make(chan struct{})
			f := newFake(t)
			f.before = func(f *fake, got string, _ json.RawMessage) bool {
				if got == method {
					<-hang
				}
				return true
			}
			p := newSlowProject(t, f)
			t.Cleanup(func() { close(hang) })
			began := time.Now()
			for i := range 20 {
				p.slowEdit("a.go", strings.Repeat("x\n", i))
			}
			if took := time.Since(began); took > 2*mostDelay {
				t.Errorf("20 edits took %v", took)
			}
			began = time.Now()
			p.client.Close()
			if took := time.Since(began); took > time.Second {
				t.Errorf("Close took %v", took)
			}
		})
	}
}

// A server that is silent for long after a change is started again.
func TestHungServerIsStartedAgain(t *testing.T) {
	f := newFake(t)
	f.before = func(f *fake, got string, _ json.RawMessage) bool {
		f.mu.Lock()
		defer f.mu.Unlock()
		return f.starts > 1 || !strings.HasPrefix(got, "textDocument/") && !strings.HasPrefix(got, "$/")
	}
	p := newProject(t, f)
	p.client.t.settle = 50 * time.Millisecond
	p.edit("a.go", "x\n")
	p.write("b.go", "x\n")
	p.edit("b.go", "y\n")
	p.settled()
	p.awaitEnd()
	p.client.t.settle = usualTiming.settle // the next run may be slow
	p.edit("b.go", "z\n")
	p.settled()
	if got := p.edit("b.go", "bad\n"); got != "fake reports 1 new error:\nb.go:1:1: undefined: bad" {
		t.Errorf("%q", got)
	}
}

// awaitEnd waits until no server runs.
func (p *project) awaitEnd() {
	p.t.Helper()
	over := make(chan struct{})
	go func() {
		p.client.runs.Wait()
		close(over)
	}()
	select {
	case <-over:
	case <-time.After(20 * time.Second):
		p.t.Fatal("the server does not end")
	}
}

// A server that crashes at any step is started again three times, and then stays off with one
// notice. No edit fails.
func TestServerThatCrashes(t *testing.T) {
	for _, method := range []string{"initialize", "initialized", "textDocument/didOpen", "textDocument/didChange", "$/alive"} {
		t.Run(method, func(t *testing.T) {
			t.Parallel()
			f := newFake(t)
			f.before = func(f *fake, got string, _ json.RawMessage) bool {
				if got == method {
					f.crash()
					return false
				}
				return true
			}
			p := newSlowProject(t, f)
			p.write("a.go", "")
			for i := range 10 {
				p.slowEdit("a.go", strings.Repeat("x\n", i))
				p.slowEdit("a.go", strings.Repeat("x\n", i)+"y")
				p.awaitEnd()
			}
			f.mu.Lock()
			starts := f.starts
			f.mu.Unlock()
			if starts != 1+maxRestarts {
				t.Errorf("%d starts", starts)
			}
			if len(p.notices) != 1 {
				t.Errorf("%d notices", len(p.notices))
			}
		})
	}
}

// The text of a document is right after a crash.
func TestTextAfterACrash(t *testing.T) {
	f := newFake(t)
	p := newProject(t, f)
	p.begin()
	p.write("a.go", "x\n")
	p.edit("a.go", "y\nbad1\n")
	f.crash()
	p.awaitEnd()
	p.edit("a.go", "z\ny\nbad1\n")
	p.settled()
	if got := p.edit("a.go", "z\ny\nbad1\nbad2\n"); got != "fake reports 1 new error:\na.go:4:1: undefined: bad2" {
		t.Errorf("%q", got)
	}
	if got := f.text(p.path("a.go")); got != "z\ny\nbad1\nbad2\n" {
		t.Errorf("the server has %q", got)
	}
}

// A flood of diagnostics costs bounded memory, in one message, in many, and in one that is too
// large.
func TestFlood(t *testing.T) {
	before := heap()
	for name, files := range map[string]int{"one file": 1, "many files": 1000} {
		t.Run(name, func(t *testing.T) {
			f := newFake(t)
			p := newSlowProject(t, f)
			p.begin()
			all := shortrun.Count(t, 100_000, 10_000, "problems")
			var flood strings.Builder
			for i := range files {
				one := fmt.Sprintf(`{"range":{"start":{"line":1,"character":1},"end":{"line":1,"character":2}},"message":"%s %d"}`, strings.Repeat("m", 20), i)
				body := fmt.Sprintf(`{"jsonrpc":"2.0","method":"textDocument/publishDiagnostics","params":{"uri":"%s/f%d.go","diagnostics":[%s]}}`,
					uriOf(p.dir), i, strings.TrimSuffix(strings.Repeat(one+",", all/files), ","))
				fmt.Fprintf(&flood, "Content-Length: %d\r\n\r\n%s", len(body), body)
			}
			f.change(func() {
				f.before = func(f *fake, method string, _ json.RawMessage) bool {
					if method == "textDocument/didChange" {
						f.send(flood.String())
					}
					return true
				}
			})
			p.write("a.go", "x\n")
			said := p.slowEdit("a.go", "y\n")
			p.settled()
			said += p.client.Report(10_000)
			if lines := strings.Count(said, "\n"); lines > 2*(maxReported+3) {
				t.Errorf("%d lines: %s", lines, said)
			}
			if now := heap(); now > before+64<<20 {
				t.Errorf("%d MB, before %d MB", now>>20, before>>20)
			}
		})
	}
}

func heap() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// frame sends a message with its header.
func (f *fake) frame(body string) {
	f.send(fmt.Sprintf("Content-Length: %d\r\n\r\n%s", len(body), body))
}

// What is no message of the protocol ends the server, and no more.
func TestOutputThatIsNoMessage(t *testing.T) {
	for name, raw := range map[string]string{
		"a log line":          "starting up\n",
		"endless header":      "X: " + strings.Repeat("y", 1<<20),
		"many headers":        strings.Repeat("X: y\r\n", 10_000),
		"no length":           "\r\n\r\n",
		"a negative length":   "Content-Length: -1\r\n\r\n",
		"an absurd length":    "Content-Length: 99999999999999999999\r\n\r\n",
		"a flood":             "Content-Length: 999999999\r\n\r\n",
		"broken JSON":         "Content-Length: 1\r\n\r\n{",
		"neither of the two":  "Content-Length: 2\r\n\r\n{}",
		"an array of nothing": "Content-Length: 2\r\n\r\n[]",
		"nested":              "Content-Length: 200000\r\n\r\n" + strings.Repeat("[", 200_000),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFake(t)
			p := newSlowProject(t, f)
			p.begin()
			f.send(raw)
			p.awaitEnd()
			p.write("a.go", "x\n")
			p.slowEdit("a.go", "y\n")
			p.settled()
			if got := p.edit("a.go", "bad\n"); got == "" {
				t.Error("the server is not used again")
			}
		})
	}
}

// A server that ends within a message has ended by itself: it has not broken the protocol.
func TestEndWithinAMessage(t *testing.T) {
	const whole = "Content-Length: 2\r\nContent-Type: application/vscode-jsonrpc; charset=utf-8\r\n\r\n{}"
	read := func(sent string) error {
		out := struct {
			io.Reader
			io.Closer
		}{Reader: strings.NewReader(sent)}
		_, err := newStream(&program{out: out}, func(error) {}).body()
		return err
	}
	for size := range len(whole) {
		if err := read(whole[:size]); err != errGone {
			t.Errorf("%q: %v", whole[:size], err)
		}
		if err := read("starting up\n" + whole[:size]); err != errNoMessage {
			t.Errorf("%q after a log line: %v", whole[:size], err)
		}
	}
	if err := read(whole); err != nil {
		t.Error(err)
	}
}

// A message above the bound is left out; what follows it is read.
func TestMessageThatIsTooLarge(t *testing.T) {
	f := newFake(t)
	p := newProject(t, f)
	p.begin()
	f.frame(`{"jsonrpc":"2.0","method":"textDocument/publishDiagnostics","params":{"uri":"` + uriOf(p.path("x.go")) + `","diagnostics":[` +
		strings.Repeat(" ", maxMessage) + `{"message":"m"}]}}`)
	p.write("a.go", "x\n")
	if got := p.edit("a.go", "bad\n"); got != "fake reports 1 new error:\na.go:1:1: undefined: bad" {
		t.Errorf("%q", got)
	}
}

// A server that asks without end is answered until what waits for it is too much.
func TestServerThatDoesNotRead(t *testing.T) {
	f := newFake(t)
	p := newSlowProject(t, f)
	p.begin()
	block := make(chan struct{})
	f.change(func() { f.before = func(*fake, string, json.RawMessage) bool { <-block; return false } })
	defer close(block)
	large := strings.Repeat("x", MaxFile-1) // takes the test itself long: what an edit takes is tried with small texts
	for i := range 40 {
		p.edit(fmt.Sprintf("a%d.go", i), large)
		select {
		case why := <-p.ended:
			if why != errUnread.Error() {
				t.Errorf("it ended: %s", why)
			}
			return
		default:
		}
	}
	t.Fatal("the server does not end")
}

// Requests of the server are answered, and edits of its own refused.
func TestRequestsOfTheServer(t *testing.T) {
	f := newFake(t)
	p := newProject(t, f)
	p.begin()
	for method, want := range map[string]string{
		"workspace/configuration":        `[null,null]`,
		"client/registerCapability":      `null`,
		"window/workDoneProgress/create": `null`,
		"window/showMessageRequest":      `null`,
		"workspace/applyEdit":            `{"applied":false,"failureReason":"not supported"}`,
	} {
		var got json.RawMessage
		if err := f.conn.Call(t.Context(), method, json.RawMessage(`{"items":[{},{}],"registrations":[{}]}`), &got); err != nil || string(got) != want {
			t.Errorf("%s: %s, %v", method, got, err)
		}
	}
	if err := f.conn.Call(t.Context(), "workspace/delete", nil, nil); err == nil {
		t.Error("an unknown request gets no error")
	}
}

// Nothing is said of files that may not be read, or that lie elsewhere; other files of the
// project are named. What is said after the end is not heard.
func TestOtherFiles(t *testing.T) {
	f := newFake(t)
	p := newProject(t, f)
	p.begin()
	p.hidden.Store(p.path("secret.go"), true)
	for _, name := range []string{p.path("secret.go"), "/elsewhere/x.go", p.path("sub/other.go")} {
		f.frame(`{"jsonrpc":"2.0","method":"textDocument/publishDiagnostics","params":{"uri":"` + uriOf(name) + `","diagnostics":[{"message":"broken by the\u001b[31m edit"}]}}`)
	}
	p.write("a.go", "x\n")
	want := "fake reports 2 new errors:\na.go:1:1: undefined: bad\nsub/other.go:1:1: broken by the\\x1b[31m edit"
	if got := p.edit("a.go", "bad\n"); got != want {
		t.Errorf("%q", got)
	}
	message, _ := json.Marshal("see '" + p.path("secret.go") + "' and " + p.path("a.go") + ".")
	f.frame(`{"jsonrpc":"2.0","method":"textDocument/publishDiagnostics","params":{"uri":"` + uriOf(p.path("m.go")) +
		`","diagnostics":[{"message":` + string(message) + `}]}}`)
	want = "fake reports 1 new error:\nm.go:1:1: see '(a file)' and " + p.path("a.go")
	if got := p.edit("a.go", "bad\n\n"); got != want {
		t.Errorf("%q", got)
	}
	p.hidden.Store(p.path("b.go"), true)
	p.write("b.go", "x\n")
	p.edit("b.go", "secret\n")
	if got := f.text(p.path("b.go")); got != "" {
		t.Errorf("the server was told %q", got)
	}
	p.client.Close()
	if got := p.edit("a.go", "bad bad\n"); got != "" {
		t.Errorf("after the end: %q", got)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.starts != 1 {
		t.Errorf("%d starts", f.starts)
	}
}

// A file that another program changed meanwhile is sent as it is, and what it broke is no news.
func TestChangeByAnotherProgram(t *testing.T) {
	f := newFake(t)
	p := newProject(t, f)
	p.begin()
	p.write("a.go", "x\n")
	p.write("b.go", "x\n")
	p.edit("a.go", "y\n")
	p.edit("b.go", "y\n")
	p.write("a.go", "checked out\nbad1\n")
	p.write("b.go", "checked out, too\n")
	if got := p.edit("a.go", "checked out\nbad1\nbad2\n"); got != "fake reports 1 new error:\na.go:3:1: undefined: bad2" {
		t.Errorf("%q", got)
	}
	if got := f.text(p.path("b.go")); got != "checked out, too\n" {
		t.Errorf("the server has %q", got)
	}
}

// A server hears of other source files that another program made, changed and deleted, but
// not of those that may not be read.
func TestFilesOfAnotherProgram(t *testing.T) {
	f := newFake(t)
	var events []string
	f.before = func(f *fake, method string, params json.RawMessage) bool {
		if method == "workspace/didChangeWatchedFiles" {
			var p watchedFilesParams
			f.decode(params, &p)
			f.mu.Lock()
			for _, e := range p.Changes {
				events = append(events, fmt.Sprintf("%s %d", strings.TrimPrefix(e.URI, f.root), e.Type))
			}
			f.mu.Unlock()
		}
		return true
	}
	p := newProject(t, f)
	f.root = uriOf(p.dir) + "/"
	for _, name := range []string{"a.go", "moved.go", "sub/gone.go", "sub/same.go", "sub/deep/x.go", "in/place.go", "node_modules/n.go", "note.txt"} {
		p.write(name, "x\n")
	}
	p.begin()
	p.edit("a.go", "y\n")
	f.mu.Lock()
	events = nil
	f.mu.Unlock()
	p.hidden.Store(p.path("secret.go"), true)
	for _, c := range [][2]string{{"moved.go", "new.go"}, {"sub/deep", "sub/other"}, {"note.txt", "note2.txt"}} {
		if err := os.Rename(p.path(c[0]), p.path(c[1])); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Remove(p.path("sub/gone.go")); err != nil {
		t.Fatal(err)
	}
	p.write("secret.go", "x\n")
	p.write("go.mod", "module changed\n")
	p.write("in/place.go", "another\n")
	p.write("node_modules/m.go", "x\n")
	p.edit("a.go", "z\n")
	p.settled()
	f.mu.Lock()
	defer f.mu.Unlock()
	slices.Sort(events)
	want := "go.mod 2, in/place.go 2, moved.go 3, new.go 1, sub/deep/x.go 3, sub/gone.go 3, sub/other/x.go 1"
	if got := strings.Join(events, ", "); got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// Without a server nothing is allocated, and no file is looked at.
func TestNoServersCostNothing(t *testing.T) {
	c := New(Options{Servers: func() []LanguageServer { return nil }})
	change := FileChange{Path: "/w/a.go", Old: []byte("a"), Now: []byte("b")}
	if n := testing.AllocsPerRun(100, func() {
		if c.Wants(change.Path) {
			t.Error("wanted")
		}
		c.Begin(change.Path)()
		c.Changed(t.Context(), change)
		if c.Report(1000) != "" {
			t.Error("a report")
		}
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// No more than four servers run; the one used least recently ends.
func TestManyRoots(t *testing.T) {
	f := newFake(t)
	p := newProject(t, f)
	for i := range 7 {
		dir := fmt.Sprintf("m%d/", i)
		p.write(dir+"go.mod", "")
		p.edit(dir+"a.go", "x\n")
		p.settled()
	}
	p.client.mu.Lock()
	n := len(p.client.processes)
	p.client.mu.Unlock()
	if n != maxProcesses {
		t.Errorf("%d servers", n)
	}
}
