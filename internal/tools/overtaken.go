package tools

import (
	"github.com/fsmcp/fsmcp/internal/edit"
	"github.com/fsmcp/fsmcp/internal/state"
)

// overtaken plans an edit of a file that changed since it was read, for users
// who prefer that to a refusal: where old_string is in one place only, which
// was shown and did not change. The answer tells the outside change. ok is
// false where any of this does not hold, and the gate has to speak.
func (e *editing) overtaken(s *spot, c *held) (change *change, ok bool) {
	rec, known := e.call.Session.files.Get(c.path)
	if !known || c.unchanged(rec) {
		return nil, false
	}
	old, err := kept(rec)
	if err != nil {
		return nil, false
	}
	told, ok := tell(old, c.doc)
	if !ok || !e.passed(e.call, told.body) {
		return nil, false
	}
	carried := rec.Shown.Through(told.splices, false)
	all := rec.Shown.Through(told.splices, true)
	unseen := all.Missing(c.stamp.Size)
	if want := e.demanded(c); want == everything && len(unseen) > 0 || want == whatFits && len(unseen) > 0 && unseen.Len() <= showUnseen {
		return nil, false
	}
	res, err := edit.Apply(c.doc.Text, e.request(s))
	if err != nil || len(res.Splices) != 1 {
		return nil, false
	}
	splices, err := rawSplices(c.doc, res.Splices)
	if err != nil || !carried.Covers(spansOf(splices)[0]) {
		return nil, false
	}
	now := c.stamped(rec.Moved(c.hash(), carried, state.ByTelling, c.content()))
	change, err = e.replacing(s, c, now, res, splices)
	if err != nil {
		return nil, false
	}
	change.result.Blocks[0].Text += "\nThe file had changed since it was read; the edit was made in it as it is now. This is that change (number, then - for a line that is gone, + for one that is there now):\n" + told.body
	e.call.whenSent(func() {
		rec, known := e.call.Session.files.Get(c.path)
		if known && rec.Hash == change.record.Hash {
			rec.Shown = rec.Shown.Union(all.Through(lengths(splices), true))
			e.call.Session.files.Put(c.path, rec)
		}
	})
	return change, true
}
