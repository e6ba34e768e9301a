package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/url"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// fakeLanguageServer is a language server for tests: fake-language-server MODE DIR. It
// reports each line with "ERROR text" or "WARNING text" as the problem "found text", and
// each line of the file DIR/rules, "words<tab>text", has lines with these words reported,
// too. It writes the file DIR/PID at its start, and notes in DIR/said what it is told.
//
// MODE is words with "+" between them, such as "hang-change+child". "normal" does nothing
// wrong. What goes wrong, and at which step:
//
//   - hang-STEP reads no more; crash-STEP ends. Steps are start, initialize, initialized,
//     open, change, save and shutdown.
//   - silent reports nothing; slow takes three seconds for each report.
//   - flood has 100,000 problems in one message, flood-many as many messages, and swarm
//     20,000 problems, which fsmcp still reads.
//   - other reports problems in the files other.x and secret.x beside each file, too.
//   - late speaks on after shutdown, and does not end; garbage writes no messages; header
//     begins a message that has no end; huge promises a message of a terabyte; stderr
//     fills standard error.
//   - asks has requests of its own answered before it reports.
//   - child leaves a process running; stubborn ignores signals.
//   - full wants whole texts. pull offers to be asked for problems, and reports none to a
//     client that says that it asks.
func fakeLanguageServer() {
	s := &fakeServer{dir: os.Args[2], in: bufio.NewReader(os.Stdin), texts: map[string]string{}}
	s.mode = strings.Split(os.Args[1], "+")
	s.note("start", "")
	s.note("PATH", os.Getenv("PATH"))
	fakeCheck(os.WriteFile(filepath.Join(s.dir, strconv.Itoa(os.Getpid())), nil, 0o644))
	if s.is("stubborn") {
		signal.Ignore(syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP)
	}
	if s.is("child") {
		child := exec.Command("sleep", "300")
		fakeCheck(child.Start())
		fakeCheck(os.WriteFile(filepath.Join(s.dir, strconv.Itoa(child.Process.Pid)), nil, 0o644))
	}
	if s.is("stderr") {
		go io.Copy(os.Stderr, endless("error on standard error\n"))
	}
	s.step("start")
	switch {
	case s.is("garbage"):
		io.Copy(os.Stdout, endless("\x00\xff{garbage}\r\n\r\n"))
	case s.is("header"):
		fmt.Print("Content-Length: ")
		io.Copy(os.Stdout, endless("1"))
	case s.is("huge"):
		fmt.Print("Content-Length: 1099511627776\r\n\r\n")
		io.Copy(os.Stdout, endless("[1, 2], "))
	}
	for {
		s.handle(s.receive())
	}
}

type fakeServer struct {
	mode  []string
	dir   string
	in    *bufio.Reader
	texts map[string]string // by URI
	asked bool              // the client asks for problems
}

// fakeMessage is a message from the client: its answers have no method.
type fakeMessage struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params struct {
		TextDocument struct {
			URI  string `json:"uri"`
			Text string `json:"text"`
		} `json:"textDocument"`
		Capabilities struct {
			TextDocument struct {
				Diagnostic json.RawMessage `json:"diagnostic"`
			} `json:"textDocument"`
		} `json:"capabilities"`
		ContentChanges []struct {
			Range *struct {
				Start, End struct{ Line, Character int }
			} `json:"range"`
			Text string `json:"text"`
		} `json:"contentChanges"`
	} `json:"params"`
}

func fakeCheck(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(3)
	}
}

func (s *fakeServer) is(mode string) bool { return slices.Contains(s.mode, mode) }

