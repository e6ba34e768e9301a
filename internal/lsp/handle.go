package lsp

import (
	"context"
	"encoding/json"
	"slices"
	"time"

	"github.com/sourcegraph/jsonrpc2"

	"github.com/fsmcp/fsmcp/internal/fsys"
)

// handler takes the server's requests and notifications, in their order. It never waits.
type handler struct {
	p *process
	r *run
}

// Handle implements jsonrpc2.Handler.
func (h handler) Handle(ctx context.Context, conn *jsonrpc2.Conn, req *jsonrpc2.Request) {
	var params json.RawMessage
	if req.Params != nil {
		params = *req.Params
	}
	if req.Notif {
		h.notified(req.Method, params)
		return
	}
	if result, ok := h.answer(req.Method, params); ok {
		_ = conn.Reply(ctx, req.ID, result)
		return
	}
	_ = conn.ReplyWithError(ctx, req.ID, &jsonrpc2.Error{Code: jsonrpc2.CodeMethodNotFound, Message: "not supported"})
}

// answer returns the answer to a request; ok is false for a method that is unknown.
func (h handler) answer(method string, params json.RawMessage) (result any, ok bool) {
	switch method {
	case "workspace/configuration":
		var p configurationParams
		if json.Unmarshal(params, &p) != nil {
			return nil, false
		}
		settings := json.RawMessage("null")
		if h.p.server.Settings != nil {
			settings = h.p.server.Settings
		}
		return slices.Repeat([]json.RawMessage{settings}, min(len(p.Items), 100)), true
	case "workspace/workspaceFolders":
		return []workspaceFolder{{URI: uriOf(h.p.root), Name: h.p.root}}, true
	case "workspace/applyEdit":
		return map[string]any{"applied": false, "failureReason": "not supported"}, true
	case "window/showDocument":
		return map[string]any{"success": false}, true
	case "client/registerCapability":
		h.registered(params)
		return nil, true
	case "workspace/diagnostic/refresh":
		h.refresh()
		return nil, true
	case "client/unregisterCapability", "window/workDoneProgress/create", "window/showMessageRequest":
		return nil, true
	}
	return nil, false
}

// registered notes that the server wants to be asked for diagnostics.
func (h handler) registered(params json.RawMessage) {
	var p registrationParams
	if json.Unmarshal(params, &p) != nil {
		return
	}
	for _, reg := range p.Registrations {
		var options pullOptions
		if reg.Method != "textDocument/diagnostic" || json.Unmarshal(reg.Options, &options) != nil {
			continue
		}
		h.p.client.mu.Lock()
		h.r.pull = &options
		h.p.client.mu.Unlock()
	}
}

// refresh asks for the diagnostics of all open documents.
func (h handler) refresh() {
	c := h.p.client
	c.mu.Lock()
	var all []string
	for path, d := range h.p.documents {
		if d.open && h.r.pulls == 0 {
			all = append(all, path)
		}
	}
	c.mu.Unlock()
	h.p.pullAll(h.r, all)
}

func (h handler) notified(method string, params json.RawMessage) {
	switch method {
	case "textDocument/publishDiagnostics":
		var p publishParams
		if json.Unmarshal(params, &p) == nil {
			h.published(p)
		}
	case "$/progress":
		var p progressParams
		if json.Unmarshal(params, &p) != nil {
			return
		}
		h.p.client.mu.Lock()
		switch token := string(p.Token); {
		case p.Value.Kind == "end":
			delete(h.r.progress, token)
			h.r.reported = time.Now() // what it has found follows
		case p.Value.Kind == "begin" && len(h.r.progress) < 100 && len(token) < 1000:
			h.r.progress[token], h.r.worked = true, true
		}
		h.p.client.mu.Unlock()
		h.r.wake()
	}
}

// published takes the diagnostics of one file.
func (h handler) published(params publishParams) {
	p, c := h.p, h.p.client
	path, ok := pathOf(params.URI)
	if !ok || !p.concerns(path) {
		return
	}
	now := p.decode(path, params.Diagnostics)
	c.mu.Lock()
	defer c.mu.Unlock()
	if p.run != h.r {
		return
	}
	d := p.documents[path]
	if d != nil && !d.open {
		d = nil
	}
	if d != nil && params.Version != nil && *params.Version < d.version {
		return // it follows for the new text
	}
	f := p.fileOf(path)
	p.kept += len(now) - len(f.pushed)
	if d != nil {
		h.r.unversioned = params.Version == nil
		if h.r.pull == nil {
			d.published = d.version
		}
		if slices.Equal(f.pushed, now) {
			h.r.silent = false
		}
	}
	if f.pushed, f.dirty = now, true; d == nil && len(now) == 0 && len(f.base) == 0 && len(f.pulled) == 0 {
		delete(p.files, path)
	}
	h.r.reported = time.Now()
	h.r.wake()
}

