package lsp

import (
	"context"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode/utf16"

	"github.com/sourcegraph/jsonrpc2"
)

// fake is a language server in this process. It reports each word that begins with "bad"
// as an error, each with "meh" as a warning, and "hint" as a hint.
type fake struct {
	t *testing.T
	// capabilities are those that it answers initialize with.
	capabilities string
	// before is called for each message; false leaves the message alone.
	before func(f *fake, method string, params json.RawMessage) bool
	// diagnose replaces the diagnostics of a text.
	diagnose func(path, text string) []diagnostic
	// version says whether it names versions.
	unversioned bool
	// pulls says that it waits to be asked for diagnostics: it offers that, and the client
	// says that it asks.
	pulls bool

	mu        sync.Mutex
	starts    int
	root      string // a test's own
	documents map[string]string
	versions  map[string]int
	conn      *jsonrpc2.Conn
	current   *fakeProcess
}

// Parts of the client's messages.
type (
	documentParams struct {
		Document struct {
			URI     string `json:"uri"`
			Version int    `json:"version"`
			Text    string `json:"text"`
		} `json:"textDocument"`
		Changes []struct {
			Text string `json:"text"`
		} `json:"contentChanges"`
	}
	watchedFilesParams struct {
		Changes []fileEvent `json:"changes"`
	}
)

const incremental = `{"textDocumentSync":{"openClose":true,"change":2,"save":true}}`

func newFake(t *testing.T) *fake {
	return &fake{t: t, capabilities: incremental, documents: make(map[string]string), versions: make(map[string]int)}
}

// fakeProcess is one run of a fake.
type fakeProcess struct {
	in        *io.PipeWriter
	out       *io.PipeReader
	serverIn  *io.PipeReader
	serverOut *io.PipeWriter
	killed    chan struct{}
	once      sync.Once
}

func (p *fakeProcess) Wait() { <-p.killed }
func (p *fakeProcess) Kill() {
	p.once.Do(func() {
		close(p.killed)
		p.serverOut.Close()
		p.serverIn.Close()
	})
}

func (p *fakeProcess) Read(b []byte) (int, error)  { return p.serverIn.Read(b) }
func (p *fakeProcess) Write(b []byte) (int, error) { return p.serverOut.Write(b) }
func (p *fakeProcess) Close() error                { p.Kill(); return nil }

// start takes the place of startProgram.
func (f *fake) start(*exec.Cmd) (*program, error) {
	p := &fakeProcess{killed: make(chan struct{})}
	p.serverIn, p.in = io.Pipe()
	p.out, p.serverOut = io.Pipe()
	f.mu.Lock()
	defer f.mu.Unlock()
	f.starts++
	f.current = p
	clear(f.documents)
	f.conn = jsonrpc2.NewConn(context.Background(), jsonrpc2.NewBufferedStream(p, jsonrpc2.VSCodeObjectCodec{}), f, jsonrpc2.SetLogger(noLog{}))
	return &program{p.in, p.out, p.Kill, p.Wait}, nil
}

// Handle implements jsonrpc2.Handler.
func (f *fake) Handle(ctx context.Context, conn *jsonrpc2.Conn, req *jsonrpc2.Request) {
	var params json.RawMessage
	if req.Params != nil {
		params = *req.Params
	}
	f.mu.Lock()
	before := f.before
	f.mu.Unlock()
	if before != nil && !before(f, req.Method, params) {
		return
	}
	switch req.Method {
	case "initialize":
		f.mu.Lock()
		f.pulls = strings.Contains(f.capabilities, "diagnosticProvider") && strings.Contains(string(params), `"diagnostic"`)
		f.mu.Unlock()
		_ = conn.Reply(ctx, req.ID, json.RawMessage(`{"capabilities":`+f.capabilities+`}`))
	case "shutdown":
		_ = conn.Reply(ctx, req.ID, nil)
	case "exit":
		_ = conn.Close()
	case "textDocument/didOpen":
		var p documentParams
		f.decode(params, &p)
		f.set(p.Document.URI, p.Document.Text, p.Document.Version)
		f.publish(p.Document.URI)
	case "textDocument/didChange":
		var p documentParams
		f.decode(params, &p)
		text := p.Changes[len(p.Changes)-1].Text
		f.set(p.Document.URI, text, p.Document.Version)
		f.publish(p.Document.URI)
	case "textDocument/didClose":
		var p documentParams
		f.decode(params, &p)
		f.mu.Lock()
		delete(f.documents, p.Document.URI)
		f.mu.Unlock()
	default:
		if !req.Notif {
			_ = conn.ReplyWithError(ctx, req.ID, &jsonrpc2.Error{Code: jsonrpc2.CodeMethodNotFound, Message: req.Method})
		}
	}
}

func (f *fake) decode(params json.RawMessage, into any) {
	if err := json.Unmarshal(params, into); err != nil {
		f.t.Error(err)
	}
}

func (f *fake) set(uri, text string, version int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.documents[uri], f.versions[uri] = text, version
}

// of returns the diagnostics of a document.
func (f *fake) of(uri string) []diagnostic {
	f.mu.Lock()
	text, diagnose := f.documents[uri], f.diagnose
	f.mu.Unlock()
	path, _ := pathOf(uri)
	if diagnose != nil {
		return diagnose(path, text)
	}
	return words(text)
}

