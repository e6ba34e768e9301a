// Package mcptest is a small raw JSON-RPC client for tests that drive the real
// binary over its standard streams. It promises to notice every line on
// standard output that is not a JSON-RPC message, to match answers to requests
// by id whatever their order, and never to hide what it was sent: the raw line
// of each answer stays at hand. On Linux it tells what processes a server has
// started (Children).
//
// It is no MCP library: it validates nothing beyond the framing unless it is asked to
// (package protocol), knows no types of the protocol but tool results, and answers
// requests that the server makes with "method not found".
package mcptest

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"sync"
	"syscall"
	"time"

	"github.com/fsmcp/fsmcp/internal/mcptest/protocol"
)

// Latest is the newest protocol revision that is opened by "initialize".
const Latest = "2025-11-25"

// ErrGone is the error of waiting calls after the server closed its output.
var ErrGone = errors.New("mcptest: the server closed its standard output")

// Options says how a server is started.
type Options struct {
	Path   string   // the binary
	Args   []string // without the program's own name
	Argv0  string   // the name the program sees; Path where empty
	Dir    string
	Env    []string // as os/exec has it: nil inherits
	Stderr io.Writer
	Attr   *syscall.SysProcAttr
	// Validate has each message of the server validated against the official schemas.
	Validate bool
}

// Client is one running server and the streams to it. Its methods may be used
// by several goroutines at once.
type Client struct {
	cmd   *exec.Cmd
	stdin io.WriteCloser
	// Timeout bounds every wait for an answer.
	Timeout time.Duration
	// OnLine, where set before the first request, sees each raw line received.
	OnLine func(line []byte)

	writing sync.Mutex        // one line at a time
	session *protocol.Session // nil: nothing is validated
	mu      sync.Mutex
	nextID  int64
	waiting map[string]chan Message
	bad     []error
	gone    chan struct{}
	exited  chan struct{}
	waitErr error
	loose   chan Message // answers without a waiting call, and notifications
}

// Message is one JSON-RPC message as it was received.
type Message struct {
	Raw    []byte
	ID     string // the id's raw JSON; "" if there is none
	Method string
	Result json.RawMessage
	Error  *RPCError
	Params json.RawMessage
}

// RPCError is a JSON-RPC error object.
type RPCError struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
}

func (e *RPCError) Error() string { return fmt.Sprintf("protocol error %d: %s", e.Code, e.Message) }

// Start runs the server. It does not shake hands: see Initialize.
func Start(o Options) (*Client, error) {
	cmd := exec.Command(o.Path, o.Args...)
	if o.Argv0 != "" {
		cmd.Args[0] = o.Argv0
	}
	cmd.Dir, cmd.Env, cmd.Stderr, cmd.SysProcAttr = o.Dir, o.Env, o.Stderr, o.Attr
	stdin, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	// A pipe of our own: cmd.Wait would close the one of StdoutPipe while the
	// last answers are still being read.
	out, outWriter, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	cmd.Stdout = outWriter
	if err := cmd.Start(); err != nil {
		out.Close()
		outWriter.Close()
		return nil, err
	}
	outWriter.Close()
	var session *protocol.Session
	if o.Validate {
		session = protocol.New()
	}
	c := &Client{session: session,
		cmd: cmd, stdin: stdin, Timeout: 40 * time.Second,
		waiting: map[string]chan Message{},
		gone:    make(chan struct{}), exited: make(chan struct{}),
		loose: make(chan Message, 4096),
	}
	go c.read(out)
	go func() { c.waitErr = cmd.Wait(); close(c.exited) }()
	return c, nil
}

// PID is the server's process id.
func (c *Client) PID() int { return c.cmd.Process.Pid }

func (c *Client) read(out io.ReadCloser) {
	defer close(c.gone)
	defer out.Close()
	r := bufio.NewReaderSize(out, 1<<16)
	for {
		line, err := r.ReadBytes('\n')
		if len(line) > 0 {
			if err != nil {
				c.violate(fmt.Errorf("last line of standard output has no newline: %q", clip(line)))
			}
			c.take(bytes.TrimSuffix(line, []byte("\n")))
		}
		if err != nil {
			return
		}
	}
}

func (c *Client) take(line []byte) {
	if c.OnLine != nil {
		c.OnLine(line)
	}
	messages, err := Parse(line)
	if err != nil {
		c.violate(err)
		return
	}
	if c.session != nil {
		if err := c.session.Received(line); err != nil {
			c.violate(err)
		}
	}
	for _, m := range messages {
		c.deliver(m)
	}
}

