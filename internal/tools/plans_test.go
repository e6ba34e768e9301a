package tools

import (
	"bytes"
	"strings"
	"testing"

	"github.com/fsmcp/fsmcp/internal/access"
	"github.com/fsmcp/fsmcp/internal/commit"
	"github.com/fsmcp/fsmcp/internal/fsys"
	"github.com/fsmcp/fsmcp/internal/gate"
	"github.com/fsmcp/fsmcp/internal/notebook"
	"github.com/fsmcp/fsmcp/internal/refusal"
	"github.com/fsmcp/fsmcp/internal/span"
	"github.com/fsmcp/fsmcp/internal/state"
	"github.com/fsmcp/fsmcp/internal/text"
	"github.com/fsmcp/fsmcp/internal/tokens"
	"github.com/fsmcp/fsmcp/internal/toolcall"
)

// seen is a file as it is now beside the record of what was shown of it, for plans that
// need no disk.
type seen struct {
	was   string // the content when it was shown
	shown []string
	now   string // the content now; "" for was
}

// gate is the gate of a file of that name.
func (s seen) gate(t *testing.T, name string) gate.Gate {
	t.Helper()
	path, err := fsys.Lexer{OS: "linux", Base: "/w"}.Parse(name)
	if err != nil {
		t.Fatal(err)
	}
	if s.now == "" {
		s.now = s.was
	}
	doc, err := text.Decode([]byte(s.now))
	if err != nil {
		t.Fatal(err)
	}
	f := &state.KnownFile{Path: name, Content: state.NewContent([]byte(s.now)), Stamp: fsys.Stamp{Size: int64(len(s.now))}, Doc: doc, Known: s.shown != nil}
	if f.Known {
		f.Record = state.Record{Stamp: fsys.Stamp{Size: int64(len(s.was))}, Text: []byte(s.was), Enc: doc.Enc}
	}
	var shown span.Set
	for _, part := range s.shown {
		at := int64(strings.Index(s.was, part))
		shown = shown.Add(span.Span{Start: at, End: at + int64(len(part))})
	}
	if f.Known {
		f.Record = f.WithShown(f.Record, shown)
	}
	target := &toolcall.Target{AllowedFile: &access.AllowedFile{Target: &fsys.Target{Asked: path, Path: name}}}
	return gate.Gate{Target: target, File: f, Budget: toolcall.Budget{Counter: tokens.Local{}, Most: DefaultMaxTokens}}
}

// outcome of a plan: the new content, or the slug of the refusal and the
// text of the file that its answer shows.
type outcome struct {
	content, slug string
	shows         string
}

func outcomeOf(t *testing.T, g gate.Gate, c *commit.Plan, err error) (o outcome) {
	t.Helper()
	if err == nil {
		if !c.Nothing() && c.From != g.File.Content {
			t.Errorf("the plan is for %q, and the file holds %q", c.From.Raw, g.File.Raw)
		}
		return outcome{content: string(span.Apply(g.File.Raw, c.Splices))}
	}
	if c == nil {
		c = &commit.Plan{}
	}
	for _, s := range c.Outcome.Shown {
		if s.How == toolcall.Differs {
			continue
		}
		for _, part := range s.Record.Shown() {
			o.shows += string(g.File.Raw[part.Start:part.End])
		}
	}
	o.slug = refusal.Of("", err).Slug
	return o
}

// lines is a text that is too long to be shown around a line of its middle.
func lines(n int) string { return strings.Repeat(strings.Repeat("filler ", 30)+"\n", n) }

