package commit

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"time"

	"github.com/fsmcp/fsmcp/internal/access"
	"github.com/fsmcp/fsmcp/internal/fsys"
	"github.com/fsmcp/fsmcp/internal/history"
	"github.com/fsmcp/fsmcp/internal/perm"
	"github.com/fsmcp/fsmcp/internal/phrase"
	"github.com/fsmcp/fsmcp/internal/refusal"
	"github.com/fsmcp/fsmcp/internal/save"
	"github.com/fsmcp/fsmcp/internal/state"
	"github.com/fsmcp/fsmcp/internal/toolcall"
)

// Many is a call with edits of several files. Each file is changed once, by all of its edits.
type Many struct {
	Files []toolcall.FileArgument // of each edit
	// Planner returns the planner of one file, by the indexes of its edits. files are so many
	// in all.
	Planner func(edits []int, files int) Planner
}

// FileOutcome is the outcome of one file of a call.
type FileOutcome struct {
	toolcall.Outcome
	Name  string // as an answer shows it
	Edits []int
	Made  bool // the file was changed
}

// ManyOutcome is the outcome of a call. Outcome is set if the call was refused as a whole.
type ManyOutcome struct {
	toolcall.Outcome
	Files []FileOutcome // in the order in which the call names them first
	Group string        // of the changes in the history
}

// Bounds of a call.
const (
	mostTogether = 256 << 20 // bytes of all files
	// manyTime is the time after its hooks and locks at which a call stops between files, since the
	// locks keep others waiting.
	manyTime    = 25 * time.Second
	askedListed = 20 // names that a question lists
)

// manyEdits is a call of Many under way.
type manyEdits struct {
	Many
	by    *Committer
	call  toolcall.Call
	begun time.Time
	files []*manyFile
	out   toolcall.Outcome // of the call as a whole
	moved bool             // a name leads elsewhere by now, and no file was changed
}

// manyFile is one file of the call.
type manyFile struct {
	work   committing
	target *toolcall.Target // nil if the file cannot be opened
	name   string
	edits  []int
	change *Plan
	ready  *readyChange // while it is being saved
	made   applied
	out    toolcall.Outcome
}

func (f *manyFile) wasMade() bool { return f.made.change != nil }

// CommitMany changes several files. All are planned first: if one change is refused, none is
// made. Then it asks once, runs all hooks before, locks all names, plans again what has changed
// meanwhile, saves one file after the other, and runs all hooks after. A failure in the middle
// stops it.
func (c *Committer) CommitMany(ctx context.Context, call toolcall.Call, many Many) ManyOutcome {
	call.Group = history.NewGroup()
	for try := 1; ; try++ {
		m := &manyEdits{Many: many, by: c, call: call}
		m.run(ctx)
		if try < attempts && m.moved && ctx.Err() == nil {
			continue
		}
		return m.outcome()
	}
}

func (m *manyEdits) run(ctx context.Context) {
	defer m.close()
	m.open()
	if m.out = m.bound(); m.out.Err != nil {
		return
	}
	unlock, err := m.lockPaths(ctx)
	if err != nil {
		m.out = toolcall.Failed(err)
		return
	}
	defer unlock()
	if !m.preview(ctx) {
		return
	}
	if m.out = m.needsConsent(); m.out.Err != nil {
		return
	}
	var targets []*toolcall.Target
	for _, f := range m.files {
		if err := f.work.beforeHooks(ctx, f.target, f.change); err != nil {
			m.out = toolcall.Failed(err)
			return
		}
		targets = append(targets, f.target)
	}
	locks, err := m.by.lock(ctx, targets...)
	if err != nil {
		m.out = toolcall.Failed(err)
		return
	}
	defer locks.Unlock()
	m.begun = time.Now()
	if m.checkAgain(ctx, locks) {
		for _, f := range m.files {
			defer f.work.beginServers(f.target)()
		}
		m.saveAll(ctx, locks)
	}
	locks.Unlock()
	m.finish(ctx)
}

