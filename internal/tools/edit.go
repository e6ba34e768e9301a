package tools

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/fsmcp/fsmcp/internal/changes"
	"github.com/fsmcp/fsmcp/internal/commit"
	"github.com/fsmcp/fsmcp/internal/edit"
	"github.com/fsmcp/fsmcp/internal/fsys"
	"github.com/fsmcp/fsmcp/internal/gate"
	"github.com/fsmcp/fsmcp/internal/perm"
	"github.com/fsmcp/fsmcp/internal/phrase"
	"github.com/fsmcp/fsmcp/internal/refusal"
	"github.com/fsmcp/fsmcp/internal/save"
	"github.com/fsmcp/fsmcp/internal/span"
	"github.com/fsmcp/fsmcp/internal/state"
	"github.com/fsmcp/fsmcp/internal/text"
	"github.com/fsmcp/fsmcp/internal/toolcall"
)

// editor answers Edit.
type editor struct {
	committer   *commit.Committer
	preferences func() Preferences
}

func (e *editor) run(ctx context.Context, call toolcall.Call, a *EditArgs) toolcall.Outcome {
	switch {
	case a.OldString == a.NewString:
		return toolcall.Failed(edit.ErrSame)
	case a.Line < 0:
		return toolcall.Failed(refusal.New(refusal.BadLine, a.Line))
	case isStub(a.NewString):
		return toolcall.Failed(refusal.New(refusal.StubAsText, "new_string"))
	}
	w := writing{by: e.committer, call: call, content: a.NewString}
	return e.committer.Commit(ctx, call, perm.Edit, &editing{tool: e, args: a, writing: &w})
}

// editing is one Edit under way.
type editing struct {
	tool    *editor
	args    *EditArgs
	writing *writing // of new_string as all of the file
}

// Plan implements commit.Planner.
func (e *editing) Plan(ctx context.Context, s *toolcall.Target, old *fsys.File) (*commit.Plan, error) {
	w, session := e.writing, e.writing.call.Session
	switch {
	case old == nil && (toolcall.IsNotebook(s) || e.args.OldString != ""):
		return commit.Refused(w.by.Opener.Absent(session, s))
	case toolcall.IsNotebook(s):
		return nil, refusal.New(refusal.IsNotebook, s.Name())
	case old == nil:
		return w.create(s)
	}
	stamp, err := old.Stamp()
	switch {
	case err != nil:
		return nil, err
	case w.created:
		return nil, save.ErrExists
	case e.args.OldString == "":
		return e.fillEmpty(ctx, s, old)
	case stamp.Size > toolcall.MaxEditBytes:
		return nil, refusal.New(refusal.TooLargeToEdit, phrase.Above(stamp.Size, toolcall.MaxEditBytes), s.Name())
	}
	_, change, err := e.planLoaded(ctx, s, old)
	return change, err
}

// planLoaded plans the edit on a file that is loaded for it.
func (e *editing) planLoaded(ctx context.Context, s *toolcall.Target, old *fsys.File) (p editPlan, change *commit.Plan, err error) {
	g, err := e.writing.load(ctx, s, old)
	if err != nil {
		return p, nil, err
	}
	known := e.writing.call.Session.Reminders
	p = editPlan{gate: g, args: e.args, preferences: e.tool.preferences()}
	p.reminded = known.HasReported(g.File.Path, g.File.Record, g.File.Sum)
	p.reported = known.HasReportedAny(g.File.Path, g.File.Record)
	change, err = p.plan()
	return p, change, err
}

// fillEmpty plans new_string as the content of a file that has none.
func (e *editing) fillEmpty(ctx context.Context, s *toolcall.Target, old *fsys.File) (*commit.Plan, error) {
	content := e.args.NewString
	stamp, err := old.Stamp()
	switch {
	case err != nil:
		return nil, err
	case stamp.Size == 0:
		head := fmt.Sprintf("The file %s has been updated (%s, %s).", s.Name(), phrase.LinesOf(content), phrase.Bytes(int64(len(content))))
		return commit.Whole(stamp, []byte(content), s.Answer(head, "")), nil
	case stamp.Size <= int64(len(byteOrderMark)): // perhaps such a mark and nothing else
		if c, err := e.writing.by.Loader.LoadText(ctx, e.writing.call.Session, s, old); err == nil && c.Doc.Text == "" {
			return e.writing.overwrite(ctx, s, old)
		}
	}
	return nil, refusal.New(refusal.Exists, s.Name())
}

