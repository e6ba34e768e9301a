package save

import (
	"context"
	"errors"
	"os"
	"syscall"
	"time"

	"github.com/fsmcp/fsmcp/internal/fsys"
	"github.com/fsmcp/fsmcp/internal/save/sys"
)

// oldFile is the file that a transaction is about to change: open, with a read lease if the
// system grants one.
type oldFile struct {
	at     *place
	file   *fsys.File
	fd     int
	was    fsys.Stamp      // as the caller compares it
	sum    *sys.Digest     // of the content, if the stamp alone would not show a change
	known  func() [32]byte // the SHA-256 of the content, if the caller has it
	leased bool
}

// begin takes the lease and the stamp.
func (o *oldFile) begin(ctx context.Context, wait time.Duration) error {
	o.at.network = o.at.sys.Network(o.fd)
	if err := o.lease(ctx, wait); err != nil {
		return err
	}
	var err error
	if o.was, err = o.at.sys.Fstat(o.fd); err != nil {
		return o.at.fail("stat", err)
	}
	if ReadOnly(o.was) {
		return ErrReadOnly
	}
	if !o.leased {
		o.sum, err = o.digest()
	}
	return err
}

// euid is the effective user. Windows has none: there the permission bits of all users are
// alike.
var euid = uint32(os.Geteuid())

// ReadOnly reports whether a file's mode forbids writing. Root could write such a file,
// but its mode says that no program should.
func ReadOnly(s fsys.Stamp) bool {
	if s.UID == euid {
		return s.Mode&0o200 == 0
	}
	return s.Mode&0o222 == 0
}

// leaseStep is the time between two tries on a file that is open for writing.
const leaseStep = 2 * time.Millisecond

// errLeaseWait ends the patience of lease.
var errLeaseWait = errors.New("the file stays open for writing")

// lease takes the read lease, or does without one if the system grants none.
func (o *oldFile) lease(ctx context.Context, wait time.Duration) error {
	if !o.isOpenForWriting() {
		return nil // the usual case needs no timer
	}
	ctx, cancel := context.WithTimeoutCause(ctx, wait, errLeaseWait)
	defer cancel()
	for {
		step := time.NewTimer(leaseStep)
		select {
		case <-step.C:
		case <-ctx.Done():
			step.Stop()
			if err := context.Cause(ctx); err != errLeaseWait {
				return err
			}
			return o.at.busy(busyOpen)
		}
		if !o.isOpenForWriting() {
			return nil
		}
	}
}

// isOpenForWriting asks for the lease once. It reports whether there is none because a program has
// the file open for writing.
func (o *oldFile) isOpenForWriting() bool {
	err := o.at.sys.SetLease(o.fd, sys.ReadLease)
	// A network file system says EAGAIN also if the server grants none.
	if sys.IsOpen(err) && !(sys.Is(err, syscall.EAGAIN) && o.at.network) {
		return true
	}
	o.leased = err == nil
	return false
}

// leaseHolds returns ErrModified if a program has opened the file for writing since Begin.
// The first question finds programs that wait, and those that the system let through after
// its own timeout; the second finds those between opening and waiting.
func (o *oldFile) leaseHolds() error {
	if err := o.leaseUnbroken(); err != nil {
		return err
	}
	err := o.at.sys.SetLease(o.fd, sys.ReadLease)
	if sys.IsOpen(err) {
		return ErrModified
	}
	if err != nil {
		return o.at.fail("lease", err)
	}
	return nil
}

// leaseUnbroken asks the first of these questions alone.
func (o *oldFile) leaseUnbroken() error {
	kind, err := o.at.sys.GetLease(o.fd)
	if err != nil {
		return o.at.fail("lease", err)
	}
	if kind != sys.ReadLease {
		return ErrModified
	}
	return nil
}

// release lets the waiting programs go on.
func (o *oldFile) release() {
	if !o.leased {
		return
	}
	// Not left to closing: a process that is being started may hold a copy of the
	// descriptor for a moment.
	if o.at.sys.SetLease(o.fd, sys.NoLease) != nil {
		o.at.sys.SetLease(o.fd, sys.NoLease)
	}
	o.leased = false
}

// close may be called again.
func (o *oldFile) close() {
	o.release()
	o.at.sys.Forget(-1, o.fd)
	o.file.Close()
	o.fd = -1
}

// digest reads the file.
func (o *oldFile) digest() (*sys.Digest, error) {
	sum, err := sys.DigestOf(o.at.sys, o.fd, o.was.Size)
	if err != nil {
		return nil, o.at.fail("read", err)
	}
	return sum, nil
}

// ensureDigest computes the digest while the lease still holds, if the stamp alone would
// not show a change.
func (o *oldFile) ensureDigest() (err error) {
	if o.sum != nil || o.was.Settled(o.at.s.o.Now()) {
		return nil
	}
	if o.known != nil {
		sum := sys.Digest(o.known())
		o.sum = &sum
		return nil
	}
	o.sum, err = o.digest()
	return err
}

// sameBytes reads the file once more, if no lease proves that it is unchanged.
func (o *oldFile) sameBytes() error {
	now, err := o.digest()
	if err != nil {
		return err
	}
	if *now != *o.sum {
		return ErrModified
	}
	return nil
}

// checkName checks once more, before the step that shows, that the target's name still
// leads to the file that Begin opened, and that no program has written to it. It returns
// the file's stamp.
func (o *oldFile) checkName() (now fsys.Stamp, err error) {
	now, err = o.at.sys.Fstatat(o.at.dir, o.at.base)
	switch {
	case sys.Is(err, syscall.ENOENT):
		return now, ErrVanished
	case err != nil:
		return now, o.at.fail("stat", err)
	case !sameContent(now, o.was):
		return now, ErrModified
	case o.leased:
		return now, o.leaseHolds()
	}
	return now, nil
}

// checkDisplaced checks that the file that was moved to a temporary name is the one that
// Begin opened, unchanged.
func (o *oldFile) checkDisplaced(name string) error {
	now, err := o.at.sys.Fstatat(o.at.dir, name)
	if err != nil {
		return o.at.fail("stat", err)
	}
	if !sameContent(now, o.was) {
		return ErrModified
	}
	if o.leased {
		return o.leaseUnbroken() // verify asks both questions again
	}
	return o.sameBytes()
}
