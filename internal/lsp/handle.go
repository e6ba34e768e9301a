package lsp

import (
	"context"
	"encoding/json"
	"slices"
	"time"

	"github.com/sourcegraph/jsonrpc2"

	"github.com/fsmcp/fsmcp/internal/fsys"
)

// Handle implements jsonrpc2.Handler: it takes the server's requests and notifications, in
// their order. It never waits.
func (r *run) Handle(ctx context.Context, conn *jsonrpc2.Conn, req *jsonrpc2.Request) {
	var answer any
	known := true
	switch p := r.process; req.Method {
	case "textDocument/publishDiagnostics":
		if params := (publishParams{}); decode(req, &params) {
			r.published(params)
		}
	case "$/progress":
		if params := (progressParams{}); decode(req, &params) {
			r.progressed(params)
		}
	case "workspace/configuration":
		var asked configurationParams
		known = decode(req, &asked)
		answer = slices.Repeat([]json.RawMessage{p.server.Settings}, min(len(asked.Items), 100))
	case "workspace/workspaceFolders":
		answer = p.folders()
	case "workspace/applyEdit":
		answer = object{"applied": false, "failureReason": "not supported"}
	case "window/showDocument":
		answer = object{"success": false}
	case "client/registerCapability", "client/unregisterCapability", "window/workDoneProgress/create", "window/showMessageRequest":
	default:
		known = false
	}
	switch {
	case req.Notif:
	case known:
		_ = conn.Reply(ctx, req.ID, answer)
	default:
		_ = conn.ReplyWithError(ctx, req.ID, &jsonrpc2.Error{Code: jsonrpc2.CodeMethodNotFound, Message: "not supported"})
	}
}

func decode(req *jsonrpc2.Request, params any) bool {
	return req.Params != nil && json.Unmarshal(*req.Params, params) == nil
}

// progressed notes the begin or the end of work.
func (r *run) progressed(params progressParams) {
	c := r.process.client
	c.mu.Lock()
	defer c.mu.Unlock()
	switch token := string(params.Token); {
	case params.Value.Kind == "end":
		delete(r.progress, token)
		r.reported = time.Now() // what it has found follows
	case params.Value.Kind == "begin" && len(r.progress) < 100 && len(token) < 1000:
		r.progress[token], r.worked = true, true
	}
	r.wake()
}

// published takes the diagnostics of one file.
func (r *run) published(params publishParams) {
	p, c := r.process, r.process.client
	path, ok := pathOf(params.URI)
	if !ok || !p.concerns(path) {
		return
	}
	c.mu.Lock()
	most := maxPerFile
	if p.documents[path] == nil {
		most = min(maxPerOther, max(maxKept-r.kept, 0))
	}
	c.mu.Unlock()
	now := report{problems: problemsOf(path, params.Diagnostics, most, c.mask())}
	c.mu.Lock()
	defer c.mu.Unlock()
	d := p.documents[path]
	if d != nil && !d.open {
		d = nil
	}
	if p.run != r || d != nil && params.Version != nil && *params.Version < d.version {
		return // it follows for the new text
	}
	f := r.file(path)
	r.kept += len(now.problems) - len(f.last.problems)
	if d != nil {
		r.unversioned = params.Version == nil
		d.published, now.text = d.version, d.text
		if slices.Equal(f.last.problems, now.problems) {
			r.silent = false
		}
	}
	f.last, f.differs = now, true
	if d == nil && len(now.problems) == 0 && len(f.base.problems) == 0 {
		delete(r.files, path)
	}
	r.reported = time.Now()
	r.wake()
}

// concerns reports whether problems of a file may be kept: it lies in the root or in a
// workspace folder.
func (p *process) concerns(path string) bool {
	return fsys.Within(p.root, path) || slices.ContainsFunc(p.client.o.Folders(), func(dir string) bool { return fsys.Within(dir, path) })
}

// file returns the problems of a file. Above the bound of files it returns some that are not
// kept. The caller holds the lock.
func (r *run) file(path string) *fileProblems {
	f := r.files[path]
	if f == nil {
		f = &fileProblems{}
		if len(r.files) < maxFiles || r.process.documents[path] != nil {
			r.files[path] = f
		}
	}
	return f
}
