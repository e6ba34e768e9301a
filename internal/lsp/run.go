package lsp

import (
	"context"
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
	pace

	files map[string]*fileProblems
	kept  int // problems in files
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
		for _, f := range r.files {
			if f.differs {
				f.rebase(false)
			}
		}
		p.settle()
		r.closeOldest()
	}
}

// pending reports whether there is a text to send.
func (p *process) pending() bool {
	for _, d := range p.documents {
		if d.pending() {
			return true
		}
	}
	return false
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
func (r *run) sendBases() (sent []*document) {
	for _, d := range byUse(r.process.documents) {
		if d.base != nil {
			r.sendText(d, *d.base)
			d.base = nil
			sent = append(sent, d)
		}
	}
	r.basing = len(sent) > 0
	return sent
}

// setBases makes the problems of texts before a change the base to compare with, and at the
// first time those of all files.
func (r *run) setBases(documents []*document) {
	r.basing = false
	for _, d := range documents {
		r.file(d.path).rebase(true)
	}
	if !r.based {
		r.based, r.warm = true, true
		for _, f := range r.files {
			f.rebase(true)
		}
	}
}

// sendChanges sends the texts after changes and returns their files.
func (r *run) sendChanges() (sent []*document) {
	for _, d := range byUse(r.process.documents) {
		if d.next == nil || d.base != nil {
			continue
		}
		created := !d.open
		r.sendText(d, *d.next)
		d.next = nil
		if created {
			r.notifyFiles(fileEvent{uriOf(d.path), fileCreated})
		}
		if wanted, withText := r.sync.saves(); wanted {
			params := object{"textDocument": object{"uri": uriOf(d.path)}}
			if withText {
				params["text"] = d.text
			}
			r.notify("textDocument/didSave", params)
		}
		sent = append(sent, d)
	}
	return sent
}

// sendText has the server know the text of a document.
func (r *run) sendText(d *document, text string) {
	if d.open && d.text == text {
		return
	}
	d.version++
	id := object{"uri": uriOf(d.path), "version": d.version}
	switch {
	case !d.open:
		id["languageId"], id["text"] = r.process.server.language(d.path), text
		r.notify("textDocument/didOpen", object{"textDocument": id})
	case r.sync.Change != 0:
		r.notify("textDocument/didChange", object{"textDocument": id, "contentChanges": []object{{"text": text}}})
	}
	d.open, d.text = true, text
}

// closeDocument closes a document.
func (r *run) closeDocument(d *document) {
	if !d.open {
		return
	}
	d.lost()
	r.file(d.path).close()
	if !d.pending() {
		delete(r.process.documents, d.path)
	}
	r.notify("textDocument/didClose", object{"textDocument": object{"uri": uriOf(d.path)}})
}

// closeOldest bounds the open documents.
func (r *run) closeOldest() {
	all := byUse(r.process.documents)
	bytes := 0
	for i := len(all) - 1; i >= 0; i-- {
		if bytes += len(all[i].text); len(all)-i > maxOpen || bytes > maxOpenBytes {
			r.closeDocument(all[i])
		}
	}
}
