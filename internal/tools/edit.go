package tools

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/fsmcp/fsmcp/internal/changes"
	"github.com/fsmcp/fsmcp/internal/edit"
	"github.com/fsmcp/fsmcp/internal/fsys"
	"github.com/fsmcp/fsmcp/internal/perm"
	"github.com/fsmcp/fsmcp/internal/phrase"
	"github.com/fsmcp/fsmcp/internal/refusal"
	"github.com/fsmcp/fsmcp/internal/save"
	"github.com/fsmcp/fsmcp/internal/span"
	"github.com/fsmcp/fsmcp/internal/state"
	"github.com/fsmcp/fsmcp/internal/text"
)

// edit answers Edit.
func (h *Service) edit(ctx context.Context, call Call, a *EditArgs) (*Result, error) {
	switch {
	case a.OldString == a.NewString:
		return nil, edit.ErrSame
	case isStub(a.NewString):
		return nil, refusal.StubAsText("new_string")
	}
	e := editing{Service: h, call: call, args: a, fresh: writing{Service: h, call: call, content: a.NewString}}
	return h.commit(ctx, call, perm.Edit, e.plan)
}

// editing is one Edit under way.
type editing struct {
	*Service
	call  Call
	args  *EditArgs
	fresh writing // of new_string as all of a file
}

func (e *editing) plan(ctx context.Context, s *target, old *fsys.File) (*change, error) {
	switch {
	case old == nil && (isNotebook(s) || e.args.OldString != ""):
		return nil, e.absent(e.call, s)
	case isNotebook(s):
		return nil, refusal.IsNotebook(s.name())
	case old == nil:
		return e.fresh.create(s)
	}
	stamp, err := old.Stamp()
	switch {
	case err != nil:
		return nil, err
	case e.fresh.created:
		return nil, save.ErrExists
	case e.args.OldString == "" && stamp.Size > 0:
		if e.blank(s, old, stamp) {
			return e.fresh.plan(ctx, s, old)
		}
		return nil, refusal.Exists(s.name())
	case e.args.OldString == "":
		return e.fill(s, stamp), nil
	case stamp.Size > maxEditBytes:
		return nil, refusal.TooLargeToEdit(s.name(), stamp.Size, maxEditBytes)
	}
	if err := writable(s, old); err != nil {
		return nil, err
	}
	if stamp.Size > changeInMemory {
		return e.inBig(ctx, s, old, stamp)
	}
	return e.inMemory(s, old)
}

// fill plans new_string as the content of a file that has none.
func (e *editing) fill(s *target, stamp fsys.Stamp) *change {
	raw := []byte(e.args.NewString)
	head := fmt.Sprintf("The file %s has been updated (%s, %s).", s.name(), phrase.LinesOf(e.args.NewString), phrase.Bytes(int64(len(raw))))
	return whole(stamp, raw, s.answer(head, ""))
}

// blank tells whether a file holds a byte order mark and nothing else.
func (e *editing) blank(s *target, old *fsys.File, stamp fsys.Stamp) bool {
	if stamp.Size > int64(len(byteOrderMark)) {
		return false
	}
	c, err := e.loadText(e.call, s, old)
	return err == nil && c.doc.Text == ""
}

// request is the edit as the engine takes it.
func (e *editing) request(s *target) edit.Request {
	ext := s.Asked.Ext()
	return edit.Request{
		Old: e.args.OldString, New: e.args.NewString, ReplaceAll: e.args.ReplaceAll,
		KeepTrailing: ext == "md" || ext == "mdx" || e.Preferences().KeepTrailing, Most: mostMatches,
	}
}

// found are the places that an edit replaces in a text.
type found struct {
	res     edit.Result
	splices []span.Splice // on the raw bytes
}

// find looks for them.
func (e *editing) find(s *target, c *loadedFile) (f found, err error) {
	if f.res, err = edit.Apply(c.doc.Text, e.request(s)); err == nil {
		f.splices, err = rawSplices(c.doc, f.res.Splices)
	}
	return f, err
}

// inMemory plans the edit of a file that is held in memory.
func (e *editing) inMemory(s *target, old *fsys.File) (*change, error) {
	c, err := e.loadText(e.call, s, old)
	if err != nil {
		return nil, err
	}
	f, miss := e.find(s, c)
	if e.Preferences().ApplyChanged && miss == nil {
		if change, ok := e.applyToChangedFile(s, c, f); ok {
			return change, nil
		}
	}
	rec, err := e.gated(c, f, miss)
	switch {
	case err != nil:
		return nil, err
	case miss != nil:
		return nil, e.unmatched(c, miss)
	}
	known := rec.Shown
	if f.res.Rule == edit.Exact {
		known = known.Union(rec.Reported)
	}
	if hidden := unseen(known, span.Replaced(f.splices)); len(hidden) > 0 {
		return nil, e.neverShown(e.call, c, rec, hidden)
	}
	return e.replacing(s, c, rec, f)
}

