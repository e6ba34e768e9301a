// Package wire reads and writes the messages of the protocol: lines of bounded length,
// their grammar, the envelope of a request without decoding the whole, and JSON text.
//
// It promises that a line of any length costs bounded memory, that what it accepts as JSON
// encoding/json accepts, too, that a written line is whole, and that put order is write
// order. It does not know the tools, and words nothing for a model.
//
// encoding/json was tried: a Write of 200 KB takes 0.8 ms here and 12 ms through it and
// mcp-go, a Read of 1 KB 7 and 49 microseconds (BenchmarkDispatch, two busy cores). It also
// accepts duplicate members and lone surrogates without notice. The lexer is jsontext's, by
// values and tokens. Strings are written here: jsontext takes 170 microseconds for 100 KB of
// code and 105 for prose, AppendString 107 and 70, of 270 for the whole Read.
package wire

import (
	"bytes"
	"errors"
	"slices"
	"strings"
	"unicode/utf8"
)

// The methods that the loop itself must know.
const (
	MethodCall         = "tools/call"
	MethodInitialize   = "initialize"
	MethodCancelled    = "notifications/cancelled"
	MethodRootsChanged = "notifications/roots/list_changed"
)

// ErrNotObject says that a message is valid JSON but no object.
var ErrNotObject = errors.New("not a JSON object")

// ErrTwice says that the envelope has a member twice: two parsers may read it in two ways.
var ErrTwice = errors.New("member given twice")

// A message is the envelope of one JSON-RPC message, and the params of a call. All slices
// are parts of its line.
type Message struct {
	Raw     []byte
	ID      []byte // as written; nil if there is none
	Method  string
	Version bool // jsonrpc is "2.0"
	Answer  bool // has a result or an error: it answers a request of ours

	Params, Result             Value
	jsonrpc, id, method, fault Value
	name, Args, Meta           Value // members of the params
	Inputs, State              Value // inputResponses, requestState
	twice                      bool  // one of these was given more than once
}

// ParseMessage reads the envelope of one message and checks the grammar of the whole, in
// one pass. With errNotObject and errTwice it returns what it has read, so that the id can
// be answered.
func ParseMessage(line []byte) (m Message, err error) {
	s := newScanner(line)
	defer s.close()
	m.Raw = line
	if s.PeekKind() == Object {
		_, err = s.members(func(name []byte) error { return m.take(s, m.member(name)) })
	} else if _, err = s.value(); err == nil {
		err = ErrNotObject
	}
	m.ID, m.Version = m.id.Raw, string(m.jsonrpc.Raw) == `"2.0"`
	m.Answer = m.Result.Kind != 0 || m.fault.Kind != 0
	m.Method = m.method.Text()
	switch {
	case err != nil && !errors.Is(err, ErrNotObject):
		return m, err
	case !s.end():
		return m, errSyntax
	case m.twice, m.Result.Kind != 0 && m.fault.Kind != 0:
		return m, ErrTwice
	}
	return m, err
}

// member returns the place of a member of the envelope, nil for any other.
func (m *Message) member(name []byte) *Value {
	switch string(name) {
	case `"jsonrpc"`:
		return &m.jsonrpc
	case `"id"`:
		return &m.id
	case `"method"`:
		return &m.method
	case `"params"`:
		return &m.Params
	case `"result"`:
		return &m.Result
	case `"error"`:
		return &m.fault
	}
	return nil
}

// param returns the place of a member of the params, nil for any other.
func (m *Message) param(name []byte) *Value {
	switch string(name) {
	case `"name"`:
		return &m.name
	case `"arguments"`:
		return &m.Args
	case `"_meta"`:
		return &m.Meta
	case `"inputResponses"`:
		return &m.Inputs
	case `"requestState"`:
		return &m.State
	}
	return nil
}

// take reads the next value into its place, of the params their members, too.
func (m *Message) take(s *scanner, place *Value) (err error) {
	var v Value
	if place == &m.Params && s.PeekKind() == Object {
		v, err = s.members(func(name []byte) error { return m.take(s, m.param(name)) })
	} else {
		v, err = s.value()
	}
	if place != nil {
		m.twice = m.twice || place.Kind != 0
		*place = v
	}
	return err
}

// GoodID reports whether MCP allows an id: a string of UTF-8 or a number. The server must
// not send back any other.
func GoodID(id []byte) bool {
	return len(id) > 0 && (id[0] == '"' || id[0] == '-' || id[0]-'0' < 10) && utf8.Valid(id)
}