func TestPlanOfEdit(t *testing.T) {
	long := lines(100) + "the middle\n" + lines(100)
	for name, c := range map[string]struct {
		file seen
		edit EditArgs
		set  Preferences
		want outcome
	}{
		"shown":               {file: seen{was: "one\ntwo\n", shown: []string{"one\ntwo\n"}}, edit: EditArgs{OldString: "two", NewString: "2"}, want: outcome{content: "one\n2\n"}},
		"only the match":      {file: seen{was: "one\ntwo\n", shown: []string{"two\n"}}, edit: EditArgs{OldString: "two", NewString: "2"}, want: outcome{content: "one\n2\n"}},
		"only the match, all": {file: seen{was: "one\ntwo\n", shown: []string{"two\n"}}, edit: EditArgs{OldString: "two", NewString: "2"}, set: Preferences{GateFull: true}, want: outcome{slug: refusal.SlugPartlyRead, shows: "one\ntwo\n"}},
		"not the match":       {file: seen{was: "one\ntwo\n", shown: []string{"one\n"}}, edit: EditArgs{OldString: "two", NewString: "2"}, want: outcome{slug: refusal.SlugPartlyRead, shows: "one\ntwo\n"}},
		"never shown":         {file: seen{was: "one\ntwo\n"}, edit: EditArgs{OldString: "two", NewString: "2"}, want: outcome{slug: refusal.SlugNotRead, shows: "one\ntwo\n"}},
		"never shown, all":    {file: seen{was: "one\ntwo\n"}, edit: EditArgs{OldString: "two", NewString: "2"}, set: Preferences{GateFull: true}, want: outcome{slug: refusal.SlugNotRead}},
		"not there":           {file: seen{was: "one\ntwo\n", shown: []string{"one\ntwo\n"}}, edit: EditArgs{OldString: "three", NewString: "3"}, want: outcome{slug: refusal.SlugNoMatch}},
		"not there, unread":   {file: seen{was: "one\ntwo\n"}, edit: EditArgs{OldString: "three", NewString: "3"}, want: outcome{slug: refusal.SlugNotRead}},
		"twice":               {file: seen{was: "a\na\n", shown: []string{"a\na\n"}}, edit: EditArgs{OldString: "a", NewString: "b"}, want: outcome{slug: refusal.SlugNotUnique, shows: "a\na\n"}},
		"twice, all":          {file: seen{was: "a\na\n", shown: []string{"a\na\n"}}, edit: EditArgs{OldString: "a", NewString: "b", ReplaceAll: true}, want: outcome{content: "b\nb\n"}},
		"twice, one unseen":   {file: seen{was: "a\na\n", shown: []string{"a\n"}}, edit: EditArgs{OldString: "a", NewString: "b", ReplaceAll: true}, want: outcome{slug: refusal.SlugPartlyRead, shows: "a\na\n"}},
		"changed":             {file: seen{was: "one\ntwo\n", shown: []string{"one\ntwo\n"}, now: "ONE\ntwo\n"}, edit: EditArgs{OldString: "two", NewString: "2"}, set: Preferences{RefuseChanged: true}, want: outcome{slug: refusal.SlugModified, shows: "ONE\ntwo\n"}},
		"changed, applied":    {file: seen{was: "one\ntwo\n", shown: []string{"one\ntwo\n"}, now: "ONE\ntwo\n"}, edit: EditArgs{OldString: "two", NewString: "2"}, want: outcome{content: "ONE\n2\n"}},
		"changed match":       {file: seen{was: "one\ntwo\n", shown: []string{"one\ntwo\n"}, now: "one\ntwo three\n"}, edit: EditArgs{OldString: "two", NewString: "2"}, want: outcome{slug: refusal.SlugModified, shows: "one\ntwo three\n"}},
		"changed all over":    {file: seen{was: lines(100), shown: []string{lines(100)}, now: long}, edit: EditArgs{OldString: "the middle", NewString: "x"}, want: outcome{slug: refusal.SlugModified}},
	} {
		g := c.file.gate(t, "/w/a.txt")
		change, err := (&editPlan{gate: g, args: &c.edit, preferences: c.set}).plan()
		if got := outcomeOf(t, g, change, err); got != c.want {
			t.Errorf("%s: %+v, not %+v", name, got, c.want)
		}
	}
}

