package tools

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"

	"github.com/fsmcp/fsmcp/internal/edit"
	"github.com/fsmcp/fsmcp/internal/fsys"
	"github.com/fsmcp/fsmcp/internal/perm"
	"github.com/fsmcp/fsmcp/internal/save"
	"github.com/fsmcp/fsmcp/internal/state"
	"github.com/fsmcp/fsmcp/internal/text"
)

// edit answers Edit.
func (h *House) edit(ctx context.Context, call Call, a *EditArgs) (*Result, error) {
	switch {
	case a.OldString == a.NewString:
		return nil, edit.ErrSame
	case isStub(a.NewString):
		return nil, stubAsText("new_string")
	}
	e := editing{House: h, call: call, args: a}
	return h.commit(ctx, call, perm.Edit, a.FilePath, e.plan)
}

// editing is one Edit under way.
type editing struct {
	*House
	call    Call
	args    *EditArgs
	created bool // the first look found no file
}

func (e *editing) plan(ctx context.Context, s *spot, old *fsys.File) (*change, error) {
	if s.Asked.Ext() == "ipynb" {
		return nil, refuse(slugNotebook, "File is a Jupyter Notebook. Use the NotebookEdit to edit this file.\nPath: %s", s.name())
	}
	if old == nil {
		return e.create(s)
	}
	stamp, err := old.Stamp()
	switch {
	case err != nil:
		return nil, err
	case e.created:
		return nil, save.ErrExists
	case e.args.OldString == "" && stamp.Size > 0:
		if e.blank(s, old, stamp) {
			w := writing{House: e.House, call: e.call, content: e.args.NewString}
			return w.plan(ctx, s, old)
		}
		return nil, refuse(slugExists, "Cannot create new file - file already exists.\nPath: %s. To change it, give the text to replace as old_string; to replace all of it, use Write.", s.name())
	case e.args.OldString == "":
		return e.fill(s, stamp, "updated"), nil
	case stamp.Size > maxEditBytes:
		return nil, refuse(slugTooLarge, "File is too large to edit (%s). Maximum editable file size is 1 GiB. Path: %s.", amount(stamp.Size), s.name())
	}
	if err := writable(s, old); err != nil {
		return nil, err
	}
	if stamp.Size > state.WholeHash {
		return e.inBig(ctx, s, old, stamp)
	}
	return e.inHeld(s, old)
}

// create plans a new file, which an empty old_string asks for.
func (e *editing) create(s *spot) (*change, error) {
	if _, shown := e.call.Session.files.Get(s.Path); shown {
		return nil, gone(e.call.Session, s)
	}
	if e.args.OldString != "" {
		return nil, e.missing(s)
	}
	if err := s.CheckNewNames(); err != nil {
		return nil, err
	}
	e.created = true
	return e.fill(s, fsys.Stamp{}, "created"), nil
}

// fill plans new_string as the content of a file that has none.
func (e *editing) fill(s *spot, stamp fsys.Stamp, done string) *change {
	w := writing{House: e.House, call: e.call}
	raw := []byte(e.args.NewString)
	return w.whole(s, stamp, raw, fmt.Sprintf("The file %s has been %s (%s, %s).", s.name(), done, countLines(e.args.NewString), amount(int64(len(raw)))))
}

// blank tells whether a file holds a byte order mark and nothing else.
func (e *editing) blank(s *spot, old *fsys.File, stamp fsys.Stamp) bool {
	if stamp.Size > int64(len(byteOrderMark)) {
		return false
	}
	c, err := e.hold(e.call, s, old)
	return err == nil && c.doc.Text == ""
}

// request is the edit as the engine takes it.
func (e *editing) request(s *spot) edit.Request {
	ext := s.Asked.Ext()
	return edit.Request{
		Old: e.args.OldString, New: e.args.NewString, ReplaceAll: e.args.ReplaceAll,
		KeepTrailing: ext == "md" || ext == "mdx" || e.Preferences().KeepTrailing, Most: mostMatches,
	}
}

// inHeld plans the edit of a file that is held in memory.
func (e *editing) inHeld(s *spot, old *fsys.File) (*change, error) {
	c, err := e.hold(e.call, s, old)
	if err != nil {
		return nil, err
	}
	if e.Preferences().ApplyChanged {
		if change, ok := e.overtaken(s, c); ok {
			return change, nil
		}
	}
	rec, err := e.gate(e.call, c, e.demanded(c))
	if err != nil {
		return nil, err
	}
	res, err := edit.Apply(c.doc.Text, e.request(s))
	if err != nil {
		return nil, e.unmatched(c, err)
	}
	splices, err := rawSplices(c.doc, res.Splices)
	if err != nil {
		return nil, err
	}
	if err := e.seen(e.call, c, rec, spansOf(splices)); err != nil {
		return nil, err
	}
	return e.replacing(s, c, rec, res, splices)
}

