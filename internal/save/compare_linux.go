//go:build !fsys_portable

package save

import (
	"golang.org/x/sys/unix"

	"github.com/fsmcp/fsmcp/internal/fsys"
	"github.com/fsmcp/fsmcp/internal/save/disk"
	"github.com/fsmcp/fsmcp/internal/save/tempname"
)

// compared reports whether s is of the file that Begin saw, its content unchanged as
// far as a stamp tells. The change time is left out: linking and exchanging set it.
func (x *Txn) compared(s fsys.Stamp) bool {
	return s.SameFile(x.was) && s.Size == x.was.Size && s.Mtime == x.was.Mtime
}

// digestOld reads the old file.
func (x *Txn) digestOld() (*tempname.Digest, error) {
	sum, err := disk.Digest(x.s.sys, x.fd, x.was.Size)
	if err != nil {
		return nil, x.fail("read", err)
	}
	return sum, nil
}

// ensureDigest computes the old file's digest while the lease still holds, if its stamp
// alone would not show a change.
func (x *Txn) ensureDigest() error {
	if x.sum != nil || x.was.Settled(x.s.o.Now()) {
		return nil
	}
	if x.known != nil {
		sum := tempname.Digest(x.known())
		x.sum = &sum
		return nil
	}
	var err error
	x.sum, err = x.digestOld()
	return err
}

// still looks once more before the step that shows: what is noticed here needs
// no taking back.
func (x *Txn) still() (now fsys.Stamp, err error) {
	now, err = x.s.sys.Fstatat(x.dir, x.base)
	switch {
	case disk.Is(err, unix.ENOENT):
		return now, ErrVanished
	case err != nil:
		return now, x.fail("stat", err)
	case !x.compared(now):
		return now, ErrModified
	case x.leased:
		return now, x.leaseHolds()
	}
	return now, nil
}

// metaTries bounds how often a program is followed that keeps changing the mode or
// the attributes of the old file.
const metaTries = 10

// stillFor is still, and gives the new file the old one's mode, owner and attributes as they
// are now.
func (x *Txn) stillFor(t *temp) error {
	for range metaTries {
		now, err := x.still()
		if err != nil || now.Ctime == x.was.Ctime {
			return err
		}
		if err := x.copyMetaAgain(t, now); err != nil {
			return err
		}
	}
	return ErrModified
}

// look compares what lies under the temporary name with what Begin saw.
func (x *Txn) look(t *temp) error {
	got, err := x.s.sys.Fstatat(t.dir, t.name)
	if err != nil {
		return x.fail("stat", err)
	}
	if !x.compared(got) {
		return ErrModified
	}
	if x.leased {
		return x.leaseUnbroken() // confirm asks again, both questions
	}
	return x.sameBytes()
}

// sameBytes reads the old file once more, where no lease vouches for it.
func (x *Txn) sameBytes() error {
	now, err := x.digestOld()
	if err != nil {
		return err
	}
	if *now != *x.sum {
		return ErrModified
	}
	return nil
}

// readBack compares what a network file system serves under the name with what
// was written. If another file lies there by now, that one's bytes are not ours
// to judge.
func (x *Txn) readBack(t *temp) error {
	if !x.network {
		return nil
	}
	sys := x.s.sys
	fd, err := sys.Openat(t.dir, x.base, unix.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0)
	if err != nil {
		return x.fail("read", err)
	}
	defer sys.Close(fd)
	now, err := sys.Fstat(fd)
	if err == nil && !now.SameFile(t.stamp) {
		return nil
	}
	var sum *tempname.Digest
	if err == nil {
		sum, err = disk.Digest(sys, fd, now.Size)
	}
	if err == nil && *sum != tempname.Digest(t.sum.Sum(nil)) {
		err = ErrReadBack
	}
	if err != nil {
		return x.fail("read", err)
	}
	return nil
}

// untouched: our file, which lies under name, was public for a moment, so a program
// may have written to it, or be about to.
func (x *Txn) untouched(t *temp, name string, now fsys.Stamp) bool {
	if now.Size != t.stamp.Size || now.Mtime != t.stamp.Mtime {
		return false
	}
	sys := x.s.sys
	fd, err := sys.Openat(t.dir, name, unix.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0)
	if err != nil {
		return true
	}
	defer sys.Close(fd)
	sys.Close(t.fd) // our own descriptor would count as a writer
	t.fd = -1
	return !disk.Is(sys.SetLease(fd, unix.F_RDLCK), unix.EAGAIN)
}
