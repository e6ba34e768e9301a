// Package protocol validates what an MCP server sends, message by message, against the
// official JSON schemas of the revision that the session speaks. It promises to know of
// every message what it has to be: the result of its request, an error, a request or a
// notification of the server.
//
// It does not judge what a client sends, nor the order of messages.
package protocol

import (
	"bytes"
	"embed"
	"encoding/json"
	"fmt"
	"strings"
	"sync"

	"github.com/santhosh-tekuri/jsonschema/v5"
)

//go:embed schemas/*.json
var files embed.FS

// Revisions are those with a schema, oldest first.
var Revisions = []string{"2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28"}

const (
	firstWithQuestions  = "2025-06-18"
	newestWithHandshake = "2025-11-25" // holds before a client has named a revision
	withoutHandshake    = "2026-07-28"
)

// results names the definition of each request's result, in every revision that has it.
var results = map[string]string{
	"initialize": "InitializeResult", "ping": "EmptyResult", "server/discover": "DiscoverResult",
	"tools/list": "ListToolsResult", "tools/call": "CallToolResult",
	"resources/list": "ListResourcesResult", "resources/templates/list": "ListResourceTemplatesResult", "prompts/list": "ListPromptsResult",
	"subscriptions/listen": "SubscriptionsListenResult",
}

// Session follows the messages of one session. Its methods may be used by several
// goroutines at once.
type Session struct {
	mu       sync.Mutex
	spoken   string               // the revision that initialize has agreed on
	requests map[string][]request // by id
	counts   map[string]int
	begun    []byte // a line of the client without its end
}

// request is one that the server has not answered.
type request struct{ method, revision string }

// New returns a session in which nothing was said.
func New() *Session {
	return &Session{requests: map[string][]request{}, counts: map[string]int{}}
}

// message is any JSON-RPC message.
type message struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params struct {
		Meta struct {
			Revision string `json:"io.modelcontextprotocol/protocolVersion"`
		} `json:"_meta"`
	} `json:"params"`
	Result json.RawMessage `json:"result"`
	Error  json.RawMessage `json:"error"`
}

// Sent notes a line of the client, which may be anything.
func (s *Session) Sent(line []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, raw := range parts(bytes.TrimPrefix(line, []byte("\ufeff"))) {
		var m message
		if json.Unmarshal(raw, &m) == nil && m.Method != "" && len(m.ID) > 0 {
			id := string(m.ID)
			s.requests[id] = append(s.requests[id], request{m.Method, m.Params.Meta.Revision})
		}
	}
}

// SentBytes notes bytes of the client, which need not be whole lines.
func (s *Session) SentBytes(b []byte) {
	s.mu.Lock()
	s.begun = append(s.begun, b...)
	var lines []byte
	if end := bytes.LastIndexByte(s.begun, '\n'); end >= 0 {
		lines, s.begun = s.begun[:end], s.begun[end+1:]
	}
	s.mu.Unlock()
	for line := range bytes.SplitSeq(lines, []byte("\n")) {
		s.Sent(line)
	}
}

// parts returns the messages of a line.
func parts(line []byte) []json.RawMessage {
	var list []json.RawMessage
	if begin := bytes.TrimLeft(line, " \t\r\n"); len(begin) > 0 && begin[0] == '[' && json.Unmarshal(line, &list) == nil {
		return list
	}
	return []json.RawMessage{line}
}

// Received validates a line of the server.
func (s *Session) Received(line []byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if isArray := len(line) > 0 && line[0] == '['; isArray && s.spoken != "2025-03-26" {
		return fmt.Errorf("an array of messages, in revision %q", s.spoken)
	}
	for _, raw := range parts(line) {
		if err := s.one(raw); err != nil {
			return fmt.Errorf("%w\nin %.2000s", err, raw)
		}
	}
	return nil
}

