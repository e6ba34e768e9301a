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
	group grantGroup
	path  string
}

// grantGroup is a group of operations that one consent covers.
type grantGroup uint8

const (
	reading grantGroup = iota
	changing
	movingAway
)

func groupOf(op Op) grantGroup {
	switch op {
	case Read:
		return reading
	case MoveAway:
		return movingAway
	}
	return changing
}

// Grant remembers that operations of op's group may touch the resolved path. A Delete is never
// remembered: consent to it is for once.
func (g *GrantSet) Grant(op Op, path string) {
	if op == Delete {
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.set == nil {
		g.set = map[grant]bool{}
	}
	g.set[grant{groupOf(op), path}] = true
}

// Granted implements Grants. A grant to change a file covers no removal of its name.
func (g *GrantSet) Granted(op Op, path string) bool {
	g.mu.RLock()
	defer g.mu.RUnlock()
	return op != Delete && g.set[grant{groupOf(op), path}]
}
