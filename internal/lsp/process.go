package lsp

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
	"time"

	"github.com/sourcegraph/jsonrpc2"

	"github.com/fsmcp/fsmcp/internal/procgroup"
)

// process is one server in one root, over all of its runs. Its fields and those of its run
// are guarded by the Client's lock.
type process struct {
	client *Client
	server LanguageServer
	root   string

	used    int // when it was used last, in changes
	starts  int
	missing time.Time // when its program was not found
	run     *run

	files   map[string]*file
	behind  bool          // the server has not reported on all changes
	late    bool          // nor did it while one of them waited
	settled chan struct{} // closed when it has reported on all of them
}

// start starts the server unless it stays off.
func (p *process) start() bool {
	if p.starts > maxRestarts || time.Since(p.missing) < p.client.t.again {
		return false
	}
	p.starts++
	r := &run{process: p, event: make(chan struct{}, 1), began: time.Now(), progress: make(map[string]bool)}
	r.ctx, r.end = context.WithCancelCause(context.Background())
	p.run = r
	p.client.runs.Go(func() { p.runOnce(r) })
	return true
}

// Ends of a run.
var (
	errHung    = errors.New("it does not answer")
	errGone    = errors.New("it ended by itself")
	errStopped = errors.New("it was asked to stop")
	errMissing = errors.New("it cannot be started")
)

// runOnce runs the program to its end.
func (p *process) runOnce(r *run) {
	c := p.client
	r.end(p.serve(r))
	err := context.Cause(r.ctx)
	c.o.Ended(p.server.Name, p.root, err.Error())
	c.mu.Lock()
	defer c.mu.Unlock()
	p.run = nil
	for path, f := range p.files {
		if f.close(); f.next == nil {
			delete(p.files, path)
		}
		f.base, f.last, f.differs = report{}, report{}, false
	}
	p.settle()
	switch {
	case errors.Is(err, errStopped):
	case errors.Is(err, errMissing):
		p.missing, p.starts = time.Now(), p.starts-1
		clear(p.files)
	case p.starts > maxRestarts:
		clear(p.files)
		if c.Notify != nil {
			c.Notify(offNotice(p.server.Name, p.root, p.starts))
		}
	}
}

// settle releases those that wait. The caller holds the lock.
func (p *process) settle() {
	p.behind, p.late = false, false
	close(p.settled)
	p.settled = make(chan struct{})
}

// program is a running language server.
type program struct {
	in  io.WriteCloser // the server's standard input
	out io.ReadCloser  // its standard output
	// kill ends the process with its group at once. It comes before wait: until then the
	// group's number is not given to others.
	kill func()
	// wait returns once the process has ended.
	wait func()
}

// startProgram starts a program as a group of processes.
func startProgram(cmd *exec.Cmd) (*program, error) {
	cmd.WaitDelay = 200 * time.Millisecond // for the standard error of a process that has ended
	in, errIn := cmd.StdinPipe()
	out, errOut := cmd.StdoutPipe()
	if err := errors.Join(errIn, errOut); err != nil {
		return nil, err
	}
	group, err := procgroup.Start(cmd)
	if err != nil {
		return nil, err
	}
	return &program{in, out, group.Kill, func() { _, _ = group.Wait(context.Background(), 0) }}, nil
}

// serve starts the program, greets it and follows the changes until the run ends. The error
// wraps errMissing.
func (p *process) serve(r *run) error {
	c := p.client
	name, env, err := c.o.Find(p.server)
	if err != nil {
		return fmt.Errorf("%w: %w", errMissing, err)
	}
	cmd := exec.Command(name, p.server.Command[1:]...)
	cmd.Dir, cmd.Env = p.root, env
	if env != nil {
		cmd.Env = append(slices.Clip(env), "PWD="+p.root)
	}
	proc, err := c.start(cmd)
	if err != nil {
		return fmt.Errorf("%w: %w", errMissing, err)
	}
	defer proc.wait()
	defer proc.kill()
	stream := newStream(proc, r.end)
	heard := jsonrpc2.OnRecv(func(*jsonrpc2.Request, *jsonrpc2.Response) {
		c.mu.Lock()
		defer c.mu.Unlock()
		r.heard = time.Now()
	})
	r.conn = jsonrpc2.NewConn(context.Background(), stream, jsonrpc2.HandlerWithError(r.handle), jsonrpc2.SetLogger(noLog{}), heard)
	defer r.conn.Close()
	go stream.write(r.conn.DisconnectNotify())
	r.sources = sources(p.root, p.server.isSource)
	r.greet()
	r.follow()
	if errors.Is(context.Cause(r.ctx), errStopped) {
		r.shutdown()
	}
	return nil
}

// greet makes the server ready, or ends the run.
func (r *run) greet() {
	p := r.process
	ctx, cancel := context.WithTimeout(r.ctx, p.client.t.start)
	defer cancel()
	params := object{
		"processId": os.Getpid(), "clientInfo": object{"name": "fsmcp"}, "rootPath": p.root, "rootUri": uriOf(p.root),
		"capabilities": json.RawMessage(capabilities), "workspaceFolders": p.folders(),
	}
	if p.server.Settings != nil {
		params["initializationOptions"] = p.server.Settings
	}
	var result struct {
		Capabilities struct{ TextDocumentSync any }
	}
	if err := r.conn.Call(ctx, "initialize", params, &result); err != nil {
		r.end(fmt.Errorf("initialize: %w", err))
		return
	}
	r.sync = syncOf(result.Capabilities.TextDocumentSync)
	r.notify("initialized", object{})
}

// folders are the workspace folders of the server: its root.
func (p *process) folders() []object {
	return []object{{"uri": uriOf(p.root), "name": filepath.Base(p.root)}}
}

// shutdown asks the server to end, and waits a moment for that.
func (r *run) shutdown() {
	ctx, cancel := context.WithTimeout(context.Background(), closeTimeout)
	defer cancel()
	_ = r.conn.Call(ctx, "shutdown", nil, nil)
	_ = r.conn.Notify(ctx, "exit", nil)
	select {
	case <-r.conn.DisconnectNotify():
	case <-ctx.Done():
	}
}

// noLog drops what jsonrpc2 has to say of messages that break the protocol.
type noLog struct{}

func (noLog) Printf(string, ...any) {}