func (c *Client) deliver(m Message) {
	if m.Method != "" && m.ID != "" {
		_ = c.Send([]byte(`{"jsonrpc":"2.0","id":` + m.ID + `,"error":{"code":-32601,"message":"method not found"}}`))
		return
	}
	c.mu.Lock()
	ch := c.waiting[m.ID]
	if m.Method == "" {
		delete(c.waiting, m.ID)
	} else {
		ch = nil
	}
	c.mu.Unlock()
	if ch != nil {
		ch <- m
		return
	}
	select {
	case c.loose <- m:
	default:
		c.violate(errors.New("mcptest: more than 4096 messages that nobody waits for"))
	}
}

// Parse reads one line as a JSON-RPC message, or as an array of them.
func Parse(line []byte) ([]Message, error) {
	if len(line) > 0 && line[0] == '[' {
		var parts []json.RawMessage
		if err := json.Unmarshal(line, &parts); err != nil || len(parts) == 0 {
			return nil, fmt.Errorf("not JSON-RPC on standard output: %q", clip(line))
		}
		var all []Message
		for _, p := range parts {
			m, err := parseOne(p)
			if err != nil {
				return nil, err
			}
			all = append(all, m)
		}
		return all, nil
	}
	m, err := parseOne(line)
	return []Message{m}, err
}

func parseOne(line []byte) (Message, error) {
	var m struct {
		JSONRPC string          `json:"jsonrpc"`
		ID      json.RawMessage `json:"id"`
		Method  string          `json:"method"`
		Params  json.RawMessage `json:"params"`
		Result  json.RawMessage `json:"result"`
		Error   *RPCError       `json:"error"`
	}
	if err := json.Unmarshal(line, &m); err != nil || m.JSONRPC != "2.0" {
		return Message{}, fmt.Errorf("not JSON-RPC on standard output: %q", clip(line))
	}
	return Message{Raw: bytes.Clone(line), ID: string(m.ID), Method: m.Method,
		Params: m.Params, Result: m.Result, Error: m.Error}, nil
}

func clip(b []byte) []byte {
	if len(b) > 300 {
		return append(bytes.Clone(b[:300]), "…"...)
	}
	return b
}

func (c *Client) violate(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.bad = append(c.bad, err)
}

// Violations lists every line so far that was no JSON-RPC message, or that the schemas
// refuse.
func (c *Client) Violations() []error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return append([]error(nil), c.bad...)
}

// Send writes one raw line and adds the newline.
func (c *Client) Send(line []byte) error {
	return c.SendRaw(append(append(make([]byte, 0, len(line)+1), line...), '\n'))
}

// SendRaw writes bytes as they are.
func (c *Client) SendRaw(b []byte) error {
	c.writing.Lock()
	defer c.writing.Unlock()
	if c.session != nil {
		c.session.SentBytes(b)
	}
	_, err := c.stdin.Write(b)
	return err
}

// Loose is the next message that answers no request made by Go: a
// notification, or an answer to something sent raw.
func (c *Client) Loose(wait time.Duration) (Message, error) {
	return c.receive(c.loose, wait, "nothing came")
}

// receive waits for a message, also for one that came before the server closed its output.
func (c *Client) receive(from <-chan Message, wait time.Duration, late string) (Message, error) {
	timer := time.NewTimer(wait)
	defer timer.Stop()
	err := ErrGone
	select {
	case m := <-from:
		return m, nil
	case <-c.gone:
	case <-timer.C:
		err = fmt.Errorf("mcptest: %s within %v", late, wait)
	}
	select {
	case m := <-from:
		return m, nil
	default:
		return Message{}, err
	}
}

// Pending is an answer under way.
type Pending struct {
	c  *Client
	ch chan Message
	ID string // the request's id as raw JSON
}

