package tools

import (
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"

	"github.com/fsmcp/fsmcp/internal/access"
	"github.com/fsmcp/fsmcp/internal/fsys"
	"github.com/fsmcp/fsmcp/internal/history"
	"github.com/fsmcp/fsmcp/internal/perm"
	"github.com/fsmcp/fsmcp/internal/refusal"
	"github.com/fsmcp/fsmcp/internal/save"
	"github.com/fsmcp/fsmcp/internal/span"
	"github.com/fsmcp/fsmcp/internal/state"
)

// planner works out a change. old is the file as it is, nil where there is
// none. It is asked twice: before anything else happens, and again under the
// lock for the bytes that will be replaced.
type planner interface {
	plan(ctx context.Context, s *target, old *fsys.File) (*change, error)
}

// committer changes files. No tool changes one in another way.
type committer struct {
	opener  opener
	loader  loader
	budget  budget
	saver   *save.Saver
	history recorder
	hooks   Hooks // nil: none run
	auditor *auditor
	notices *notices
}

// commit makes the change that a planner works out, in the order of attempt. Where the
// name leads elsewhere in the middle of that (another call has made the folder, another
// program has renamed a new version into place), it begins again with what is there now.
func (c *committer) commit(ctx context.Context, call Call, op perm.Op, p planner) (*Result, error) {
	w := committing{by: c, call: call, op: op, planner: p}
	for try := 1; ; try++ {
		result, err := w.attempt(ctx)
		if try < attempts && (errors.Is(err, access.ErrElsewhere) || errors.Is(err, fsys.ErrMoved)) && ctx.Err() == nil {
			continue
		}
		return result, err
	}
}

// attempts bounds how often a call follows a name that keeps moving.
const attempts = 10

// committing is one change under way.
type committing struct {
	by      *committer
	call    Call
	op      perm.Op
	planner planner
	hooks   hooking // the outcome of hooks
}

// attempt makes the change once: lock the path in the conversation, plan, ask, run the
// hooks before, lock the file among processes, replace it, unlock it, run the hooks after
// and look again.
func (w *committing) attempt(ctx context.Context) (*Result, error) {
	s, err := w.by.opener.open(w.call, w.op)
	if err != nil {
		return nil, err
	}
	defer s.letGo()
	if err := w.by.opener.irregular(s); err != nil {
		return nil, err
	}
	done, err := w.call.Session.files.Lock(ctx, s.Path)
	if err != nil {
		return nil, err
	}
	defer done()
	c, err := w.preview(ctx, s)
	if err != nil {
		return nil, err
	}
	if c.nothing() {
		return c.result, nil
	}
	if err := w.by.opener.asking(s, c); err != nil {
		return nil, err
	}
	if err := w.beforeHooks(ctx, s); err != nil {
		return nil, err
	}
	lock, err := w.by.lock(ctx, s)
	if err != nil {
		return nil, err
	}
	defer lock.unlock()
	m, err := w.locked(ctx, s, lock, c)
	if err != nil {
		return nil, err
	}
	s.replaced = true
	lock.unlock()
	w.afterHooks(ctx, s, m)
	if m.hidden {
		delete(m.result.Meta, "fsmcp/hash") // by which what a file holds can be guessed
	}
	return m.result, nil
}

// locked makes the change under the lock of the file: open and decide again, take the
// lease, plan again if the bytes differ, ask again, replace the file while the history
// records the old bytes, and move the conversation's record on.
func (w *committing) locked(ctx context.Context, s *target, lock fileLock, c *change) (m made, err error) {
	now, err := w.openAgain(s, lock)
	if err != nil {
		return m, err
	}
	defer now.Close()
	txn, err := w.by.saver.Begin(ctx, now.Target) // takes the lease
	if err != nil {
		return m, err
	}
	defer txn.Close()
	old := txn.Old()
	if now.Hidden != s.Hidden || !stands(c, old) {
		if c, err = w.plan(ctx, now, old); err != nil {
			return m, err
		}
	}
	if c.nothing() {
		return made{result: c.result, hidden: now.Hidden}, nil
	}
	if err := w.by.opener.asking(now, c); err != nil { // the rules are others by now
		return m, err
	}
	if err := w.by.auditor.begin(w.call, now); err != nil {
		return m, err
	}
	recorded := w.by.history.start(ctx, w.call, now, old, c)
	out, err := replace(ctx, txn, c, recorded)
	mark, _ := recorded() // its error is that of the change
	defer mark.Done()
	s.links = now.links
	if err != nil {
		return m, w.by.notMade(mark, out, err)
	}
	w.record(now, c, out)
	return made{result: remark(c.result, out, mark), change: c, old: c.oldBytes(mark, old), hidden: now.Hidden}, nil
}

