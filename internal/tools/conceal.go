package tools

import (
	"context"

	"github.com/fsmcp/fsmcp/internal/fsys"
	"github.com/fsmcp/fsmcp/internal/refusal"
)

// What an answer or an error of Write, Edit or NotebookEdit shows of a file is
// reading. It is shown only where a Read of the file takes no question, or where
// the user has consented to this very call. access decides that; the
// answers of plans go through target.answer, their errors through concealing, and
// what hooks did through passed.

// answer is the answer to a change: what was done, what it shows of the file
// where that may be shown, and remarks.
func (s *target) answer(done, shows string, remarks ...string) *Result {
	parts := []string{done}
	if !s.Hidden {
		parts = append(parts, shows)
	}
	return textResult(append(append(parts, remarks...), s.note())...)
}

// concealing returns a planner that shows nothing of a hidden file, and has
// nothing count as shown.
func (h *Service) concealing(call Call, plan planner) planner {
	return func(ctx context.Context, s *target, old *fsys.File) (*change, error) {
		if !s.Hidden {
			return plan(ctx, s, old)
		}
		c, err := plan(ctx, s, old)
		if err == nil {
			c.result.Shown, c.shown, c.notebook = nil, nil, false
			return c, nil
		}
		_, err = shownIn(err)
		rec, known := call.Session.files.Get(s.Path)
		return nil, refusal.Hidden{Name: s.name(), Read: known, Whole: known && rec.InFull(), Huge: s.Stamp.Size > maxEditBytes}.Refusal(err)
	}
}
