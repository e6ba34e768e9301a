package doctor

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// TestedProgram is the program that the self-test starts.
type TestedProgram struct {
	Path string
	Args []string // with the name of the program; the workspace is added
	Env  []string // the whole environment, without folders for the user's files
	// Home returns the variables that put the user's files below a folder.
	Home     func(dir string) []string
	Temp     string        // where the folder of the test is made
	Deadline time.Duration // of each era
}

// era is one of the two ways in which a client talks to the server.
type era struct {
	revision  string
	handshake bool // the client begins with initialize
}

// eras lists both (source: the protocol's revisions 2025-11-25 and 2026-07-28).
var eras = []era{{"2025-11-25", true}, {"2026-07-28", false}}

func (e era) String() string {
	if e.handshake {
		return e.revision + " (initialize)"
	}
	return e.revision + " (server/discover)"
}

// SelfTest starts the server in a temporary folder in each era of the protocol, and has it
// list its tools and write, read and edit a file. The server has a home of its own there,
// so that no settings, history or cache of the user take part.
func SelfTest(ctx context.Context, s TestedProgram) (checks []Check) {
	for _, e := range eras {
		c := Check{Name: NameSelfTest, Status: OK}
		start := time.Now()
		if err := s.try(ctx, e); err != nil {
			c.Status, c.Detail = Fail, fmt.Sprintf("%s: %v", e, err)
			c.Remedy = "Run fsmcp serve by hand and look at its log (--log FILE); the temporary folder must be one that you may write. If it stays, report it with the output of fsmcp doctor --json."
		} else {
			c.Detail = fmt.Sprintf("%s: tools listed, a file written, read and edited in %d ms", e, time.Since(start).Milliseconds())
		}
		checks = append(checks, c)
	}
	return checks
}

// try runs the test in one era.
func (s TestedProgram) try(ctx context.Context, e era) (err error) {
	ctx, cancel := context.WithTimeout(ctx, s.Deadline)
	defer cancel()
	dir, err := os.MkdirTemp(s.Temp, "fsmcp-doctor-")
	if err != nil {
		return fmt.Errorf("no temporary folder can be made in %s: %w", s.Temp, cause(err))
	}
	defer os.RemoveAll(dir)
	work, home := filepath.Join(dir, "work"), filepath.Join(dir, "home")
	if err := errors.Join(os.Mkdir(work, 0o700), os.Mkdir(home, 0o700)); err != nil {
		return err
	}
	c, err := s.start(ctx, e, work, home)
	if err != nil {
		return err
	}
	err = errors.Join(c.talk(filepath.Join(work, "hello.txt")), c.end())
	if err != nil && ctx.Err() != nil {
		return fmt.Errorf("no answer within %v", s.Deadline)
	}
	said := strings.TrimSpace(string(c.stderr))
	if err != nil && said != "" {
		return fmt.Errorf("%w; its standard error ends with %q", err, said[strings.LastIndexByte(said, '\n')+1:])
	}
	return err
}

// conversation is one run of the server.
type conversation struct {
	era    era
	cmd    *exec.Cmd
	in     io.WriteCloser
	out    *json.Decoder
	stderr tail
	last   int // the id of the last request
}

func (s TestedProgram) start(ctx context.Context, e era, work, home string) (*conversation, error) {
	return begin(ctx, e, work, &exec.Cmd{Path: s.Path, Args: append(slices.Clone(s.Args), work), Env: append(slices.Clone(s.Env), s.Home(home)...)})
}

// Serves starts a server in a folder and has it list its tools. The error is the last sentence
// that the server wrote, if it wrote one.
func (s TestedProgram) Serves(dir string, args, env []string) error {
	ctx, cancel := context.WithTimeout(context.Background(), s.Deadline)
	defer cancel()
	c, err := begin(ctx, eras[0], dir, &exec.Cmd{Path: s.Path, Args: append([]string{"fsmcp"}, args...), Env: env})
	if err != nil {
		return err
	}
	if err = c.hello(); err == nil {
		err = c.request("tools/list", nil, nil)
	}
	err = errors.Join(err, c.end())
	said := strings.TrimSpace(string(c.stderr))
	switch {
	case err != nil && ctx.Err() != nil:
		return fmt.Errorf("no answer within %v", s.Deadline)
	case err != nil && said != "":
		return errors.New(strings.TrimPrefix(said[strings.LastIndexByte(said, '\n')+1:], "fsmcp: "))
	}
	return err
}

// begin starts a server's program in a folder.
func begin(ctx context.Context, e era, dir string, as *exec.Cmd) (*conversation, error) {
	c := &conversation{era: e}
	c.cmd = exec.CommandContext(ctx, as.Path)
	c.cmd.Args, c.cmd.Env = as.Args, as.Env
	c.cmd.Dir, c.cmd.Stderr, c.cmd.WaitDelay = dir, &c.stderr, time.Second
	in, err := c.cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := c.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	c.in, c.out = in, json.NewDecoder(out)
	if err := c.cmd.Start(); err != nil {
		return nil, fmt.Errorf("the server does not start: %w", err)
	}
	// A child of the server that outlives it may keep the pipe open.
	context.AfterFunc(ctx, func() { out.Close() })
	return c, nil
}

