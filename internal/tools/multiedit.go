package tools

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/fsmcp/fsmcp/internal/changes"
	"github.com/fsmcp/fsmcp/internal/commit"
	"github.com/fsmcp/fsmcp/internal/edit"
	"github.com/fsmcp/fsmcp/internal/fsys"
	"github.com/fsmcp/fsmcp/internal/gate"
	"github.com/fsmcp/fsmcp/internal/phrase"
	"github.com/fsmcp/fsmcp/internal/refusal"
	"github.com/fsmcp/fsmcp/internal/span"
	"github.com/fsmcp/fsmcp/internal/state"
	"github.com/fsmcp/fsmcp/internal/text"
	"github.com/fsmcp/fsmcp/internal/toolcall"
)

// MultiEditArgs are the arguments of MultiEdit.
type MultiEditArgs struct {
	FilePath string     `json:"file_path"` // of the edits that name none
	Edits    []EditArgs `json:"edits"`
}

// mostEdits bounds the edits of one call.
const mostEdits = 200

// Target is the first file argument as it arrived.
func (a *MultiEditArgs) Target() string {
	if a.FilePath == "" && len(a.Edits) > 0 {
		return a.Edits[0].FilePath
	}
	return a.FilePath
}

// Targets implements ManyTargets.
func (a *MultiEditArgs) Targets() []string {
	all := make([]string, len(a.Edits))
	for i, e := range a.Edits {
		if all[i] = e.FilePath; all[i] == "" {
			all[i] = a.FilePath
		}
	}
	return all
}

// Intent tells the user what the call is about to do.
func (a *MultiEditArgs) Intent() string {
	return fmt.Sprintf("It makes %d %s.", len(a.Edits), phrase.Plural(len(a.Edits), "edit", "edits"))
}

// multiEditor answers MultiEdit.
type multiEditor struct{ *editor }

func (m *multiEditor) run(ctx context.Context, call toolcall.Call, a *MultiEditArgs) toolcall.Outcome {
	if n := len(a.Edits); n < 1 || n > mostEdits {
		return toolcall.Failed(refusal.New(refusal.NoEdits, mostEdits, n))
	}
	many := commit.Many{}
	for i, path := range a.Targets() {
		if path == "" {
			return toolcall.Failed(refusal.New(refusal.NoFileNamed, i))
		}
		many.Files = append(many.Files, m.committer.Opener.ParseFile(path))
	}
	planners := make(map[int]*manyEditing) // by the first edit of their file
	many.Planner = func(edits []int, files int) commit.Planner {
		p := &manyEditing{tool: m.editor, call: call, numbers: edits, room: changes.RegionRoom / files}
		for _, i := range edits {
			p.edits = append(p.edits, &a.Edits[i])
		}
		planners[edits[0]] = p
		return p
	}
	out := m.committer.CommitMany(ctx, call, many)
	return manyAnswer{out, planners, len(a.Edits)}.outcome()
}

// manyEditing is the edits of one file of a MultiEdit.
type manyEditing struct {
	tool    *editor
	call    toolcall.Call
	edits   []*EditArgs
	numbers []int // of the edits in the call
	room    int   // of the answer, for the file's places
	failed  int   // which of them failed last
}

// Plan implements commit.Planner. Each edit is planned on what the one before leaves.
func (m *manyEditing) Plan(ctx context.Context, s *toolcall.Target, old *fsys.File) (*commit.Plan, error) {
	m.failed = 0
	if err := checkEdit(m.edits[0]); err != nil {
		return nil, err
	}
	w := &writing{by: m.tool.committer, call: m.call, content: m.edits[0].NewString}
	first := &editing{tool: m.tool, args: m.edits[0], writing: w}
	if old == nil || m.edits[0].OldString == "" {
		c, err := first.Plan(ctx, s, old)
		if err != nil || len(m.edits) == 1 {
			return c, err
		}
		return m.planCreated(s, c)
	}
	if toolcall.IsNotebook(s) {
		return nil, refusal.New(refusal.IsNotebook, s.Name())
	}
	p, change, err := first.planLoaded(ctx, s, old)
	if err != nil {
		return change, err
	}
	e := &editsOf{manyEditing: m, first: p.gate, gate: p.gate}
	e.made(change, p.rule)
	return e.planRest(p.preferences)
}

