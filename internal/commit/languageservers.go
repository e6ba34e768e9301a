package commit

import (
	"context"

	"github.com/fsmcp/fsmcp/internal/fsys"
	"github.com/fsmcp/fsmcp/internal/lsp"
	"github.com/fsmcp/fsmcp/internal/toolcall"
)

// LanguageServers are told of changes and report the problems that these brought (lsp.Client).
type LanguageServers interface {
	// Wants reports whether a server is to be told of changes of a file, by its name alone.
	Wants(path string) bool
	// Begin notes that a call is changing a file, until end is called, after Changed.
	Begin(path string) (end func())
	// Changed tells of a change that was made, and waits a bounded time for what the servers
	// report on it.
	Changed(ctx context.Context, c lsp.FileChange)
	// Renamed tells of files and folders that were moved, copied or removed. It waits for
	// nothing.
	Renamed(paths []string)
	// Report returns the sentences on new problems, in at most room bytes; "" if there are
	// none. It waits for nothing.
	Report(room int) string
}

// tellServersOfNames tells language servers of the names that a call has changed.
func tellServersOfNames(n *naming) {
	if n.by.Servers == nil {
		return
	}
	var changed []string
	for _, s := range n.steps {
		if !s.made {
			continue
		}
		if changed = append(changed, s.from.Path); s.to != nil {
			changed = append(changed, s.to.Path)
		}
	}
	if len(changed) > 0 {
		n.by.Servers.Renamed(changed)
	}
}

// serversWanted reports whether language servers are to be told of the change. They are told
// of no restore.
func (w *committing) serversWanted(s *toolcall.Target) bool {
	return w.by.Servers != nil && !w.call.Restoring && w.by.Servers.Wants(s.Path)
}

// beginServers notes that the file is about to change.
func (w *committing) beginServers(s *toolcall.Target) (end func()) {
	if !w.serversWanted(s) {
		return func() {}
	}
	return w.by.Servers.Begin(s.Path)
}

// tellServers tells language servers of a change that was made, once the hooks have run. They
// are told nothing of a file that a Read would ask about.
func (w *committing) tellServers(ctx context.Context, s *toolcall.Target, m applied) {
	c := m.change
	if m.record == nil || w.hidden || !w.serversWanted(s) || max(c.Size(), c.Stamp.Size) > lsp.MaxFile {
		return
	}
	old, ok := c.oldBytes()
	if !ok {
		return
	}
	if (c.Stamp == fsys.Stamp{}) {
		old = nil
	}
	now := m.now
	if now == nil {
		if now, ok = c.newBytes(); !ok {
			return
		}
	}
	defer w.call.Rest()()
	w.by.Servers.Changed(ctx, lsp.FileChange{Path: s.Path, Old: old, Now: now, Followed: w.call.Followed()})
}
