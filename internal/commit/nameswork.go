package commit

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/fsmcp/fsmcp/internal/access"
	"github.com/fsmcp/fsmcp/internal/fsys"
	"github.com/fsmcp/fsmcp/internal/history"
	"github.com/fsmcp/fsmcp/internal/perm"
	"github.com/fsmcp/fsmcp/internal/phrase"
	"github.com/fsmcp/fsmcp/internal/refusal"
	"github.com/fsmcp/fsmcp/internal/reminders"
	"github.com/fsmcp/fsmcp/internal/save"
	"github.com/fsmcp/fsmcp/internal/state"
	"github.com/fsmcp/fsmcp/internal/toolcall"
)

// errNoTime ends a call between two entries.
var errNoTime = errors.New("the time of one call was over")

// nameMaker makes the steps of a call, under its locks.
type nameMaker struct {
	*naming
	locks *save.Locks
	disk  *save.NamesTxn
	batch batchRecorder // of a delete
}

// run makes the steps in order, under the locks, until one fails. failed is its number,
// that of all steps if none does.
func (n *nameMaker) run(ctx context.Context) (failed int, why error) {
	disk, err := n.by.Saver.Names(ctx)
	if err != nil {
		return 0, err
	}
	n.disk = disk
	defer func() {
		disk.Finish()
		disk.Close()
		history.Done(n.marks)
		if disk.DurabilityUnknown() {
			n.out.Facts.Durability = "unknown"
		}
		if lost, in := disk.NoState(); lost != nil {
			n.out.Note(remarks(save.Written{NoState: lost, StateInTemp: in}, nil)...)
		}
	}()
	if n.Operation == history.OpDelete {
		return n.deleteAll(ctx)
	}
	return n.moveAll(ctx)
}

// late returns why no further step is begun.
func (n *nameMaker) late(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return context.Cause(ctx)
	}
	if time.Since(n.begun) > namesTime {
		return errNoTime
	}
	return nil
}

