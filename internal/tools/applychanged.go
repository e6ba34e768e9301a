package tools

import (
	"fmt"

	"github.com/fsmcp/fsmcp/internal/changes"
	"github.com/fsmcp/fsmcp/internal/edit"
	"github.com/fsmcp/fsmcp/internal/span"
	"github.com/fsmcp/fsmcp/internal/state"
)

// applyToChangedFile plans an edit of a file that changed since it was read, where the
// setting prefers that to a refusal: old_string is in one place only, which was shown
// and did not change. The answer shows the outside change. ok is false where any of
// this does not hold; the gate then refuses.
func (e *editing) applyToChangedFile(s *target, c *loadedFile, f found) (change *change, ok bool) {
	if s.Hidden || c.unchanged() || len(f.splices) != 1 { // the answer could not tell the change
		return nil, false
	}
	diff, body, ok := e.outsideChange(e.call, c)
	if !ok {
		return nil, false
	}
	carried := c.rec.Shown.Through(diff.Splices, false)
	all := c.rec.Shown.Through(diff.Splices, true)
	if e.Preferences().Gate == GateFull && len(all.Missing(c.stamp.Size)) > 0 || !carried.Covers(span.Replaced(f.splices)[0]) {
		return nil, false
	}
	change, err := e.replacing(s, c, c.recorded(carried, state.ByReport), f)
	if err != nil {
		return nil, false
	}
	change.result.Blocks[0].Text += fmt.Sprintf("\nThe file had changed since it was read; the edit was made in it as it is now. This is that change %s:\n%s", changes.Form, body)
	change.shown = all.Through(f.splices, true)
	return change, true
}

// reminded returns the record of a file whose outside change a reminder has shown in
// full, for an edit whose exact match proves that the caller knows those bytes. They
// count as told, not as shown: another agent may have been the one that saw them.
func (e *editing) reminded(c *loadedFile, f found, miss error) (rec state.Record, ok bool) {
	old, kept := c.kept()
	if miss != nil || f.res.Rule != edit.Exact || !kept || old.Enc != c.doc.Enc || c.unchanged() {
		return rec, false
	}
	if !e.call.Session.reminders.HasReported(c.path, c.rec, c.hash) {
		return rec, false
	}
	diff := changes.Of(old, c.doc)
	rec = c.recorded(c.rec.Shown.Through(diff.Splices, false), state.ByReport)
	rec.Reported = c.rec.Reported.Through(diff.Splices, false).Union(span.Set{}.Through(diff.Splices, true))
	known := rec.Shown.Union(rec.Reported)
	if e.Preferences().Gate == GateFull && len(known.Missing(c.stamp.Size)) > 0 {
		return rec, false
	}
	return rec, len(unseen(known, span.Replaced(f.splices))) == 0
}
