package server

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"github.com/fsmcp/fsmcp/internal/toolcall"
	"github.com/fsmcp/fsmcp/internal/tools"
	"github.com/fsmcp/fsmcp/schemas"
)

// failing is the answer to a call that failed.
func failing(code int, slug, text string) *toolcall.Result {
	return &toolcall.Result{Blocks: []toolcall.Block{{Text: text}}, Facts: toolcall.Facts{ErrorCode: code, Error: slug}, IsError: true}
}

// The argument structs of fake tools: those of the real ones, as the schemas
// have them.
type (
	readArgs struct {
		FilePath string `json:"file_path"`
		Offset   *int   `json:"offset"`
		Limit    *int   `json:"limit"`
		Column   *int   `json:"column"`
		CellID   string `json:"cell_id"`
		Region   string `json:"region"`
		Pages    string `json:"pages"`
		Large    bool   `json:"allow_large"`
	}
	writeArgs struct {
		FilePath string `json:"file_path"`
		Content  string `json:"content"`
		Append   bool   `json:"append"`
	}
	editArgs struct {
		FilePath   string `json:"file_path"`
		OldString  string `json:"old_string"`
		NewString  string `json:"new_string"`
		ReplaceAll bool   `json:"replace_all"`
		Line       int    `json:"line"`
	}
)

func (a *readArgs) Target() string  { return a.FilePath }
func (a *writeArgs) Target() string { return a.FilePath }
func (a *editArgs) Target() string  { return a.FilePath }

// fakes are tools without a disk. Read answers by the name of the file: see
// fakeRead. Write and Edit say what they were given.
type fakes struct {
	mu    sync.Mutex
	texts map[string]string
	gates map[string]chan struct{} // Read of a name here waits until it is closed
	order []string                 // files in the order their calls ran
	began chan string              // told of each call that begins, where not nil

	sessions []*toolcall.Session

	where   func() string   // the text of /where
	rule    string          // why names below /ask need consent
	allowed map[string]bool // and which of them do not need it any more
}

// consent asks for what is below /ask. /ask/two needs it for two names, and
// /ask/more for another name each time.
func (f *fakes) consent(call toolcall.Call, path string) *toolcall.Result {
	f.mu.Lock()
	defer f.mu.Unlock()
	if !strings.HasPrefix(path, "/ask/") || f.allowed[path] {
		return nil
	}
	paths := []string{path}
	switch path {
	case "/ask/two":
		paths = []string{"/ask/two#1", "/ask/two#2"}
	case "/ask/more":
		paths = []string{"/ask/more#" + strconv.Itoa(len(f.order))}
	}
	for _, p := range paths {
		q := &toolcall.Question{Message: "Read " + p + "?\nRule: " + f.rule, Names: []string{p}, Rule: f.rule, Path: p}
		if call.Session.Granted(q) || call.Consent.Covers(q) {
			continue
		}
		r := failing(1, "denied", "Consent is needed, which cannot be asked for here.")
		r.Question = q
		return r
	}
	return nil
}

func (f *fakes) tools() []tools.Tool {
	return []tools.Tool{
		{Name: "Read", ReadOnly: true, Args: func() tools.Args { return new(readArgs) }, Run: f.read},
		{Name: "Write", Args: func() tools.Args { return new(writeArgs) }, Run: f.write},
		{Name: "Edit", Args: func() tools.Args { return new(editArgs) }, Run: f.edit},
	}
}

func text(s string) *toolcall.Result { return &toolcall.Result{Blocks: []toolcall.Block{{Text: s}}} }

func (f *fakes) begin(ctx context.Context, path string) {
	f.mu.Lock()
	gate := f.gates[path]
	f.order = append(f.order, path)
	f.mu.Unlock()
	if f.began != nil {
		f.began <- path
	}
	if gate != nil {
		<-gate
	}
}

