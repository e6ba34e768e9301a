package perm

import "sync"

// GrantSet remembers what the user allowed for the rest of a session. The zero
// value is empty and ready; it may be used by many goroutines at a time.
type GrantSet struct {
	mu  sync.RWMutex
	set map[grant]bool
}

// grant is a tool group on one resolved path.
type grant struct {
	changes bool
	path    string
}

// Grant remembers that operations of op's group may touch the resolved path.
func (g *GrantSet) Grant(op Op, path string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.set == nil {
		g.set = map[grant]bool{}
	}
	g.set[grant{op.Changes(), path}] = true
}

// Granted implements Grants.
func (g *GrantSet) Granted(op Op, path string) bool {
	g.mu.RLock()
	defer g.mu.RUnlock()
	return g.set[grant{op.Changes(), path}]
}
