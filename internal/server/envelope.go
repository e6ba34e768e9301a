package server

import (
	"bytes"
	"errors"
	"slices"
	"strings"
	"unicode/utf8"
)

// The methods that the loop serves itself; mcp-go serves the others.
const (
	methodCall      = "tools/call"
	methodListen    = "subscriptions/listen"
	methodInit      = "initialize"
	methodCancelled = "notifications/cancelled"
	methodRoots     = "notifications/roots/list_changed"
)

// errNotObject says that a message is valid JSON but no object.
var errNotObject = errors.New("not a JSON object")

// errTwice says that the envelope has a member twice: two parsers may read it in two ways.
var errTwice = errors.New("member given twice")

// A message is the envelope of one JSON-RPC message, and the params of a call. All slices
// are parts of its line.
type message struct {
	raw     []byte
	id      []byte // as written; nil where there is none
	method  string
	params  value
	name    value // the members of params
	args    value
	meta    value
	inputs  value // inputResponses
	state   value // requestState
	version bool  // jsonrpc is "2.0"
	answer  bool  // has a result or an error: it answers a request of ours
	result  value
	seen    part
	twice   bool // a part was given more than once
}

// parseMessage reads the envelope of one message and checks the grammar of the whole, in
// one pass. With errNotObject and errTwice it returns what it has read, so that the id can
// be answered.
func parseMessage(line []byte) (m message, err error) {
	s := scanner{b: line}
	m.raw = line
	if s.space() == '{' {
		err = s.members(func(name []byte) error { return m.take(&s, name) })
	} else if _, err = s.value(); err == nil {
		err = errNotObject
	}
	switch {
	case err != nil && !errors.Is(err, errNotObject):
		return m, err
	case !s.end():
		return m, errSyntax
	case m.twice:
		return m, errTwice
	}
	return m, err
}

// take reads one member of the envelope.
func (m *message) take(s *scanner, name []byte) error {
	if string(name) == `"params"` {
		m.once(inParams)
		return m.takeParams(s)
	}
	v, err := s.value()
	switch string(name) {
	case `"jsonrpc"`:
		m.once(inVersion)
		m.version = string(v.raw) == `"2.0"`
	case `"id"`:
		m.once(inID)
		m.id = v.raw
	case `"method"`:
		m.once(inMethod)
		if err == nil && v.kind == isString {
			m.method, _ = unquote(v.raw)
		}
	case `"result"`:
		m.once(inAnswer)
		m.answer, m.result = true, v
	case `"error"`:
		m.once(inAnswer)
		m.answer = true
	}
	return err
}

// takeParams reads the params, and stores the members that a call needs.
func (m *message) takeParams(s *scanner) (err error) {
	if s.space() != '{' {
		m.params, err = s.value()
		return err
	}
	start := s.i
	err = s.members(func(name []byte) error {
		v, err := s.value()
		switch string(name) {
		case `"name"`:
			m.once(inName)
			m.name = v
		case `"arguments"`:
			m.once(inArguments)
			m.args = v
		case `"_meta"`:
			m.once(inMeta)
			m.meta = v
		case `"inputResponses"`:
			m.once(inInputs)
			m.inputs = v
		case `"requestState"`:
			m.once(inState)
			m.state = v
		}
		return err
	})
	m.params = value{s.b[start:s.i], isObject}
	return err
}

// part is a member that may occur once.
type part uint

const (
	inVersion part = 1 << iota
	inID
	inMethod
	inParams
	inAnswer
	inName
	inArguments
	inMeta
	inInputs
	inState
)

// once marks a part as seen, and notes if it was seen before.
func (m *message) once(p part) {
	m.twice = m.twice || m.seen&p != 0
	m.seen |= p
}

// goodID reports whether MCP allows an id: a string of UTF-8 or a number. The server must
// not send back any other.
func goodID(id []byte) bool {
	return len(id) > 0 && (id[0] == '"' || id[0] == '-' || id[0]-'0' < 10) && utf8.Valid(id)
}

// idKey returns the id as a map key: two spellings of one string are one id.
func idKey(id []byte) string {
	if len(id) > 0 && id[0] == '"' && bytes.IndexByte(id, '\\') >= 0 {
		if s, err := unquote(id); err == nil {
			return `"` + s + `"`
		}
	}
	return string(id)
}

// callMeta holds the members of a request's _meta that fsmcp uses.
type callMeta struct {
	progress     []byte // the token, as written
	thread       []byte // the client's name of its conversation, as written
	call         string // the client's own id of the tool call, as its transcript has it
	version      string
	clientInfo   []byte
	capabilities []byte
}

var (
	errNoParams = errors.New("params must be an object")
	errNoName   = errors.New("params.name must be a string")
	errMeta     = errors.New("params._meta must be an object")
)

// call returns the tool of a tools/call, and its _meta.
func (m *message) call() (tool string, meta callMeta, err error) {
	switch {
	case m.params.kind != isObject:
		return "", meta, errNoParams
	case m.name.kind != isString:
		return "", meta, errNoName
	case m.meta.kind == isObject:
		meta.parse(m.meta.raw)
	case m.meta.kind != 0 && m.meta.kind != isNull:
		return "", meta, errMeta
	}
	tool, err = unquote(m.name.raw)
	return tool, meta, err
}

// maxCallID bounds the client's own id of a call, in bytes: it is stored in records.
const maxCallID = 256

// callID returns the client's own id of the call, else the request's id as written.
func (m *callMeta) callID(request []byte) string {
	if m.call != "" {
		return m.call
	}
	return string(request)
}

// parse reads the members of _meta that fsmcp uses. No known client escapes their names,
// so they are compared as written.
func (m *callMeta) parse(object []byte) {
	members(object, func(name []byte, v value) error {
		switch string(name) {
		case `"progressToken"`:
			if goodID(v.raw) { // the server sends it back
				m.progress = v.raw
			}
		case `"threadId"`:
			if v.kind == isString || v.kind == isNumber {
				m.thread = v.raw
			}
		case `"claudecode/toolUseId"`, `"callId"`: // Claude Code; Codex
			if v.kind != isString {
				return nil
			}
			if id, err := unquote(v.raw); err == nil && len(id) <= maxCallID {
				m.call = id
			}
		case `"io.modelcontextprotocol/protocolVersion"`:
			if v.kind == isString {
				m.version, _ = unquote(v.raw)
			}
		case `"io.modelcontextprotocol/clientInfo"`:
			m.clientInfo = v.raw
		case `"io.modelcontextprotocol/clientCapabilities"`:
			m.capabilities = v.raw
		}
		return nil
	})
}

// member finds one member of an object by its plain name.
func member(object []byte, name string) (found value) {
	members(object, func(n []byte, v value) error {
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
	members(head, func(name []byte, v value) error {
		if string(name) == `"id"` && cap(v.raw) > len(v.raw) {
			id = wholeID(v.raw)
			return errTwice // found
		}
		return nil
	})
	return id
}

// wholeID returns raw if it is exactly one good id.
func wholeID(raw []byte) []byte {
	s := scanner{b: raw}
	if v, err := s.value(); err != nil || !s.end() || !goodID(v.raw) {
		return nil
	}
	return bytes.Clone(raw)
}
