package lsp

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/sourcegraph/jsonrpc2"
)

// run is one run of a server's program.
type run struct {
	process *process
	ctx     context.Context // ends with the run; its cause says why
	end     context.CancelCauseFunc
	event   chan struct{} // holds an item while there may be something to look at
	conn    *jsonrpc2.Conn
	sync    syncOptions
	sources map[string]fileTime // at the last look; only lookOutside uses it
	look    bool                // a call has moved or removed files since

	began  time.Time // when the problems of all files were asked for
	based  bool      // the problems before the first change, or since an outside one, are known
	warm   bool      // they were known once
	basing bool      // those of texts that were sent last are not known yet
	kept   int       // problems of files

	// How the server reports; until uses it.
	heard    time.Time       // when the server sent anything
	reported time.Time       // when it sent diagnostics
	progress map[string]bool // work that the server has begun, by its tokens
	worked   bool            // it has begun work since the last text was sent
	// unversioned and silent note how the server sends diagnostics: without a version, and
	// only if they differ.
	unversioned, silent bool
}

// wake has the run look for something to do.
func (r *run) wake() {
	select {
	case r.event <- struct{}{}:
	default:
	}
}

// sleep waits for an event, the timer, which may be nil, or the end of the run. The caller
// holds the lock, which is released meanwhile.
func (r *run) sleep(timer <-chan time.Time) {
	r.process.client.mu.Unlock()
	defer r.process.client.mu.Lock()
	select {
	case <-r.event:
	case <-timer:
	case <-r.ctx.Done():
	}
}

// follow passes on changes, and waits for the server to report on them, until the run ends.
func (r *run) follow() {
	p := r.process
	p.client.mu.Lock()
	defer p.client.mu.Unlock()
	for r.ctx.Err() == nil {
		if r.based && !r.look && !p.pending() {
			r.sleep(nil) // late diagnostics are events, too
			continue
		}
		r.look = false
		r.lookOutside()
		bases := r.sendBases()
		if (len(bases) > 0 || !r.based) && !r.await(bases, false) {
			return
		}
		r.setBases(bases)
		if changed := r.sendChanges(); len(changed) > 0 && !r.await(changed, true) {
			return
		}
		if p.pending() {
			continue
		}
		for _, f := range p.files {
			if f.differs {
				f.rebase(false)
			}
		}
		p.settle()
		r.closeOldest()
		maps.DeleteFunc(p.files, func(_ string, f *file) bool { return f.isForgotten() })
	}
}

// object is a JSON object.
type object map[string]any

// notify sends a notification. It never blocks; an error ends the connection.
func (r *run) notify(method string, params object) {
	_ = r.conn.Notify(context.Background(), method, params)
}

// fileEvent is a change of a file on the disk.
type fileEvent struct {
	URI  string `json:"uri"`
	Type int    `json:"type"`
}

// Types of a fileEvent.
const (
	fileCreated = 1
	fileChanged = 2
	fileDeleted = 3
)

func (r *run) notifyFiles(events ...fileEvent) {
	r.notify("workspace/didChangeWatchedFiles", object{"changes": events})
}

// sendBases sends the texts before changes and returns their files.
func (r *run) sendBases() (sent []*file) {
	for _, f := range r.process.documents() {
		if f.before != nil {
			r.sendText(f, *f.before)
			f.before = nil
			sent = append(sent, f)
		}
	}
	r.basing = len(sent) > 0
	return sent
}

// setBases makes the problems of texts before a change the base to compare with, and at the
// first time those of all files.
func (r *run) setBases(files []*file) {
	if !r.based {
		files = slices.Collect(maps.Values(r.process.files))
		r.based, r.warm = true, true
	}
	r.basing = false
	for _, f := range files {
		f.rebase(true)
	}
}

// sendChanges sends the texts after changes and returns their files.
func (r *run) sendChanges() (sent []*file) {
	for _, f := range r.process.documents() {
		if f.next == nil || f.before != nil {
			continue
		}
		created := !f.open
		r.sendText(f, *f.next)
		f.next = nil
		if created {
			r.notifyFiles(fileEvent{uriOf(f.path), fileCreated})
		}
		if r.sync.saves {
			params := object{"textDocument": object{"uri": uriOf(f.path)}}
			if r.sync.textOfSaves {
				params["text"] = f.text
			}
			r.notify("textDocument/didSave", params)
		}
		sent = append(sent, f)
	}
	return sent
}

// sendText has the server know the text of a document.
func (r *run) sendText(f *file, text string) {
	if f.open && f.text == text {
		return
	}
	f.version++
	id := object{"uri": uriOf(f.path), "version": f.version}
	switch {
	case !f.open:
		id["languageId"], id["text"] = r.process.server.language(f.path), text
		r.notify("textDocument/didOpen", object{"textDocument": id})
	case r.sync.changes:
		r.notify("textDocument/didChange", object{"textDocument": id, "contentChanges": []object{{"text": text}}})
	}
	f.open, f.text = true, text
}

// closeDocument closes a document.
func (r *run) closeDocument(f *file) {
	if f.open {
		f.close()
		r.notify("textDocument/didClose", object{"textDocument": object{"uri": uriOf(f.path)}})
	}
}

// closeOldest bounds the open documents.
func (r *run) closeOldest() {
	all := r.process.documents()
	bytes := 0
	for i := len(all) - 1; i >= 0; i-- {
		if bytes += len(all[i].text); len(all)-i > maxOpen || bytes > maxOpenBytes {
			r.closeDocument(all[i])
		}
	}
}
