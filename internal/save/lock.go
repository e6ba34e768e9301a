package save

import (
	"context"
	"sync"

	"github.com/fsmcp/fsmcp/internal/fsys"
	"github.com/fsmcp/fsmcp/internal/save/lock"
)

// Lock keeps other users of this package away from one name, in this process and
// in others that have the same state folder.
type Lock struct {
	key    string
	unlock func()
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
	unlockKey, err := s.keys.Lock(ctx, key)
	if err != nil {
		return nil, context.Cause(ctx)
	}
	unlockFile, err := st.Stripes.Lock(ctx, lock.StripeOf(key))
	if err != nil {
		unlockKey()
		return nil, err
	}
	return &Lock{key: key, unlock: sync.OnceFunc(func() { unlockFile(); unlockKey() })}, nil
}

// Covers reports that the lock is the one that t needs.
func (l *Lock) Covers(t *fsys.Target) bool {
	key, err := lock.KeyOf(t)
	return err == nil && key == l.key
}

// Unlock lets the next writer in. It may be called again.
func (l *Lock) Unlock() { l.unlock() }