// concerns reports whether problems of a file may be kept: it lies in the root or in a
// workspace folder.
func (p *process) concerns(path string) bool {
	return fsys.Within(p.root, path) || slices.ContainsFunc(p.client.o.Folders(), func(dir string) bool { return fsys.Within(dir, path) })
}

// fileOf returns the problems of a file. Above the bound of files it returns some that are not
// kept. The caller holds the lock.
func (p *process) fileOf(path string) *fileProblems {
	f := p.files[path]
	if f == nil {
		f = &fileProblems{}
		if p.files != nil && (len(p.files) < maxFiles || p.documents[path] != nil) {
			p.files[path] = f
		}
	}
	return f
}

// decode returns the problems of a file to keep. A flood leaves room for those of open
// documents.
func (p *process) decode(path string, raw json.RawMessage) []problem {
	c := p.client
	c.mu.Lock()
	most := maxPerFile
	if p.documents[path] == nil {
		most = min(maxPerOther, max(maxKept-p.kept, 0))
	}
	c.mu.Unlock()
	if most == 0 {
		return nil
	}
	return problemsOf(raw, most, c.newMask().of)
}

// ask asks for diagnostics where the server wants to be asked, of other open documents too
// where they may differ. Otherwise it asks for any answer, to see that the server lives.
func (p *process) ask(r *run, paths []string) {
	c := p.client
	c.mu.Lock()
	pull := r.pull
	if pull != nil && pull.OtherFiles {
		for path, d := range p.documents {
			if d.open && !slices.Contains(paths, path) {
				paths = append(paths, path)
			}
		}
	}
	c.mu.Unlock()
	if pull != nil {
		p.pullAll(r, paths)
		return
	}
	p.call(r, "$/alive", nil, nil, func(error) (then func()) { // an unknown method gets an error
		return func() { r.answered = true }
	})
}

// call makes a request. Once it is answered, read is called without the lock, and what it
// returns under the lock.
func (p *process) call(r *run, method string, params, result any, read func(error) (then func())) {
	ctx, cancel := context.WithTimeout(context.Background(), p.client.t.settle)
	go func() {
		defer cancel()
		then := read(r.conn.Call(ctx, method, params, result))
		p.client.mu.Lock()
		defer p.client.mu.Unlock()
		if p.run == r && ctx.Err() == nil {
			then()
		}
		r.wake()
	}()
}

// pullAll asks for the diagnostics of documents.
func (p *process) pullAll(r *run, paths []string) {
	c := p.client
	for _, path := range paths {
		c.mu.Lock()
		d := p.documents[path]
		if d == nil || !d.open || r.pull == nil {
			c.mu.Unlock()
			continue
		}
		version := d.version
		params := documentParams{Document: documentID{URI: uriOf(path)}, Identifier: r.pull.Identifier}
		r.pulls++
		c.mu.Unlock()
		report := new(pullReport)
		p.call(r, "textDocument/diagnostic", params, report, func(err error) (then func()) {
			files := p.pulledFiles(path, report)
			return func() {
				r.pulls--
				r.answered = true
				if err == nil {
					p.pulled(r, path, version, files)
				}
			}
		})
	}
}

// pulledFiles returns the problems of each file in the answer to a pull.
func (p *process) pulledFiles(path string, report *pullReport) map[string][]problem {
	files := make(map[string][]problem)
	if report.Kind == "full" {
		files[path] = p.decode(path, report.Items)
	}
	for uri, related := range report.Related {
		if other, ok := pathOf(uri); ok && related.Kind == "full" && p.concerns(other) {
			files[other] = p.decode(other, related.Items)
		}
	}
	return files
}

// pulled takes the answer to a pull. The caller holds the lock.
func (p *process) pulled(r *run, path string, version int, files map[string][]problem) {
	d := p.documents[path]
	if d == nil || d.version != version {
		return
	}
	d.published, r.reported = version, time.Now()
	for path, now := range files {
		f := p.fileOf(path)
		p.kept += len(now) - len(f.pulled)
		f.pulled, f.dirty = now, true
	}
}
