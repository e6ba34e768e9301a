package save

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"

	"github.com/fsmcp/fsmcp/internal/fsys"
	"github.com/fsmcp/fsmcp/internal/save/statedir"
	"github.com/fsmcp/fsmcp/internal/span"
)

// Txn is one write: from the look at the old file to the new one in its place.
// It is for one goroutine, and its target must stay open as long as it.
type Txn struct {
	s       *Saver
	st      *statedir.State
	path    string
	base    string
	missing []string   // folders to be made below the deepest that exists
	old     *fsys.File // nil for a new name
	was     fsys.Stamp // of old, as the caller compares it
	ahead   func() error
	used    bool
	platform
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
	st, err := s.state.Open(ctx)
	if err != nil {
		return nil, err
	}
	x := &Txn{s: s, st: st, path: t.Path, base: t.Base(), missing: t.MissingDirs()}
	if err := x.openFolder(t); err != nil {
		return nil, moved(err)
	}
	if t.Kind == fsys.Missing {
		return x, nil
	}
	if x.old, err = t.Open(); err != nil {
		return nil, moved(err)
	}
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

// Old is the file as it is, nil for a new name. It belongs to the transaction.
func (x *Txn) Old() *fsys.File { return x.old }

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

// Replace puts the old content with the splices applied in place of the old one
// and reports what it did. With ErrModified, ErrExists and ErrVanished the other
// program's bytes are in place, with *IOError those that it says; Outcome.Saved
// counts in either case. A ctx that is done stops it before it begins, never
// halfway. A transaction is good for one Replace.
func (x *Txn) Replace(ctx context.Context, c []span.Splice) (Outcome, error) {
	if err := x.use(ctx); err != nil {
		return Outcome{}, err
	}
	defer x.release()
	if !span.Fit(c, x.was.Size) {
		return Outcome{}, errSplices
	}
	out, err := x.replace(c)
	out.addState(x.st)
	return out, err
}

// Remove takes the file away, with the same promises as Replace: the file that
// goes is the one that was compared, or none.
func (x *Txn) Remove(ctx context.Context) (Outcome, error) {
	if err := x.use(ctx); err != nil {
		return Outcome{}, err
	}
	defer x.release()
	if x.old == nil {
		return Outcome{}, ErrVanished
	}
	out, err := x.takeAway()
	out.addState(x.st)
	return out, err
}

// use makes sure that a transaction is used once.
func (x *Txn) use(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if x.used {
		return errUsed
	}
	x.used = true
	return nil
}

// Close ends the transaction, done or not. It may be called again.
func (x *Txn) Close() {
	x.used = true
	if x.old != nil {
		x.closeOld()
	}
}

func (x *Txn) fail(op string, err error) error {
	return &IOError{Op: op, Path: x.path, Err: err}
}

func (x *Txn) folder() string { return filepath.Dir(x.path) }