var problemWord = regexp.MustCompile(`\b(bad|meh|hint)\w*`)

func words(text string) []diagnostic {
	out := []diagnostic{}
	for _, at := range problemWord.FindAllStringIndex(text, -1) {
		word := text[at[0]:at[1]]
		d := diagnostic{Severity: severityError, Message: "undefined: " + word}
		switch word[:3] {
		case "meh":
			d.Severity = severityWarning
		case "hin":
			d.Severity = 4
		}
		before := text[:at[0]]
		d.Range.Start = position{len(linesOf(before)) - 1, len(utf16.Encode([]rune(before[strings.LastIndexAny(before, "\r\n")+1:])))}
		out = append(out, d)
	}
	return out
}

// publish pushes the diagnostics of a document, unless it waits to be asked.
func (f *fake) publish(uri string) {
	f.mu.Lock()
	pulls := f.pulls
	f.mu.Unlock()
	if pulls {
		return
	}
	p := map[string]any{"uri": uri, "diagnostics": f.of(uri)}
	f.mu.Lock()
	if !f.unversioned {
		p["version"] = f.versions[uri]
	}
	conn := f.conn
	f.mu.Unlock()
	_ = conn.Notify(context.Background(), "textDocument/publishDiagnostics", p)
}

// send sends raw bytes in place of a message.
func (f *fake) send(raw string) {
	f.mu.Lock()
	p := f.current
	f.mu.Unlock()
	_, _ = io.WriteString(p, raw)
}

// crash ends the process.
func (f *fake) crash() {
	f.mu.Lock()
	p := f.current
	f.mu.Unlock()
	p.Kill()
}

// change changes the fake while it runs.
func (f *fake) change(set func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	set()
}

// text returns what the fake knows of a file.
func (f *fake) text(path string) string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.documents[uriOf(path)]
}

// project is a workspace with a client of one fake.
type project struct {
	t       *testing.T
	dir     string
	fake    *fake
	client  *Client
	notices chan string
	ended   chan string // why runs ended
	hidden  sync.Map    // by path
}

func newProject(t *testing.T, f *fake) *project {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	p := &project{t: t, dir: dir, fake: f, notices: make(chan string, 100), ended: make(chan string, 100)}
	p.write("go.mod", "")
	server := []LanguageServer{{Name: "fake", Command: []string{"fake"}, Languages: map[string]string{".go": "go"}, RootMarkers: []string{"go.mod"}}}
	p.client = New(Options{
		Servers: func() []LanguageServer { return server },
		Folders: func() []string { return []string{dir} },
		Readable: func(name string) bool {
			_, hidden := p.hidden.Load(name)
			return !hidden
		},
		Read: func(name string, most int64) ([]byte, error) {
			if _, hidden := p.hidden.Load(name); hidden {
				return nil, os.ErrPermission
			}
			return os.ReadFile(name)
		},
		Find:  func(LanguageServer) (string, []string, error) { return "fake", nil, nil },
		Ended: func(_, _, why string) { p.ended <- why },
	})
	p.client.Notify = func(all ...string) {
		for _, n := range all {
			p.notices <- n
		}
	}
	p.client.start = f.start
	fast := &p.client.t
	fast.quiet, fast.unversioned, fast.first, fast.silent = 5*time.Millisecond, 20*time.Millisecond, 5*time.Millisecond, 20*time.Millisecond
	fast.wait = 10 * time.Second // tests that run out of it are stuck
	t.Cleanup(p.client.Close)
	return p
}

func (p *project) path(name string) string { return filepath.Join(p.dir, filepath.FromSlash(name)) }

func (p *project) write(name, text string) {
	p.t.Helper()
	if err := os.MkdirAll(filepath.Dir(p.path(name)), 0o755); err != nil {
		p.t.Fatal(err)
	}
	if err := os.WriteFile(p.path(name), []byte(text), 0o644); err != nil {
		p.t.Fatal(err)
	}
}

// edit changes a file, and returns what is reported then.
func (p *project) edit(name, now string) string {
	p.t.Helper()
	old, err := os.ReadFile(p.path(name))
	if err != nil {
		old = nil
	}
	defer p.client.Begin(p.path(name))()
	p.write(name, now)
	p.client.Changed(p.t.Context(), FileChange{Path: p.path(name), Old: old, Now: []byte(now)})
	return p.client.Report(10_000)
}

// begin starts the server with a change of a file of its own, and waits until it is ready.
func (p *project) begin() {
	p.t.Helper()
	p.write("begin.go", "package p\n")
	p.edit("begin.go", "package p\n\n")
	p.settled()
}

// settled waits until the server has caught up.
func (p *project) settled() {
	p.t.Helper()
	limit := time.After(20 * time.Second)
	for {
		p.client.mu.Lock()
		var waiting chan struct{}
		for _, proc := range p.client.processes {
			if proc.behind {
				waiting = proc.settled
			}
		}
		p.client.mu.Unlock()
		if waiting == nil {
			return
		}
		select {
		case <-waiting:
		case <-limit:
			p.t.Fatal("the server does not settle")
		}
	}
}
