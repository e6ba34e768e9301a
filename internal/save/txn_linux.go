//go:build !fsys_portable

package save

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"

	"github.com/fsmcp/fsmcp/internal/fsys"
)

// Txn is one write: from the look at the old file to the new one in its place.
// It is for one goroutine, and its target must stay open as long as it.
type Txn struct {
	s       *Saver
	st      *state
	path    string
	base    string
	dir     int      // the folder, or the deepest that exists on the way; the target's
	missing []string // folders to be made below dir

	old      *fsys.File // nil for a new name
	fd       int        // of old
	was      fsys.Stamp // of old, as the caller compares it
	sum      *digest    // of old, where its stamp proves too little
	attrs    []xattr    // of old, as the new file has them
	followed int64      // the change time of old, as followMeta last saw it
	known    known      // what the caller has read of old
	ahead    func() error
	leased   bool
	network  bool
	named    bool // unnamed files cannot be linked here
	used     bool
}

// Begin opens the file that t leads to and makes sure that no program is in the middle of
// writing it: it takes a read lease, which delays every program that opens the file for
// writing until Close, and reports such a try. Compare the file with what you expect
// through Old, then Replace. Hold the Lock.
//
// A new name gives a transaction without Old.
func (s *Saver) Begin(ctx context.Context, t *fsys.Target) (*Txn, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	st, err := s.openState(ctx)
	if err != nil {
		return nil, err
	}
	dir, err := t.ParentFD()
	if err != nil {
		return nil, moved(err)
	}
	x := &Txn{s: s, st: st, path: t.Path, base: t.Base(), dir: dir, missing: t.MissingDirs(), fd: -1}
	if t.Kind == fsys.Missing {
		x.network = s.sys.Network(dir)
		return x, nil
	}
	if x.old, err = t.Open(); err != nil {
		return nil, moved(err)
	}
	x.fd = int(x.old.Fd())
	if err := x.begin(ctx); err != nil {
		x.Close()
		return nil, err
	}
	return x, nil
}

// moved tells apart why a resolved name leads elsewhere by now.
func moved(err error) error {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return errors.Join(ErrVanished, err)
	case errors.Is(err, fsys.ErrMoved):
		return errors.Join(ErrModified, err)
	}
	return err
}

func (x *Txn) begin(ctx context.Context) error {
	x.network = x.s.sys.Network(x.fd)
	if err := x.lease(ctx); err != nil {
		return err
	}
	var err error
	if x.was, err = x.s.sys.Fstat(x.fd); err != nil {
		return x.fail("stat", err)
	}
	if ReadOnly(x.was) {
		return ErrReadOnly
	}
	if !x.leased {
		x.sum, err = x.digestOld()
	}
	return err
}

// ReadOnly reports whether a file's mode forbids writing. Root could write such a file,
// but its mode says that no program should.
func ReadOnly(s fsys.Stamp) bool {
	if s.UID == uint32(os.Geteuid()) {
		return s.Mode&unix.S_IWUSR == 0
	}
	return s.Mode&(unix.S_IWUSR|unix.S_IWGRP|unix.S_IWOTH) == 0
}

// leaseStep is the time between two tries on a file that is open for writing.
const leaseStep = 2 * time.Millisecond

// lease takes the read lease, or does without where there is none to be had.
func (x *Txn) lease(ctx context.Context) error {
	ctx, cancel := context.WithTimeoutCause(ctx, x.s.o.OpenWait, &BusyError{Why: busyOpen})
	defer cancel()
	for {
		err := x.s.sys.SetLease(x.fd, unix.F_RDLCK)
		// A network file system says EAGAIN also when the server grants none.
		if !is(err, unix.EAGAIN) || x.network {
			x.leased = err == nil
			return nil
		}
		step := time.NewTimer(leaseStep)
		select {
		case <-step.C:
		case <-ctx.Done():
			step.Stop()
			return context.Cause(ctx)
		}
	}
}

// leaseHolds reports whether no program has opened the file for writing since Begin. The
// first question finds programs that wait, and those that the system let through after its
// own timeout; the second finds those between opening and waiting.
func (x *Txn) leaseHolds() error {
	kind, err := x.s.sys.GetLease(x.fd)
	if err != nil {
		return x.fail("lease", err)
	}
	if kind != unix.F_RDLCK {
		return ErrModified
	}
	err = x.s.sys.SetLease(x.fd, unix.F_RDLCK)
	if is(err, unix.EAGAIN) {
		return ErrModified
	}
	if err != nil {
		return x.fail("lease", err)
	}
	return nil
}

// release lets the waiting programs go on.
func (x *Txn) release() {
	if x.leased {
		// Not left to closing: a process that is being started may hold a
		// copy of the descriptor for a moment.
		if x.s.sys.SetLease(x.fd, unix.F_UNLCK) != nil {
			x.s.sys.SetLease(x.fd, unix.F_UNLCK)
		}
		x.leased = false
	}
}

// Old is the file as it is, nil for a new name. It belongs to the transaction.
func (x *Txn) Old() *fsys.File { return x.old }

// known holds the old file as the caller has read it.
type known struct {
	bytes []byte
	sum   func() [32]byte // their SHA-256
}

// Known spares reading the old file again: the caller has found these bytes in
// Old since Begin, all of them, and sum gives their SHA-256.
func (x *Txn) Known(old []byte, sum func() [32]byte) {
	if int64(len(old)) == x.was.Size {
		x.known = known{old, sum}
	}
}

// Before has f called once the new bytes are on disk beside the old ones, before
// anything shows: what has to be finished by then can be done meanwhile. An error
// of f is returned as it is, and nothing is changed. It may be called more than
// once.
func (x *Txn) Before(f func() error) { x.ahead = f }

// ready waits for what the caller wants done before.
func (x *Txn) ready() error {
	if x.ahead == nil {
		return nil
	}
	return x.ahead()
}

// Close ends the transaction, done or not. It may be called again.
func (x *Txn) Close() {
	x.used = true
	if x.old == nil {
		return
	}
	x.release()
	x.old.Close()
	x.old, x.fd = nil, -1
}

// compared reports that s is of the file that Begin saw, its content unchanged as
// far as a stamp tells. The change time is left out: linking and exchanging set it.
func (x *Txn) compared(s fsys.Stamp) bool {
	return s.SameFile(x.was) && s.Size == x.was.Size && s.Mtime == x.was.Mtime
}

// digestOld reads the old file.
func (x *Txn) digestOld() (*digest, error) {
	sum, err := digestOf(x.s.sys, x.fd, x.was.Size)
	if err != nil {
		return nil, x.fail("read", err)
	}
	return sum, nil
}

func (x *Txn) fail(op string, err error) error {
	return &IOError{Op: op, Path: x.path, Err: err}
}

func (x *Txn) folder() string { return filepath.Dir(x.path) }
