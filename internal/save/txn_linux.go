//go:build !fsys_portable

package save

import (
	"context"
	"os"
	"time"

	"golang.org/x/sys/unix"

	"github.com/fsmcp/fsmcp/internal/fsys"
	"github.com/fsmcp/fsmcp/internal/save/disk"
	"github.com/fsmcp/fsmcp/internal/save/tempname"
)

// platform holds the parts of a write on Linux.
type platform struct {
	dir      int              // the folder, or the deepest that exists on the way; the target's
	fd       int              // of old
	sum      *tempname.Digest // of old, where its stamp proves too little
	attrs    xattrs           // of old, as the new file has them
	flags    uint32           // of old, as last seen
	followed int64            // the change time of old, as followMeta last saw it
	known    func() [32]byte  // the SHA-256 of old, where the caller has it
	leased   bool
	network  bool
	named    bool // unnamed files cannot be linked here
}

func (x *Txn) openFolder(t *fsys.Target) (err error) {
	x.fd = -1
	if x.dir, err = t.ParentFD(); err == nil && t.Kind == fsys.Missing {
		x.network = x.s.sys.Network(x.dir)
	}
	return err
}

func (x *Txn) begin(ctx context.Context) error {
	x.fd = int(x.old.Fd())
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
		if !disk.Is(err, unix.EAGAIN) || x.network {
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
	if err := x.leaseUnbroken(); err != nil {
		return err
	}
	err := x.s.sys.SetLease(x.fd, unix.F_RDLCK)
	if disk.Is(err, unix.EAGAIN) {
		return ErrModified
	}
	if err != nil {
		return x.fail("lease", err)
	}
	return nil
}

// leaseUnbroken asks the first of these questions alone.
func (x *Txn) leaseUnbroken() error {
	kind, err := x.s.sys.GetLease(x.fd)
	if err != nil {
		return x.fail("lease", err)
	}
	if kind != unix.F_RDLCK {
		return ErrModified
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

// Known spares reading the old file again for its SHA-256: the caller has read it since
// Begin, all of it, so many bytes, and sum gives that.
func (x *Txn) Known(size int64, sum func() [32]byte) {
	if size == x.was.Size {
		x.known = sum
	}
}

func (x *Txn) closeOld() {
	x.release()
	x.old.Close()
	x.old, x.fd = nil, -1
}