// planCreated plans the edits of a file that the first edit makes or fills.
func (m *manyEditing) planCreated(s *toolcall.Target, c *commit.Plan) (*commit.Plan, error) {
	raw := span.Apply(nil, []span.Splice{{New: c.Splices[0].New}})
	f := &state.KnownFile{Path: s.Path, Content: state.NewContent(raw), Known: true}
	doc, err := text.DecodeAs(raw, c.Record.Enc)
	if err != nil {
		return nil, err
	}
	f.Stamp.Size, f.Doc = int64(len(raw)), doc
	f.Record = f.Recorded(span.Set{}.Add(span.Span{End: f.Stamp.Size}))
	g := gate.Gate{Target: s, File: f, Budget: m.tool.committer.Budget.ForClient(m.call.Client)}
	e := &editsOf{manyEditing: m, first: g, gate: g, created: true}
	last, err := e.planRest(m.tool.preferences())
	if err != nil {
		return last, err
	}
	now := span.Apply(raw, e.all)
	head := fmt.Sprintf("%s %d edits were made.", c.Outcome.Head, len(m.edits))
	made := commit.Whole(c.Stamp, now, s.Answer(head, "", e.rules...))
	made.Record.Enc, made.From = c.Record.Enc, c.From
	return made, nil
}

// checkEdit refuses an edit by its arguments alone.
func checkEdit(a *EditArgs) error {
	switch {
	case a.OldString == a.NewString:
		return edit.ErrSame
	case a.Line < 0:
		return refusal.New(refusal.BadLine, a.Line)
	case isStub(a.NewString):
		return refusal.New(refusal.StubAsText, "new_string")
	}
	return nil
}

// editsOf are edits of one file, each planned on the result of the one before.
type editsOf struct {
	*manyEditing
	first   gate.Gate // of the file as it is
	gate    gate.Gate // of what the edits so far leave
	created bool      // by this call
	all     []span.Splice
	record  state.Record
	count   int      // of the places that were replaced
	rules   []string // notes on edits whose old_string was not found exactly
}

// made notes an edit that was planned, and makes its result the file of the next one.
func (e *editsOf) made(c *commit.Plan, rule edit.Rule) {
	if rule != edit.Exact {
		e.rules = append(e.rules, fmt.Sprintf("edits[%d]: %s", e.numbers[e.failed], inexactly(rule)))
	}
	f := e.gate.File
	e.all = span.Then(e.all, c.Splices, int64(len(e.first.File.Raw)))
	e.record = c.Record
	e.count += c.Outcome.Facts.Replacements
	raw := span.Apply(f.Raw, c.Splices)
	now := &state.KnownFile{Path: f.Path, Content: state.NewContent(raw), Stamp: f.Stamp, Settled: f.Settled, Known: true}
	now.Stamp.Size = int64(len(raw))
	now.Record = c.Record
	now.Record.Stamp = now.Stamp
	if doc, err := text.DecodeAs(raw, f.Doc.Enc); err == nil {
		now.Doc = doc
	} else {
		now.Doc, _ = text.DecodeLarge(raw)
	}
	e.gate.File = now
}

// planRest plans the edits after the first, and all of them as one change.
func (e *editsOf) planRest(preferences Preferences) (*commit.Plan, error) {
	for i := 1; i < len(e.edits); i++ {
		e.failed = i
		a := e.edits[i]
		err := checkEdit(a)
		if err == nil && a.OldString == "" {
			err = refusal.New(refusal.Exists, e.gate.Target.Name())
		}
		if err != nil {
			return nil, err
		}
		p := editPlan{gate: e.gate, args: a, preferences: preferences, lineAt: e.lineAt}
		c, err := p.plan()
		if err != nil {
			return e.refused(&p, c, err)
		}
		e.made(c, p.rule)
	}
	return e.change(), nil
}

// lineAt finds line n of the file as it was before the call, as far as its text is still there:
// text that an earlier edit has put in is not named by it.
func (e *editsOf) lineAt(n int) (line gate.Line, ok bool) {
	line, ok = e.first.Line(n)
	if !ok || e.created {
		return line, false
	}
	was, now := e.first.File.Doc, e.gate.File.Doc
	var raw span.Set
	for _, s := range line.Spans {
		if s.End <= int64(len(was.Text)) {
			raw = raw.Add(span.Span{Start: was.RawOffset(int(s.Start)), End: was.RawOffset(int(s.End))})
		}
	}
	line.Spans, line.Number = nil, n
	for _, s := range raw.Through(e.all, false) {
		line.Spans = append(line.Spans, span.Span{Start: int64(now.TextOffset(s.Start)), End: int64(now.TextOffset(s.End))})
	}
	if line.Spans == nil { // where nothing starts
		line.Spans = span.Set{{Start: int64(len(now.Text)), End: int64(len(now.Text)) + 1}}
	}
	return line, true
}