// open resolves and decides on all files. Two names of one file are one file.
func (m *manyEdits) open() {
	byKey := make(map[string]*manyFile)
	for i, arg := range m.Files {
		if f := byKey[arg.Key]; f != nil {
			f.edits = append(f.edits, i)
			continue
		}
		f := &manyFile{name: fsys.InSentence(arg.Key), edits: []int{i}}
		call := m.call
		call.File = arg
		f.work = committing{by: m.by, call: call, op: perm.MultiEdit}
		s, out := m.by.Opener.Open(call, perm.MultiEdit)
		if out.Err == nil {
			f.target, f.name, f.work.hidden = s, s.Name(), s.Hidden
			s.Named = true
			if err := m.by.Opener.Irregular(s); err != nil {
				out = toolcall.Failed(err)
			} else if same := m.sameFile(s); same != nil && same.target.Path == s.Path {
				byKey[arg.Key] = same
				same.edits = append(same.edits, i)
				s.Close()
				continue
			} else if same != nil {
				out = toolcall.Failed(refusal.New(refusal.HardLinked, f.name, same.name))
			}
		}
		f.out = out
		byKey[arg.Key] = f
		m.files = append(m.files, f)
	}
	for _, f := range m.files {
		slices.Sort(f.edits)
		f.work.planner = m.Planner(f.edits, len(m.files))
	}
}

// sameFile returns the file that has the name of s, or another hard link to the same file; nil
// if there is none.
func (m *manyEdits) sameFile(s *toolcall.Target) *manyFile {
	for _, f := range m.files {
		if t := f.target; t != nil && (t.Path == s.Path || t.Kind == fsys.Regular && s.Kind == fsys.Regular && t.Stamp.SameFile(s.Stamp)) {
			return f
		}
	}
	return nil
}

// bound refuses a call whose files are too large together.
func (m *manyEdits) bound() toolcall.Outcome {
	sum, large := int64(0), 0
	for _, f := range m.files {
		if f.target == nil {
			continue
		}
		if sum += f.target.Stamp.Size; f.target.Stamp.Size > state.InMemory {
			large++
		}
	}
	if sum > mostTogether || large > 1 {
		return toolcall.Failed(refusal.New(refusal.TooLargeTogether, phrase.Bytes(sum)))
	}
	return toolcall.Outcome{}
}

// lockPaths takes the conversation's locks of all files.
func (m *manyEdits) lockPaths(ctx context.Context) (unlock func(), err error) {
	var paths []string
	for _, f := range m.files {
		if f.target != nil {
			paths = append(paths, f.target.Path)
		}
	}
	return m.call.Session.Files.LockAll(ctx, paths)
}

// preview plans all changes, and reports whether all can be made.
func (m *manyEdits) preview(ctx context.Context) (ok bool) {
	ok = true
	for _, f := range m.files {
		if f.out.Err == nil {
			f.out = m.planFile(ctx, f)
		}
		if f.out.Err == nil && f.target.Kind == fsys.Regular && save.ReadOnly(f.target.Stamp) {
			f.out = toolcall.Failed(save.ErrReadOnly)
		}
		ok = ok && f.out.Err == nil
	}
	return ok
}

// planFile plans the change of one file. A file that the conversation has deleted unseen is
// shown before another takes its name.
func (m *manyEdits) planFile(ctx context.Context, f *manyFile) toolcall.Outcome {
	f.change = f.work.preview(ctx, f.target)
	if s := f.target; s.Kind == fsys.Missing && f.change.Outcome.Err == nil {
		return m.call.Session.Recall(s.Path, s.Hidden, m.by.Budget.ForClient(m.call.Client))
	}
	return f.change.Outcome
}

