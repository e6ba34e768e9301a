//go:build linux

package clienttest

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/fsmcp/fsmcp/internal/shortrun"
)

// bridge puts servers on standard streams behind the protocol's HTTP transport, which the
// official suite speaks: a process for each session that initialize opens, and one for each
// request without a session. It passes messages on as they are.
type bridge struct {
	t   *testing.T
	s   *sandbox
	url string

	mu       sync.Mutex
	sessions map[string]*process
}

// process is one server and the streams to it.
type process struct {
	cmd   *exec.Cmd
	stdin io.WriteCloser

	mu      sync.Mutex
	waiting map[string]chan []byte // by the id of a request
	latest  chan []byte            // gets what answers no request
}

func newBridge(t *testing.T, s *sandbox) *bridge {
	t.Helper()
	b := &bridge{t: t, s: s, sessions: map[string]*process{}}
	server := httptest.NewServer(b) // on 127.0.0.1
	t.Cleanup(func() {
		server.CloseClientConnections()
		server.Close()
		for _, p := range b.sessions {
			p.stop()
		}
	})
	b.url = server.URL + "/mcp"
	return b
}

func (b *bridge) start() (*process, error) {
	cmd := exec.Command(filepath.Join(programs, "fsmcp"), "serve", b.s.project)
	cmd.Env = b.s.env
	stdin, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	p := &process{cmd: cmd, stdin: stdin, waiting: map[string]chan []byte{}}
	go p.read(stdout)
	return p, nil
}

// read hands each line to the request that it answers, or to the latest one.
func (p *process) read(stdout io.Reader) {
	for r := bufio.NewReader(stdout); ; {
		line, err := r.ReadBytes('\n')
		if err != nil {
			break
		}
		var m struct {
			ID     json.RawMessage
			Method string
		}
		_ = json.Unmarshal(line, &m)
		p.mu.Lock()
		to, isAnswer := p.waiting[string(m.ID)]
		if isAnswer = isAnswer && m.Method == ""; isAnswer {
			delete(p.waiting, string(m.ID))
		} else {
			to = p.latest
		}
		p.mu.Unlock()
		if to != nil {
			to <- bytes.TrimSpace(line)
			if isAnswer {
				close(to)
			}
		}
	}
}

// stop ends a server by ending its input.
func (p *process) stop() {
	p.stdin.Close()
	_ = p.cmd.Wait()
}

func (p *process) send(line []byte) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	_, err := p.stdin.Write(append(line, '\n'))
	return err
}

// ServeHTTP is the transport.
func (b *bridge) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodPost {
		http.Error(w, "only POST", http.StatusMethodNotAllowed)
		return
	}
	var body bytes.Buffer
	var line bytes.Buffer
	var m struct {
		ID     json.RawMessage
		Method string
	}
	_, err := body.ReadFrom(r.Body)
	if err == nil {
		err = json.Compact(&line, body.Bytes())
	}
	if err == nil {
		err = json.Unmarshal(line.Bytes(), &m)
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	p, err := b.process(w, r.Header.Get("Mcp-Session-Id"), m.Method)
	if err != nil {
		http.Error(w, err.Error(), http.StatusNotFound)
		return
	}
	if m.Method == "" || len(m.ID) == 0 {
		if err := p.send(line.Bytes()); err != nil {
			b.t.Error(err)
		}
		w.WriteHeader(http.StatusAccepted)
		return
	}
	answers := make(chan []byte, 100)
	p.mu.Lock()
	p.waiting[string(m.ID)], p.latest = answers, answers
	p.mu.Unlock()
	if err := p.send(line.Bytes()); err != nil {
		b.t.Error(err)
	}
	w.Header().Set("Content-Type", "text/event-stream")
	for {
		select {
		case answer, more := <-answers:
			if !more {
				return
			}
			fmt.Fprintf(w, "event: message\ndata: %s\n\n", answer)
			w.(http.Flusher).Flush()
		case <-r.Context().Done():
			return
		}
	}
}

// process returns the server of a session, or a new one.
func (b *bridge) process(w http.ResponseWriter, session, method string) (*process, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if p := b.sessions[session]; p != nil {
		return p, nil
	}
	if session != "" {
		return nil, fmt.Errorf("no session %q", session)
	}
	p, err := b.start()
	if err != nil {
		return nil, err
	}
	id := strconv.Itoa(len(b.sessions) + 1)
	b.sessions[id] = p
	if method == "initialize" {
		w.Header().Set("Mcp-Session-Id", id)
	}
	return p, nil
}