// refused refuses an edit after the first. What the refusal shows of the result of earlier edits
// counts as shown as far as it is in the file.
func (e *editsOf) refused(p *editPlan, c *commit.Plan, err error) (*commit.Plan, error) {
	if e.created {
		return nil, err
	}
	rec, reported, note := afterOutsideChange(e.first)
	var shown span.Set
	if c != nil {
		for _, s := range c.Outcome.Shown {
			shown = shown.Union(s.Record.Shown())
		}
		shown = shown.Through(span.Inverse(e.first.File.Raw, e.all), false).Union(reported)
	}
	why := refusal.Of(e.first.Target.Name(), err)
	_, miss := p.find()
	if many, ok := e.onDisk(miss); ok && (why.Slug == refusal.SlugNotUnique || why.Slug == refusal.SlugNoMatch) {
		body, lines := changes.Matches(e.first.File.Doc, many.Places)
		why = refusal.Of("", refusal.Ambiguous(e.first.Target.Name(), p.args.Line, many, body))
		shown = shown.Union(lines)
	} else if said := e.numbering(p, miss); said != "" {
		why = why.Worded(why.Text + "\n" + said)
	}
	if len(shown) == 0 {
		return nil, why
	}
	if note != "" {
		why = why.Worded(why.Text + "\n" + note)
	}
	return commit.Refused(toolcall.Refused(why, toolcall.Shown{Path: e.first.File.Path, Record: e.first.File.WithShown(rec, shown)}))
}

// onDisk returns the places of an ambiguous text as those of the file as it is; ok is false if
// earlier edits of the call make or touch one of them.
func (e *editsOf) onDisk(miss error) (found *edit.AmbiguousError, ok bool) {
	if other := (*edit.OtherLineError)(nil); errors.As(miss, &other) {
		miss = other.Found
	}
	if !errors.As(miss, &found) {
		return nil, false
	}
	was, now := e.first.File.Doc, e.gate.File.Doc
	back, lines := span.Inverse(e.first.File.Raw, e.all), changes.LinesOf(was)
	number := lines.Counter()
	disk := &edit.AmbiguousError{Count: found.Count, InLine: found.InLine}
	for _, p := range found.Places {
		raw := span.Span{Start: now.RawOffset(int(p.Start)), End: now.RawOffset(int(p.End))}
		there := span.Set{raw}.Through(back, false)
		if len(there) != 1 || there[0].Len() != raw.Len() {
			return nil, false
		}
		start := was.TextOffset(there[0].Start)
		disk.Places = append(disk.Places, span.Span{Start: int64(start), End: int64(was.TextOffset(there[0].End))})
		disk.Lines = append(disk.Lines, number.At(start))
		disk.Cols = append(disk.Cols, 1+utf8.RuneCountInString(lines.Text[lines.Start(start):start]))
	}
	return disk, true
}

// numbering says how a refusal numbers lines, if earlier edits of the call make that differ from
// the file as it is, and why an old_string that is in the file was not found.
func (e *editsOf) numbering(p *editPlan, miss error) string {
	if errors.As(miss, new(*edit.NoMatchError)) && strings.Contains(e.first.File.Doc.Text, p.args.OldString) {
		return "It is in the file as it is, but an edit before it in this call changes it there: each edit is made on what the edits before it leave."
	}
	for _, s := range e.all {
		old := e.first.File.Raw[s.Start:s.End]
		for _, end := range []string{"\n", "\r"} {
			if bytes.Count(old, []byte(end)) != bytes.Count(s.New, []byte(end)) {
				return "Lines are numbered here as the edits before this one in the call would leave the file."
			}
		}
	}
	return ""
}

// change is the change of all edits.
func (e *editsOf) change() *commit.Plan {
	s, doc := e.first.Target, e.gate.File.Doc
	places := make([]span.Span, len(e.all))
	shift := int64(0)
	for i, p := range e.all {
		start := p.Start + shift
		places[i] = span.Span{Start: int64(doc.TextOffset(start)), End: int64(doc.TextOffset(start + int64(len(p.New))))}
		shift += int64(len(p.New)) - (p.End - p.Start)
	}
	body, shown, more := changes.Regions(doc, places, e.room)
	made := fmt.Sprintf("%d %s", len(e.edits), phrase.Plural(len(e.edits), "edit", "edits"))
	if e.count > len(e.edits) {
		made += fmt.Sprintf(", %d replacements", e.count)
	}
	head := fmt.Sprintf("The file %s has been updated (%s).", s.Name(), made)
	c := commit.Of(e.first.File, e.first.File.Recorded(nil), e.all, state.KeepText)
	c.Record = e.record
	left := ""
	if more > 0 {
		left = fmt.Sprintf("(%d more %s not shown here.)", more, phrase.Plural(more, "place is", "places are"))
	}
	_, reported, note := afterOutsideChange(e.first)
	c.Outcome.Answer = s.Answer(head, body, append(e.rules, left, note)...)
	c.Show(shown.Union(reported.Through(e.all, false)))
	c.Outcome.Facts = toolcall.Facts{Size: new(c.Size()), Replacements: e.count}
	return c
}