// editPlan plans one Edit, as a pure function of the file, its record, the arguments and
// the settings.
type editPlan struct {
	gate        gate.Gate
	args        *EditArgs
	preferences Preferences
	// reminded says that reminders have shown all that changed in the file since the
	// record was made.
	reminded bool
	// reported says that an answer has reported a change since then. It may have shown lines by
	// the numbers that they have now.
	reported bool
	// rule is the one by which old_string was found last.
	rule edit.Rule
	// lineAt finds the line that the call names; nil: the gate does.
	lineAt func(n int) (line gate.Line, ok bool)
}

// request is the edit as the engine takes it.
func (e editPlan) request() edit.Request {
	return edit.Request{
		Old: e.args.OldString, New: e.args.NewString, ReplaceAll: e.args.ReplaceAll,
		KeepTrailing: e.preferences.KeepTrailing || trailingCounts(e.gate.Target.Asked.Ext()), Most: e.most(),
	}
}

// trailingCounts reports whether white space at line ends has a meaning in files with an
// extension: Markdown, diffs, and tables with tabs between their columns.
func trailingCounts(ext string) bool {
	switch ext {
	case "md", "mdx", "markdown", "mkd", "qmd", "rmd", "patch", "diff", "tsv":
		return true
	}
	return false
}

// matches are the places that an edit replaces in a text.
type matches struct {
	res     edit.Replacements
	splices []span.Splice // on the raw bytes
	// line is the number that the line which the call names has now, if that is another one;
	// else 0.
	line int
}

// find looks for them.
func (e editPlan) find() (f matches, err error) {
	doc, req := e.gate.File.Doc, e.request()
	if n := e.args.Line; n > 0 && !req.ReplaceAll {
		if e.lineAt == nil {
			e.lineAt = e.gate.Line
		}
		line, ok := e.lineAt(n)
		moved := line.Number != n
		if !ok || moved && e.reported { // which of the numbers the caller means is unclear
			return f, &edit.StaleLineError{Line: n}
		}
		if req.Within = line.Spans; moved {
			f.line = line.Number
		}
	}
	if f.res, err = edit.Apply(doc.Text, req); err == nil {
		f.splices, err = rawSplices(doc, f.res.Splices)
	}
	return f, err
}

// plan plans the edit.
func (e *editPlan) plan() (*commit.Plan, error) {
	f, miss := e.find()
	e.rule = f.res.Rule
	replaced := span.Replaced(f.splices)
	rec, known := e.knownByReminders(f, miss)
	if !known && miss == nil && (!e.preferences.RefuseChanged || e.gate.Target.AfterHooks) {
		if change, ok := e.applyToChangedFile(f); ok {
			return change, nil
		}
	}
	if !known {
		var out toolcall.Outcome
		if rec, out = e.gate.AllowEdit(gate.Replaced{Spans: replaced, Err: miss, Line: f.line, Only: !e.preferences.GateFull}); out.Err != nil {
			return commit.Refused(out)
		}
	}
	if miss != nil {
		return e.unmatched(rec, miss)
	}
	seen := rec.Shown()
	if f.res.Rule == edit.Exact {
		seen = seen.Union(rec.ReportedSpans())
	}
	if hidden := state.Outside(seen, replaced); len(hidden) > 0 {
		return commit.Refused(e.gate.NeverShown(rec, hidden))
	}
	return e.replacing(rec, f)
}

// replacing plans splices of a file; rec is its record.
func (e editPlan) replacing(rec state.Record, f matches) (*commit.Plan, error) {
	s, c := e.gate.Target, e.gate.File
	head := e.head(len(f.res.Splices), f.res.Rule)
	region, lines := changes.Region(c.Doc, f.res.Splices, len(head)+len(s.Note()))
	change := commit.Of(c, rec, f.splices, state.KeepText)
	change.Outcome.Answer = s.Answer(head, region)
	if e.gate.Budget.Passes(change.Outcome.Text()) {
		change.Show(span.Set{}.Add(lines).Through(f.splices, false))
	}
	if int64(len(c.Raw)) > state.InMemory {
		change.Differs = func() commit.Texts { return e.texts(len(f.splices)) }
	}
	change.Outcome.Facts = toolcall.Facts{Size: new(change.Size()), Replacements: len(f.splices)}
	return change, nil
}

// texts are the texts of an edit of a large file.
func (e editPlan) texts(count int) commit.Texts {
	place := "In one place"
	if count > 1 {
		place = fmt.Sprintf("In each of %d places", count)
	}
	return commit.Texts{Place: place, Old: e.args.OldString, Now: e.args.NewString}
}

// head is the first line of the answer.
func (e editPlan) head(count int, rule edit.Rule) string {
	var b strings.Builder
	fmt.Fprintf(&b, "The file %s has been updated.", e.gate.Target.Name())
	if count > 1 {
		fmt.Fprintf(&b, " All %d occurrences were replaced.", count)
	}
	if rule != edit.Exact {
		b.WriteString(" " + inexactly(rule))
	}
	return b.String()
}

