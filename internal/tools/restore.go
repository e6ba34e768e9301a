package tools

import (
	"context"
	"errors"
	"fmt"

	"github.com/fsmcp/fsmcp/internal/commit"
	"github.com/fsmcp/fsmcp/internal/fsys"
	"github.com/fsmcp/fsmcp/internal/history"
	"github.com/fsmcp/fsmcp/internal/perm"
	"github.com/fsmcp/fsmcp/internal/refusal"
	"github.com/fsmcp/fsmcp/internal/span"
	"github.com/fsmcp/fsmcp/internal/toolcall"
)

// Restoring is a change that a user restores.
type Restoring struct {
	// Path is the file's resolved name; where that leads elsewhere by now,
	// nothing is done.
	Path string
	// ID names the change that is restored, for the history.
	ID string
	// Plan works out what to do from the file as it is, nil if there is none.
	// It may be asked more than once, the last time under the file's lock.
	Plan func(ctx context.Context, old *fsys.File) (history.Plan, error)
}

// errElsewhereNow: a resolved name is a link to something else by now.
var errElsewhereNow = errors.New("a link stands in its place")

// Restore puts back what a change replaced. The same rules hold as for a tool, but no
// question is asked and nothing needs to have been read. The answer is nil if there was
// nothing to do. An error of Plan comes back as it is.
func (s *Service) Restore(ctx context.Context, r Restoring) (*toolcall.Result, error) {
	call := s.restoring(r.Path)
	call.ID = r.ID
	entry := toolcall.EntryOf(call, history.ToolRestore, r.Path, s.now())
	out := s.committer.Commit(ctx, call, perm.Write, restorer{r})
	if out.Err == nil && out.Head == "" {
		return nil, nil
	}
	result := out.Result(nameWrite, r.Path, "")
	s.auditor.Restored(entry, result, out.Err)
	if out.Err != nil {
		return nil, out.Err
	}
	return result, nil
}

// restoring is a user's call that restores a change of a file.
func (s *Service) restoring(path string) toolcall.Call {
	return toolcall.Call{Session: s.NewSession(""), Consent: toolcall.Consented(), Restoring: true, File: s.ParseFile(path)}
}

// restorer plans a restore.
type restorer struct{ of Restoring }

// Plan implements commit.Planner.
func (r restorer) Plan(ctx context.Context, s *toolcall.Target, old *fsys.File) (*commit.Plan, error) {
	if s.Path != r.of.Path {
		return nil, errElsewhereNow
	}
	u, err := r.of.Plan(ctx, old)
	if err != nil || len(u.Splices) == 0 && !u.Remove {
		return &commit.Plan{}, err
	}
	c := commit.Answered(toolcall.Answer{Head: fmt.Sprintf("Restored %s: the change %s is no longer in it.", s.Name(), r.of.ID)})
	c.Splices, c.Remove = u.Splices, u.Remove
	if u.Remove {
		return c, nil
	}
	size := span.Growth(u.Splices)
	if old != nil {
		stamp, err := old.Stamp()
		if err != nil {
			return nil, err
		}
		size += stamp.Size
	}
	c.Outcome.Facts.Size = &size
	return c, nil
}

// Admit reports whether the rules let a user read a file that the history names,
// where what would be asked for counts as granted. The error has its words.
func (s *Service) Admit(path string) error {
	t, out := s.committer.Opener.Open(s.restoring(path), perm.Read)
	if out.Err != nil {
		return out.Err
	}
	t.Close()
	if t.Path != path && t.Kind != fsys.Missing {
		return errElsewhereNow
	}
	return nil
}

// Explain words a failure for people, as Restore and Admit return them.
func Explain(path string, err error) string {
	if errors.Is(err, errElsewhereNow) {
		return fmt.Sprintf("%s leads elsewhere now: %v. Nothing was changed.", fsys.InSentence(path), err)
	}
	return refusal.Of(path, err).Text
}

// RemoveEmptyFolders is that of the Saver: for folders that a restored change had made.
func (s *Service) RemoveEmptyFolders(dir string, n int) {
	s.committer.Saver.RemoveEmptyFolders(dir, n)
}