// end closes the server's input and waits for it.
func (c *conversation) end() error {
	c.in.Close()
	// A pipe that is still open in a child of the server must not delay the end.
	if err := c.cmd.Wait(); err != nil && !errors.Is(err, exec.ErrWaitDelay) {
		return fmt.Errorf("the server ended badly: %w", err)
	}
	return nil
}

// talk is the test itself.
func (c *conversation) talk(file string) error {
	if err := c.hello(); err != nil {
		return err
	}
	var list struct{ Tools []struct{ Name string } }
	if err := c.request("tools/list", nil, &list); err != nil {
		return err
	}
	var names []string
	for _, t := range list.Tools {
		names = append(names, t.Name)
	}
	for _, want := range []string{"Read", "Write", "Edit", "NotebookEdit"} {
		if !slices.Contains(names, want) {
			return fmt.Errorf("tools/list has no %s but %q", want, names)
		}
	}
	for _, call := range []struct {
		tool string
		args map[string]any
		want string // in the answer
	}{
		{"Write", map[string]any{"file_path": file, "content": "good day\n"}, "hello.txt"},
		{"Read", map[string]any{"file_path": file}, "1\tgood day"},
		{"Edit", map[string]any{"file_path": file, "old_string": "day", "new_string": "night"}, "1\t"},
	} {
		if err := c.call(call.tool, call.args, call.want); err != nil {
			return err
		}
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	if string(text) != "good night\n" {
		return fmt.Errorf("the file holds %q after Write and Edit", text)
	}
	return nil
}

// about tells the server which client this is.
var about = map[string]any{"name": "fsmcp-doctor", "version": "1"}

// hello begins the conversation.
func (c *conversation) hello() error {
	if !c.era.handshake {
		return c.request("server/discover", nil, nil)
	}
	params := map[string]any{"protocolVersion": c.era.revision, "capabilities": map[string]any{}, "clientInfo": about}
	var answer struct{ ProtocolVersion string }
	if err := c.request("initialize", params, &answer); err != nil {
		return err
	}
	if answer.ProtocolVersion != c.era.revision {
		return fmt.Errorf("initialize was answered with revision %q", answer.ProtocolVersion)
	}
	return c.send(map[string]any{"jsonrpc": "2.0", "method": "notifications/initialized"})
}

// call makes a call that must succeed.
func (c *conversation) call(tool string, args map[string]any, want string) error {
	var answer struct {
		IsError bool
		Content []struct{ Text string }
	}
	if err := c.request("tools/call", map[string]any{"name": tool, "arguments": args}, &answer); err != nil {
		return err
	}
	var text strings.Builder
	for _, b := range answer.Content {
		text.WriteString(b.Text + "\n")
	}
	if answer.IsError || !strings.Contains(text.String(), want) {
		return fmt.Errorf("%s was answered with %q", tool, strings.TrimSpace(text.String()))
	}
	return nil
}

// request sends a request and reads its answer into result, nil if that does not matter.
// Messages that the server sends of its own accord are passed over.
func (c *conversation) request(method string, params map[string]any, result any) error {
	if params == nil {
		params = map[string]any{}
	}
	if !c.era.handshake {
		params["_meta"] = map[string]any{
			"io.modelcontextprotocol/protocolVersion":    c.era.revision,
			"io.modelcontextprotocol/clientInfo":         about,
			"io.modelcontextprotocol/clientCapabilities": map[string]any{},
		}
	}
	c.last++
	if err := c.send(map[string]any{"jsonrpc": "2.0", "id": c.last, "method": method, "params": params}); err != nil {
		return fmt.Errorf("%s: %w", method, err)
	}
	for {
		var answer struct {
			ID     json.RawMessage
			Result json.RawMessage
			Error  *struct{ Message string }
		}
		err := c.out.Decode(&answer)
		switch {
		case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, os.ErrClosed):
			return fmt.Errorf("%s was not answered: the server ended", method)
		case err != nil:
			return fmt.Errorf("%s was answered with no JSON: %w", method, err)
		case string(answer.ID) != fmt.Sprint(c.last):
		case answer.Error != nil:
			return fmt.Errorf("%s was refused: %s", method, answer.Error.Message)
		case result == nil:
			return nil
		default:
			return json.Unmarshal(answer.Result, result)
		}
	}
}

// send writes one line.
func (c *conversation) send(message any) error {
	return json.NewEncoder(c.in).Encode(message)
}

// tail keeps the last bytes of what is written to it.
type tail []byte

func (t *tail) Write(p []byte) (int, error) {
	const most = 1000
	*t = append(*t, p...)
	*t = (*t)[max(0, len(*t)-most):]
	return len(p), nil
}