func (s *fakeServer) note(what, about string) {
	f, err := os.OpenFile(filepath.Join(s.dir, "said"), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	fakeCheck(err)
	defer f.Close()
	fmt.Fprintln(f, what, about)
}

// step hangs or ends where the mode says so.
func (s *fakeServer) step(name string) {
	if s.is("hang-" + name) {
		time.Sleep(time.Hour)
	}
	if s.is("crash-" + name) {
		os.Exit(2)
	}
}

// receive returns the next message; the end of input is the end of the server.
func (s *fakeServer) receive() (m fakeMessage) {
	length := 0
	for {
		line, err := s.in.ReadString('\n')
		if err != nil {
			if s.is("stubborn") || s.is("late") {
				time.Sleep(time.Hour)
			}
			os.Exit(0)
		}
		line = strings.TrimSpace(line)
		if line == "" {
			break
		}
		if n, ok := strings.CutPrefix(line, "Content-Length: "); ok {
			length, err = strconv.Atoi(n)
			fakeCheck(err)
		}
	}
	body := make([]byte, length)
	_, err := io.ReadFull(s.in, body)
	fakeCheck(err)
	fakeCheck(json.Unmarshal(body, &m))
	return m
}

func (s *fakeServer) send(message any) {
	body, err := json.Marshal(message)
	fakeCheck(err)
	_, err = fmt.Fprintf(os.Stdout, "Content-Length: %d\r\n\r\n%s", len(body), body)
	fakeCheck(err)
}

func (s *fakeServer) answer(m fakeMessage, result any) {
	s.send(map[string]any{"jsonrpc": "2.0", "id": m.ID, "result": result})
}

func (s *fakeServer) notify(method string, params any) {
	s.send(map[string]any{"jsonrpc": "2.0", "method": method, "params": params})
}

func (s *fakeServer) handle(m fakeMessage) {
	uri := m.Params.TextDocument.URI
	s.note(m.Method, uri)
	switch m.Method {
	case "initialize":
		s.step("initialize")
		sync := map[string]any{"openClose": true, "change": 2, "save": true}
		if s.is("full") {
			sync["change"] = 1
		}
		can := map[string]any{"textDocumentSync": sync}
		if s.is("pull") {
			s.asked = m.Params.Capabilities.TextDocument.Diagnostic != nil
			can["diagnosticProvider"] = map[string]any{"interFileDependencies": false, "workspaceDiagnostics": false}
		}
		s.answer(m, map[string]any{"capabilities": can})
	case "initialized":
		s.step("initialized")
		if s.is("asks") {
			s.ask()
		}
	case "textDocument/didOpen":
		s.step("open")
		s.texts[uri] = m.Params.TextDocument.Text
		s.report(uri)
	case "textDocument/didChange":
		s.step("change")
		s.change(m)
		s.report(uri)
	case "textDocument/didSave":
		s.step("save")
	case "textDocument/didClose":
		delete(s.texts, uri)
	case "shutdown":
		s.step("shutdown")
		s.answer(m, nil)
		for s.is("late") {
			s.notify("window/logMessage", map[string]any{"type": 3, "message": strings.Repeat("late ", 1000)})
		}
	case "exit":
		if !s.is("stubborn") {
			os.Exit(0)
		}
	default:
		if len(m.ID) > 0 {
			s.send(map[string]any{"jsonrpc": "2.0", "id": m.ID, "error": map[string]any{"code": -32601, "message": "unknown method"}})
		}
	}
}

// ask sends requests to the client and waits for the answers.
func (s *fakeServer) ask() {
	for i, method := range []string{"workspace/configuration", "client/registerCapability", "window/workDoneProgress/create", "workspace/applyEdit", "window/showMessageRequest", "no/such/method"} {
		params := map[string]any{"items": []any{map[string]any{"section": "x"}}, "registrations": []any{}, "token": "t", "type": 1, "message": "?", "edit": map[string]any{"documentChanges": []any{}}}
		s.send(map[string]any{"jsonrpc": "2.0", "id": i + 1, "method": method, "params": params})
		for {
			m := s.receive()
			if m.Method == "" {
				break
			}
			s.handle(m)
		}
		s.note("answered", method)
	}
}

func (s *fakeServer) change(m fakeMessage) {
	uri := m.Params.TextDocument.URI
	for _, c := range m.Params.ContentChanges {
		if c.Range == nil {
			s.texts[uri] = c.Text
			continue
		}
		if s.is("full") {
			s.note("a range, not a whole text", uri)
		}
		text := s.texts[uri]
		from, to := placeIn(text, c.Range.Start.Line, c.Range.Start.Character), placeIn(text, c.Range.End.Line, c.Range.End.Character)
		s.texts[uri] = text[:from] + c.Text + text[to:]
	}
	if name, err := url.Parse(uri); err == nil {
		if disk, err := os.ReadFile(name.Path); err == nil && string(disk) != s.texts[uri] {
			s.note("another text than the disk's", uri)
		}
	}
}

// placeIn returns the offset of a line and a column, in UTF-16 units.
func placeIn(text string, line, column int) (at int) {
	for ; line > 0; line-- {
		at += strings.IndexByte(text[at:], '\n') + 1
	}
	for _, r := range text[at:] {
		if column <= 0 {
			break
		}
		if column--; r > 0xffff {
			column--
		}
		at += len(string(r))
	}
	return at
}

var faulty = regexp.MustCompile(`(ERROR|WARNING) (.*)`)

// problems returns the diagnostics of a text.
func (s *fakeServer) problems(uri string) []any {
	all := []any{}
	add := func(line, column, severity int, text string) {
		place := map[string]any{"start": map[string]any{"line": line, "character": column}, "end": map[string]any{"line": line, "character": column + 1}}
		all = append(all, map[string]any{"range": place, "severity": severity, "source": "fake", "code": "E" + strconv.Itoa(severity), "message": text})
	}
	rules, _ := os.ReadFile(filepath.Join(s.dir, "rules")) // most tests have none
	for i, line := range strings.Split(s.texts[uri], "\n") {
		if m := faulty.FindStringSubmatch(line); m != nil {
			add(i, 1, map[string]int{"ERROR": 1, "WARNING": 2}[m[1]], "found "+m[2])
		}
		for rule := range strings.Lines(string(rules)) {
			if words, text, ok := strings.Cut(strings.TrimSpace(rule), "\t"); ok && strings.Contains(line, words) {
				add(i, strings.Index(line, words), 1, text)
			}
		}
	}
	many := 0
	switch {
	case s.is("flood"):
		many = 100_000
	case s.is("swarm"):
		many = 20_000
	}
	for i := range many {
		add(0, 1, 1, fmt.Sprintf("problem %d of a flood, with some words that make it longer", i))
	}
	return all
}

// report publishes the problems of a text.
func (s *fakeServer) report(uri string) {
	if s.is("silent") || s.asked {
		return
	}
	if s.is("slow") {
		time.Sleep(3 * time.Second)
	}
	publish := func(uri string, problems []any) {
		s.notify("textDocument/publishDiagnostics", map[string]any{"uri": uri, "diagnostics": problems})
	}
	if s.is("flood-many") {
		for i := range 100_000 {
			publish(uri+strconv.Itoa(i)+".x", []any{})
		}
	}
	if s.is("other") {
		for _, name := range []string{"other.x", "secret.x"} {
			at := uri[:strings.LastIndexByte(uri, '/')+1] + name
			s.texts[at] = "ERROR in " + name
			if name == "secret.x" {
				s.texts[at] += " " + canary
			}
			publish(at, s.problems(at))
			delete(s.texts, at)
		}
	}
	publish(uri, s.problems(uri))
}

// endless is a text that never ends.
func endless(text string) io.Reader { return &endlessReader{bytes.Repeat([]byte(text), 1000), 0} }

type endlessReader struct {
	text []byte
	at   int
}

func (e *endlessReader) Read(p []byte) (int, error) {
	n := copy(p, e.text[e.at:])
	e.at = (e.at + n) % len(e.text)
	return n, nil
}

const canary = "CANARY-4711"
