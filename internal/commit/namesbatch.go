package commit

import (
	"context"
	"errors"
	"time"

	"github.com/fsmcp/fsmcp/internal/access"
	"github.com/fsmcp/fsmcp/internal/fsys"
	"github.com/fsmcp/fsmcp/internal/history"
	"github.com/fsmcp/fsmcp/internal/perm"
	"github.com/fsmcp/fsmcp/internal/perm/glob"
	"github.com/fsmcp/fsmcp/internal/refusal"
	"github.com/fsmcp/fsmcp/internal/save"
	"github.com/fsmcp/fsmcp/internal/toolcall"
)

// together bounds the names that are looked at together before the first of them is changed: each
// folder is resolved once for them, and the history has one write. Only tests change it.
var together = 64

// Tests replace these by wrong ones, which others have to catch.
var (
	countIndependent  = (*nameMaker).independent
	isAsDecided       = (*nameMaker).isAsDecided
	isDeleteAsDecided = (*nameMaker).isDeleteAsDecided
)

// freshFor bounds the age of a decision: names that are not moved by then are looked at again,
// fewer at a time.
const freshFor = 10 * time.Millisecond

// readyMove is a step that was decided on under the locks.
type readyMove struct {
	*nameStep
	now, new *access.AllowedFile // the old and the new name as they are
	opened   bool                // for this step alone, under the locks
	mark     *history.Mark
}

func (m *readyMove) close() {
	if m.opened {
		m.now.Close()
		m.new.Close()
	}
}

// moveAll moves or copies all names in order, until one fails: failed is its number.
func (n *nameMaker) moveAll(ctx context.Context) (failed int, why error) {
	most := together
	for failed < len(n.steps) && why == nil {
		some := n.steps[failed:]
		some = some[:countIndependent(n, some[:min(most, len(some))])]
		var made int
		made, why = n.moveSome(ctx, some)
		if failed += made; made < len(some) {
			most = max(made, 1)
		} else {
			most = min(2*most, together)
		}
	}
	return failed, why
}

// moveSome moves some names that do not depend on each other: it decides on all of them, puts
// them into the history, and moves them. made counts those that it has moved: without an error
// it may leave some, but moves one at least.
func (n *nameMaker) moveSome(ctx context.Context, steps []*nameStep) (made int, why error) {
	if why := n.late(ctx); why != nil {
		return 0, why
	}
	begun := time.Now()
	defer resolveTogether(n.naming)()
	var ready []*readyMove
	defer func() {
		for _, m := range ready {
			m.close()
		}
	}()
	for _, s := range steps {
		var m *readyMove
		if m, why = n.ready(s); why != nil {
			break
		}
		ready = append(ready, m)
	}
	if err := n.record(ctx, ready); err != nil {
		return 0, err
	}
	for i, m := range ready {
		err, late := error(nil), i > 0 && time.Since(begun) > freshFor
		if !late {
			err = n.move(ctx, m)
		}
		if err != nil || late {
			for _, not := range ready[i:] {
				not.mark.Void()
			}
			return i, err
		}
	}
	return len(ready), why
}

// independent returns how many of the steps can be decided on before the first
// of them is made: files that are moved between folders that are there, each by names that no
// other of them has. A step that is not one of these stands alone.
func (n *nameMaker) independent(steps []*nameStep) (count int) {
	names := make(map[string]bool)
	for _, s := range steps {
		a, b := glob.FoldText(s.from.Path), glob.FoldText(s.to.Path)
		plain := n.Operation == history.OpMove && s.kind == fsys.Regular && !s.virtual && len(s.to.MissingDirs()) == 0
		if !plain || names[a] || names[b] || a == b {
			break
		}
		names[a], names[b] = true, true
		count++
	}
	return max(count, 1)
}

// isAsDecided reports whether nothing that the first decision on a step was made on is another by
// now: the rules, the folders, the file and its number of hard links. Whether the new name of a
// move is free is left to the rename, and whether a file that is to be deleted is the same to the
// look at it once it is open.
func (n *nameMaker) isAsDecided(s *nameStep) bool {
	return n.isPlain(s) && n.folders.SameFile(s.from.Target) && s.to.Kind == fsys.Missing && s.to.Question == nil &&
		n.folders.SameFolder(s.to.Target) && !n.policy.RepositoryParts(s.to.Names)
}

// isDeleteAsDecided is isAsDecided for a delete.
func (n *nameMaker) isDeleteAsDecided(s *nameStep) bool {
	if _, shown := n.call.Session.Files.Get(s.from.Path); shown {
		return false // it has to be compared with what was shown
	}
	return n.isPlain(s) && n.folders.SameFolder(s.from.Target)
}

// isPlain reports whether the first decision on a step's old name depends on nothing but the rules,
// which are still the same, its folder and the file.
func (n *nameMaker) isPlain(s *nameStep) bool {
	return n.Operation != history.OpCopy && s.kind == fsys.Regular && !s.virtual && s.from.Question == nil && s.from.Stamp.Nlink == 1 &&
		n.policy == n.by.Opener.Access.Policy() && !n.policy.RepositoryParts(s.from.Names)
}

// ready decides on a step again, under the locks.
func (n *nameMaker) ready(s *nameStep) (m *readyMove, err error) {
	if together > 1 && isAsDecided(n, s) {
		return &readyMove{nameStep: s, now: s.from, new: s.to}, nil
	}
	m = &readyMove{nameStep: s, opened: true}
	if m.now, err = n.openAgain(n.op(), s.From, s.from.Path); err != nil {
		return nil, err
	}
	if m.new, err = n.openAgain(perm.Move, s.toPath, s.to.Path); err != nil {
		m.now.Close()
		return nil, err
	}
	if n.Operation == history.OpMove && !n.locks.Covers(m.now.Target) && !s.virtual || !n.locks.CoversNew(m.new.Target) {
		err = access.ErrElsewhere
	} else if m.now.Kind == fsys.Directory {
		s.below, err = n.belowNow(s, m.now)
	}
	if err != nil {
		m.now.Close()
		m.new.Close()
		return nil, err
	}
	return m, nil
}

// record puts moves into the history before the first of them is made.
func (n *nameMaker) record(ctx context.Context, ready []*readyMove) error {
	batch := n.by.batch()
	for _, m := range ready {
		mark, err := batch.Keep(ctx, history.PendingChange{
			Names: m.now.Names, Session: n.call.Session.ID, Tool: n.tool(), Call: n.call.ID, Group: n.call.Group,
			Operation: n.Operation, To: m.new.Path, NewDirs: len(m.new.MissingDirs()), Stamp: m.now.Stamp,
		})
		if err != nil {
			batch.Discard()
			return err
		}
		m.mark = mark
		n.marks = append(n.marks, mark)
	}
	return batch.Flush()
}

// move makes one move or copy.
func (n *nameMaker) move(ctx context.Context, m *readyMove) error {
	change := toolcall.NameChange{Operation: string(n.Operation), Path: m.now.Path, To: m.new.Path, Size: m.now.Stamp.Size}
	if err := n.by.Auditor.BeginName(n.call, n.tool(), change); err != nil {
		return err
	}
	moved, err := n.onDisk(ctx, m.now, m.new)
	if err != nil {
		if errors.Is(err, save.ErrExists) { // it came after the look at all names
			err = refusal.New(refusal.ToExists, fsys.InSentence(m.toPath.String()))
		}
		return err
	}
	m.made = true
	if m.mark.ID() != "" {
		n.out.Facts.Group = n.call.Group
	}
	n.moved(m.nameStep, m.now, m.new, moved)
	n.out.Names = append(n.out.Names, change)
	return nil
}
