package save

import (
	"context"
	"errors"
	"io/fs"
	"sync"

	"github.com/fsmcp/fsmcp/internal/fsys"
	"github.com/fsmcp/fsmcp/internal/save/sys"
	"github.com/fsmcp/fsmcp/internal/span"
)

// Txn is one write: from the lease on the old file to the new one in its place.
// It is for one goroutine, and its target must stay open as long as it.
type Txn struct {
	at      *place
	old     *oldFile // nil for a new name
	missing []string // folders to be made below the deepest that exists
	before  func() error
	used    bool
	early   *exchange    // that Stage has begun; nil: none
	staging func() error // waits for it
	lasting bool         // SyncTogether has synced the folder
}

// Begin opens the file that t leads to. On Linux it makes sure that no program is in the
// middle of writing it: it takes a read lease, which delays every program that opens the
// file for writing until Close, and reports such a try. Compare the file with what you
// expect through Old, then Replace. Hold the Lock.
//
// A new name gives a transaction without Old.
func (s *Saver) Begin(ctx context.Context, t *fsys.Target) (*Txn, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	st, err := s.state.get(ctx)
	if err != nil {
		return nil, err
	}
	at := &place{s: s, sys: s.sys, st: st, path: t.Path, base: t.Base()}
	x := &Txn{at: at, missing: t.MissingDirs()}
	if t.Kind == fsys.Missing {
		if at.dir, _, err = s.sys.Adopt(t, nil); err != nil {
			return nil, moved(err)
		}
		at.network = s.sys.Network(at.dir)
		return x, nil
	}
	file, err := t.Open()
	if err != nil {
		return nil, moved(err)
	}
	x.old = &oldFile{at: at, file: file}
	if at.dir, x.old.fd, err = s.sys.Adopt(t, file); err != nil {
		x.Close()
		return nil, moved(err)
	}
	at.base = sys.TrueBase(file, at.base)
	if err := x.old.begin(ctx, s.o.OpenWait); err != nil {
		x.Close()
		return nil, err
	}
	return x, nil
}

// moved adds why a resolved name leads elsewhere by now.
func moved(err error) error {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return errors.Join(ErrVanished, err)
	case errors.Is(err, fsys.ErrMoved):
		return errors.Join(ErrModified, err)
	}
	return err
}

// Old is the file as it is, nil for a new name. It belongs to the transaction.
func (x *Txn) Old() *fsys.File {
	if x.old == nil {
		return nil
	}
	return x.old.file
}

// Known spares reading the old file again for its SHA-256: the caller has read it since
// Begin, all of it, size bytes, and sum returns that.
func (x *Txn) Known(size int64, sum func() [32]byte) {
	if x.old != nil && size == x.old.was.Size {
		x.old.known = sum
	}
}

// Before has f called once the new bytes are on disk beside the old ones, before
// anything shows: f waits for what has to be finished by then, and was begun earlier. An
// error of f is returned as it is, and nothing is changed. It may be called more than
// once.
func (x *Txn) Before(f func() error) { x.before = f }

// Stage begins to write and sync the new bytes beside the old ones, so that several files are
// written at once. Replace with the same splices waits for it and goes on; Close gives it up.
// Where files are not replaced by an exchange it does nothing.
func (x *Txn) Stage(c []span.Splice) {
	s, ok := x.firstStrategy().(*exchange)
	if !ok || x.used || x.staging != nil || !span.Fit(c, x.old.was.Size) {
		return
	}
	wait := sync.OnceValue(func() error { return s.stage(c) })
	x.early, x.staging = s, wait
	go func() {
		defer func() { _ = recover() }() // a panic comes out again where it is waited for
		wait()
	}()
}

// Replace puts the old content with the splices applied in place of the old one
// and reports what it did. With ErrModified, ErrExists and ErrVanished the other
// program's bytes are in place, with *IOError those that it says; Written.Saved
// counts in either case. A ctx that is done stops it before it begins, never
// halfway. A transaction is good for one Replace.
func (x *Txn) Replace(ctx context.Context, c []span.Splice) (Written, error) {
	if x.early != nil {
		return x.change(ctx, x.early, c)
	}
	return x.change(ctx, x.firstStrategy(), c)
}

// Remove takes the file away, with the same promises as Replace: the file that
// goes is the one that was compared, or none.
func (x *Txn) Remove(ctx context.Context) (Written, error) {
	if x.old == nil {
		return Written{}, ErrVanished
	}
	return x.change(ctx, &removal{at: x.at, old: x.old}, nil)
}