// openAgain resolves and decides on a name again, under the locks.
func (n *nameMaker) openAgain(op perm.Op, path fsys.Path, was string) (*access.AllowedFile, error) {
	f, err := n.open(op, path, nil)
	if err != nil {
		return nil, n.by.Opener.Refusal(op, err)
	}
	switch {
	case f.Question != nil: // the rules have changed, or what earlier steps have made asks
		err = refusal.NeedsConsent(f.Question, n.by.Opener.SettingsFile())
	case f.Path != was:
		err = access.ErrElsewhere
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

func (n *nameMaker) onDisk(ctx context.Context, from, to *access.AllowedFile) (save.Moved, error) {
	if n.Operation == history.OpCopy {
		return n.disk.Copy(ctx, from.Target, to.Target)
	}
	return n.disk.Move(ctx, from.Target, to.Target)
}

// belowNow decides again on what lies below a folder.
func (n *nameMaker) belowNow(s *nameStep, from *access.AllowedFile) (access.Below, error) {
	n.tree = nameTree{} // what was made is on the disk
	b, err := n.belowOf(s, from)
	if err == nil && b.Question != nil {
		err = refusal.NeedsConsent(b.Question, n.by.Opener.SettingsFile())
	}
	return b, err
}

// moved has the conversation's records follow a name that was moved, and those of what lies
// below it. The old records stay with the old names.
func (n *nameMaker) moved(s *nameStep, from, to *access.AllowedFile, m save.Moved) {
	for _, name := range m.Left {
		n.out.Note(fmt.Sprintf("(What was at the old name could not be removed and lies in %s; the next start of fsmcp removes it.)", fsys.InSentence(name)))
	}
	session := n.call.Session
	for _, path := range session.Files.Below(from.Path) {
		rec, known := session.Files.Get(path)
		if !known {
			continue
		}
		now := to.Path
		if rest, _ := fsys.Below(from.Path, path); rest != "" {
			now = fsys.Join(to.Path, rest)
		}
		if path == from.Path && s.kind == fsys.Regular {
			rec.Stamp = m.Stamp
		}
		rec.Settled = false
		session.Changed(now, &rec)
		n.out.Moved = append(n.out.Moved, reminders.FoundFile{Path: now, Stamp: rec.Stamp})
		if n.Operation == history.OpMove {
			session.Reminders.ReportedGone(path)
		}
	}
}

// gateDelete refuses to delete a file that was shown and has changed since.
func (n *naming) gateDelete(ctx context.Context, s *nameStep) toolcall.Outcome {
	if s.kind == fsys.Regular {
		return n.gateFile(ctx, s.from)
	}
	for _, path := range n.call.Session.Files.Below(s.from.Path) {
		f, err := n.by.Opener.Access.EntryAt(path)
		if err != nil || f.Kind != fsys.Regular {
			continue
		}
		out := n.gateFile(ctx, &access.AllowedFile{Target: f, Op: perm.Delete})
		f.Close()
		if out.Err != nil {
			return out
		}
	}
	return toolcall.Outcome{}
}

// gateFile refuses to delete one file that was shown and has changed since.
func (n *naming) gateFile(ctx context.Context, f *access.AllowedFile) toolcall.Outcome {
	rec, known := n.call.Session.Files.Get(f.Path)
	if !known || f.Kind != fsys.Regular {
		return toolcall.Outcome{}
	}
	file, err := f.Open()
	if err != nil {
		return toolcall.Failed(err)
	}
	defer file.Close()
	stamp, err := file.Stamp()
	if err != nil {
		return toolcall.Failed(err)
	}
	was, err := state.Compare(file, stamp.Size, rec, nil)
	if err != nil {
		return toolcall.Failed(err)
	}
	if !was.Changed {
		return toolcall.Outcome{}
	}
	target := &toolcall.Target{AllowedFile: f}
	changed := toolcall.Failed(refusal.New(refusal.ChangedBefore, target.Name()))
	if n.hides(f) || stamp.Size > state.InMemory {
		return changed
	}
	g := gateOf(target, n.by.Budget.ForClient(n.call.Client))
	if g.File, err = n.by.Loader.LoadText(ctx, n.call.Session, target, file); err != nil {
		return changed
	}
	return g.Changed(everything)
}

// deleteAll deletes the names: everything is put into the history before the first name goes.
func (n *nameMaker) deleteAll(ctx context.Context) (failed int, why error) {
	n.batch = n.by.batch()
	all, why := n.keepAll(ctx)
	if why != nil {
		for _, m := range n.marks {
			m.Void()
		}
		n.batch.Discard()
		return n.noneDeleted(min(len(all), len(n.steps)-1), why)
	}
	if n.by.Saver.Durability() != save.None {
		if err := history.SyncMarks(n.marks); err != nil {
			return n.noneDeleted(0, &history.KeepError{Err: err})
		}
	}
	last := 0
	for ; last < len(all) && why == nil; last++ {
		if why = n.late(ctx); why == nil {
			why = n.disk.Remove(ctx, all[last].Removal)
		}
	}
	n.disk.Finish()
	return n.allDeleted(all, why)
}

// keepAll decides on all names again and puts everything into the history. all are those that
// came before an error.
func (n *nameMaker) keepAll(ctx context.Context) (all []kept, why error) {
	end := func() {}
	defer func() { end() }()
	for i, s := range n.steps {
		if i%together == 0 {
			end()
			end = resolveTogether(n.naming)
		}
		if why := n.late(ctx); why != nil {
			return all, why
		}
		k, why := n.keep(ctx, s)
		if why != nil {
			return all, why
		}
		all = append(all, k)
	}
	if why = n.batch.Flush(); why == nil {
		why = n.missed()
	}
	return all, why
}

// missed returns why something could not be kept that the user was not asked to lose.
func (n *nameMaker) missed() error {
	for _, m := range n.marks {
		if len(n.unkept) == 0 && m != nil && m.Missed != nil {
			return &history.KeepError{Err: m.Missed}
		}
	}
	return nil
}

// noneDeleted is the end of a call that deleted nothing. The first failed entry has no number
// among those made.
func (n *nameMaker) noneDeleted(i int, why error) (failed int, err error) {
	if len(n.steps) > 1 {
		n.out.Facts.Failed = &[]toolcall.FailedEntry{{Index: n.steps[i].Index, Error: refusal.Of("", why).Slug}}
	}
	return 0, why
}

// allDeleted notes what is gone after the disk has finished. failed is the first name that is
// not, and why the reason.
func (n *nameMaker) allDeleted(all []kept, why error) (failed int, err error) {
	failed = len(all)
	for i, k := range all {
		gone := true
		for j := range k.Count() {
			if !k.Gone(j) {
				n.marks[k.from+j].Void()
				gone = false
			}
		}
		for _, d := range k.files {
			if k.Gone(d.item) {
				n.deleted(d)
			}
		}
		if n.steps[i].made = gone; gone {
			path := n.steps[i].from.Path
			n.out.Names = append(n.out.Names, toolcall.NameChange{Operation: string(n.Operation), Path: path, Size: n.steps[i].stamp.Size})
		} else if failed == len(all) {
			failed = i
			switch {
			case k.Err() != nil:
				why = k.Err()
			case why == nil:
				why = save.ErrModified
			}
		}
	}
	return failed, why
}

// kept is a name that the history has, before it is removed.
type kept struct {
	*save.Removal
	from  int // its first mark; there is one for each item
	files []deletion
}

// deletion is a file that was put into the history to be deleted.
type deletion struct {
	item int
	path string
	toolcall.Deleted
}

// keep looks at one name and all below it again, decides on it, and puts it into the history.
func (n *nameMaker) keep(ctx context.Context, s *nameStep) (k kept, err error) {
	if together > 1 && isDeleteAsDecided(n, s) {
		k, err = n.keepNow(ctx, s, s.from)
		if !errors.Is(err, save.ErrModified) && !errors.Is(err, save.ErrVanished) {
			return k, err
		}
		for _, m := range n.marks[k.from:] {
			m.Void()
		}
	}
	from, err := n.openAgain(perm.Delete, s.From, s.from.Path)
	if err != nil {
		return k, err
	}
	defer from.Close()
	if !n.locks.Covers(from.Target) {
		return k, access.ErrElsewhere
	}
	if out := n.gateDelete(ctx, &nameStep{from: from, kind: from.Kind}); out.Err != nil {
		n.out.Shown = append(n.out.Shown, out.Shown...)
		return k, out.Err
	}
	return n.keepNow(ctx, s, from)
}

// keepNow puts what is to be deleted into the history, after the decision on its name.
func (n *nameMaker) keepNow(ctx context.Context, s *nameStep, from *access.AllowedFile) (k kept, err error) {
	k.from = len(n.marks)
	var below map[string]bool
	if from.Kind == fsys.Directory {
		if s.below, err = n.belowNow(s, from); err != nil {
			return k, err
		}
		below = make(map[string]bool, len(s.below.Files))
		for _, name := range s.below.Files {
			below[name] = true
		}
	}
	if !s.begun {
		change := toolcall.NameChange{Operation: string(n.Operation), Path: from.Path, Size: from.Stamp.Size}
		if err := n.by.Auditor.BeginName(n.call, n.tool(), change); err != nil {
			return k, err
		}
		s.begun = true
	}
	visit := func(i save.Item) error {
		if i.Kind != fsys.Directory && i.Path != from.Path && !below[i.Path] { // it came after the decision
			return save.ErrModified
		}
		return nil
	}
	if k.Removal, err = n.disk.Look(ctx, from.Target, n.Recursive, visit); err != nil {
		return k, err
	}
	err = k.Keep(ctx, func(item save.Kept) (save.Deposit, error) {
		if item.Kind == fsys.Regular {
			k.files = append(k.files, n.deletion(len(n.marks)-k.from, item))
		}
		return n.deposit(ctx, item)
	})
	return k, err
}

// deletion returns the facts that the conversation remembers of a deleted file.
func (n *nameMaker) deletion(i int, item save.Kept) deletion {
	d := deletion{i, item.Path, toolcall.Deleted{Group: n.call.Group, Size: item.Stamp.Size}}
	if item.Stamp.Size <= toolcall.ShowUnseen {
		d.Raw = item.Raw
	}
	return d
}

// deposit puts one file, link or folder into the history.
func (n *nameMaker) deposit(ctx context.Context, item save.Kept) (save.Deposit, error) {
	change := history.RemovalChange(item)
	change.Session, change.Tool, change.Call, change.Group = n.call.Session.ID, n.tool(), n.call.ID, n.call.Group
	mark, err := n.batch.Keep(ctx, change)
	if err != nil {
		return save.Deposit{}, err
	}
	n.marks = append(n.marks, mark)
	return mark.Deposit(), nil
}

// deleted has the conversation remember a file that was deleted: one that was shown in full
// may be made anew, and one that was not meets the gate as if it were there.
func (n *nameMaker) deleted(d deletion) {
	session := n.call.Session
	rec, known := session.Files.Get(d.path)
	if whole := known && rec.InFull(); !whole && d.Size > 0 {
		session.NoteDeleted(d.path, d.Deleted)
	}
	if known {
		session.Reminders.ReportedGone(d.path)
		session.Changed(d.path, nil)
	}
}

// answer is the answer to the call, once its steps are made.
func (n *naming) answer(failed int, why error) toolcall.Outcome {
	if failed == 0 && why != nil {
		n.out.Err = why
		if errors.Is(why, errNoTime) {
			n.out.Err = context.DeadlineExceeded
		}
		return n.out
	}
	n.out.Body = n.made()
	n.remark()
	if why == nil {
		return n.out
	}
	n.out.Names = append(n.out.Names, toolcall.NameChange{Operation: string(n.Operation), Path: n.steps[min(failed, len(n.steps)-1)].from.Path, Err: why})
	return n.partial(failed, why)
}

// partial is the refusal of a call that made some of its steps.
func (n *naming) partial(failed int, why error) toolcall.Outcome {
	out := n.out
	made := phrase.Thousands(failed)
	if failed > 1 {
		made = "1-" + made
	}
	var text string
	switch {
	case failed >= len(n.steps): // only the end failed
		text = fmt.Sprintf("All %d were %s, but the end of it failed (%s).", failed, done(n.Operation), refusal.Of("", why).Text)
	case errors.Is(why, errNoTime), errors.Is(why, context.DeadlineExceeded), errors.Is(why, context.Canceled):
		text = fmt.Sprintf("%s %s, the rest not (%s). Make the call again with the rest.", made, done(n.Operation), phrase.Cause(why))
	default:
		text = fmt.Sprintf("%s %s, %d failed (%s), the rest not.", made, done(n.Operation), failed+1, refusal.Of(n.steps[failed].From.String(), why).Text)
	}
	entries := make([]toolcall.FailedEntry, 0, len(n.steps)-failed)
	if failed < len(n.steps) {
		entries = append(entries, toolcall.FailedEntry{Index: n.steps[failed].Index, Error: refusal.Of("", why).Slug})
	}
	out.Err = refusal.New(refusal.NamesPartial, toolcall.Joined(append([]string{text, out.Body}, out.Notes...)...))
	out.Facts.Failed = &entries
	return out
}

// made says what was made: a line for each of a few names, else their number.
func (n *naming) made() string {
	verb := map[history.Operation]string{history.OpMove: "Moved", history.OpCopy: "Copied", history.OpDelete: "Deleted"}[n.Operation]
	var lines []string
	count := 0
	for _, s := range n.steps {
		if !s.made {
			continue
		}
		if count++; count <= listed {
			lines = append(lines, verb+" "+n.line(s)+".")
		}
	}
	if count > listed {
		lines = append(lines, fmt.Sprintf("… and %s more (%s in all).", phrase.Thousands(count-listed), phrase.Thousands(count)))
	}
	return toolcall.Joined(lines...)
}

// remark adds what the caller has to know beside that.
func (n *naming) remark() {
	links, first := 0, ""
	for _, s := range n.steps {
		if s.made && s.kind == fsys.Regular && s.links > 0 && n.Operation != history.OpCopy {
			if links++; first == "" {
				first = fsys.InSentence(s.From.String())
			}
		}
	}
	switch {
	case links == 1:
		n.out.Note(fmt.Sprintf("(%s has other names, hard links: they stay, with what the file holds.)", first))
	case links > 1:
		n.out.Note(fmt.Sprintf("(%d of the files, such as %s, have other names, hard links: they stay, with what the files hold.)", links, first))
	}
	if n.Operation == history.OpDelete && len(n.unkept) == 0 {
		n.out.Facts.Group = n.call.Group
		n.out.Note(fmt.Sprintf("(The user gets back what was deleted by: fsmcp history restore --group %s)", n.call.Group))
	}
	if n.Operation == history.OpDelete && len(n.unkept) > 0 {
		n.out.Note(fmt.Sprintf("(fsmcp's history does not have %s: it cannot be restored.)", listOf(n.unkept, "these")))
	}
	if n.out.Facts.Durability != "" {
		n.out.Note("(It is done, but the disk did not confirm that it survives a loss of power.)")
	}
	n.out.Note(n.Remarks...)
}
