package save

import (
	"context"
	"sync"

	"github.com/fsmcp/fsmcp/internal/fsys"
	"github.com/fsmcp/fsmcp/internal/save/lock"
	"github.com/fsmcp/fsmcp/internal/save/statedir"
)

// Lock keeps other users of this package away from one name, in this process and
// in others that have the same state folder.
type Lock struct {
	s    *Saver
	st   *statedir.State
	key  string
	free sync.Once
}

// Lock waits until no other writer has the name that t leads to: for at most LockWait
// (then *BusyError) and until ctx ends. Resolve the path again once it is held, and see
// whether it Covers what came out.
func (s *Saver) Lock(ctx context.Context, t *fsys.Target) (*Lock, error) {
	key, err := lock.KeyOf(t)
	if err != nil {
		return nil, err
	}
	return s.lockKey(ctx, key)
}

// LockPurpose waits like Lock until no other user of this package holds the lock
// of the same purpose. A caller that needs a name's Lock as well takes this one first.
func (s *Saver) LockPurpose(ctx context.Context, purpose string) (*Lock, error) {
	return s.lockKey(ctx, "purpose:"+purpose)
}

func (s *Saver) lockKey(ctx context.Context, key string) (*Lock, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, s.o.LockWait, &BusyError{Why: busyLock})
	defer cancel()
	if err := context.Cause(ctx); err != nil {
		return nil, err
	}
	st, err := s.state.Open(ctx)
	if err != nil {
		return nil, err
	}
	if err := s.keys.Lock(ctx, key); err != nil {
		return nil, err
	}
	if err := st.Stripes.Lock(ctx, lock.StripeOf(key)); err != nil {
		s.keys.Unlock(key)
		return nil, err
	}
	return &Lock{s: s, st: st, key: key}, nil
}

// Covers reports that the lock is the one that t needs.
func (l *Lock) Covers(t *fsys.Target) bool {
	key, err := lock.KeyOf(t)
	return err == nil && key == l.key
}

// Unlock lets the next writer in. It may be called again.
func (l *Lock) Unlock() {
	l.free.Do(func() {
		l.st.Stripes.Unlock(lock.StripeOf(l.key))
		l.s.keys.Unlock(l.key)
	})
}
