package lsp

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"
)

// Ends of a run.
var (
	errHung = errors.New("it does not answer")
	errGone = errors.New("it ended by itself")
)

// follow waits for changes and passes them on until all have settled.
func (p *process) follow(r *run) error {
	select {
	case <-r.event:
	case <-r.ctx.Done():
		return errStopped
	case <-r.conn.DisconnectNotify():
		return errGone
	}
	c := p.client
	c.mu.Lock()
	idle := r.based && !p.pending()
	c.mu.Unlock()
	if idle { // it was late diagnostics
		return nil
	}
	for {
		if err := p.sendOutside(r); err != nil {
			return err
		}
		p.lookAtOpenFiles()
		bases, err := p.sendBases(r)
		if err == nil && (len(bases) > 0 || !r.based) {
			err = p.await(r, bases, false)
		}
		if err != nil {
			return err
		}
		c.mu.Lock()
		p.setBases(r, bases)
		c.mu.Unlock()
		changed, err := p.sendChanges(r)
		if err == nil && len(changed) > 0 {
			err = p.await(r, changed, true)
		}
		if err != nil {
			return err
		}
		c.mu.Lock()
		if !p.pending() {
			p.settle()
			c.mu.Unlock()
			return p.closeOldest(r)
		}
		c.mu.Unlock()
	}
}

// pending reports whether there is a text to send.
func (p *process) pending() bool {
	for _, d := range p.documents {
		if d.base != nil || d.next != nil {
			return true
		}
	}
	return false
}

// lookAtOpenFiles has the documents follow files that another program changed.
func (p *process) lookAtOpenFiles() {
	c := p.client
	c.mu.Lock()
	var all []document
	for _, d := range p.documents {
		if d.open && d.base == nil && d.next == nil && c.changing[d.path] == 0 {
			all = append(all, *d)
		}
	}
	c.mu.Unlock()
	for _, d := range all {
		seen, gone := lookAt(d.path)
		if seen == d.seen && seen != (fileTime{}) {
			continue
		}
		now, ok := "", false
		if !gone {
			now, ok = c.readText(d.path)
		}
		c.mu.Lock()
		if doc := p.documents[d.path]; doc != nil && doc.open && doc.base == nil && doc.next == nil && c.changing[d.path] == 0 {
			switch {
			case !ok:
				if doc.leave = fileChanged; gone {
					doc.leave = fileDeleted
				}
			case now != doc.text:
				doc.base = &now
			}
			doc.seen = seen
		}
		c.mu.Unlock()
	}
}

// lookOutside returns the events of source files that other programs have changed since the
// last look. Open documents have none: lookAtOpenFiles follows them.
func (p *process) lookOutside() (events []fileEvent) {
	if p.tree == nil {
		p.tree = newTree(p.root, p.server.isSource)
		return nil
	}
	c := p.client
	c.mu.Lock()
	open := slices.Collect(maps.Keys(p.documents))
	c.mu.Unlock()
	for path, event := range p.tree.changes(open) {
		c.mu.Lock()
		own := p.documents[path] != nil || c.changing[path] > 0
		c.mu.Unlock()
		if !own && len(events) < maxEvents && c.o.Readable(nearestOf(path, event)) {
			events = append(events, fileEvent{uriOf(path), event})
		}
	}
	return events
}

// sendOutside tells the server what other programs have changed. The problems of all files
// are the base then, once it has reported on it.
func (p *process) sendOutside(r *run) error {
	events := p.lookOutside()
	if len(events) == 0 {
		return nil
	}
	p.client.mu.Lock()
	r.based, r.began, r.answered = false, time.Now(), false
	p.client.mu.Unlock()
	return r.send([]message{{"workspace/didChangeWatchedFiles", watchedFilesParams{events}}})
}

// maxEvents bounds the events of one look at the tree.
const maxEvents = 10_000

// nearestOf returns the name to decide on for an event: of a file that is gone, the nearest
// folder above it that is there.
func nearestOf(path string, event int) string {
	if event != fileDeleted {
		return path
	}
	for dir := filepath.Dir(path); ; dir = filepath.Dir(dir) {
		if _, err := os.Lstat(dir); err == nil || dir == filepath.Dir(dir) {
			return dir
		}
	}
}

// readText returns the text of a file that servers may be told of.
func (c *Client) readText(path string) (text string, ok bool) {
	b, err := c.o.Read(path, MaxFile)
	if err != nil {
		return "", false
	}
	return asText(b)
}

// message is a notification to be sent once the lock is released.
type message struct {
	method string
	params any
}

func (r *run) send(all []message) error {
	for _, m := range all {
		if err := r.conn.Notify(context.Background(), m.method, m.params); err != nil {
			return err
		}
	}
	return nil
}

// sendBases sends the texts before changes and returns the documents.
func (p *process) sendBases(r *run) (sent []string, err error) {
	c := p.client
	c.mu.Lock()
	var all []message
	for _, d := range p.sorted() {
		if event := d.leave; event != 0 {
			all = append(append(all, p.closeDocument(d)...), watched(d.path, event))
		}
		if d.base != nil {
			text := *d.base
			d.base = nil
			all = append(all, p.sendText(r, d, text)...)
			sent = append(sent, d.path)
		}
	}
	r.basing = len(sent) > 0
	c.mu.Unlock()
	return sent, r.send(all)
}

// watched is the message on a change of a file on the disk.
func watched(path string, event int) message {
	return message{"workspace/didChangeWatchedFiles", watchedFilesParams{[]fileEvent{{uriOf(path), event}}}}
}

// sorted returns the documents in the order of their last change.
func (p *process) sorted() []*document {
	return slices.SortedFunc(maps.Values(p.documents), func(a, b *document) int {
		return cmp.Or(cmp.Compare(a.used, b.used), cmp.Compare(a.path, b.path))
	})
}

