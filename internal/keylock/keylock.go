// Package keylock locks by name inside one process: calls on one key exclude each other,
// calls on different keys never wait.
package keylock

import (
	"context"
	"slices"
	"sync"
)

// Locks are the locks of all keys. The zero value has none taken. It is safe for concurrent
// use.
type Locks struct {
	mu    sync.Mutex
	users map[string]*lock // by key; those that are held or waited for
}

type lock struct {
	held  chan struct{} // holds one token while locked
	users int           // holder and waiters
}

// Lock waits until the key is free and returns the function that frees it. It fails only
// with ctx's error, and a key that is free is locked even if ctx is done.
func (l *Locks) Lock(ctx context.Context, key string) (unlock func(), err error) {
	l.mu.Lock()
	k := l.addUser(key)
	l.mu.Unlock()
	unlock = func() { <-k.held; l.removeUser(key, k) }
	select {
	case k.held <- struct{}{}:
		return unlock, nil
	default:
	}
	select {
	case k.held <- struct{}{}:
		return unlock, nil
	case <-ctx.Done():
		l.removeUser(key, k)
		return nil, ctx.Err()
	}
}

// LockAll is Lock for several keys, each taken once and in one order, so that callers never wait
// for each other in a circle. With an error none is held.
func (l *Locks) LockAll(ctx context.Context, keys []string) (unlock func(), err error) {
	var taken []func()
	unlock = func() {
		for _, done := range slices.Backward(taken) {
			done()
		}
	}
	for _, key := range slices.Compact(slices.Sorted(slices.Values(keys))) {
		done, err := l.Lock(ctx, key)
		if err != nil {
			unlock()
			return nil, err
		}
		taken = append(taken, done)
	}
	return unlock, nil
}

// TryLock is Lock without waiting: ok is false if the key is held or waited for.
func (l *Locks) TryLock(key string) (unlock func(), ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.users[key] != nil {
		return nil, false
	}
	k := l.addUser(key)
	k.held <- struct{}{}
	return func() { <-k.held; l.removeUser(key, k) }, true
}

// addUser adds a user to a key. The caller holds mu.
func (l *Locks) addUser(key string) *lock {
	k := l.users[key]
	if k == nil {
		if l.users == nil {
			l.users = make(map[string]*lock)
		}
		k = &lock{held: make(chan struct{}, 1)}
		l.users[key] = k
	}
	k.users++
	return k
}

func (l *Locks) removeUser(key string, k *lock) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if k.users--; k.users == 0 {
		delete(l.users, key)
	}
}