// made is the outcome of a call under the lock.
type made struct {
	result *Result
	change *change // nil: there was nothing to do
	old    []byte  // what was replaced, where the history has kept it and it is in memory
	hidden bool    // what the file holds must not be shown
}

// letGo closes a target. Once the file has been replaced, that is the last hold on the
// old one, and the kernel takes its time to free its blocks: the answer need not wait
// for that.
func (t *target) letGo() {
	if t.replaced {
		go t.Close()
		return
	}
	t.Close()
}

// preview plans on the file as it is now, outside of its lock.
func (w *committing) preview(ctx context.Context, s *target) (*change, error) {
	if s.Kind == fsys.Missing {
		return w.plan(ctx, s, nil)
	}
	f, err := s.Open()
	if err != nil {
		return nil, err
	}
	defer f.Close()
	leave, err := w.by.loader.admit(ctx, s.Stamp.Size)
	if err != nil {
		return nil, err
	}
	defer leave()
	return w.plan(ctx, s, f)
}

// plan asks the planner. Neither its answer nor its error shows anything of a hidden
// file.
func (w *committing) plan(ctx context.Context, s *target, old *fsys.File) (*change, error) {
	c, err := w.planner.plan(ctx, s, old)
	switch {
	case !s.Hidden:
		return c, err
	case err != nil:
		rec, known := w.call.Session.files.Get(s.Path)
		_, err = shownIn(err)
		return nil, refusal.Hidden{Name: s.name(), Read: known, Whole: known && rec.InFull(), Huge: s.Stamp.Size > maxEditBytes}.Refusal(err)
	}
	c.shown, c.notebook = nil, false
	return c, nil
}

// fileLock is the lock of a file among processes, and where the call makes a part of a git
// repository, that of such parts. These are made one at a time: each is decided on by the
// others that are there, so no two may be decided on before either is made.
type fileLock struct{ file, parts *save.Lock }

// lock takes the lock of the name that s leads to.
func (c *committer) lock(ctx context.Context, s *target) (l fileLock, err error) {
	if s.Kind == fsys.Missing && c.opener.access.Policy().RepositoryParts(s.Names) {
		if l.parts, err = c.saver.LockPurpose(ctx, "repository parts"); err != nil {
			return l, err
		}
	}
	if l.file, err = c.saver.Lock(ctx, s.Target); err != nil {
		l.unlock()
	}
	return l, err
}

// unlock may be called again.
func (l fileLock) unlock() {
	for _, lock := range []*save.Lock{l.file, l.parts} {
		if lock != nil {
			lock.Unlock()
		}
	}
}

// openAgain resolves and decides again, now that no other fsmcp changes the file.
func (w *committing) openAgain(s *target, lock fileLock) (*target, error) {
	now, err := w.by.opener.open(w.call, w.op)
	if err != nil {
		return nil, err
	}
	if now.Path != s.Path || !lock.file.Covers(now.Target) {
		now.Close()
		return nil, access.ErrElsewhere
	}
	return now, nil
}

// replace makes the change. The history has recorded the old bytes before the new ones
// can be seen.
func replace(ctx context.Context, txn *save.Txn, c *change, recorded waitForMark) (save.Outcome, error) {
	if c.fromHash != nil {
		txn.Known(c.from, func() [32]byte { return c.fromHash() })
	}
	txn.Before(func() error { _, err := recorded(); return err })
	if c.remove {
		return txn.Remove(ctx)
	}
	return txn.Replace(ctx, c.splices)
}

