package save

import (
	"context"
	"encoding/binary"
	"errors"
	"hash/fnv"
	"math"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"

	"github.com/fsmcp/fsmcp/internal/fsys"
)

// Lock keeps other users of this package away from one name, in this process and
// in others that have the same state folder.
type Lock struct {
	s    *Saver
	st   *state
	key  string
	free sync.Once
}

// Lock waits until no other writer has the name that t leads to: for at most LockWait
// (then *BusyError) and until ctx ends. Resolve the path again once it is held, and see
// whether it Covers what came out.
func (s *Saver) Lock(ctx context.Context, t *fsys.Target) (*Lock, error) {
	key, err := keyOf(t)
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
	st, err := s.openState(ctx)
	if err != nil {
		return nil, err
	}
	if err := s.keys.lock(ctx, key); err != nil {
		return nil, err
	}
	if err := st.stripes.lock(ctx, stripeOf(key)); err != nil {
		s.keys.unlock(key)
		return nil, err
	}
	return &Lock{s: s, st: st, key: key}, nil
}

// Covers reports that the lock is the one that t needs.
func (l *Lock) Covers(t *fsys.Target) bool {
	key, err := keyOf(t)
	return err == nil && key == l.key
}

// Unlock lets the next writer in. It may be called again.
func (l *Lock) Unlock() {
	l.free.Do(func() {
		l.st.stripes.unlock(stripeOf(l.key))
		l.s.keys.unlock(l.key)
	})
}

// keyOf names what a lock protects: the folder by identity, the entry by its
// folded name. The file's own inode would not do, it changes with every write.
func keyOf(t *fsys.Target) (string, error) {
	dev, ino, err := t.ParentID()
	if errors.Is(err, fsys.ErrMoved) && t.Kind != fsys.Missing {
		// Replaced since it was resolved, as happens where many write. For
		// the lock the folder will do: what it covers is looked at again.
		dev, ino, err = folderID(filepath.Dir(t.Path))
	}
	if err != nil {
		return "", err
	}
	names := append(append([]string(nil), t.MissingDirs()...), t.Base())
	return keyIn(dev, ino, strings.Join(names, "/")), nil
}

func keyIn(dev, ino uint64, name string) string {
	var id [16]byte
	binary.BigEndian.PutUint64(id[:8], dev)
	binary.BigEndian.PutUint64(id[8:], ino)
	return string(id[:]) + fold(name)
}

// fold makes names equal that some file system takes for one. Two files that
// fall together without need merely wait for each other.
func fold(name string) string {
	return norm.NFC.String(cases.Fold().String(norm.NFC.String(name)))
}

// stripeCount is part of what processes agree on; it never changes.
const stripeCount = 256

// stripeOf says which lock file stands for a key, alike in every process.
func stripeOf(key string) int {
	h := fnv.New32a()
	h.Write([]byte(key))
	sum := h.Sum32()
	return int((sum ^ sum>>8 ^ sum>>16 ^ sum>>24) % stripeCount)
}

// keyLocks are the locks inside this process.
type keyLocks struct {
	mu   sync.Mutex
	held map[string]*keyLock
}

type keyLock struct {
	turn  chan struct{} // holds one token while locked
	users int           // holder and waiters
}

func (k *keyLocks) lock(ctx context.Context, key string) error {
	k.mu.Lock()
	l := k.held[key]
	if l == nil {
		if k.held == nil {
			k.held = make(map[string]*keyLock)
		}
		l = &keyLock{turn: make(chan struct{}, 1)}
		k.held[key] = l
	}
	l.users++
	k.mu.Unlock()
	select {
	case l.turn <- struct{}{}:
		return nil
	case <-ctx.Done():
		k.leave(key, l)
		return context.Cause(ctx)
	}
}

func (k *keyLocks) unlock(key string) {
	k.mu.Lock()
	l := k.held[key]
	k.mu.Unlock()
	<-l.turn
	k.leave(key, l)
}

func (k *keyLocks) leave(key string, l *keyLock) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if l.users--; l.users == 0 {
		delete(k.held, key)
	}
}

// stripes are the locks between processes: one file each in the state folder, never
// deleted, since a lock on a deleted file excludes no process. Writers of this process
// whose keys fall on one stripe share it; keyLocks keeps them apart where it matters.
type stripes struct {
	open   func(n int) (lockFile, error)
	most   int          // lock files that stay open; more only while more are held
	opened atomic.Int64 // lock files
	uses   atomic.Uint64
	each   [stripeCount]stripe
}

// lockFile is an open lock file.
type lockFile interface {
	try() (bool, error) // takes the lock unless another process has it
	unlock() error
	close()
}

type stripe struct {
	mu      sync.Mutex
	holders int
	file    lockFile // nil: not open
	used    uint64   // number of the last use
}

// How often a stripe that another process holds is asked for.
const (
	firstPause = 100 * time.Microsecond
	lastPause  = 5 * time.Millisecond
)

// lock asks again and again instead of waiting inside the system, where nothing
// could call it back.
func (s *stripes) lock(ctx context.Context, n int) error {
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
func (s *stripes) enter(n int) (bool, error) {
	one := &s.each[n]
	if !one.mu.TryLock() {
		return false, nil
	}
	defer one.mu.Unlock()
	if one.holders == 0 {
		if err := s.ready(one, n); err != nil {
			return false, err
		}
		if got, err := one.file.try(); !got || err != nil {
			return false, err
		}
	}
	one.holders++
	return true, nil
}

// ready opens the lock file of a stripe whose mutex the caller holds. Others are
// closed for it where too many are open, or where the process has no descriptor
// left.
func (s *stripes) ready(one *stripe, n int) (err error) {
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
func (s *stripes) closeOldest() bool {
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
func (s *stripes) close(one *stripe) {
	one.file.close()
	one.file = nil
	s.opened.Add(-1)
}

// unlock gives the lock back. Should the system refuse even that, closing the file
// does it.
func (s *stripes) unlock(n int) {
	one := &s.each[n]
	one.mu.Lock()
	defer one.mu.Unlock()
	if one.holders--; one.holders == 0 && one.file.unlock() != nil {
		s.close(one)
	}
}

// closeIdle closes every lock file that is not held.
func (s *stripes) closeIdle() {
	for s.closeOldest() {
	}
}