// Close ends the transaction, done or not. It may be called again.
func (x *Txn) Close() {
	x.used = true
	if x.staging != nil {
		x.staging()
		x.staging = nil
		x.early.discard()
	}
	if x.old != nil {
		x.old.close()
	}
	x.at.sys.Forget(x.at.dir, -1)
}

// strategy is one way to change a file: exchange, rename, two renames, create, in
// place, removal. The
// driver calls its steps in this order. Whatever step fails, or another process interrupts,
// the file is wholly old or wholly new. A strategy is good for one try.
type strategy interface {
	// stage prepares the change on disk, so that nothing shows yet.
	stage(c []span.Splice) error
	// publish checks the old file once more and makes the change show in one step (in
	// place: in steps that a journal covers).
	publish() error
	// verify returns an error if the step replaced another file than the one that was
	// compared, or if the bytes are not there as they were written.
	verify() error
	// rollBack undoes what the steps so far have done, keeps bytes that exist nowhere
	// else, and returns the error to be reported, which is usually cause.
	rollBack(cause error) (Written, error)
	// finish removes what the change has left over, and describes the change.
	finish() Written
}

// change is the driver: it holds the order of steps of every change, on every system. The
// caller holds the Lock and the lease, and has compared the old file with what it expects;
// it records the outcome and unlocks.
func (x *Txn) change(ctx context.Context, s strategy, c []span.Splice) (out Written, err error) {
	if err := ctx.Err(); err != nil {
		return Written{}, err
	}
	if x.used {
		return Written{}, errUsed
	}
	x.used = true
	size := int64(0)
	if x.old != nil {
		defer x.old.release()
		size = x.old.was.Size
	}
	if !span.Fit(c, size) {
		return Written{}, errSplices
	}
	for s != nil {
		out, err = x.try(s, c)
		s = x.next(s, err)
	}
	if no := (*refusal)(nil); errors.As(err, &no) {
		err = &no.IOError
	}
	out.addState(x.at.st)
	return out, err
}

// stage writes the new bytes, or waits for Stage, which writes them already.
func (x *Txn) stage(s strategy, c []span.Splice) error {
	if x.staging == nil {
		return s.stage(c)
	}
	wait := x.staging
	x.staging = nil
	return wait()
}

// try changes the file in one way.
func (x *Txn) try(s strategy, c []span.Splice) (Written, error) {
	err := x.stage(s, c)
	if err == nil && x.before != nil {
		err = x.before() // the history has the old bytes
	}
	if _, swaps := s.(*exchange); err == nil && x.at.together != nil && !swaps {
		_, err = x.at.awaitOthers() // what shows of it could not be taken back
	}
	if err == nil {
		err = s.publish()
	}
	if err == nil {
		err = s.verify()
	}
	if err != nil {
		return s.rollBack(err)
	}
	return s.finish(), nil
}

var (
	// errUnlinkable: an unnamed file could not be given a name; with a named one it
	// may work.
	errUnlinkable = errors.New("an unnamed file cannot be linked here")
	// errNoExchange: the file system cannot swap two names.
	errNoExchange = errors.New("names cannot be exchanged here")
	// errNoReplace: the volume replaces no file that is open, or none at all.
	errNoReplace = errors.New("an open file cannot be replaced here")
)

// firstStrategy returns the best way to write the file.
func (x *Txn) firstStrategy() strategy {
	r := &replacement{at: x.at, old: x.old}
	swaps, inPlaceToo := x.at.sys.Offers()
	switch {
	case x.old == nil:
		return &create{at: x.at, missing: x.missing}
	case x.at.s.o.KeepHardLinks && x.old.was.Nlink > 1 && inPlaceToo:
		return &inPlace{at: x.at, old: x.old}
	case swaps:
		return &exchange{replacement: r}
	}
	return &rename{replacement: r}
}

// next returns the strategy to try after another has failed with err, and nil if err is the
// answer.
func (x *Txn) next(failed strategy, err error) strategy {
	_, inPlaceToo := x.at.sys.Offers()
	switch no := (*refusal)(nil); {
	case errors.Is(err, errNoExchange):
		return &rename{replacement: failed.(*exchange).replacement}
	case err == errNoReplace:
		return &twoRenames{replacement: failed.(*rename).replacement}
	case errors.Is(err, errUnlinkable):
		return x.firstStrategy()
	case errors.As(err, &no) && inPlaceToo:
		// Should the file not be writable either, that is the plainer answer.
		return &inPlace{at: x.at, old: x.old, why: no}
	}
	return nil
}