// record moves the conversation's record to the new bytes.
func (w *committing) record(now *target, c *change, out save.Outcome) {
	files := w.call.Session.files
	if c.remove {
		files.Forget(now.Path)
		return
	}
	if c.after != nil {
		sum, content := c.after()
		if c.record.Parts == nil {
			c.record.Hash, c.record.Content = sum, content
		}
		c.result.Meta["fsmcp/hash"] = hex.EncodeToString(sum[:])
		if c.notebook && content != nil {
			c.result.next = parsed{path: now.Path, raw: content, hash: func() state.Sum { return sum }}
		}
	}
	c.record.Stamp = out.Stamp // too young to prove anything: the next gate looks at the bytes
	files.Put(now.Path, c.record)
	if c.shown != nil {
		c.result.Shown = append(c.result.Shown, Shown{Path: now.Path, Record: state.Record{Stamp: out.Stamp, Shown: c.shown}, Added: true})
	}
}

// notMade notes that a change was not made, unless it was after all.
func (c *committer) notMade(mark *history.Mark, out save.Outcome, err error) error {
	if e := (*save.IOError)(nil); !errors.As(err, &e) || !e.Changed {
		mark.Void()
	}
	c.notices.add(saved(out.Saved)...)
	c.notices.add(rescued(out.Rescued)...)
	return err
}

// stands reports whether a change worked out earlier fits the file that is about
// to be replaced: whether that has the bytes that it was worked out from, or of a
// file that was not held in memory, those of them that were shown. An equal stamp
// does not prove that, since a program that writes through a memory map can change a
// file without a new one. From here on it cannot: a file that is mapped for writing
// gives no lease.
func stands(c *change, old *fsys.File) bool {
	switch {
	case old == nil:
		return c.stamp == fsys.Stamp{}
	case c.stamp == fsys.Stamp{}:
		return false
	case c.from != nil || c.stamp.Size == 0:
		return hasBytes(old, c.from)
	}
	now, err := old.Stamp()
	if err != nil || now.Size != c.stamp.Size || len(c.parts) == 0 {
		return false
	}
	_, lost, err := state.Standing(old, c.parts, nil)
	return err == nil && !lost
}

// compareBuffer bounds the bytes that are compared at a time.
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
	switch {
	case out.OtherNames == 1:
		notes = append(notes, "(The file had 1 other name, a hard link: it keeps the old text.)")
	case out.OtherNames > 1:
		notes = append(notes, fmt.Sprintf("(The file had %d other names, hard links: they keep the old text.)", out.OtherNames))
	case out.SharedNames == 1:
		notes = append(notes, "(The file has 1 other name, a hard link, which has the new text, too: the setting keepHardLinks is on.)")
	case out.SharedNames > 1:
		notes = append(notes, fmt.Sprintf("(The file has %d other names, hard links, which have the new text, too: the setting keepHardLinks is on.)", out.SharedNames))
	case out.InPlace:
		notes = append(notes, "(The file could not be replaced and was written in place; after a crash the next start of fsmcp finishes or leaves it.)")
	}
	if out.DurabilityUnknown {
		r.Meta["fsmcp/durability"] = "unknown"
		notes = append(notes, "(The new text is in place, but the disk did not confirm that it survives a loss of power.)")
	}
	if out.NoState != nil {
		notes = append(notes, fmt.Sprintf("(%s. Only locks are kept, in %s, and nothing in the history. Tell the user.)",
			refusal.NoState(out.NoState), fsys.InSentence(out.StateInTemp)))
	}
	for _, name := range out.Left {
		notes = append(notes, fmt.Sprintf("(The old text could not be removed and lies in %s; the next start of fsmcp removes it.)", fsys.InSentence(name)))
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
		out[i] = fmt.Sprintf("(Text that another program wrote meanwhile was kept as %s.)", fsys.InSentence(name))
	}
	return out
}

// asking is the question that comes before a change, as it is now known: nil where
// there is none. A change that the file's mode forbids is not asked about.
func (o opener) asking(s *target, c *change) error {
	switch {
	case s.Question == nil:
		return nil
	case s.Kind == fsys.Regular && save.ReadOnly(s.Stamp):
		return save.ErrReadOnly
	}
	return needConsent(s.Question, c.intent(), o.preferences().SettingsFile)
}

// bytes are those that the change has put into the file, where they are known.
func (m made) bytes() (b []byte, ok bool) {
	c := m.change
	if c.record.Content != nil {
		return c.record.Content, true
	}
	if int64(len(c.from)) < c.stamp.Size {
		return nil, false
	}
	return span.Apply(c.from, c.splices), true
}