// manyAnswer turns the outcome of a call into its answer.
type manyAnswer struct {
	commit.ManyOutcome
	planners map[int]*manyEditing
	edits    int
}

// refusalRoom bounds what an answer says of edits that failed.
const refusalRoom = 16 << 10

func (m manyAnswer) outcome() toolcall.Outcome {
	if m.Err != nil {
		return m.Outcome
	}
	made, failed := 0, 0
	for _, f := range m.Files {
		switch {
		case f.Made:
			made++
		case f.Err != nil:
			failed++
		}
	}
	if failed > 0 && made == 0 {
		return m.refused()
	}
	return m.changed(failed > 0)
}

// refused names each edit that failed, and why. No file was changed.
func (m manyAnswer) refused() (out toolcall.Outcome) {
	var b strings.Builder
	var first *refusal.Refusal
	var failed []toolcall.FailedEntry
	untried, bad := 0, 0
	for _, f := range m.Files {
		if f.Err == nil {
			continue
		}
		at := m.planners[f.Edits[0]].failed
		why := refusal.Of(f.Name, f.Err)
		bad++
		untried += len(f.Edits) - at - 1
		failed = append(failed, toolcall.FailedEntry{Index: f.Edits[at], Error: why.Slug})
		if first == nil {
			first = why
			out.Question = f.Question
		}
		row := fmt.Sprintf("\nedits[%d], %s: %s", f.Edits[at], f.Name, why.Text)
		if b.Len()+len(row) > refusalRoom {
			fmt.Fprintf(&b, "\nedits[%d], %s: %s", f.Edits[at], f.Name, why.Slug)
			continue
		}
		b.WriteString(row)
		out.Shown = append(out.Shown, f.Shown...)
	}
	head := fmt.Sprintf("Nothing was changed: %d of %d edits cannot be made", bad, m.edits)
	if untried > 0 {
		head += fmt.Sprintf(", %d after %s in the same file %s not tried", untried, phrase.Plural(bad, "it", "them"), phrase.Plural(untried, "was", "were"))
	}
	if rest := m.edits - bad - untried; rest > 0 {
		head += fmt.Sprintf(", and the other %d would pass", rest)
	}
	out.Err = first.Worded(head + "." + b.String())
	out.Facts.Failed = &failed
	return out
}

// changed tells of the files that were changed. A call that stopped in the middle names the
// file at which it did.
func (m manyAnswer) changed(stopped bool) (out toolcall.Outcome) {
	var failed []toolcall.FailedEntry
	var stop string
	for _, f := range m.Files {
		switch {
		case f.Made:
			out.Notes = append(out.Notes, f.Text())
			out.Facts.Replacements += f.Facts.Replacements
		case f.Err != nil:
			why := refusal.Of(f.Name, f.Err)
			stop = fmt.Sprintf("The call stopped at %s: %s The files after it were not changed.", f.Name, why.Text)
			fallthrough
		default:
			for _, i := range f.Edits {
				failed = append(failed, toolcall.FailedEntry{Index: i, Error: refusal.SlugPartial})
			}
		}
		out.Effects = joinEffects(out.Effects, f)
	}
	out.Facts.Group = m.Group
	if stopped {
		out.Err = refusal.New(refusal.Partial, stop, out.Text())
		out.Facts.Failed = &failed
	}
	return out
}

// joinEffects adds the effects of one file to those of the files before.
func joinEffects(all toolcall.Effects, f commit.FileOutcome) toolcall.Effects {
	all.Shown = append(all.Shown, f.Shown...)
	all.Said = append(all.Said, f.Said...)
	if f.Made {
		size := int64(0)
		if f.Facts.Size != nil {
			size = *f.Facts.Size
		}
		all.Names = append(all.Names, toolcall.NameChange{Operation: "edit", Path: f.File.Path, Size: size})
		all.Moved = append(all.Moved, f.File)
	} else if f.Err != nil {
		all.Names = append(all.Names, toolcall.NameChange{Operation: "edit", Path: f.File.Path, Err: f.Err})
	}
	return all
}
