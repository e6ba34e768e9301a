// Package commit holds the one way to change a file. A Planner works out the change; a
// Committer asks the user, runs the user's hooks, locks the file, makes sure that the change
// fits the bytes that are there, records them in the history, replaces the file, and keeps
// the conversation's record true.
//
// It does not decide what a call may replace: planners do, with package gate.
package commit

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/fsmcp/fsmcp/internal/access"
	"github.com/fsmcp/fsmcp/internal/fsys"
	"github.com/fsmcp/fsmcp/internal/history"
	"github.com/fsmcp/fsmcp/internal/hooks"
	"github.com/fsmcp/fsmcp/internal/perm"
	"github.com/fsmcp/fsmcp/internal/phrase"
	"github.com/fsmcp/fsmcp/internal/refusal"
	"github.com/fsmcp/fsmcp/internal/save"
	"github.com/fsmcp/fsmcp/internal/span"
	"github.com/fsmcp/fsmcp/internal/state"
	"github.com/fsmcp/fsmcp/internal/toolcall"
)

// A Planner works out a change. It is asked twice: before anything else happens, and again
// under the lock if the bytes to replace have changed since.
type Planner interface {
	// Plan works out the change of s. old is the file as it is, nil if there is none.
	Plan(ctx context.Context, s *toolcall.Target, old *fsys.File) (*Plan, error)
}

// Committer changes files. No tool changes one in another way.
type Committer struct {
	Opener  toolcall.Opener
	Loader  toolcall.Loader
	Budget  toolcall.Budget
	Saver   *save.Saver
	History HistoryRecorder
	Hooks   Hooks // nil: none run
	// Servers are told of changes; nil: none are.
	Servers LanguageServers
	Auditor *toolcall.Auditor
	Notices *toolcall.Notices
}

// Commit makes the change that a planner works out, in the order of change. If the name
// leads elsewhere meanwhile (another call has made the folder, another program
// has renamed a new version into place), it begins again with the file that is there now.
func (c *Committer) Commit(ctx context.Context, call toolcall.Call, op perm.Op, p Planner) toolcall.Outcome {
	w := committing{by: c, call: call, op: op, planner: p}
	for try := 1; ; try++ {
		out := w.attempt(ctx)
		if try < attempts && (errors.Is(out.Err, access.ErrElsewhere) || errors.Is(out.Err, fsys.ErrMoved)) && ctx.Err() == nil {
			continue
		}
		return out
	}
}

// attempts bounds how often a call follows a name that keeps moving.
const attempts = 10

// committing is one change under way.
type committing struct {
	by          *Committer
	call        toolcall.Call
	op          perm.Op
	planner     Planner
	hooksPassed string         // the resolved name of the file whose hooks let the change through
	faults      []hooks.Report // of hooks of this call
	replaced    bool           // another file is in the place of the target
	hidden      bool           // what the file holds must not be shown
}

// attempt makes the change once.
func (w *committing) attempt(ctx context.Context) toolcall.Outcome {
	s, out := w.by.Opener.Open(w.call, w.op)
	if out.Err != nil {
		return out
	}
	defer func() {
		if w.replaced {
			go s.Close() // to free the blocks of the old file takes time: the answer does not wait
		} else {
			s.Close()
		}
	}()
	w.hidden = s.Hidden
	if out = w.change(ctx, s); w.hidden {
		out.Hide()
	}
	out.SetFile(s)
	return out
}

// change makes the change of a target: lock the path in the conversation, plan, ask, run the
// hooks before, lock the file among processes, replace it, unlock it, run the hooks after
// and read the file again.
func (w *committing) change(ctx context.Context, s *toolcall.Target) toolcall.Outcome {
	if err := w.by.Opener.Irregular(s); err != nil {
		return toolcall.Failed(err)
	}
	done, err := w.call.Session.Files.Lock(ctx, s.Path)
	if err != nil {
		return toolcall.Failed(err)
	}
	defer done()
	defer s.Drop()
	c := w.preview(ctx, s)
	if c.Nothing() {
		return c.Outcome
	}
	if s.Kind == fsys.Missing && !w.call.Restoring {
		if out := w.call.Session.Recall(s.Path, s.Hidden, w.by.Budget.ForClient(w.call.Client)); out.Err != nil {
			return out
		}
	}
	if out := w.by.needsConsent(s, c); out.Err != nil {
		return out
	}
	if err := w.beforeHooks(ctx, s, c); err != nil {
		return toolcall.Failed(err)
	}
	lock, err := w.by.lock(ctx, s)
	if err != nil {
		return toolcall.Failed(err)
	}
	defer lock.Unlock()
	defer w.beginServers(s)()
	m := w.locked(ctx, s, lock, c)
	if m.change == nil {
		return m.Outcome
	}
	w.replaced = true
	s.Drop()
	lock.Unlock()
	w.afterHooks(ctx, s, &m)
	w.call.Session.Changed(s.Path, m.record)
	w.tellServers(ctx, s, m)
	return m.Outcome
}

