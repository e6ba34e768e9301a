package lsp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/sourcegraph/jsonrpc2"
)

// process is one server in one root, over all of its runs. Its fields are guarded by the
// Client's lock.
type process struct {
	client *Client
	server Server
	root   string

	used      int // when it was used last, in changes
	run       *run
	starts    int
	off       bool
	missing   time.Time // when its program was not found
	documents map[string]*document
	files     map[string]*fileProblems
	kept      int // problems in files

	tree *tree // of the run: only that uses it

	delivered, settled int           // changes
	settling           chan struct{} // closed when all delivered changes have settled
	late               bool          // it has not caught up with a change that waited long
	over               chan struct{} // closed when no run is left after askStop
}

// run is one run of a server's program.
type run struct {
	ctx   context.Context // ends when the run is to stop
	stop  context.CancelFunc
	event chan struct{} // holds an item while there may be something to look at
	conn  *jsonrpc2.Conn

	began    time.Time // when the problems of all files were asked for
	ready    bool
	based    bool // the problems before the first change, or since an outside one, are known
	warm     bool // they were known once
	basing   bool // those of texts that were sent last are not known yet
	encoding encoding
	sync     syncOptions
	pull     *pullOptions    // nil: the server only pushes
	pulls    int             // that are not answered
	answered bool            // the server has answered since the last text was sent
	worked   bool            // it has begun work since then
	progress map[string]bool // work that the server has begun, by its tokens
	heard    time.Time       // when the server sent anything
	reported time.Time       // when it sent diagnostics
	// unversioned and silent note how the server sends diagnostics: without a version, and
	// only where they differ.
	unversioned, silent bool
}

// delivered is a change that was given to a process.
type delivered struct {
	process *process
	settled chan struct{}
}

func newProcess(c *Client, s Server, root string) *process {
	return &process{client: c, server: s, root: root, documents: make(map[string]*document), settling: make(chan struct{})}
}

func (p *process) running() bool { return p.run != nil }

// deliver takes a change. It returns nil where its caller need not wait: the server is
// starting, behind or off.
func (p *process) deliver(d delivery) *delivered {
	if p.run == nil && !p.start() {
		return nil
	}
	doc := p.documents[d.path]
	if doc == nil {
		doc = &document{path: d.path, language: d.language}
		p.documents[d.path] = doc
	}
	doc.deliver(d)
	doc.used = p.client.uses
	p.delivered++
	p.run.wake()
	if !p.run.warm || p.late {
		return nil
	}
	return &delivered{p, p.settling}
}

// start starts the server unless it stays off.
func (p *process) start() bool {
	if p.off || time.Since(p.missing) < p.client.t.again {
		return false
	}
	p.starts++
	p.run = &run{began: time.Now(), event: make(chan struct{}, 1), encoding: utf16Units, progress: make(map[string]bool)}
	p.run.ctx, p.run.stop = context.WithCancel(context.Background())
	p.over = make(chan struct{})
	p.files, p.kept = make(map[string]*fileProblems), 0
	go p.runOnce(p.run)
	return true
}

// wake has the run look for something to do.
func (r *run) wake() {
	select {
	case r.event <- struct{}{}:
	default:
	}
}

// askStop ends the process without waiting for it. The caller holds the lock.
func (p *process) askStop() {
	p.off = true
	if p.run == nil {
		if p.over == nil {
			p.over = make(chan struct{})
			close(p.over)
		}
		return
	}
	p.run.stop()
}

// errStopped ends a run that was asked to stop.
var errStopped = errors.New("it was asked to stop")

// notFoundError: the server's program was not found.
type notFoundError struct{ error }

// runOnce runs the program to its end.
func (p *process) runOnce(r *run) {
	c := p.client
	err := p.serve(r)
	r.stop()
	c.o.Ended(p.server.Name, p.root, err.Error())
	c.mu.Lock()
	defer c.mu.Unlock()
	p.run, p.files = nil, nil
	for path, d := range p.documents {
		if d.lost(); d.next == nil {
			delete(p.documents, path)
		}
	}
	p.settle()
	close(p.over)
	switch missing := (notFoundError{}); {
	case errors.Is(err, errStopped):
	case errors.As(err, &missing):
		p.missing, p.starts = time.Now(), p.starts-1
		clear(p.documents)
	case p.starts > maxRestarts:
		p.off = true
		clear(p.documents)
		if c.Notify != nil {
			c.Notify(offNotice(p.server.Name, p.root, p.starts))
		}
	}
}

// settle releases those that wait. The caller holds the lock.
func (p *process) settle() {
	for _, f := range p.files {
		if f.dirty {
			f.forget()
		}
	}
	p.settled, p.late = p.delivered, false
	close(p.settling)
	p.settling = make(chan struct{})
}

// serve starts the program, greets it and follows the changes until it ends or is to stop.
// The error says why it ended.
func (p *process) serve(r *run) error {
	c := p.client
	program, env, err := c.o.Find(p.server)
	if err != nil {
		return notFoundError{err}
	}
	proc, err := c.o.Start(Launch{Program: program, Args: p.server.Command[1:], Env: env, Dir: p.root})
	if err != nil {
		return notFoundError{err}
	}
	defer func() {
		proc.Kill()
		proc.Wait()
	}()
	stream := newStream(proc)
	r.conn = jsonrpc2.NewConn(context.Background(), stream, handler{p, r}, jsonrpc2.SetLogger(noLog{}), jsonrpc2.OnRecv(func(*jsonrpc2.Request, *jsonrpc2.Response) {
		c.mu.Lock()
		defer c.mu.Unlock()
		r.heard = time.Now()
	}))
	defer r.conn.Close()
	p.tree = nil
	p.lookOutside()
	err = p.greet(r)
	for err == nil {
		err = p.follow(r)
	}
	select {
	case <-r.ctx.Done():
		p.shutdown(r)
		return errStopped
	case <-r.conn.DisconnectNotify():
		if stream.err != nil {
			return stream.err
		}
	default:
	}
	return err
}

// greet makes the server ready.
func (p *process) greet(r *run) error {
	ctx, cancel := context.WithTimeout(r.ctx, p.client.t.start)
	defer cancel()
	folder := workspaceFolder{URI: uriOf(p.root), Name: filepath.Base(p.root)}
	var result initializeResult
	err := r.conn.Call(ctx, "initialize", initializeParams{
		ProcessID: os.Getpid(), ClientInfo: clientInfo{"fsmcp"}, RootPath: p.root, RootURI: folder.URI,
		Capabilities: json.RawMessage(capabilities), Options: p.server.Settings, WorkspaceFolders: []workspaceFolder{folder},
	}, &result)
	if err != nil {
		return fmt.Errorf("initialize: %w", err)
	}
	if err := r.conn.Notify(ctx, "initialized", struct{}{}); err != nil {
		return err
	}
	p.client.mu.Lock()
	defer p.client.mu.Unlock()
	if result.Capabilities.PositionEncoding == utf8Units {
		r.encoding = utf8Units
	}
	r.sync = syncOf(result.Capabilities.TextDocumentSync)
	if r.pull == nil { // not registered meanwhile
		r.pull = result.Capabilities.DiagnosticProvider
	}
	r.ready = true
	return nil
}

// shutdown asks the server to end, and waits a moment for that.
func (p *process) shutdown(r *run) {
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