// gated is the gate of Edit: only what the call replaces must have been shown, or
// all of the file where the user wants that. It returns the record as it stands for
// the file's present bytes; miss is why nothing was found.
func (e *editing) gated(c *loadedFile, f found, miss error) (state.Record, error) {
	at := func() ([]span.Span, error) { return span.Replaced(f.splices), miss }
	full := e.Preferences().Gate == GateFull
	switch {
	case len(c.raw) == 0: // nothing to be shown
		return c.recorded(nil, state.ByRead), nil
	case !c.known && (full || errors.As(miss, new(*edit.NoMatchError))):
		return c.rec, refusal.NotRead(c.name)
	case !c.known:
		return c.recorded(nil, state.ByReport), nil
	}
	if rec, ok := e.reminded(c, f, miss); ok {
		return rec, nil
	}
	if full {
		return e.gate(e.call, c, at)
	}
	spans := span.Replaced(f.splices)
	rec, lost := c.standing(spans)
	if rec.Parts != nil && (miss != nil || len(unseen(rec.Shown, spans)) > 0) {
		rec, lost = c.standing(nil)
	} else if rec.Parts != nil {
		lost = false // what it replaces was shown: the rest may change
	}
	if lost {
		return rec, e.changed(e.call, c, at, itsMatches)
	}
	return rec, nil
}

// replacing plans splices of a file; rec is its record.
func (e *editing) replacing(s *target, c *loadedFile, rec state.Record, f found) (*change, error) {
	size := c.stamp.Size + span.Growth(f.splices)
	if size <= state.WholeHash && c.byParts() { // from now on the file is compared as a whole
		rec, _ = c.standing(nil)
	}
	moved := state.Record{Shown: rec.Shown.Through(f.splices, true), Reported: rec.Reported.Through(f.splices, false), Origin: state.ByEdit, Enc: rec.Enc}
	if size > state.WholeHash {
		var err error
		if moved.Parts, err = c.carried(rec, f.splices, moved.Shown); err != nil {
			return nil, err
		}
		moved.Hash = wholeSum(moved.Parts, size)
	}
	head := e.head(s, len(f.res.Splices), f.res.Rule)
	after := c.becoming(f.splices, size, state.KeepContent)
	change := &change{
		stamp: c.stamp, from: c.raw, fromHash: c.hash, splices: f.splices, record: moved, after: after,
		result: s.answer(head, changes.Region(c.doc, f.res.Splices, len(head)+len(s.note()))),
	}
	change.result.Meta = map[string]any{"fsmcp/size": size, "fsmcp/replacements": len(f.res.Splices)}
	return change, nil
}

// places are the texts of an edit of a file that is not in memory.
func (e *editing) places(count int) texts {
	place := "In one place"
	if count > 1 {
		place = fmt.Sprintf("In each of %d places", count)
	}
	return texts{place: place, old: e.args.OldString, now: e.args.NewString}
}

// carried are the parts of a large file once splices are made.
func (c *loadedFile) carried(rec state.Record, splices []span.Splice, shown span.Set) ([]state.Part, error) {
	if rec.Parts == nil {
		return partsOf(bytes.NewReader(c.raw), c.stamp.Size, splices, shown)
	}
	return carryParts(bytes.NewReader(c.raw), c.stamp.Size, rec.Parts, splices)
}

// hashAside is the size in bytes from which hashing is worth a goroutine.
const hashAside = 32 << 10

// becoming works out the new file: its hash, and its bytes up to a size of keep. Of a large
// one the hash is worked out on the side, together with that of the old one: both
// begin alike, and that is hashed once.
func (c *loadedFile) becoming(splices []span.Splice, size, keep int64) func() (state.Sum, []byte) {
	var content []byte
	if size <= keep {
		content = span.Apply(c.raw, splices)
	}
	if size <= hashAside {
		sum := state.Sum(sha256.Sum256(content))
		return func() (state.Sum, []byte) { return sum, content }
	}
	sums := sync.OnceValues(func() (was, is state.Sum) { return sumsOf(c.raw, splices, size) })
	if c.hashed || c.rec.Content != nil && c.rec.Hash != (state.Sum{}) && c.unchanged() {
		sums = sync.OnceValues(func() (was, is state.Sum) {
			is, _ = sumSpliced(bytes.NewReader(c.raw), c.stamp.Size, splices, span.Span{End: size})
			return was, is
		})
	} else {
		c.hash = func() state.Sum { was, _ := sums(); return was }
	}
	go sums()
	return func() (state.Sum, []byte) { _, is := sums(); return is, content }
}

// head is the first line of the answer.
func (e *editing) head(s *target, count int, rule edit.Rule) string {
	var b strings.Builder
	fmt.Fprintf(&b, "The file %s has been updated.", s.name())
	if count > 1 {
		fmt.Fprintf(&b, " All %d occurrences were replaced.", count)
	}
	if rule != edit.Exact {
		fmt.Fprintf(&b, " old_string was not found exactly; it matched by rule: %s.", rule)
	}
	return b.String()
}

// mostMatches bounds how many places of a file that is held in memory one call
// replaces: what is kept of each takes far more room than the place itself.
const mostMatches = 2_000_000

// unmatched refuses an edit that the engine did not make.
func (e *editing) unmatched(c *loadedFile, err error) error {
	old := e.args.OldString
	if no := (*edit.NoMatchError)(nil); !errors.As(err, &no) {
		return refusal.Ambiguous(c.name, old, err)
	}
	hint, found := edit.Nearest(c.doc.Text, old, e.args.NewString)
	return refusal.NoMatch(c.name, old, hint, found)
}

// rawSplices brings splices of the text to the bytes of the file.
func rawSplices(d *text.Doc, splices []span.Splice) ([]span.Splice, error) {
	out := make([]span.Splice, len(splices))
	for i, s := range splices {
		added := s.New
		if !d.Enc.IsUTF8() {
			var err error
			if added, err = d.Enc.Encode(string(s.New)); err != nil {
				return nil, err
			}
		}
		out[i] = span.Splice{Start: d.RawOffset(int(s.Start)), End: d.RawOffset(int(s.End)), New: added}
	}
	return out, nil
}