// locked makes the change under the lock of the file: open and decide again, take the
// lease, plan again if the bytes differ, ask again, and replace the file while the history
// records the old bytes.
func (w *committing) locked(ctx context.Context, s *toolcall.Target, lock *save.Locks, c *Plan) (m applied) {
	r, out := w.ready(ctx, s, lock, c)
	if r == nil {
		return applied{Outcome: out}
	}
	defer r.close()
	return w.make(ctx, r)
}

// readyChange is a change that fits the file, which is open with its lease.
type readyChange struct {
	was    *toolcall.Target // as the call found it
	now    *toolcall.Target
	txn    *save.Txn
	change *Plan
}

func (r *readyChange) close() {
	r.txn.Close()
	r.now.Drop()
	r.now.Close()
}

// ready takes the first steps of locked: to the question. Without a readyChange the outcome is
// that of the change.
func (w *committing) ready(ctx context.Context, s *toolcall.Target, lock *save.Locks, c *Plan) (r *readyChange, out toolcall.Outcome) {
	now, out := w.openAgain(s, lock)
	if out.Err != nil {
		return nil, out
	}
	txn, err := w.by.Saver.Begin(ctx, now.Target) // takes the lease
	if err != nil {
		now.Drop()
		now.Close()
		return nil, toolcall.Failed(err)
	}
	r = &readyChange{s, now, txn, c}
	if now.Hidden != s.Hidden || !fits(c, txn.Old()) {
		*c = Plan{} // which holds the file: it must not be in memory twice
		s.Drop()
		r.change = w.plan(ctx, now, txn.Old())
	}
	if r.change.Nothing() {
		out = r.change.Outcome
		r.close()
		return nil, out
	}
	if out := w.by.needsConsent(now, r.change); out.Err != nil { // the rules have changed
		r.close()
		return nil, out
	}
	return r, out
}

// make makes a change that is ready.
func (w *committing) make(ctx context.Context, r *readyChange) (m applied) {
	now, c, old := r.now, r.change, r.txn.Old()
	if err := w.by.Auditor.Begin(w.call, now); err != nil {
		return applied{Outcome: toolcall.Failed(err)}
	}
	recorded := w.by.startRecording(ctx, func() (history.PendingChange, error) { return w.by.describe(w.call, now, old, c) })
	if c.Remove && w.by.Saver.Durability() != save.None {
		recorded = synced(recorded)
	}
	saved, err := replace(ctx, r.txn, c, recorded)
	mark, _ := recorded() // its error is that of the change
	defer mark.Done()
	r.was.Links = now.Links
	if err != nil {
		return applied{Outcome: toolcall.Failed(w.by.notMade(mark, saved, err))}
	}
	m = c.applied(now.Path, saved.Stamp)
	m.old = c.oldForHooks(mark, old)
	c.dropLarge()
	if saved.DurabilityUnknown {
		m.Facts.Durability = "unknown"
	}
	m.Note(remarks(saved, mark)...)
	w.noteUnkept(&m.Outcome, now.Path, mark)
	return m
}

// applied is a change that was made.
type applied struct {
	toolcall.Outcome
	change *Plan // nil: the file was not changed
	// record is the conversation's record of the file from now on; nil: nothing is known of
	// the file any more.
	record *state.Record
	old    []byte // what was replaced, if the history has kept it and it is in memory
	now    []byte // what hooks have left in the file, if they have changed it
}