// IDKey returns the id as a map key: two spellings of one string are one id.
func IDKey(id []byte) string {
	if len(id) > 0 && id[0] == '"' && bytes.IndexByte(id, '\\') >= 0 {
		if s, err := Unquote(id); err == nil {
			return `"` + s + `"`
		}
	}
	return string(id)
}

// CallMeta holds the members of a request's _meta that fsmcp uses.
type CallMeta struct {
	Progress     []byte // the token, as written
	Thread       []byte // the client's name of its conversation, as written; nil: it names none
	ThreadKey    string // the member of _meta that names it
	call         string // the client's own id of the tool call, as its transcript has it
	Version      string
	ClientInfo   []byte
	Capabilities []byte
}

var (
	ErrNoParams = errors.New("params must be an object")
	ErrNoName   = errors.New("params.name must be a string")
	ErrMeta     = errors.New("params._meta must be an object")
	errBadName  = errors.New("the name of the tool cannot be read")
)

// Call returns the tool of a tools/call, and its _meta.
func (m *Message) Call() (tool string, meta CallMeta, err error) {
	switch {
	case m.Params.Kind != Object:
		return "", meta, ErrNoParams
	case m.name.Kind != String:
		return "", meta, ErrNoName
	case m.Meta.Kind == Object:
		meta.parse(m.Meta.Raw)
	case m.Meta.Kind != 0 && m.Meta.Kind != Null:
		return "", meta, ErrMeta
	}
	if tool, err = Unquote(m.name.Raw); err != nil {
		err = errBadName
	}
	return tool, meta, err
}

// maxCallID bounds the client's own id of a call, in bytes: it is stored in records.
const maxCallID = 256

// CallID returns the client's own id of the call, else the request's id as written.
func (m *CallMeta) CallID(request []byte) string {
	if m.call != "" {
		return m.call
	}
	return string(request)
}

// parse reads the members of _meta that fsmcp uses. No known client escapes their names,
// so they are compared as written.
func (m *CallMeta) parse(object []byte) {
	Members(object, func(name []byte, v Value) error {
		switch string(name) {
		case `"progressToken"`:
			if GoodID(v.Raw) { // the server sends it back
				m.Progress = v.Raw
			}
		case `"threadId"`, `"vscode.conversationId"`, `"agent-session-id"`: // Codex; VS Code; goose
			if key := string(name[1 : len(name)-1]); (v.Kind == String || v.Kind == Number) && key >= m.ThreadKey {
				m.Thread, m.ThreadKey = v.Raw, key // of several the same one, in whatever order
			}
		case `"claudecode/toolUseId"`, `"callId"`: // Claude Code; Codex
			if id := v.Text(); id != "" && len(id) <= maxCallID {
				m.call = id
			}
		case `"io.modelcontextprotocol/protocolVersion"`:
			m.Version = v.Text()
		case `"io.modelcontextprotocol/clientInfo"`:
			m.ClientInfo = v.Raw
		case `"io.modelcontextprotocol/clientCapabilities"`:
			m.Capabilities = v.Raw
		}
		return nil
	})
}

// Member finds one member of an object by its plain name.
func Member(object []byte, name string) (found Value) {
	Members(object, func(n []byte, v Value) error {
		if len(n) == len(name)+2 && string(n[1:len(n)-1]) == name {
			found = v
		}
		return nil
	})
	return found
}

// lostID looks for the id of a message that was too long to keep, in its first and its
// last bytes: encoders put it in one of the two. The end is certain if it reads
// `"id":VALUE}`: the last brace closes the message itself.
func lostID(head, tail []byte) []byte {
	if id := headID(head); id != nil {
		return id
	}
	text := strings.TrimRight(string(tail), " \t\r\n")
	text, ok := strings.CutSuffix(text, "}")
	if !ok {
		return nil
	}
	at := strings.LastIndex(text, `"id":`)
	if at < 0 {
		return nil
	}
	if before := strings.TrimRight(text[:at], " \t\r\n"); !strings.HasSuffix(before, ",") && !strings.HasSuffix(before, "{") {
		return nil
	}
	return wholeID([]byte(strings.TrimSpace(text[at+len(`"id":`):])))
}

// headID reads members from the start of a message until the text breaks off. A value at
// the break may be incomplete.
func headID(head []byte) (id []byte) {
	head = slices.Clip(head)
	Members(head, func(name []byte, v Value) error {
		if string(name) == `"id"` && cap(v.Raw) > len(v.Raw) {
			id = wholeID(v.Raw)
			return ErrTwice // found
		}
		return nil
	})
	return id
}

// wholeID returns raw if it is exactly one good id.
func wholeID(raw []byte) []byte {
	if v, err := Parse(raw); err != nil || !GoodID(v.Raw) {
		return nil
	}
	return bytes.Clone(raw)
}
