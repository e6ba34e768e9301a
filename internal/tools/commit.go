package tools

import (
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"

	"github.com/fsmcp/fsmcp/internal/fsys"
	"github.com/fsmcp/fsmcp/internal/history"
	"github.com/fsmcp/fsmcp/internal/perm"
	"github.com/fsmcp/fsmcp/internal/save"
	"github.com/fsmcp/fsmcp/internal/state"
)

// change is what a call wants done to a file, worked out from the bytes that
// are there.
type change struct {
	// stamp is that of the bytes it was worked out from, zero for a new file;
	// settled says that it proves them.
	stamp   fsys.Stamp
	settled bool
	// from are those bytes, where they were held in memory; nil otherwise.
	from []byte
	// fromHash is their SHA-256, where it is at hand or can be had from memory;
	// nil otherwise.
	fromHash func() state.Sum
	// splices turn them into the new ones.
	splices []save.Splice
	// remove says that the file is to be taken away instead.
	remove bool
	// record is readFileState once the new bytes are in place; its stamp is
	// filled in then, and what after gives.
	record state.Record
	// after waits for what is worked out of the new bytes while the disk is busy:
	// their SHA-256, and themselves where the record keeps them. It is nil where
	// the record has both.
	after func() (state.Sum, []byte)
	// result is the answer then. A change without splices is only its answer.
	result *Result
}

// nothing tells that there is nothing to do.
func (c *change) nothing() bool { return c.splices == nil && !c.remove }

// planner works out a change. old is the file as it is, nil where there is
// none. It is asked twice: before anything else happens, and again under the
// lock for the bytes that will be replaced.
type planner func(ctx context.Context, s *spot, old *fsys.File) (*change, error)

// commit is the one door to the disk: decision and gate, then the lock, then
// everything once more for the bytes that are really there, then the replace.
// Where the name leads elsewhere in the middle of that (a neighbour has made
// the folder, another program has renamed a new version into place), it begins
// again with what is there now.
func (h *House) commit(ctx context.Context, call Call, op perm.Op, raw string, plan planner) (*Result, error) {
	var done hooking
	for try := 1; ; try++ {
		result, err := h.attempt(ctx, call, op, raw, plan, &done)
		if try < attempts && (errors.Is(err, errElsewhere) || errors.Is(err, fsys.ErrMoved)) && ctx.Err() == nil {
			continue
		}
		return result, err
	}
}

// attempts bounds how often a call follows a name that keeps moving.
const attempts = 10

// errElsewhere: the name led to another place once its lock was held.
var errElsewhere = errors.New("the folders or links on the way were changed meanwhile")

func (h *House) attempt(ctx context.Context, call Call, op perm.Op, raw string, plan planner, hooks *hooking) (*Result, error) {
	s, err := h.enter(call, op, raw)
	if err != nil {
		return nil, err
	}
	replaced := false
	defer func() { letGo(s, replaced) }()
	switch s.Kind {
	case fsys.Directory:
		return nil, h.directory(s)
	case fsys.Special:
		return nil, special(s.Asked)
	}
	done, err := call.Session.files.Turn(ctx, s.Path)
	if err != nil {
		return nil, err
	}
	defer done()

	c, err := h.preview(ctx, s, plan)
	if err != nil {
		return nil, err
	}
	if c.nothing() {
		return c.result, nil
	}
	if err := h.before(ctx, call, s, hooks); err != nil {
		return nil, err
	}
	lock, err := h.Saver.Lock(ctx, s.Target)
	if err != nil {
		return nil, err
	}
	defer lock.Unlock()
	m, err := h.locked(ctx, call, s, lock, raw, c, plan)
	if err != nil {
		return nil, err
	}
	replaced = true
	lock.Unlock()
	h.after(ctx, call, s, m, hooks)
	return m.result, nil
}

// made is what became of a call under the lock.
type made struct {
	result *Result
	change *change // nil: there was nothing to do
	old    []byte  // what was replaced, where the history has kept it and it is in memory
}

// letGo closes what was resolved. Once the file has been replaced, that is the
// last hold on the old one, and the system takes its time to free all that was
// in it: nobody need wait for that.
func letGo(s *spot, replaced bool) {
	if replaced {
		go s.Close()
		return
	}
	s.Close()
}

// preview works out the change on the file as it is now.
func (h *House) preview(ctx context.Context, s *spot, plan planner) (*change, error) {
	if s.Kind == fsys.Missing {
		return plan(ctx, s, nil)
	}
	f, err := s.Open()
	if err != nil {
		return nil, err
	}
	defer f.Close()
	leave, err := h.admit(ctx, s.Stamp.Size)
	if err != nil {
		return nil, err
	}
	defer leave()
	return plan(ctx, s, f)
}