// applied returns the change as made in the file at path, which has this stamp now.
func (c *Plan) applied(path string, stamp fsys.Stamp) applied {
	m := applied{Outcome: c.Outcome, change: c}
	if c.Remove {
		return m
	}
	if c.Now != nil {
		m.Facts.Hash = c.Now.Sum()
		if c.Notebook {
			c.Record.All = c.Now.Sum()
		}
		if c.Notebook && c.Now.Raw != nil {
			m.Parse = toolcall.Parsed{Path: path, Content: c.Now}
		}
	}
	if c.parts != nil {
		c.Record.Parts = c.parts()
	}
	c.Record.Stamp = stamp // too young to prove anything: the next gate looks at the bytes
	m.record = new(c.Record)
	if c.Shown != nil {
		m.Shown = append(m.Shown, toolcall.Shown{Path: path, How: toolcall.Added, Record: state.Record{Parts: c.Shown}})
	}
	return m
}

// preview plans on the file as it is now, outside of its lock.
func (w *committing) preview(ctx context.Context, s *toolcall.Target) *Plan {
	leave, err := w.by.Loader.AdmitChange(ctx, s.Stamp.Size)
	if err != nil {
		return failed(err)
	}
	defer leave()
	var f *fsys.File
	if s.Kind != fsys.Missing {
		if f, err = s.Open(); err != nil {
			return failed(err)
		}
		defer f.Close()
	}
	return w.plan(ctx, s, f)
}

// failed is a change that cannot be made.
func failed(err error) *Plan { return &Plan{Outcome: toolcall.Failed(err)} }

// plan asks the planner. The words of an error of a hidden file say nothing of its content.
func (w *committing) plan(ctx context.Context, s *toolcall.Target, old *fsys.File) *Plan {
	c, err := w.planner.Plan(ctx, s, old)
	if err == nil {
		return c
	}
	if s.Hidden {
		rec, known := w.call.Session.Files.Get(s.Path)
		err = refusal.Hidden{Name: s.Name(), Read: known, Whole: known && rec.InFull(), Huge: s.Stamp.Size > toolcall.MaxEditBytes}.Refusal(err)
	}
	if c == nil {
		c = &Plan{}
	}
	c.Outcome.Err = err
	return c
}

// lock takes the locks of the names that targets lead to, among processes. If the call creates a
// part of a git repository (perm.RepositoryParts), it also takes the lock of those parts: the
// decision on one depends on the parts that exist, so they are created one at a time.
func (c *Committer) lock(ctx context.Context, targets ...*toolcall.Target) (*save.Locks, error) {
	var set save.LockSet
	for _, s := range targets {
		set.Targets = append(set.Targets, s.Target)
		if s.Kind == fsys.Missing && c.Opener.Access.Policy().RepositoryParts(s.Names) {
			set.Purposes = []string{"repository parts"}
		}
	}
	return c.Saver.LockAll(ctx, set)
}

// openAgain resolves and decides again, now that no other fsmcp changes the file.
func (w *committing) openAgain(s *toolcall.Target, lock *save.Locks) (*toolcall.Target, toolcall.Outcome) {
	now, out := w.by.Opener.Open(w.call, w.op)
	if out.Err != nil {
		return nil, out
	}
	if now.Path != s.Path || !lock.Covers(now.Target) {
		now.Close()
		return nil, toolcall.Failed(access.ErrElsewhere)
	}
	now.AfterHooks, now.Named = w.hooksPassed == now.Path, s.Named
	w.hidden = now.Hidden
	return now, out
}

// replace makes the change. The history has recorded the old bytes before the new ones
// can be seen.
func replace(ctx context.Context, txn *save.Txn, c *Plan, recorded waitForMark) (save.Written, error) {
	c.know(txn)
	txn.Before(func() error { _, err := recorded(); return err })
	if c.Remove {
		return txn.Remove(ctx)
	}
	return txn.Replace(ctx, c.Splices)
}

// know tells a transaction the digest of the old bytes, if the change has it.
func (c *Plan) know(txn *save.Txn) {
	if c.From != nil && c.Stamp.Size <= state.InMemory {
		txn.Known(c.Stamp.Size, func() [32]byte { return c.From.Sum() })
	}
}

// stage has the new bytes written and synced beside the old ones, while those of other files
// are.
func (r *readyChange) stage() {
	if !r.change.Remove {
		r.change.know(r.txn)
		r.txn.Stage(r.change.Splices)
	}
}

