package server

import (
	"bytes"
	"errors"
	"slices"
	"strings"
	"unicode/utf8"
)

// The methods that the loop serves itself; all others go through mcp-go.
const (
	methodCall      = "tools/call"
	methodListen    = "subscriptions/listen"
	methodInit      = "initialize"
	methodCancelled = "notifications/cancelled"
	methodRoots     = "notifications/roots/list_changed"
)

// errNotObject: valid JSON, but no message.
var errNotObject = errors.New("not a JSON object")

// errTwice: a member of the envelope given twice, which two parsers may read
// in two ways.
var errTwice = errors.New("member given twice")

// A message is the envelope of one JSON-RPC message, and of its params what a
// call has there. All slices are parts of the line it came in.
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
	twice   bool // some part was given more than once
}

// parseMessage reads the envelope of one message and checks the grammar of
// the whole, all in one pass. What it returns beside errNotObject and errTwice
// is usable as far as it goes, so that an id is answered.
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

// takeParams reads the params, and notes those members that a call has.
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

// part is a member that may be given once.
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

// once notes that a part was there, and whether it was before.
func (m *message) once(p part) {
	m.twice = m.twice || m.seen&p != 0
	m.seen |= p
}

// goodID tells whether an id is one that JSON-RPC over MCP allows: a string of
// UTF-8 or a number. Any other must not be sent back as it came.
func goodID(id []byte) bool {
	return len(id) > 0 && (id[0] == '"' || id[0] == '-' || id[0]-'0' < 10) && utf8.Valid(id)
}

// idKey is the id as the key of a map: two spellings of one string are one id.
func idKey(id []byte) string {
	if len(id) > 0 && id[0] == '"' && bytes.IndexByte(id, '\\') >= 0 {
		if s, err := unquote(id); err == nil {
			return `"` + s + `"`
		}
	}
	return string(id)
}

// callMeta is what fsmcp reads of a request's _meta.
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

// call finds the tool that a tools/call names, and what its _meta says.
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

// maxCallID bounds the id of a call that a client may have kept in records, in bytes.
const maxCallID = 256

// callID returns the client's own id of the call, else that of the request as written.
func (m *callMeta) callID(request []byte) string {
	if m.call != "" {
		return m.call
	}
	return string(request)
}

// parse reads the members of _meta that matter here. Names in it are never
// escaped by any known client, so they are compared as written.
func (m *callMeta) parse(object []byte) {
	members(object, func(name []byte, v value) error {
		switch string(name) {
		case `"progressToken"`:
			if goodID(v.raw) { // it goes back as it came
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

// lostID looks for the id of a message that was too long to keep, in its
// beginning and in its end: encoders put it in one of the two. The end is sure
// where it reads `"id":VALUE}`, for the last brace closes the message itself.
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

// headID reads members from the start of a message until the text breaks off.
// A value that touches the break may be part of a longer one.
func headID(head []byte) (id []byte) {
	head = slices.Clip(head)
	members(head, func(name []byte, v value) error {
		if string(name) == `"id"` && cap(v.raw) > len(v.raw) {
			id = wholeID(v.raw)
			return errTwice // far enough
		}
		return nil
	})
	return id
}

// wholeID returns raw where it is exactly one good id.
func wholeID(raw []byte) []byte {
	s := scanner{b: raw}
	if v, err := s.value(); err != nil || !s.end() || !goodID(v.raw) {
		return nil
	}
	return bytes.Clone(raw)
}