// locked resolves, decides and gates again, right before the bytes are
// replaced, replaces them, and moves the record on.
func (h *House) locked(ctx context.Context, call Call, s *spot, lock *save.Lock, raw string, c *change, plan planner) (m made, err error) {
	now, err := h.enter(call, s.op, raw)
	if err != nil {
		return m, err
	}
	defer now.Close()
	if now.Path != s.Path || !lock.Covers(now.Target) {
		return m, errElsewhere
	}
	txn, err := h.Saver.Begin(ctx, now.Target)
	if err != nil {
		return m, err
	}
	defer txn.Close()
	old := txn.Old()
	if !h.stands(c, old) {
		if c, err = plan(ctx, now, old); err != nil {
			return m, err
		}
		if c.nothing() {
			return made{result: c.result}, nil
		}
	}
	if c.fromHash != nil {
		txn.Known(c.from, func() [32]byte { return c.fromHash() })
	}
	if err := h.begin(call, now); err != nil {
		return m, err
	}
	kept := h.keep(ctx, call, s.op, now, old, c)
	txn.Before(func() error { _, err := kept(); return err })
	out, err := land(ctx, txn, c)
	mark, _ := kept() // its error is that of the change
	defer mark.Done()
	if err != nil {
		return m, h.undone(mark, out, err)
	}
	m = made{change: c, old: c.keptOld(mark, old)}
	if c.remove {
		call.Session.files.Forget(now.Path)
		m.result = remark(c.result, out, mark)
		return m, nil
	}
	if c.after != nil {
		c.record.Hash, c.record.Content = c.after()
		c.result.Meta["fsmcp/hash"] = hex.EncodeToString(c.record.Hash[:])
	}
	c.record.Stamp = out.Stamp // too young to prove anything: the next gate looks at the bytes
	call.Session.files.Put(now.Path, c.record)
	m.result = remark(c.result, out, mark)
	return m, nil
}

// land makes the change.
func land(ctx context.Context, txn *save.Txn, c *change) (save.Outcome, error) {
	if c.remove {
		return txn.Remove(ctx)
	}
	return txn.Replace(ctx, c.splices)
}

// undone notes that a change was not made, unless it was after all.
func (h *House) undone(mark *history.Mark, out save.Outcome, err error) error {
	if e := (*save.IOError)(nil); !errors.As(err, &e) || !e.Changed {
		mark.Void()
	}
	h.Announce(saved(out.Saved)...)
	h.Announce(rescued(out.Rescued)...)
	return err
}

// stands tells whether a change worked out earlier fits the file that is about
// to be replaced, by a stamp that proves its bytes, or else by the bytes
// themselves: comparing them costs less than working it out again.
func (h *House) stands(c *change, old *fsys.File) bool {
	if old == nil {
		return c.stamp == fsys.Stamp{}
	}
	stamp, err := old.Stamp()
	switch {
	case err != nil:
		return false
	case c.settled && stamp.Same(c.stamp):
		return true
	case c.from == nil || stamp.Size != int64(len(c.from)):
		return false
	}
	if !hasBytes(old, c.from) {
		return false
	}
	after, err := old.Stamp()
	return err == nil && after.Same(stamp)
}

// compareBuffer is how much of a file is compared at a time.
const compareBuffer = 64 << 10

// hasBytes tells whether a file has just these bytes.
func hasBytes(f *fsys.File, want []byte) bool {
	buf := make([]byte, min(len(want)+1, compareBuffer))
	for at := 0; ; {
		n, err := f.ReadAt(buf, int64(at))
		if !bytes.HasPrefix(want[at:], buf[:n]) {
			return false
		}
		if at += n; err != nil {
			return err == io.EOF && at == len(want)
		}
	}
}

// remark adds to an answer what the saving itself has to tell.
func remark(r *Result, out save.Outcome, mark *history.Mark) *Result {
	var notes []string
	if out.OtherNames == 1 {
		notes = append(notes, "(The file had 1 other name, a hard link: it keeps the old text.)")
	} else if out.OtherNames > 1 {
		notes = append(notes, fmt.Sprintf("(The file had %d other names, hard links: they keep the old text.)", out.OtherNames))
	}
	if out.InPlace {
		notes = append(notes, "(The file could not be replaced and was written in place; after a crash the next start of fsmcp finishes or leaves it.)")
	}
	if out.DurabilityUnknown {
		r.Meta["fsmcp/durability"] = "unknown"
		notes = append(notes, "(The new text is in place, but the disk did not confirm that it survives a loss of power.)")
	}
	if out.StateInTemp != "" {
		notes = append(notes, fmt.Sprintf("(fsmcp's state folder cannot be written; %s is used instead.)", fsys.Printable(out.StateInTemp)))
	}
	notes = append(notes, saved(out.Saved)...)
	notes = append(notes, rescued(out.Rescued)...)
	notes = append(notes, missed(mark)...)
	for _, n := range notes {
		r.Blocks[0].Text += "\n" + n
	}
	return r
}

// saved tells of files that hold what another program wrote meanwhile and that
// is known nowhere else.
func saved(names []string) []string {
	out := make([]string, len(names))
	for i, name := range names {
		out[i] = fmt.Sprintf("(Text that another program wrote meanwhile was kept as %s.)", fsys.Printable(name))
	}
	return out
}

// gone is the answer for a file that was shown and is not there any more. It
// is said once: a repeated call may then create the file.
func gone(session *Session, s *spot) error {
	session.files.Forget(s.Path)
	return vanished("The file %s was there when it was read and is gone now: it was moved or deleted. Nothing was changed. If it should be created anew, call Write with its whole content.", s.name())
}