// needsConsent refuses a call that needs the user's consent, with one question for all files.
func (m *manyEdits) needsConsent() toolcall.Outcome {
	var q toolcall.ManyNames
	for _, f := range m.files {
		ask := f.target.Question
		if ask == nil {
			continue
		}
		if q.First == nil {
			q.First = ask
		}
		q.Permissions = append(q.Permissions, toolcall.Permission{Op: ask.Op, Path: ask.Resolved})
	}
	if q.First == nil {
		return toolcall.Outcome{}
	}
	q.What = m.intent()
	return toolcall.NeedConsentToMany(q, m.by.Opener.SettingsFile(), nil)
}

// intent tells the user what the call will do: all files, and the beginnings of their diffs.
func (m *manyEdits) intent() string {
	var b strings.Builder
	fmt.Fprintf(&b, "Edit %s?", phrase.Plural(len(m.files), "this file", fmt.Sprintf("these %d files", len(m.files))))
	n := min(len(m.files), askedListed)
	for _, f := range m.files[:n] {
		fmt.Fprintf(&b, "\n%s: %s", f.name, f.change.intentWithin(max(askLines/n, 2), askChars/n))
	}
	if more := len(m.files) - n; more > 0 {
		fmt.Fprintf(&b, "\n… and %d more", more)
	}
	return b.String()
}

// checkAgain decides on all files again and plans again what hooks or other programs have
// changed meanwhile. It reports whether all changes can still be made.
func (m *manyEdits) checkAgain(ctx context.Context, locks *save.Locks) (ok bool) {
	ok = true
	for _, f := range m.files {
		f.out = m.checkFile(ctx, f, locks)
		if f.out.Err != nil {
			ok = false
			m.moved = m.moved || isElsewhere(f.out.Err)
		}
	}
	return ok
}

func isElsewhere(err error) bool {
	return errors.Is(err, access.ErrElsewhere) || errors.Is(err, fsys.ErrMoved)
}

func (m *manyEdits) checkFile(ctx context.Context, f *manyFile, locks *save.Locks) toolcall.Outcome {
	now, out := f.work.openAgain(f.target, locks)
	if out.Err != nil {
		return out
	}
	defer now.Close()
	defer now.Drop()
	var old *fsys.File
	if now.Kind != fsys.Missing {
		var err error
		if old, err = now.Open(); err != nil {
			return toolcall.Failed(err)
		}
		defer old.Close()
	}
	if now.Hidden != f.target.Hidden || !fits(f.change, old) {
		f.target.Drop()
		f.change = f.work.plan(ctx, now, old)
	}
	return f.change.Outcome
}

// saveAll saves one file after the other, up to the first that fails. The bytes of some files
// are written and synced at once beforehand: the disk makes that last together.
func (m *manyEdits) saveAll(ctx context.Context, locks *save.Locks) {
	for rest := m.files; len(rest) > 0; {
		n := min(stagedTogether, len(rest))
		if !m.saveSome(ctx, locks, rest[:n]) {
			return
		}
		rest = rest[n:]
	}
}

// stagedTogether bounds the files that are open with their new bytes beside them. Only tests
// change it.
var stagedTogether = 20

// saveSome saves some files in order, and reports whether all could be saved. What is ready
// before a file that is not is saved.
func (m *manyEdits) saveSome(ctx context.Context, locks *save.Locks, files []*manyFile) (ok bool) {
	defer func() {
		for _, f := range files {
			if f.ready != nil {
				f.ready.close()
				f.ready = nil
			}
		}
	}()
	last := len(files)
	for i, f := range files {
		if f.ready, f.out = f.work.ready(ctx, f.target, locks, f.change); f.out.Err != nil {
			last = i
			m.moved = f == m.files[0] && isElsewhere(f.out.Err)
			break
		}
		if f.ready != nil {
			f.ready.stage()
		}
	}
	saving := &savingMany{manyEdits: m}
	defer saving.end()
	begun := saving.begin(ctx, files[:last])
	return saving.settle() && begun && last == len(files)
}