// replacing plans splices of a file of which rec tells what was shown.
func (e *editing) replacing(s *spot, c *held, rec state.Record, res edit.Result, splices []save.Splice) (*change, error) {
	sum, content, err := spliced(c, splices)
	if err != nil {
		return nil, err
	}
	moves := lengths(splices)
	moved := rec.Moved(sum, rec.Shown.Through(moves, true), state.ByEdit, content)
	if c.stamp.Size+growth(moves) > state.WholeHash { // from now on what was shown is compared part by part
		if moved.Parts, err = partsOf(bytes.NewReader(c.raw), c.stamp.Size, splices, moved.Shown); err != nil {
			return nil, err
		}
	}
	head := e.head(s, len(res.Splices), res.Rule)
	change := &change{
		stamp: c.stamp, settled: c.settled, from: c.raw, fromHash: c.hash,
		splices: splices,
		record:  moved,
		result:  textResult(head, region(c.doc, res.Splices, len(head)+len(s.note())), s.note()),
	}
	change.result.Meta = map[string]any{
		"fsmcp/hash":         hex.EncodeToString(sum[:]),
		"fsmcp/size":         c.stamp.Size + growth(moves),
		"fsmcp/replacements": len(res.Splices),
	}
	return change, nil
}

// head is the first line of the answer.
func (e *editing) head(s *spot, count int, rule edit.Rule) string {
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

// shownOld bounds how much of old_string an error repeats, in characters.
const shownOld = 1000

// manyWords takes the count, the first lines, the file and old_string.
const manyWords = "Found %d matches of the string to replace, but replace_all is false. To replace all occurrences, set replace_all to true. To replace only one occurrence, please provide more context to uniquely identify the instance.\nThe matches begin in lines %s of %s.\nString: %s"

// unmatched words why the engine did not replace anything.
func (e *editing) unmatched(c *held, err error) error {
	if no := (*edit.NoMatchError)(nil); !errors.As(err, &no) {
		return ambiguous(c.name, e.args.OldString, err)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "String to replace not found in file.\nString: %s\nPath: %s", cut(e.args.OldString, shownOld), c.name)
	if hint, ok := edit.Nearest(c.doc.Text, e.args.OldString, e.args.NewString); ok {
		fmt.Fprintf(&b, "\nNearest place, from line %d on (%s):\n%s", hint.Line, hint.Why, strings.Join(hint.Lines, "\n"))
		if hint.Given != "" {
			fmt.Fprintf(&b, "\nold_string has there: %s", hint.Given)
		}
	} else {
		b.WriteString("\nNothing like it is in the file. Read the part to be changed and copy old_string from it, without the line numbers.")
	}
	return refuse(slugNoMatch, "%s", b.String())
}

// ambiguous words several matches, and too many; any other error stays as it is.
func ambiguous(name, old string, err error) error {
	if many := (*edit.TooManyError)(nil); errors.As(err, &many) {
		return tooMany(name, many.Count, many.Most)
	}
	many := (*edit.AmbiguousError)(nil)
	if !errors.As(err, &many) {
		return err
	}
	return refuse(slugNotUnique, manyWords, many.Count, lineList(many.Lines, many.Count), name, cut(old, shownOld))
}

func tooMany(name string, count, most int) error {
	return refuse(slugTooLarge, "old_string is in %s %d times; at most %d places of a file of this size are replaced in one call. Give a longer old_string.", name, count, most)
}

// lineList names the first lines of count places.
func lineList(lines []int, count int) string {
	parts := make([]string, len(lines))
	for i, n := range lines {
		parts[i] = fmt.Sprint(n)
	}
	out := strings.Join(parts, ", ")
	if count > len(lines) {
		out += ", …"
	}
	return out
}

// rawSplices brings splices of the text to the bytes of the file.
func rawSplices(d *text.Doc, splices []edit.Splice) ([]save.Splice, error) {
	out := make([]save.Splice, len(splices))
	for i, s := range splices {
		added, err := d.Enc.Encode(s.New)
		if err != nil {
			return nil, err
		}
		out[i] = save.Splice{Start: d.RawOffset(s.Start), End: d.RawOffset(s.End), New: added}
	}
	return out, nil
}

func spansOf(splices []save.Splice) []state.Span {
	out := make([]state.Span, len(splices))
	for i, s := range splices {
		out[i] = state.Span{Start: s.Start, End: s.End}
	}
	return out
}

// spliced hashes the file as it will be, and keeps its bytes if it is small.
func spliced(c *held, splices []save.Splice) (state.Sum, []byte, error) {
	size := c.stamp.Size + growth(lengths(splices))
	if size > state.KeepContent {
		sum, err := sumSpliced(bytes.NewReader(c.raw), c.stamp.Size, splices, state.Span{End: size})
		return sum, nil, err
	}
	content := make([]byte, 0, size)
	at := int64(0)
	for _, s := range splices {
		content = append(append(content, c.raw[at:s.Start]...), s.New...)
		at = s.End
	}
	content = append(content, c.raw[at:]...)
	return sha256.Sum256(content), content, nil
}

func growth(moves []state.Splice) int64 {
	var n int64
	for _, m := range moves {
		n += m.New - (m.End - m.Start)
	}
	return n
}