// Go sends a request and does not wait.
func (c *Client) Go(method string, params any) (*Pending, error) {
	body, err := json.Marshal(params)
	if raw, ok := params.(json.RawMessage); ok {
		body, err = raw, nil // as the caller wrote it, duplicate keys included
	}
	if err != nil {
		return nil, err
	}
	c.mu.Lock()
	c.nextID++
	id := strconv.FormatInt(c.nextID, 10)
	ch := make(chan Message, 1)
	c.waiting[id] = ch
	c.mu.Unlock()
	line := fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%s,"method":"%s","params":%s}`+"\n", id, method, body)
	return &Pending{c: c, ch: ch, ID: id}, c.SendRaw(line)
}

// Wait is the answer; a protocol error is returned as *RPCError.
func (p *Pending) Wait() (Message, error) {
	m, err := p.c.receive(p.ch, p.c.Timeout, "no answer to request "+p.ID)
	if err == nil && m.Error != nil {
		err = m.Error
	}
	return m, err
}

// Request sends a request and waits for its answer.
func (c *Client) Request(method string, params any) (Message, error) {
	p, err := c.Go(method, params)
	if err != nil {
		return Message{}, err
	}
	return p.Wait()
}

// Initialize shakes hands in the era of "initialize".
func (c *Client) Initialize(version string) (Message, error) {
	return c.InitializeAs(version, "mcptest")
}

// InitializeAs shakes hands as the client of that name.
func (c *Client) InitializeAs(version, name string) (Message, error) {
	m, err := c.Request("initialize", map[string]any{
		"protocolVersion": version, "capabilities": map[string]any{},
		"clientInfo": map[string]any{"name": name, "version": "1"},
	})
	if err != nil {
		return m, err
	}
	return m, c.Send([]byte(`{"jsonrpc":"2.0","method":"notifications/initialized"}`))
}

// Result is the answer to a tool call.
type Result struct {
	Text    string // all text blocks, one after the other
	First   string // the first of them: the answer itself, without reminders
	IsError bool
	Code    int    // fsmcp/errorCode, 0 where absent
	Slug    string // fsmcp/error
	Meta    json.RawMessage
	Raw     json.RawMessage // the whole result
	Size    int             // bytes of the line it came in
}

// GoCall sends a tool call and does not wait; args is anything that marshals
// to an object, or json.RawMessage to be sent as it is.
func (c *Client) GoCall(tool string, args any) (*Pending, error) {
	body, ok := args.(json.RawMessage)
	if !ok {
		var err error
		if body, err = json.Marshal(args); err != nil {
			return nil, err
		}
	}
	name, _ := json.Marshal(tool)
	params := fmt.Appendf(nil, `{"name":%s,"arguments":%s}`, name, body)
	return c.Go("tools/call", json.RawMessage(params))
}

// Call calls a tool and waits for its answer. A tool error is no Go error: it
// is in the Result.
func (c *Client) Call(tool string, args any) (Result, error) {
	p, err := c.GoCall(tool, args)
	if err != nil {
		return Result{}, err
	}
	return p.Result()
}

// Result waits for the answer to a tool call.
func (p *Pending) Result() (Result, error) {
	m, err := p.Wait()
	if err != nil {
		return Result{Size: len(m.Raw)}, err
	}
	return ParseResult(m)
}

// ParseResult reads a message as the answer to a tool call.
func ParseResult(m Message) (Result, error) {
	var r struct {
		Content []struct {
			Type string `json:"type"`
			Text string `json:"text"`
		} `json:"content"`
		IsError bool            `json:"isError"`
		Meta    json.RawMessage `json:"_meta"`
	}
	if err := json.Unmarshal(m.Result, &r); err != nil {
		return Result{}, fmt.Errorf("mcptest: not a tool result: %w", err)
	}
	res := Result{IsError: r.IsError, Meta: r.Meta, Raw: m.Result, Size: len(m.Raw) + 1}
	for _, b := range r.Content {
		if b.Type == "text" {
			if res.Text == "" {
				res.First = b.Text
			}
			res.Text += b.Text
		}
	}
	var meta struct {
		Code int    `json:"fsmcp/errorCode"`
		Slug string `json:"fsmcp/error"`
	}
	if len(r.Meta) > 0 {
		if err := json.Unmarshal(r.Meta, &meta); err != nil {
			return res, fmt.Errorf("mcptest: _meta: %w", err)
		}
	}
	res.Code, res.Slug = meta.Code, meta.Slug
	return res, nil
}

// CloseInput ends the server's standard input.
func (c *Client) CloseInput() error { return c.stdin.Close() }

// Signal sends the server a signal.
func (c *Client) Signal(s os.Signal) error { return c.cmd.Process.Signal(s) }

// Wait waits for the server's end and is its exit status as os/exec says it.
func (c *Client) Wait(atMost time.Duration) error {
	select {
	case <-c.exited:
		<-c.gone
		return c.waitErr
	case <-time.After(atMost):
		return fmt.Errorf("mcptest: the server still runs after %v", atMost)
	}
}

// Close ends the input, waits for the server to end by itself, and reports an
// exit status other than 0 and every line that was no JSON-RPC.
func (c *Client) Close() error {
	c.CloseInput()
	err := c.Wait(20 * time.Second)
	if err != nil {
		c.Kill()
	}
	return errors.Join(append(c.Violations(), err)...)
}

// Kill ends the server at once and waits until it is gone.
func (c *Client) Kill() {
	_ = c.cmd.Process.Kill()
	<-c.exited
	c.stdin.Close()
}