func (f *fakes) read(ctx context.Context, call toolcall.Call, args tools.Args) *toolcall.Result {
	a := args.(*readArgs)
	f.begin(ctx, a.FilePath)
	if r := f.consent(call, a.FilePath); r != nil {
		return r
	}
	switch a.FilePath {
	case "/panic":
		panic("boom")
	case "/nil":
		return nil
	case "/missing":
		return failing(2, "not_found", "File does not exist.")
	case "/picture":
		return &toolcall.Result{Blocks: []toolcall.Block{{Text: "a picture"}, {MIME: "image/png", Data: []byte{0, 1, 2, 255}}}}
	case "/pdf":
		return &toolcall.Result{Blocks: []toolcall.Block{{MIME: "application/pdf", Data: []byte("%PDF"), Path: "/a b/c.pdf"}}}
	case "/meta":
		r := text("facts")
		r.Facts = toolcall.Facts{Size: new(int64(12)), Cell: "ab<c", Lines: 3}
		return r
	case "/slow":
		<-ctx.Done()
		return text("ended: " + context.Cause(ctx).Error())
	case "/where":
		return text(f.where())
	case "/shows":
		r := text("shown")
		r.Shown = []toolcall.Shown{{Path: "/shows"}}
		return r
	case "/progress":
		for i := range int64(3) {
			if call.Progress != nil {
				call.Progress(i+1, 3, "part")
			}
			time.Sleep(110 * time.Millisecond)
		}
		return text("done")
	case "/session":
		return text(f.sessionName(call.Session))
	case "/client":
		c := call.Client
		b, _ := json.Marshal(struct {
			Name                  string
			Chars, Tokens, Answer int
		}{c.Name, c.Chars, c.Tokens, c.Answer})
		return text(string(b) + " " + call.ID)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if s, ok := f.texts[a.FilePath]; ok {
		return text(s)
	}
	b, _ := json.Marshal(a)
	return text(string(b))
}

// sent notes what an answer shows.
func (f *fakes) sent(_ toolcall.Call, r *toolcall.Result) {
	if len(r.Shown) == 0 {
		return
	}
	time.Sleep(20 * time.Millisecond) // as if the next call came at once
	f.mu.Lock()
	defer f.mu.Unlock()
	f.texts = map[string]string{"/shown?": "yes"}
}

// sessionName numbers sessions in the order they are first seen.
func (f *fakes) sessionName(s *toolcall.Session) string {
	f.mu.Lock()
	defer f.mu.Unlock()
	i := slices.Index(f.sessions, s)
	if i < 0 {
		i = len(f.sessions)
		f.sessions = append(f.sessions, s)
	}
	return "session " + strconv.Itoa(i)
}

func (f *fakes) write(ctx context.Context, call toolcall.Call, args tools.Args) *toolcall.Result {
	a := args.(*writeArgs)
	f.begin(ctx, a.FilePath)
	if r := f.consent(call, a.FilePath); r != nil {
		return r
	}
	if a.FilePath == "/panic" {
		panic("boom")
	}
	return text("wrote " + a.FilePath + ": " + a.Content)
}

func (f *fakes) edit(ctx context.Context, call toolcall.Call, args tools.Args) *toolcall.Result {
	a := args.(*editArgs)
	f.begin(ctx, a.FilePath)
	b, _ := json.Marshal(a)
	return text(string(b))
}

// newFake builds a server over fakes.
func newFake(tb testing.TB, f *fakes, change func(*Options)) *Server {
	tb.Helper()
	o := Options{
		Facts:      map[string]string{"maxFileBytes": "256KB", "maxOutputTokens": "25,000", "pdf": ""},
		Version:    "test",
		Tools:      f.tools(),
		NewSession: func(string) *toolcall.Session { return new(toolcall.Session) },
		Sent:       f.sent,
		Refused:    func(string, string, toolcall.Call, time.Duration, *toolcall.Result) {},
		ParseFile:  func(raw string) toolcall.FileArgument { return toolcall.FileArgument{Key: filepath.Clean(raw)} },
		Limits:     func(_ string, known toolcall.ClientLimits) toolcall.ClientLimits { return known },
		Schemas:    schemas.Files,
		Workspace:  []string{"/srv/here"},
		AskTimeout: 50 * time.Second,
		Log:        zerolog.Nop(),
	}
	if change != nil {
		change(&o)
	}
	s, err := New(o)
	if err != nil {
		tb.Fatal(err)
	}
	return s
}

// client is one client that speaks raw lines over pipes.
type client struct {
	t    testing.TB
	in   *io.PipeWriter
	out  *bufio.Reader
	done chan error
	stop context.CancelFunc
}

// dial starts a server's loop over pipes.
func dial(tb testing.TB, s *Server) *client {
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	ctx, stop := context.WithCancel(context.Background())
	w := &client{t: tb, in: inW, out: bufio.NewReader(outR), done: make(chan error, 1), stop: stop}
	go func() {
		w.done <- s.Serve(ctx, inR, outW)
		outW.Close()
	}()
	tb.Cleanup(func() {
		stop()
		inW.Close()
		outR.Close()
		<-w.done
	})
	return w
}

func (w *client) send(line string) {
	w.t.Helper()
	if _, err := io.WriteString(w.in, line+"\n"); err != nil {
		w.t.Fatal(err)
	}
}

// line returns the next line of output, and fails where it is no JSON.
func (w *client) line() string {
	w.t.Helper()
	line, err := w.out.ReadString('\n')
	if err != nil {
		w.t.Fatalf("output ended: %v", err)
	}
	if !json.Valid([]byte(line)) {
		w.t.Fatalf("not JSON: %s", line)
	}
	return strings.TrimSuffix(line, "\n")
}

// rest closes the input and returns all that still comes.
func (w *client) rest() []string {
	w.in.Close()
	all, _ := io.ReadAll(w.out)
	if len(all) == 0 {
		return nil
	}
	return strings.Split(strings.TrimSuffix(string(all), "\n"), "\n")
}

func callLine(id, tool, args string) string {
	return `{"jsonrpc":"2.0","id":` + id + `,"method":"tools/call","params":{"name":"` + tool + `","arguments":` + args + `}}`
}
