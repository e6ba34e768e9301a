package lock

import (
	"context"
	"errors"
	"hash/fnv"
	"math"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

// StripeCount is part of what processes agree on; it never changes.
const StripeCount = 256

// StripeOf says which lock file stands for a key, alike in every process.
func StripeOf(key string) int {
	h := fnv.New32a()
	h.Write([]byte(key))
	sum := h.Sum32()
	return int((sum ^ sum>>8 ^ sum>>16 ^ sum>>24) % StripeCount)
}

// Stripes are the locks between processes: one file each in the state folder, never
// deleted, since a lock on a deleted file excludes no process. Writers of this process
// whose keys fall on one stripe share it; Keys keeps them apart where it matters.
type Stripes struct {
	open   func(n int) (File, error)
	most   int          // lock files that stay open; more only while more are held
	opened atomic.Int64 // lock files
	uses   atomic.Uint64
	each   [StripeCount]stripe
}

// NewStripes returns locks on files that open makes.
func NewStripes(open func(n int) (File, error)) *Stripes {
	return &Stripes{open: open, most: mostFiles()}
}

// File is an open lock file.
type File interface {
	Try() (bool, error) // takes the lock unless another process has it
	Unlock() error
	Close()
}

type stripe struct {
	mu      sync.Mutex
	holders int
	file    File   // nil: not open
	used    uint64 // number of the last use
}

// How often a stripe that another process holds is asked for.
const (
	firstPause = 100 * time.Microsecond
	lastPause  = 5 * time.Millisecond
)

// Lock asks again and again instead of waiting inside the system, where nothing
// could call it back.
func (s *Stripes) Lock(ctx context.Context, n int) error {
	for pause := firstPause; ; pause = min(2*pause, lastPause) {
		got, err := s.enter(n)
		if got || err != nil {
			return err
		}
		wait := time.NewTimer(pause)
		select {
		case <-wait.C:
		case <-ctx.Done():
			wait.Stop()
			return context.Cause(ctx)
		}
	}
}

// enter does not even wait for the stripe's mutex: its holder may hang in a
// system call on a dead mount.
func (s *Stripes) enter(n int) (bool, error) {
	one := &s.each[n]
	if !one.mu.TryLock() {
		return false, nil
	}
	defer one.mu.Unlock()
	if one.holders == 0 {
		if err := s.ready(one, n); err != nil {
			return false, err
		}
		if got, err := one.file.Try(); !got || err != nil {
			return false, err
		}
	}
	one.holders++
	return true, nil
}

// ready opens the lock file of a stripe whose mutex the caller holds. Others are
// closed for it where too many are open, or where the process has no descriptor
// left.
func (s *Stripes) ready(one *stripe, n int) (err error) {
	one.used = s.uses.Add(1)
	if one.file != nil {
		return nil
	}
	for s.opened.Load() >= int64(s.most) && s.closeOldest() {
	}
	one.file, err = s.open(n)
	for errors.Is(err, syscall.EMFILE) && s.closeOldest() {
		one.file, err = s.open(n)
	}
	if err == nil {
		s.opened.Add(1)
	}
	return err
}

// closeOldest closes the lock file that has been unused longest, and reports
// whether there was one.
func (s *Stripes) closeOldest() bool {
	var oldest *stripe
	first := uint64(math.MaxUint64)
	for n := range s.each {
		one := &s.each[n]
		if !one.mu.TryLock() {
			continue
		}
		if one.idle() && one.used < first {
			oldest, first = one, one.used
		}
		one.mu.Unlock()
	}
	if oldest == nil || !oldest.mu.TryLock() {
		return false
	}
	defer oldest.mu.Unlock()
	if oldest.idle() {
		s.close(oldest)
	}
	return true
}

// idle reports that the lock file is open and not held.
func (one *stripe) idle() bool { return one.file != nil && one.holders == 0 }

// close closes the lock file of a stripe, which gives up the lock, too.
func (s *Stripes) close(one *stripe) {
	one.file.Close()
	one.file = nil
	s.opened.Add(-1)
}

// Unlock gives the lock back. Should the system refuse even that, closing the file
// does it.
func (s *Stripes) Unlock(n int) {
	one := &s.each[n]
	one.mu.Lock()
	defer one.mu.Unlock()
	if one.holders--; one.holders == 0 && one.file.Unlock() != nil {
		s.close(one)
	}
}

// CloseIdle closes every lock file that is not held.
func (s *Stripes) CloseIdle() {
	for s.closeOldest() {
	}
}
