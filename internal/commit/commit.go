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
	"encoding/hex"
	"errors"
	"fmt"
	"io"

	"github.com/fsmcp/fsmcp/internal/access"
	"github.com/fsmcp/fsmcp/internal/fsys"
	"github.com/fsmcp/fsmcp/internal/history"
	"github.com/fsmcp/fsmcp/internal/hooks"
	"github.com/fsmcp/fsmcp/internal/perm"
	"github.com/fsmcp/fsmcp/internal/phrase"
	"github.com/fsmcp/fsmcp/internal/refusal"
	"github.com/fsmcp/fsmcp/internal/save"
	"github.com/fsmcp/fsmcp/internal/state"
	"github.com/fsmcp/fsmcp/internal/toolcall"
)

// A Planner works out a change. old is the file as it is, nil where there is
// none. It is asked twice: before anything else happens, and again under the
// lock for the bytes that will be replaced.
type Planner interface {
	// Plan works out the change of s.
	Plan(ctx context.Context, s *toolcall.Target, old *fsys.File) (*Change, error)
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

// Commit makes the change that a planner works out, in the order of attempt. Where the
// name leads elsewhere in the middle of that (another call has made the folder, another
// program has renamed a new version into place), it begins again with what is there now.
func (c *Committer) Commit(ctx context.Context, call toolcall.Call, op perm.Op, p Planner) (*toolcall.Result, error) {
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
	by      *Committer
	call    toolcall.Call
	op      perm.Op
	planner Planner
	passed  string         // the resolved name of the file whose hooks let the change through
	faults  []hooks.Report // of hooks of this call
	// replaced says that another file is in the place of the target.
	replaced bool
	// now are the bytes that hooks have left in the file, where those are others; lost says
	// that they are not known.
	now  []byte
	lost bool
}

// attempt makes the change once: lock the path in the conversation, plan, ask, run the
// hooks before, lock the file among processes, replace it, unlock it, run the hooks after
// and look again.
func (w *committing) attempt(ctx context.Context) (*toolcall.Result, error) {
	s, err := w.by.Opener.Open(w.call, w.op)
	if err != nil {
		return nil, err
	}
	defer w.letGo(s)
	if err := w.by.Opener.Irregular(s); err != nil {
		return nil, err
	}
	done, err := w.call.Session.Files.Lock(ctx, s.Path)
	if err != nil {
		return nil, err
	}
	defer done()
	leave, err := w.by.Loader.AdmitChange(ctx, s)
	if err != nil {
		return nil, err
	}
	defer leave()
	c, err := w.preview(ctx, s)
	if err != nil {
		return nil, err
	}
	if c.Nothing() {
		return c.Result, nil
	}
	if err := w.by.asking(s, c); err != nil {
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
	defer w.beginServers(s)()
	m, err := w.locked(ctx, s, lock, c)
	if err != nil {
		return nil, err
	}
	w.replaced = true
	lock.unlock()
	w.afterHooks(ctx, s, m)
	w.tellServers(ctx, s, m)
	if m.hidden {
		delete(m.result.Meta, "fsmcp/hash") // by which what a file holds can be guessed
	}
	return m.result, nil
}

// locked makes the change under the lock of the file: open and decide again, take the
// lease, plan again if the bytes differ, ask again, replace the file while the history
// records the old bytes, and move the conversation's record on.
func (w *committing) locked(ctx context.Context, s *toolcall.Target, lock fileLock, c *Change) (m made, err error) {
	now, err := w.openAgain(s, lock)
	if err != nil {
		return m, err
	}
	defer now.Close()
	txn, err := w.by.Saver.Begin(ctx, now.Target) // takes the lease
	if err != nil {
		return m, err
	}
	defer txn.Close()
	old := txn.Old()
	if now.Hidden != s.Hidden || !fits(c, old) {
		*c = Change{} // which holds the file: it must not be in memory twice
		if c, err = w.plan(ctx, now, old); err != nil {
			return m, err
		}
	}
	if c.Nothing() {
		return made{result: c.Result, hidden: now.Hidden}, nil
	}
	if err := w.by.asking(now, c); err != nil { // the rules are others by now
		return m, err
	}
	if err := w.by.Auditor.Begin(w.call, now); err != nil {
		return m, err
	}
	recorded := w.by.startRecording(ctx, w.call, now, old, c)
	out, err := replace(ctx, txn, c, recorded)
	mark, _ := recorded() // its error is that of the change
	defer mark.Done()
	s.Links = now.Links
	if err != nil {
		return m, w.by.notMade(mark, out, err)
	}
	w.record(now, c, out)
	result := remark(c.Result, out, mark)
	result.Blocks[0].Text += w.unkept(now.Path, mark)
	return made{result: result, change: c, old: c.oldForHooks(mark, old), hidden: now.Hidden}, nil
}

// made is the outcome of a call under the lock.
type made struct {
	result *toolcall.Result
	change *Change // nil: there was nothing to do
	old    []byte  // what was replaced, where the history has kept it and it is in memory
	hidden bool    // what the file holds must not be shown
}

// letGo closes a target. Once the file has been replaced, that is the last hold on the
// old one, and the kernel takes its time to free its blocks: the answer need not wait
// for that.
func (w *committing) letGo(s *toolcall.Target) {
	if w.replaced {
		go s.Close()
		return
	}
	s.Close()
}

// preview plans on the file as it is now, outside of its lock.
func (w *committing) preview(ctx context.Context, s *toolcall.Target) (*Change, error) {
	if s.Kind == fsys.Missing {
		return w.plan(ctx, s, nil)
	}
	f, err := s.Open()
	if err != nil {
		return nil, err
	}
	defer f.Close()
	leave, err := w.by.Loader.Admit(ctx, s.Stamp.Size)
	if err != nil {
		return nil, err
	}
	defer leave()
	return w.plan(ctx, s, f)
}

// plan asks the planner. Neither its answer nor its error shows anything of a hidden
// file.
func (w *committing) plan(ctx context.Context, s *toolcall.Target, old *fsys.File) (*Change, error) {
	c, err := w.planner.Plan(ctx, s, old)
	switch {
	case !s.Hidden:
		return c, err
	case err != nil:
		rec, known := w.call.Session.Files.Get(s.Path)
		_, err = toolcall.ShownIn(err)
		return nil, refusal.Hidden{Name: s.Name(), Read: known, Whole: known && rec.InFull(), Huge: s.Stamp.Size > toolcall.MaxEditBytes}.Refusal(err)
	}
	c.Shown, c.Notebook = nil, false
	return c, nil
}

// fileLock is the lock of a file among processes, and where the call makes a part of a git
// repository, that of such parts. These are made one at a time: each is decided on by the
// others that are there, so no two may be decided on before either is made.
type fileLock struct{ file, parts *save.Lock }

// lock takes the lock of the name that s leads to.
func (c *Committer) lock(ctx context.Context, s *toolcall.Target) (l fileLock, err error) {
	if s.Kind == fsys.Missing && c.Opener.Access.Policy().RepositoryParts(s.Names) {
		if l.parts, err = c.Saver.LockPurpose(ctx, "repository parts"); err != nil {
			return l, err
		}
	}
	if l.file, err = c.Saver.Lock(ctx, s.Target); err != nil {
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
func (w *committing) openAgain(s *toolcall.Target, lock fileLock) (*toolcall.Target, error) {
	now, err := w.by.Opener.Open(w.call, w.op)
	if err != nil {
		return nil, err
	}
	if now.Path != s.Path || !lock.file.Covers(now.Target) {
		now.Close()
		return nil, access.ErrElsewhere
	}
	now.AfterHooks = w.passed == now.Path
	return now, nil
}

// replace makes the change. The history has recorded the old bytes before the new ones
// can be seen.
func replace(ctx context.Context, txn *save.Txn, c *Change, recorded waitForMark) (save.Outcome, error) {
	if c.From != nil && c.Stamp.Size <= state.InMemory {
		txn.Known(c.Stamp.Size, func() [32]byte { return c.From.Sum() })
	}
	txn.Before(func() error { _, err := recorded(); return err })
	if c.Remove {
		return txn.Remove(ctx)
	}
	return txn.Replace(ctx, c.Splices)
}

// record moves the conversation's record to the new bytes.
func (w *committing) record(now *toolcall.Target, c *Change, out save.Outcome) {
	files := w.call.Session.Files
	if c.Remove {
		files.Forget(now.Path)
		return
	}
	if c.Now != nil {
		sum := c.Now.Sum()
		c.Result.Meta["fsmcp/hash"] = hex.EncodeToString(sum[:])
		if c.Notebook && c.Now.Raw != nil {
			c.Result.Next = toolcall.Parsed{Path: now.Path, Content: c.Now}
		}
	}
	if c.parts != nil {
		c.Record.Parts = c.parts()
	}
	c.Record.Stamp = out.Stamp // too young to prove anything: the next gate looks at the bytes
	files.Put(now.Path, c.Record)
	if c.Shown != nil {
		c.Result.Shown = append(c.Result.Shown, toolcall.Shown{Path: now.Path, Record: state.Record{Parts: c.Shown}, Added: true})
	}
}

// notMade notes that a change was not made, unless it was after all.
func (c *Committer) notMade(mark *history.Mark, out save.Outcome, err error) error {
	if e := (*save.IOError)(nil); !errors.As(err, &e) || !e.Changed {
		mark.Void()
	}
	c.Notices.Add(saved(out.Saved)...)
	c.Notices.Add(rescued(out.Rescued)...)
	return err
}

// fits reports whether a change that was worked out earlier fits the file that is about to be
// replaced: the file has the bytes that it was worked out from. An equal stamp does not
// prove that, since a program that writes through a memory map can change a file without a
// new one. From here on it cannot: a file that is mapped for writing gives no lease.
func fits(c *Change, old *fsys.File) bool {
	switch {
	case old == nil || c.Stamp == fsys.Stamp{}:
		return old == nil && c.Stamp == fsys.Stamp{}
	case c.From != nil:
		return hasBytes(old, c.From.Raw)
	}
	return c.Stamp.Size == 0 && hasBytes(old, nil)
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
func remark(r *toolcall.Result, out save.Outcome, mark *history.Mark) *toolcall.Result {
	var notes []string
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
func (c *Committer) asking(s *toolcall.Target, to *Change) error {
	switch {
	case s.Question == nil:
		return nil
	case s.Kind == fsys.Regular && save.ReadOnly(s.Stamp):
		return save.ErrReadOnly
	}
	return toolcall.NeedConsent(s.Question, to.intent(), c.Opener.SettingsFile())
}
