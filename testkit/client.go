package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"sync"
	"time"
)

// patience bounds the wait for one answer.
const patience = 2 * time.Minute

var errNoAnswer = errors.New("the server does not answer")

// client speaks MCP with one server over the server's standard input and output.
type client struct {
	cmd    *exec.Cmd
	in     io.WriteCloser
	stderr bytes.Buffer

	mu      sync.Mutex
	next    int
	waiting map[int]chan reply
	ended   chan struct{} // closed when the server's output ends
}

// reply is a message of the server. It is a request if it has a method.
type reply struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Result json.RawMessage `json:"result"`
	Error  *struct {
		Message string `json:"message"`
	} `json:"error"`
}

// answer is what a model is shown of the result of a call.
type answer struct {
	text     string
	pictures int // bytes, in base64
	failed   bool
}

// startServer starts a server and greets it.
func startServer(command, env []string, dir string) (*client, error) {
	c := &client{cmd: exec.Command(command[0], command[1:]...), waiting: make(map[int]chan reply), ended: make(chan struct{})}
	c.cmd.Dir, c.cmd.Env, c.cmd.Stderr = dir, env, &c.stderr
	out, err := c.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if c.in, err = c.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	if err := c.cmd.Start(); err != nil {
		return nil, err
	}
	go c.listen(out)
	_, err = c.request("initialize", map[string]any{"protocolVersion": "2025-06-18", "capabilities": map[string]any{},
		"clientInfo": map[string]any{"name": "testkit", "version": "1"}})
	if err == nil {
		err = c.write(map[string]any{"jsonrpc": "2.0", "method": "notifications/initialized"})
	}
	if err != nil {
		c.kill()
		return nil, fmt.Errorf("%w: %.300s", err, c.stderr.String())
	}
	return c, nil
}

// listen hands answers to those that wait for them, and declines what the server asks.
func (c *client) listen(out io.Reader) {
	defer close(c.ended)
	lines := bufio.NewReader(out)
	for {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			return
		}
		var r reply
		if json.Unmarshal(line, &r) != nil || r.ID == nil {
			continue
		}
		if r.Method == "ping" {
			c.write(map[string]any{"jsonrpc": "2.0", "id": r.ID, "result": map[string]any{}})
			continue
		}
		if r.Method != "" {
			c.write(map[string]any{"jsonrpc": "2.0", "id": r.ID, "error": map[string]any{"code": -32601, "message": "not supported"}})
			continue
		}
		var id int
		if json.Unmarshal(r.ID, &id) != nil {
			continue
		}
		c.mu.Lock()
		if waits := c.waiting[id]; waits != nil {
			waits <- r
			delete(c.waiting, id)
		}
		c.mu.Unlock()
	}
}

func (c *client) write(message any) error {
	line, err := encode(message)
	if err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	_, err = io.WriteString(c.in, line+"\n")
	return err
}

// encode writes JSON as most clients do, without escapes for HTML.
func encode(v any) (string, error) {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(v)
	return strings.TrimSuffix(b.String(), "\n"), err
}

// send sends a request and returns where the answer arrives.
func (c *client) send(method string, params any) (<-chan reply, error) {
	arrives := make(chan reply, 1)
	c.mu.Lock()
	c.next++
	id := c.next
	c.waiting[id] = arrives
	c.mu.Unlock()
	return arrives, c.write(map[string]any{"jsonrpc": "2.0", "id": id, "method": method, "params": params})
}

func (c *client) receive(arrives <-chan reply) (reply, error) {
	select {
	case r := <-arrives:
		return r, nil
	case <-c.ended:
		select {
		case r := <-arrives:
			return r, nil
		default:
			return reply{}, errors.New("the server ended")
		}
	case <-time.After(patience):
		return reply{}, errNoAnswer
	}
}

func (c *client) request(method string, params any) (json.RawMessage, error) {
	arrives, err := c.send(method, params)
	if err != nil {
		return nil, err
	}
	r, err := c.receive(arrives)
	if err == nil && r.Error != nil {
		err = errors.New(r.Error.Message)
	}
	return r.Result, err
}

// answer reads the content of a result. An error of the protocol is a failed call, too.
func (r reply) answer() (got answer, err error) {
	if r.Error != nil {
		return answer{text: r.Error.Message, failed: true}, nil
	}
	var result struct {
		IsError bool
		Content []struct {
			Type, Text, Data string
			Resource         struct{ Text, Blob string }
		}
	}
	if err := json.Unmarshal(r.Result, &result); err != nil {
		return got, err
	}
	got.failed = result.IsError
	for _, block := range result.Content {
		got.text += block.Text + block.Resource.Text + block.Resource.Blob
		got.pictures += len(block.Data)
	}
	return got, nil
}

// close ends the input, and waits until the server has ended.
func (c *client) close() {
	c.in.Close()
	select {
	case <-c.ended:
	case <-time.After(10 * time.Second):
	}
	c.kill()
}

func (c *client) kill() {
	c.cmd.Process.Kill()
	c.cmd.Wait()
}