func TestPlanOfWrite(t *testing.T) {
	const content = "new\n"
	for name, c := range map[string]struct {
		file seen
		want outcome
	}{
		"shown":       {file: seen{was: "one\ntwo\n", shown: []string{"one\ntwo\n"}}, want: outcome{content: content}},
		"in part":     {file: seen{was: "one\ntwo\n", shown: []string{"two\n"}}, want: outcome{slug: refusal.SlugPartlyRead, shows: "one\ntwo\n"}},
		"never shown": {file: seen{was: "one\ntwo\n"}, want: outcome{slug: refusal.SlugNotRead}},
		"changed":     {file: seen{was: "one\ntwo\n", shown: []string{"one\ntwo\n"}, now: "one\n"}, want: outcome{slug: refusal.SlugModified, shows: "one\n"}},
		"the same":    {file: seen{was: content, shown: []string{content}}, want: outcome{content: content}},
		"a mark":      {file: seen{was: "\ufeffone\n", shown: []string{"\ufeffone\n"}}, want: outcome{content: "\ufeff" + content}},
		"too much":    {file: seen{was: lines(200), shown: []string{"filler"}}, want: outcome{slug: refusal.SlugPartlyRead}},
	} {
		g := c.file.gate(t, "/w/a.txt")
		change, err := overwrite(g, content)
		if got := outcomeOf(t, g, change, err); got != c.want {
			t.Errorf("%s: %+v, not %+v", name, got, c.want)
		}
	}
}

func TestPlanOfNotebookEdit(t *testing.T) {
	const was = `{"cells":[{"cell_type":"raw","id":"a","metadata":{},"source":"one"}],"metadata":{},"nbformat":4,"nbformat_minor":5}`
	one, two := `"one"`, "two"
	now := strings.Replace(was, "one", "1", 1)
	for name, c := range map[string]struct {
		file seen
		edit NotebookEditArgs
		want outcome
	}{
		"shown":     {file: seen{was: was, shown: []string{one}}, edit: NotebookEditArgs{CellID: "a", NewSource: &two}, want: outcome{content: strings.Replace(was, "one", "two", 1)}},
		"not shown": {file: seen{was: was, shown: []string{"nbformat"}}, edit: NotebookEditArgs{CellID: "a", NewSource: &two}, want: outcome{slug: refusal.SlugPartlyRead, shows: one + "nbformat"}},
		"deleted":   {file: seen{was: was, shown: []string{one}}, edit: NotebookEditArgs{CellID: "a", EditMode: modeDelete}, want: outcome{content: strings.Replace(was, was[strings.Index(was, "{\"cell_type"):strings.Index(was, "],")], "", 1)}},
		"no such":   {file: seen{was: was, shown: []string{one}}, edit: NotebookEditArgs{CellID: "b", NewSource: &two}, want: outcome{slug: refusal.SlugNoSuchCell}},
		"changed":   {file: seen{was: was, shown: []string{was}, now: now}, edit: NotebookEditArgs{CellID: "a", NewSource: &two}, want: outcome{slug: refusal.SlugModified, shows: now}},
		"as it is":  {file: seen{was: was, shown: []string{one}}, edit: NotebookEditArgs{CellID: "a", NewSource: src("one")}, want: outcome{content: was}},
		"a new one": {file: seen{was: was, shown: []string{one}}, edit: NotebookEditArgs{EditMode: modeInsert, CellType: notebook.Raw, NewSource: &two}, want: outcome{content: strings.Replace(was, "[{", `[{"cell_type":"raw","id":"00000000","metadata":{},"source":"two"},{`, 1)}},
	} {
		g := c.file.gate(t, "/w/a.ipynb")
		nb, err := notebook.Parse(g.File.Raw)
		if err != nil {
			t.Fatal(err)
		}
		change, err := cellPlan{gate: g, nb: nb, args: &c.edit, ids: bytes.NewReader(make([]byte, 64))}.plan()
		if got := outcomeOf(t, g, change, err); got != c.want {
			t.Errorf("%s: %+v, not %+v", name, got, c.want)
		}
	}
}