// setBases makes the problems of texts before a change the base to compare with, and at the
// first time those of all files.
func (p *process) setBases(r *run, paths []string) {
	r.basing = false
	for _, path := range paths {
		p.fileOf(path).setBase()
	}
	if r.based {
		return
	}
	r.based, r.warm = true, true
	for _, f := range p.files {
		f.setBase()
	}
}

// sendChanges sends the texts after changes and returns the documents.
func (p *process) sendChanges(r *run) (sent []string, err error) {
	c := p.client
	c.mu.Lock()
	var all []message
	for _, d := range p.sorted() {
		if d.next == nil || d.base != nil {
			continue
		}
		created := !d.open
		all = append(all, p.sendText(r, d, *d.next)...)
		d.next = nil
		if created {
			all = append(all, watched(d.path, fileCreated))
		}
		if wanted, withText := r.sync.saves(); wanted {
			save := documentParams{Document: documentID{URI: uriOf(d.path)}}
			if withText {
				save.Text = &d.text
			}
			all = append(all, message{"textDocument/didSave", save})
		}
		sent = append(sent, d.path)
	}
	c.mu.Unlock()
	return sent, r.send(all)
}

// sendText has the server know the text of a document, and asks it for diagnostics where it
// wants to be asked. The caller holds the lock.
func (p *process) sendText(r *run, d *document, text string) (all []message) {
	if d.open && d.text == text {
		return nil
	}
	r.answered = false
	d.version++
	if !d.open {
		d.open, d.text = true, text
		all = append(all, message{"textDocument/didOpen", didOpenParams{documentItem{uriOf(d.path), d.language, d.version, text}}})
		p.fileOf(d.path).closed = false
	} else {
		edits, steps := editsOf(d.text, text, r.encoding)
		if r.sync.Change != syncIncremental {
			steps = []contentChange{{Text: text}}
		}
		p.fileOf(d.path).shift(edits)
		d.text = text
		if r.sync.Change != syncNone {
			all = append(all, message{"textDocument/didChange", documentParams{Document: documentID{uriOf(d.path), d.version}, Changes: steps}})
		}
	}
	return all
}

// closeDocument closes a document. The caller holds the lock.
func (p *process) closeDocument(d *document) []message {
	d.leave = 0
	if !d.open {
		return nil
	}
	d.lost()
	p.fileOf(d.path).closed = true
	if d.next == nil && d.base == nil {
		delete(p.documents, d.path)
	}
	return []message{{"textDocument/didClose", documentParams{Document: documentID{URI: uriOf(d.path)}}}}
}

// closeOldest bounds the open documents.
func (p *process) closeOldest(r *run) error {
	c := p.client
	c.mu.Lock()
	var all []message
	open, bytes := 0, 0
	for _, d := range slices.Backward(p.sorted()) {
		if open, bytes = open+1, bytes+len(d.text); (open > maxOpen || bytes > maxOpenBytes) && d.next == nil && d.base == nil {
			all = append(all, p.closeDocument(d)...)
		}
	}
	c.mu.Unlock()
	return r.send(all)
}

// await waits until the server has reported on the documents as they were sent, or until
// it may be taken to have nothing to report. With changes, it also ends when another change is
// delivered.
func (p *process) await(r *run, paths []string, changes bool) error {
	c := p.client
	c.mu.Lock()
	r.worked = false
	c.mu.Unlock()
	p.ask(r, paths)
	sent := time.Now()
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		c.mu.Lock()
		until, complete := p.until(r, paths, sent, changes)
		hung := !complete && r.heard.Before(sent)
		if !time.Now().Before(until) && changes && r.reported.Before(sent) {
			r.silent = true
		}
		interrupted := changes && p.pending()
		c.mu.Unlock()
		left := time.Until(until)
		switch {
		case interrupted:
			return nil
		case left <= 0 && hung:
			return errHung
		case left <= 0:
			return nil
		}
		timer.Reset(left)
		select {
		case <-r.event:
		case <-timer.C:
		case <-r.ctx.Done():
			return errStopped
		case <-r.conn.DisconnectNotify():
			return errGone
		}
	}
}

// until returns when the wait for diagnostics ends, as far as is known now, and whether the
// server has reported on all documents.
func (p *process) until(r *run, paths []string, sent time.Time, changes bool) (end time.Time, complete bool) {
	t := p.client.t
	last := sent.Add(t.baseline)
	switch {
	case changes:
		last = sent.Add(t.settle)
	case !r.based && len(r.progress) > 0: // what it reports first is no news, however late
		last = sent.Add(t.load)
	}
	complete = r.pulls == 0
	for _, path := range paths {
		if d := p.documents[path]; d != nil && d.open && d.published < d.version {
			complete = false
		}
	}
	quiet := t.quiet
	switch {
	case !r.based: // on a busy machine other packages follow later
		quiet = max(t.first, later(r.reported, r.began).Sub(r.began))
	case r.pull != nil:
		quiet = 0
	case r.unversioned:
		quiet = t.unversioned
	}
	switch {
	case !r.based && len(r.progress) > 0:
		end = last
	case complete && changes && len(r.progress) > 0: // other files may follow
		end = later(r.reported, sent).Add(t.work)
	case complete && changes && r.worked:
		end = sent
	case complete:
		end = later(r.reported, sent).Add(quiet)
	case r.silent && r.answered:
		end = later(r.heard, sent).Add(t.silent)
	case changes && r.answered: // it may have nothing to report
		end = later(r.reported, sent).Add(t.wait)
	default:
		end = last
	}
	if last.Before(end) {
		end = last
	}
	return end, complete
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}