// notMade notes that a change was not made, unless it was after all.
func (c *Committer) notMade(mark *history.Mark, out save.Written, err error) error {
	if e := (*save.IOError)(nil); !errors.As(err, &e) || !e.Changed {
		mark.Void()
	}
	c.Notices.Add(outsideText(out)...)
	return err
}

// fits reports whether a change that was worked out earlier fits the file that is about to be
// replaced: the file has the bytes that it was worked out from. An equal stamp does not
// prove that, since a program that writes through a memory map can change a file without a
// new one. From here on it cannot: a file that is mapped for writing gives no lease.
func fits(c *Plan, old *fsys.File) bool {
	switch {
	case old == nil || c.Stamp == fsys.Stamp{}:
		return old == nil && c.Stamp == fsys.Stamp{}
	case c.From != nil:
		return hasBytes(old, c.From.Raw)
	case c.Tail != nil:
		return endsIn(old, c.Stamp.Size, c.Tail)
	}
	return c.Stamp.Size == 0 && hasBytes(old, nil)
}

// endsIn reports whether a file has a size and these last bytes.
func endsIn(f *fsys.File, size int64, tail []byte) bool {
	now, err := f.Stamp()
	buf := make([]byte, len(tail))
	return err == nil && now.Size == size && span.ReadFull(f, buf, size-int64(len(tail))) == nil && bytes.Equal(buf, tail)
}

// compareBuffer bounds the bytes that are compared at a time.
const compareBuffer = 64 << 10

// hasBytes reports whether a file has just these bytes.
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

// remarks returns the facts on the saving that the caller has to know.
func remarks(out save.Written, mark *history.Mark) (notes []string) {
	switch {
	case out.OtherNames > 0:
		keep := phrase.Plural(out.OtherNames, "name, a hard link: it keeps", "names, hard links: they keep")
		notes = append(notes, fmt.Sprintf("(The file had %d other %s the old text.)", out.OtherNames, keep))
	case out.SharedNames > 0:
		have := phrase.Plural(out.SharedNames, "name, a hard link, which has", "names, hard links, which have")
		notes = append(notes, fmt.Sprintf("(The file has %d other %s the new text, too: the setting keepHardLinks is on.)", out.SharedNames, have))
	case out.InPlace:
		notes = append(notes, "(The file could not be replaced and was written in place; after a crash the next start of fsmcp finishes or leaves it.)")
	}
	if out.OwnerLost {
		notes = append(notes, "(The file belongs to the account of fsmcp now: Windows did not allow its owner to be kept. Tell the user.)")
	}
	if out.DurabilityUnknown {
		notes = append(notes, "(The new text is in place, but the disk did not confirm that it survives a loss of power.)")
	}
	if out.NoState != nil {
		notes = append(notes, fmt.Sprintf("(%s. Only locks are kept, in %s, and nothing in the history. Tell the user.)",
			refusal.NoState(out.NoState), fsys.InSentence(out.StateInTemp)))
	}
	for _, name := range out.Left {
		notes = append(notes, fmt.Sprintf("(The old text could not be removed and lies in %s; the next start of fsmcp removes it.)", fsys.InSentence(name)))
	}
	return slices.Concat(notes, outsideText(out), notKept(mark))
}

// outsideText says where the text is that another program wrote meanwhile: in files, or only
// in the history.
func outsideText(out save.Written) (notes []string) {
	for _, name := range out.Saved {
		notes = append(notes, fmt.Sprintf("(Text that another program wrote meanwhile was kept as %s.)", fsys.InSentence(name)))
	}
	for _, id := range out.Rescued {
		notes = append(notes, fmt.Sprintf("(Text that another program wrote meanwhile was kept in fsmcp's history; the user gets it back by: fsmcp history show %s.)", id))
	}
	return notes
}

// needsConsent refuses a change that needs the user's consent, with the question for it. A change
// that the file's mode forbids is not asked about.
func (c *Committer) needsConsent(s *toolcall.Target, to *Plan) toolcall.Outcome {
	switch {
	case s.Question == nil:
		return toolcall.Outcome{}
	case s.Kind == fsys.Regular && save.ReadOnly(s.Stamp):
		return toolcall.Failed(save.ErrReadOnly)
	}
	return toolcall.NeedConsent(s.Question, to.intent(), c.Opener.SettingsFile())
}
