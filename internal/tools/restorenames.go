package tools

import (
	"context"
	"errors"
	"io"

	"github.com/fsmcp/fsmcp/internal/fsys"
	"github.com/fsmcp/fsmcp/internal/history"
	"github.com/fsmcp/fsmcp/internal/perm"
	"github.com/fsmcp/fsmcp/internal/save"
	"github.com/fsmcp/fsmcp/internal/span"
	"github.com/fsmcp/fsmcp/internal/toolcall"
)

// ErrInTheWay: a name that a restore needs is taken by now.
var ErrInTheWay = errors.New("another file is there by now")

// RemovedItem is something that Delete removed and a user restores.
type RemovedItem struct {
	Path string
	ID   string
	// Open returns the item from the history.
	Open func() (save.Remains, io.Closer, error)
}

// RestoreRemoved makes removed items again, a folder before what it holds. It first checks all
// of them, and changes nothing if one may not be made or its name is taken: ErrInTheWay. With
// dry it makes none. A folder that is there again is left as it is. failed is the index of the
// item that an error is about.
func (s *Service) RestoreRemoved(ctx context.Context, list []RemovedItem, dry bool) (failed int, err error) {
	r := restoringNames{service: s, ctx: ctx, again: make(map[string]bool)}
	for i, item := range list {
		if err := r.free(item); err != nil {
			return i, err
		}
	}
	if dry {
		return 0, nil
	}
	var set save.LockSet
	for i, item := range list {
		t, err := r.entry(item.Path)
		if err != nil {
			return i, err
		}
		set.Targets = append(set.Targets, t)
	}
	locks, err := s.committer.Saver.LockAll(ctx, set)
	for _, t := range set.Targets {
		t.Close()
	}
	if err != nil {
		return 0, err
	}
	defer locks.Unlock()
	if r.names, err = s.committer.Saver.Names(ctx); err != nil {
		return 0, err
	}
	defer r.names.Close()
	defer r.names.Finish()
	for i, item := range list {
		if err := r.make(item); err != nil {
			return i, err
		}
	}
	return 0, nil
}

// restoringNames is a restore of names under way.
type restoringNames struct {
	service *Service
	ctx     context.Context
	names   *save.NamesTxn
	again   map[string]bool // folders that are there
}

// entry resolves a name that the history has. It has no links on the way, unless they were
// made since.
func (r restoringNames) entry(path string) (*fsys.Target, error) {
	allowed, out := r.service.committer.Opener.Open(r.service.restoring(path), perm.Write)
	if out.Err != nil {
		return nil, out.Err
	}
	allowed.Close()
	t, err := r.service.committer.Opener.Access.Resolver.ResolveEntry(fsys.Named(path))
	if err == nil && t.Path != path {
		err = errElsewhereNow
	}
	if err != nil {
		t.Close()
		return nil, err
	}
	return t, nil
}

// free checks that an item may be made.
func (r restoringNames) free(item RemovedItem) error {
	t, err := r.entry(item.Path)
	if err != nil {
		return err
	}
	defer t.Close()
	remains, done, err := item.Open()
	if err != nil {
		return err
	}
	defer done.Close()
	switch {
	case t.Kind == fsys.Missing:
		return nil
	case t.Kind == fsys.Directory && remains.Kind == fsys.Directory:
		r.again[item.Path] = true
		return nil
	}
	return ErrInTheWay
}

func (r restoringNames) make(item RemovedItem) error {
	if r.again[item.Path] {
		return nil
	}
	t, err := r.entry(item.Path)
	if err != nil {
		return err
	}
	defer t.Close()
	remains, done, err := item.Open()
	if err != nil {
		return err
	}
	defer done.Close()
	mark, err := r.keep(item, remains)
	if err != nil {
		return err
	}
	defer mark.Done()
	if _, err = r.names.Recreate(r.ctx, t, remains); err != nil {
		mark.Void()
		return err
	}
	r.audit(item.Path)
	return nil
}

// audit writes the line of a name that was restored.
func (r restoringNames) audit(path string) {
	entry := toolcall.EntryOf(r.service.restoring(path), history.ToolRestore, path, r.service.now())
	r.service.auditor.Restored(entry, &toolcall.Result{}, nil)
}

// keep records that a file is made again, if the history has its bytes in memory.
func (r restoringNames) keep(item RemovedItem, remains save.Remains) (*history.Mark, error) {
	text, ok := remains.Content.(interface {
		io.ReaderAt
		Size() int64
	})
	if !ok {
		return nil, nil
	}
	content := make([]byte, text.Size())
	if _, err := io.ReadFull(io.NewSectionReader(text, 0, text.Size()), content); err != nil {
		return nil, err
	}
	return r.service.committer.History.Keep(r.ctx, history.PendingChange{
		Names: []string{item.Path}, Session: r.service.NewSession("").ID, Tool: history.ToolRestore, Call: item.ID,
		Splices: []span.Splice{{New: content}},
	})
}

// MoveBack restores a move: what is at from gets the name to, which must be free. The folders
// that the move made stay. made is false if there was nothing to do, and with dry.
func (s *Service) MoveBack(ctx context.Context, id, from, to string, dry bool) (made bool, err error) {
	r := restoringNames{service: s, ctx: ctx}
	a, err := r.entry(from)
	if err != nil {
		return false, err
	}
	defer a.Close()
	b, err := r.entry(to)
	if err != nil {
		return false, err
	}
	defer b.Close()
	switch {
	case a.Kind == fsys.Missing && b.Kind != fsys.Missing:
		return false, nil
	case a.Kind == fsys.Missing:
		return false, save.ErrVanished
	case b.Kind != fsys.Missing && !b.Stamp.SameFile(a.Stamp):
		return false, ErrInTheWay
	case dry:
		return false, nil
	}
	locks, err := s.committer.Saver.LockAll(ctx, save.LockSet{Targets: []*fsys.Target{a, b}})
	if err != nil {
		return false, err
	}
	defer locks.Unlock()
	names, err := s.committer.Saver.Names(ctx)
	if err != nil {
		return false, err
	}
	defer names.Close()
	mark, err := s.committer.History.Keep(ctx, history.PendingChange{
		Names: []string{from}, Session: s.NewSession("").ID, Tool: history.ToolRestore, Call: id, Operation: history.OpMove, To: to, Stamp: a.Stamp,
	})
	if err != nil {
		return false, err
	}
	defer mark.Done()
	if _, err = names.Move(ctx, a, b); err != nil {
		mark.Void()
		return false, err
	}
	names.Finish()
	r.audit(from)
	return true, nil
}