// inexactly says by which rule an old_string was found that is not in the file as it stands.
func inexactly(rule edit.Rule) string {
	return fmt.Sprintf("old_string was not found exactly; it matched by rule: %s.", rule)
}

// most bounds how many places of a file one call replaces: the record of each takes far
// more memory than its text.
func (e editPlan) most() int {
	if int64(len(e.gate.File.Raw)) > state.InMemory {
		return 100_000
	}
	return 2_000_000
}

// unmatched refuses an edit that the engine did not make; rec is the record of the file.
func (e editPlan) unmatched(rec state.Record, err error) (*commit.Plan, error) {
	c, old, name := e.gate.File, e.args.OldString, e.gate.Target.Name()
	if many := (*edit.AmbiguousError)(nil); errors.As(err, &many) {
		return commit.Refused(e.gate.Ambiguous(rec, e.args.Line, many))
	}
	if other := (*edit.OtherLineError)(nil); errors.As(err, &other) {
		return commit.Refused(e.gate.Ambiguous(rec, e.args.Line, other.Found))
	}
	if !errors.As(err, new(*edit.NoMatchError)) {
		return nil, refusal.NotReplaced(name, err)
	}
	if int64(len(c.Raw)) > state.InMemory {
		return nil, refusal.New(refusal.NoExactMatch, old, name)
	}
	hint, found := edit.Nearest(c.Doc.Text, old, e.args.NewString)
	return nil, refusal.NoMatch(name, old, hint, found)
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

// applyToChangedFile plans an edit of a file that changed since it was read, unless the setting
// edit.whenChanged says refuse. Even then it does so after a hook before this edit, which would
// change the file again at each try. All that it replaces has to be
// in text that was shown and did not change. The answer reports the outside change. ok is false if the edit cannot be made so: the gate then refuses it.
func (e editPlan) applyToChangedFile(f matches) (change *commit.Plan, ok bool) {
	s, c := e.gate.Target, e.gate.File
	if s.Hidden || c.HasText() { // the answer could not tell the change
		return nil, false
	}
	diff, body, whole := e.gate.OutsideChange()
	if len(diff.Splices) == 0 {
		return nil, false
	}
	carried := c.Record.Shown().Through(diff.Splices, false)
	all := carried
	if whole {
		all = c.Record.Shown().Through(diff.Splices, true)
	}
	if e.preferences.GateFull && len(all.Missing(c.Stamp.Size)) > 0 || len(state.Outside(carried, span.Replaced(f.splices))) > 0 {
		return nil, false
	}
	change, err := e.replacing(c.Recorded(carried), f)
	if err != nil {
		return nil, false
	}
	note, lines := reportChange(diff, body)
	if whole && e.gate.Budget.Passes(change.Outcome.Text()+lines) {
		change.Show(all.Through(f.splices, true))
		note = lines
	}
	change.Outcome.Note(note)
	return change, true
}

// reportChange returns what the answer to a change says of an outside change that came before it:
// by its counts, which show none of its lines, and with all of its lines.
func reportChange(diff changes.Diff, body string) (counts, lines string) {
	added, removed := diff.Counts()
	head := "The file had changed since it was read; the edit was made in it as it is now. "
	counts = fmt.Sprintf(head+"Outside of this conversation %s came and %s went: too much to show here, so these lines do not count as shown.", phrase.Lines(added), phrase.Lines(removed))
	return counts, fmt.Sprintf(head+"This is that change %s:\n%s", changes.Form, body)
}

// knownByReminders returns the record of a file whose outside change a reminder has shown in
// full, for an edit whose exact match proves that the caller knows those bytes. They
// count as reported, not as shown: the reminder may have reached another agent.
func (e editPlan) knownByReminders(f matches, miss error) (rec state.Record, ok bool) {
	c := e.gate.File
	old, kept := c.OldText()
	if miss != nil || f.res.Rule != edit.Exact || !e.reminded || !kept || old.Enc != c.Doc.Enc || c.HasText() {
		return rec, false
	}
	diff := changes.Of(old, c.Doc)
	rec = c.Recorded(c.Record.Shown().Through(diff.Splices, false))
	rec = c.WithReported(rec, c.Record.ReportedSpans().Through(diff.Splices, false).Union(span.Set{}.Through(diff.Splices, true)))
	known := rec.Shown().Union(rec.ReportedSpans())
	if e.preferences.GateFull && len(known.Missing(c.Stamp.Size)) > 0 {
		return rec, false
	}
	return rec, len(state.Outside(known, span.Replaced(f.splices))) == 0
}
