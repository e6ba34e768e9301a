package save

import (
	"context"
	"hash/fnv"
	"sync"
	"time"
)

// stripeCount is part of what processes agree on; it never changes.
const stripeCount = 256

// stripeOf says which lock file stands for a key, alike in every process.
func stripeOf(key string) int {
	h := fnv.New32a()
	h.Write([]byte(key))
	sum := h.Sum32()
	return int((sum ^ sum>>8 ^ sum>>16 ^ sum>>24) % stripeCount)
}

// stripes are the locks between processes: one file each in the state folder, never
// deleted, since a lock on a deleted file excludes no process. A file is open while it is
// held: opening and closing it takes 10 µs of a change's 2 ms, and no descriptors have to
// be counted. Writers of this process whose keys fall on one stripe share it; a
// keylock.Locks keeps them apart where it matters.
type stripes struct {
	try  tryFile
	each [stripeCount]stripe
}

// tryFile takes the nth lock file unless another process has it; then unlock is nil.
type tryFile func(n int) (unlock func(), err error)

type stripe struct {
	mu      sync.Mutex
	holders int
	unlock  func() // what the last of them calls
}

// newStripes returns locks on the files that try takes.
func newStripes(try tryFile) *stripes { return &stripes{try: try} }

// How often a stripe that another process holds is asked for.
const (
	firstPause = 100 * time.Microsecond
	lastPause  = 5 * time.Millisecond
)

// lock waits for a stripe until ctx ends, and returns the function that gives it back. It
// asks again and again instead of waiting inside the system, where nothing could call it
// back.
func (s *stripes) lock(ctx context.Context, n int) (unlock func(), err error) {
	for pause := firstPause; ; pause = min(2*pause, lastPause) {
		got, err := s.take(n)
		if err != nil {
			return nil, err
		}
		if got {
			return func() { s.giveBack(n) }, nil
		}
		wait := time.NewTimer(pause)
		select {
		case <-wait.C:
		case <-ctx.Done():
			wait.Stop()
			return nil, context.Cause(ctx)
		}
	}
}

// take does not even wait for the stripe's mutex: its holder may hang in a
// system call on a dead mount.
func (s *stripes) take(n int) (bool, error) {
	one := &s.each[n]
	if !one.mu.TryLock() {
		return false, nil
	}
	defer one.mu.Unlock()
	if one.holders == 0 {
		unlock, err := s.try(n)
		if unlock == nil || err != nil {
			return false, err
		}
		one.unlock = unlock
	}
	one.holders++
	return true, nil
}

func (s *stripes) giveBack(n int) {
	one := &s.each[n]
	one.mu.Lock()
	defer one.mu.Unlock()
	if one.holders--; one.holders == 0 {
		one.unlock()
	}
}