// savingMany saves files whose new bytes are ready. All of them show before their folders are
// synced, once for all; then each is checked once more, as for one file alone.
type savingMany struct {
	*manyEdits
	shown []shownFile
}

// shownFile is a file that shows its new bytes.
type shownFile struct {
	*manyFile
	goOn   func() (struct{}, bool)
	giveUp func() // has no effect once it went on
}

// begin has files show their new bytes, in order, up to the first that fails. It reports whether
// none did.
func (m *savingMany) begin(ctx context.Context, files []*manyFile) (ok bool) {
	for _, f := range files {
		if f.ready == nil {
			continue // there is nothing to do
		}
		if f != m.files[0] && time.Since(m.begun) > manyTime {
			f.out = toolcall.Failed(refusal.New(refusal.NoTimeLeft))
			return false
		}
		goOn, giveUp := iter.Pull(func(yield func(struct{}) bool) {
			f.ready.txn.Together(func() error {
				if yield(struct{}{}) {
					return nil
				}
				return save.ErrStopped
			})
			f.made = f.work.make(ctx, f.ready)
		})
		m.shown = append(m.shown, shownFile{f, goOn, giveUp})
		if _, waits := goOn(); waits {
			continue
		}
		m.shown = m.shown[:len(m.shown)-1]
		if !m.saved(f) {
			return false
		}
	}
	return true
}

// settle ends the changes of the files that begin has begun, up to the first that fails; those
// after it are undone, the last one first. It reports whether none failed.
func (m *savingMany) settle() (ok bool) {
	var all []*save.Txn
	for _, f := range m.shown {
		all = append(all, f.ready.txn)
	}
	if len(all) > 0 {
		save.SyncTogether(all)
	}
	for len(m.shown) > 0 {
		f := m.shown[0]
		f.goOn()
		m.shown = m.shown[1:]
		if !m.saved(f.manyFile) {
			return false
		}
	}
	return true
}

// saved notes how the change of a file went, and reports whether it was made.
func (m *savingMany) saved(f *manyFile) bool {
	f.out = f.made.Outcome
	f.target.Drop()
	if f.out.Err != nil {
		m.moved = f == m.files[0] && isElsewhere(f.out.Err)
	}
	return f.out.Err == nil
}

// takeBack gives the old file its name back. Only tests replace it.
var takeBack = func(f shownFile) { f.giveUp() }

// end undoes what was begun and has not come to its end.
func (m *savingMany) end() {
	for _, f := range slices.Backward(m.shown) {
		takeBack(f)
		f.out = f.made.Outcome
		if changed := (*save.IOError)(nil); errors.Is(f.out.Err, save.ErrStopped) && !errors.As(f.out.Err, &changed) {
			f.out = toolcall.Outcome{} // as if it had not been tried
		}
	}
	m.shown = nil
}

// finish runs the hooks after and tells language servers, for each file that was changed.
func (m *manyEdits) finish(ctx context.Context) {
	for _, f := range m.files {
		if !f.wasMade() {
			continue
		}
		f.work.afterHooks(ctx, f.target, &f.made)
		m.call.Session.Changed(f.target.Path, f.made.record)
		f.work.tellServers(ctx, f.target, f.made)
		f.out = f.made.Outcome
	}
}

// close closes all files.
func (m *manyEdits) close() {
	for _, f := range m.files {
		if f.target != nil {
			f.target.Drop()
			f.target.Close()
		}
	}
}

func (m *manyEdits) outcome() ManyOutcome {
	all := ManyOutcome{Outcome: m.out, Group: m.call.Group}
	for _, f := range m.files {
		if f.work.hidden {
			f.out.Hide()
		}
		if f.target != nil {
			f.out.SetFile(f.target)
		}
		all.Files = append(all.Files, FileOutcome{Outcome: f.out, Name: f.name, Edits: f.edits, Made: f.wasMade()})
	}
	return all
}
