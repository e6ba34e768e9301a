package save

import (
	"cmp"
	"context"
	"slices"
	"sync"

	"github.com/fsmcp/fsmcp/internal/fsys"
)

// LockSet says which locks a call needs together.
type LockSet struct {
	// Targets are names. A folder among them takes every lock: all names below it.
	Targets []*fsys.Target
	// Purposes are names of further locks, which exclude the callers of the same purpose.
	Purposes []string
}

// Locks are the locks of a LockSet.
type Locks struct {
	keys   map[string]bool
	paths  map[string]bool // of names that had missing folders on the way
	all    bool
	unlock func()
}

// LockAll waits for all locks of a set, as Lock does for one: for at most LockWait in all.
// Every caller takes them in one order, so that no two wait for each other. A caller that
// holds a lock must not take another one. The targets may be closed afterwards.
func (s *Saver) LockAll(ctx context.Context, set LockSet) (*Locks, error) {
	l := &Locks{keys: make(map[string]bool, len(set.Targets)), paths: make(map[string]bool)}
	for _, purpose := range set.Purposes {
		l.keys["purpose:"+purpose] = true
	}
	for _, t := range set.Targets {
		key, err := lockKeyOf(t)
		if err != nil {
			return nil, err
		}
		l.keys[key] = true
		l.all = l.all || t.Kind == fsys.Directory
		if len(t.MissingDirs()) > 0 {
			l.paths[t.Path] = true
		}
	}
	var err error
	l.unlock, err = s.lockKeys(ctx, l.sorted(), l.all)
	if err != nil {
		return nil, err
	}
	return l, nil
}

// stripedKey is a key with its stripe.
type stripedKey struct {
	stripe int
	key    string
}

// sorted returns the keys in the one order.
func (l *Locks) sorted() []stripedKey {
	keys := make([]stripedKey, 0, len(l.keys))
	for key := range l.keys {
		keys = append(keys, stripedKey{stripeOf(key), key})
	}
	slices.SortFunc(keys, func(a, b stripedKey) int {
		return cmp.Or(cmp.Compare(a.stripe, b.stripe), cmp.Compare(a.key, b.key))
	})
	return keys
}

// Covers reports whether the locks are those that t needs.
func (l *Locks) Covers(t *fsys.Target) bool {
	if l.all {
		return true
	}
	key, err := lockKeyOf(t)
	return err == nil && l.keys[key]
}

// CoversNew is Covers for the new name of a Move or Copy, which replaces nothing. It is also
// true if folders on the way were missing, and the call has made them since.
func (l *Locks) CoversNew(t *fsys.Target) bool {
	return l.Covers(t) || t.Kind == fsys.Missing && l.paths[t.Path]
}

// Unlock lets the next writers in. It may be called again.
func (l *Locks) Unlock() { l.unlock() }

// lockKeys takes the gate, then the keys of this process, then the stripes, each in its
// order. all stands for every stripe. A caller that waits in one of the three holds nothing
// that comes later, so no two callers wait for each other.
func (s *Saver) lockKeys(ctx context.Context, keys []stripedKey, all bool) (unlock func(), err error) {
	if err := context.Cause(ctx); err != nil {
		return nil, err
	}
	st, err := s.state.get(ctx) // which is made at first: that is no wait for another writer
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeoutCause(ctx, s.o.LockWait, &BusyError{Why: busyLock})
	defer cancel()
	var taken []func()
	unlock = sync.OnceFunc(func() {
		for _, f := range slices.Backward(taken) {
			f()
		}
	})
	take := func(f func(), err error) bool {
		if err == nil {
			taken = append(taken, f)
		}
		return err == nil
	}
	ok := take(s.gate.enter(ctx, all))
	for i := 0; ok && i < len(keys); i++ {
		ok = take(s.keys.Lock(ctx, keys[i].key))
	}
	if !ok {
		unlock()
		return nil, context.Cause(ctx)
	}
	for _, n := range stripesOf(keys, all) {
		f, err := st.locks.lock(ctx, n)
		if !take(f, err) {
			unlock()
			return nil, err
		}
	}
	return unlock, nil
}

// stripesOf returns the stripes of sorted keys, ascending, each once.
func stripesOf(keys []stripedKey, all bool) (list []int) {
	if all {
		for n := range stripeCount {
			list = append(list, n)
		}
		return list
	}
	for _, key := range keys {
		list = append(list, key.stripe)
	}
	return slices.Compact(list)
}

// gate keeps a caller that has locked everything apart from all others of this process, which
// share the stripes. No other caller gets in while such a caller waits.
type gate struct {
	mu      sync.Mutex
	inside  int
	alone   bool          // the one inside has locked everything
	waiting int           // callers that want to lock everything
	changed chan struct{} // closed when that may have become possible; nil: no caller waits
}

// enter waits until the caller may go in. It fails only with ctx's error.
func (g *gate) enter(ctx context.Context, alone bool) (leave func(), err error) {
	g.mu.Lock()
	if alone {
		g.waiting++
	}
	for g.alone || alone && g.inside > 0 || !alone && g.waiting > 0 {
		if g.changed == nil {
			g.changed = make(chan struct{})
		}
		changed := g.changed
		g.mu.Unlock()
		select {
		case <-changed:
		case <-ctx.Done():
			err = ctx.Err()
		}
		g.mu.Lock()
		if err != nil {
			break
		}
	}
	defer g.mu.Unlock()
	if alone {
		g.waiting--
	}
	if err != nil {
		g.signal()
		return nil, err
	}
	g.inside++
	g.alone = alone
	return g.leave, nil
}

func (g *gate) leave() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.inside--
	g.alone = false
	g.signal()
}

// signal wakes those that wait. The caller holds mu.
func (g *gate) signal() {
	if g.changed != nil {
		close(g.changed)
		g.changed = nil
	}
}
