package lsp

import (
	"context"
	"encoding/json"
	"slices"
	"time"

	"github.com/sourcegraph/jsonrpc2"

	"github.com/fsmcp/fsmcp/internal/fsys"
)

// handle takes the server's requests and notifications, in their order. It never waits.
func (r *run) handle(_ context.Context, _ *jsonrpc2.Conn, req *jsonrpc2.Request) (answer any, err error) {
	switch p := r.process; req.Method {
	case "textDocument/publishDiagnostics":
		r.published(decode[publishParams](req))
	case "$/progress":
		r.progressed(decode[progressParams](req))
	case "workspace/configuration":
		asked := decode[struct{ Items []struct{} }](req).Items
		return slices.Repeat([]json.RawMessage{p.server.Settings}, min(len(asked), 100)), nil
	case "workspace/workspaceFolders":
		return p.folders(), nil
	case "workspace/applyEdit":
		return object{"applied": false, "failureReason": "not supported"}, nil
	case "window/showDocument":
		return object{"success": false}, nil
	case "client/registerCapability", "client/unregisterCapability", "window/workDoneProgress/create", "window/showMessageRequest":
	default:
		return nil, &jsonrpc2.Error{Code: jsonrpc2.CodeMethodNotFound, Message: "not supported"}
	}
	return nil, nil
}

// decode returns the parameters of a message; none if they are not those of the protocol.
func decode[T any](req *jsonrpc2.Request) (params T) {
	if req.Params == nil || json.Unmarshal(*req.Params, &params) != nil {
		return *new(T)
	}
	return params
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

// published takes the diagnostics of one file, if it lies in a workspace folder.
func (r *run) published(params publishParams) {
	p, c := r.process, r.process.client
	path, ok := pathOf(params.URI)
	folders := c.o.Folders()
	if !ok || !slices.ContainsFunc(folders, func(dir string) bool { return fsys.Within(dir, path) }) {
		return
	}
	c.mu.Lock()
	most := min(maxPerOther, max(maxKept-r.kept, 0))
	if p.file(path).isDocument() {
		most = maxPerFile
	}
	c.mu.Unlock()
	now := report{problems: problemsOf(path, params.Diagnostics, most, c.mask(folders))}
	c.mu.Lock()
	defer c.mu.Unlock()
	f := p.file(path)
	if p.run != r || f.open && params.Version != nil && *params.Version < f.version {
		return // it follows for the new text
	}
	r.kept += len(now.problems) - len(f.last.problems)
	if f.open {
		r.unversioned = params.Version == nil
		f.published, now.text = f.version, f.text
		if slices.Equal(f.last.problems, now.problems) {
			r.silent = false
		}
	}
	f.last, f.differs = now, true
	if f.isForgotten() {
		delete(p.files, path)
	}
	r.reported = time.Now()
	r.wake()
}