// one validates one message: its frame, and what it carries.
func (s *Session) one(raw []byte) error {
	var m message
	if err := json.Unmarshal(raw, &m); err != nil {
		return err
	}
	if m.Method == "" {
		raw = plainID(raw, m.ID)
	}
	var value map[string]any
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.UseNumber()
	if err := decoder.Decode(&value); err != nil {
		return err
	}
	var asked request
	waiting := s.requests[string(m.ID)]
	isAnswer := m.Method == "" && len(waiting) > 0
	if isAnswer {
		asked, s.requests[string(m.ID)] = waiting[0], waiting[1:]
	}
	revision := s.revision(asked.revision)
	switch {
	case m.Method == "elicitation/create" && revision < firstWithQuestions:
		// A client that declares the capability of a later revision is taken at its word.
		return s.check(firstWithQuestions, "JSONRPCRequest ServerRequest", value)
	case m.Method != "" && len(m.ID) > 0:
		return s.check(revision, "JSONRPCRequest ServerRequest", value)
	case m.Method != "":
		return s.check(s.revisionOfNotification(m.Method), "JSONRPCNotification ServerNotification", value)
	case m.Error != nil:
		return s.check(revision, errorIn(revision), value)
	case !isAnswer:
		return fmt.Errorf("a result that nothing asked for")
	}
	return s.answer(asked, m.Result, value)
}

// answer validates an answer to a request: the whole message, and its result.
func (s *Session) answer(asked request, result json.RawMessage, message map[string]any) error {
	revision := s.revision(asked.revision)
	if asked.method == "initialize" {
		var agreed struct{ ProtocolVersion string }
		if err := json.Unmarshal(result, &agreed); err != nil {
			return err
		}
		s.spoken = agreed.ProtocolVersion
		revision = s.revision("")
	}
	if err := s.check(revision, "JSONRPCResponse", message); err != nil {
		return err
	}
	want, known := results[asked.method]
	if !known {
		return fmt.Errorf("a result of %s", asked.method)
	}
	fields, _ := message["result"].(map[string]any) // what is none fails the schema
	if revision == withoutHandshake && fields["resultType"] == "input_required" {
		want = "InputRequiredResult"
	}
	return s.check(revision, want, message["result"])
}

// plainID returns an answer with another id where JSON-RPC 2.0 has one that no schema of
// the protocol knows: null in an error for a request with an unknown id (section 5), and a
// fraction, which comes back as it was sent.
func plainID(raw []byte, id json.RawMessage) []byte {
	if text := string(id); text == "null" || !strings.HasPrefix(text, `"`) && strings.Contains(text, ".") {
		return bytes.Replace(raw, []byte(`"id":`+text), []byte(`"id":0`), 1)
	}
	return raw
}

// revision returns the revision of an answer to a request that named one, or none.
func (s *Session) revision(named string) string {
	for _, r := range Revisions {
		if r == named {
			return r
		}
	}
	if s.spoken != "" {
		return s.spoken
	}
	return newestWithHandshake
}

// revisionOfNotification returns the revision of a notification, which names none: where
// nothing was agreed on, no handshake was needed.
func (s *Session) revisionOfNotification(method string) string {
	if s.spoken == "" || strings.HasPrefix(method, "notifications/subscriptions/") {
		return withoutHandshake
	}
	return s.spoken
}

// errorIn names the definition of an error's message.
func errorIn(revision string) string {
	if revision >= newestWithHandshake {
		return "JSONRPCErrorResponse"
	}
	return "JSONRPCError"
}

// Count returns how many messages kept to a definition.
func (s *Session) Count(definition string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.counts[definition]
}

// check validates decoded JSON against definitions of a revision.
func (s *Session) check(revision, definitions string, value any) error {
	for name := range strings.FieldsSeq(definitions) {
		schema, err := compile(revision, name)
		if err == nil {
			err = schema.Validate(value)
		}
		if err != nil {
			return fmt.Errorf("no %s of revision %s: %w", name, revision, err)
		}
		s.counts[name]++
	}
	return nil
}

// definition is one definition of one revision.
type definition struct{ revision, name string }

// compiled has the schemas of definitions.
var compiled sync.Map

// compile returns the schema of a definition.
func compile(revision, name string) (*jsonschema.Schema, error) {
	if schema, ok := compiled.Load(definition{revision, name}); ok {
		return schema.(*jsonschema.Schema), nil
	}
	text, err := files.ReadFile("schemas/" + revision + ".json")
	if err != nil {
		return nil, fmt.Errorf("no schema of revision %q", revision)
	}
	compiler := jsonschema.NewCompiler()
	if err := compiler.AddResource("protocol.json", bytes.NewReader(text)); err != nil {
		return nil, err
	}
	table := "definitions"
	if bytes.Contains(text, []byte(`"$defs"`)) {
		table = "$defs"
	}
	schema, err := compiler.Compile("protocol.json#/" + table + "/" + name)
	if err == nil {
		compiled.Store(definition{revision, name}, schema)
	}
	return schema, err
}