// conformanceRevisions are those that the suite knows for servers.
var conformanceRevisions = []string{"2025-06-18", "2025-11-25", "2026-07-28"}

// Reasons why a scenario does not apply to fsmcp.
const (
	ofTheTransport = "is about HTTP, which is the bridge's here"
	ofTheSuite     = "calls tools of the suite's own example server"
	ofFeatures     = "is about resources, prompts, completion, logging or tasks, which fsmcp does not offer"
)

// inapplicable has the scenarios that do not apply, by the beginning of their names.
var inapplicable = map[string]string{
	"dns-rebinding": ofTheTransport, "http-": ofTheTransport, "server-sse-polling": ofTheTransport,
	"tools-call-": ofTheSuite, "json-schema-2020-12": ofTheSuite, "elicitation-": ofTheSuite, "input-required-": ofTheSuite,
	"logging-": ofFeatures, "completion-": ofFeatures, "resources-": ofFeatures, "prompts-": ofFeatures, "sep-2164": ofFeatures, "sep-2640": ofFeatures, "tasks-": ofFeatures,
}

// exempt has checks that do not apply in scenarios that do, by the beginning of their names.
var exempt = map[string]string{
	"sep-2575-http-server-": ofTheTransport, "sep-2575-missing-capability-http-": ofTheTransport,
	"sep-2575-server-rejects-undeclared-capability": ofTheSuite, "sep-2575-server-no-log-without-loglevel": ofTheSuite,
	"sep-2549-prompts-": ofFeatures, "sep-2549-resources-": ofFeatures,
	// Over stdio a request without _meta is one of an older revision, which lacks the method.
	"sep-2575-request-meta-invalid-missing-meta":             "is about a server of the newest revision alone",
	"sep-2575-request-meta-invalid-missing-protocol-version": "is about a server of the newest revision alone",
}

// reason returns the value of the key that name begins with.
func reason(table map[string]string, name string) string {
	for prefix, why := range table {
		if strings.HasPrefix(name, prefix) {
			return why
		}
	}
	return ""
}

// TestConformance runs the server scenarios of the protocol's official suite. In those that
// do not apply to fsmcp, every message still has to keep to the schema.
func TestConformance(t *testing.T) {
	t.Parallel()
	program := filepath.Join(install(t, "@modelcontextprotocol/conformance", conformanceVersion), ".bin", "conformance")
	for _, revision := range conformanceRevisions {
		t.Run(revision, func(t *testing.T) {
			t.Parallel()
			if revision == "2025-06-18" {
				shortrun.Leave(t, "the conformance suite for 2025-06-18 after those for two later revisions")
			}
			s := newSandbox(t)
			results := t.TempDir()
			out := s.try(program, "server", "--url", newBridge(t, s).url, "--suite", "all", "--spec-version", revision, "--output-dir", results)
			files, err := filepath.Glob(filepath.Join(results, "server-*", "checks.json"))
			check(t, err)
			passed, applied, others := 0, []string{}, map[string][]string{}
			for _, file := range files {
				scenario := strings.TrimPrefix(filepath.Base(filepath.Dir(file)), "server-")
				scenario = scenario[:len(scenario)-len("-2006-01-02T15-04-05-000Z")]
				why := reason(inapplicable, scenario)
				if why == "" {
					applied = append(applied, scenario)
				} else {
					others[why] = append(others[why], scenario)
				}
				passed += judge(t, file, scenario, why == "")
			}
			if passed < 20 || len(applied) < 3 {
				t.Errorf("only %d checks passed, and %d scenarios apply: %v\n%.3000s\n%.3000s", passed, len(applied), out.err, out.stdout, out.stderr)
			}
			t.Logf("%s: %d checks passed; scenarios that apply: %s", t.Name(), passed, strings.Join(applied, ", "))
			for why, list := range others {
				t.Logf("%s: %d scenarios do not apply, since each %s", t.Name(), len(list), why)
			}
		})
	}
}

// judge reports the checks of one scenario that failed, and returns how many passed.
func judge(t *testing.T, file, scenario string, applies bool) (passed int) {
	t.Helper()
	text, err := os.ReadFile(file)
	check(t, err)
	var checks []struct{ ID, Status, Description, ErrorMessage string }
	check(t, json.Unmarshal(text, &checks))
	for _, c := range checks {
		switch {
		case c.Status == "SUCCESS":
			passed++
		case c.Status == "FAILURE" && (applies && reason(exempt, c.ID) == "" || c.ID == "wire-schema-valid"):
			t.Errorf("%s: %s: %s: %s", scenario, c.ID, c.Description, c.ErrorMessage)
		}
	}
	return passed
}
