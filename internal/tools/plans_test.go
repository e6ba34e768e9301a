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
	f := &state.File{Path: name, Content: state.NewContent([]byte(s.now)), Stamp: fsys.Stamp{Size: int64(len(s.now))}, Doc: doc, Known: s.shown != nil}
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
	target := &toolcall.Target{File: &access.File{Target: &fsys.Target{Asked: path, Path: name}}}
	return gate.Gate{Target: target, File: f, Budget: toolcall.Budget{Counter: tokens.Local{}, Most: DefaultMaxTokens}}
}

// outcome of a plan: the new content, or the slug of the refusal and the
// text of the file that its answer shows.
type outcome struct {
	content, slug string
	shows         string
}

func outcomeOf(t *testing.T, g gate.Gate, c *commit.Change, err error) (o outcome) {
	t.Helper()
	if err == nil {
		if !c.Nothing() && c.From != g.File.Content {
			t.Errorf("the plan is for %q, and the file holds %q", c.From.Raw, g.File.Raw)
		}
		return outcome{content: string(span.Apply(g.File.Raw, c.Splices))}
	}
	all, err := toolcall.ShownIn(err)
	for _, s := range all {
		if s.State != nil {
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
		"shown":               {seen{"one\ntwo\n", []string{"one\ntwo\n"}, ""}, EditArgs{OldString: "two", NewString: "2"}, Preferences{}, outcome{content: "one\n2\n"}},
		"only the match":      {seen{"one\ntwo\n", []string{"two\n"}, ""}, EditArgs{OldString: "two", NewString: "2"}, Preferences{}, outcome{content: "one\n2\n"}},
		"only the match, all": {seen{"one\ntwo\n", []string{"two\n"}, ""}, EditArgs{OldString: "two", NewString: "2"}, Preferences{Gate: GateFull}, outcome{slug: refusal.SlugPartlyRead, shows: "one\ntwo\n"}},
		"not the match":       {seen{"one\ntwo\n", []string{"one\n"}, ""}, EditArgs{OldString: "two", NewString: "2"}, Preferences{}, outcome{slug: refusal.SlugPartlyRead, shows: "one\ntwo\n"}},
		"never shown":         {seen{"one\ntwo\n", nil, ""}, EditArgs{OldString: "two", NewString: "2"}, Preferences{}, outcome{slug: refusal.SlugNotRead, shows: "one\ntwo\n"}},
		"never shown, all":    {seen{"one\ntwo\n", nil, ""}, EditArgs{OldString: "two", NewString: "2"}, Preferences{Gate: GateFull}, outcome{slug: refusal.SlugNotRead}},
		"not there":           {seen{"one\ntwo\n", []string{"one\ntwo\n"}, ""}, EditArgs{OldString: "three", NewString: "3"}, Preferences{}, outcome{slug: refusal.SlugNoMatch}},
		"not there, unread":   {seen{"one\ntwo\n", nil, ""}, EditArgs{OldString: "three", NewString: "3"}, Preferences{}, outcome{slug: refusal.SlugNotRead}},
		"twice":               {seen{"a\na\n", []string{"a\na\n"}, ""}, EditArgs{OldString: "a", NewString: "b"}, Preferences{}, outcome{slug: refusal.SlugNotUnique}},
		"twice, all":          {seen{"a\na\n", []string{"a\na\n"}, ""}, EditArgs{OldString: "a", NewString: "b", ReplaceAll: true}, Preferences{}, outcome{content: "b\nb\n"}},
		"twice, one unseen":   {seen{"a\na\n", []string{"a\n"}, ""}, EditArgs{OldString: "a", NewString: "b", ReplaceAll: true}, Preferences{}, outcome{slug: refusal.SlugPartlyRead, shows: "a\na\n"}},
		"changed":             {seen{"one\ntwo\n", []string{"one\ntwo\n"}, "ONE\ntwo\n"}, EditArgs{OldString: "two", NewString: "2"}, Preferences{}, outcome{slug: refusal.SlugModified, shows: "ONE\ntwo\n"}},
		"changed, applied":    {seen{"one\ntwo\n", []string{"one\ntwo\n"}, "ONE\ntwo\n"}, EditArgs{OldString: "two", NewString: "2"}, Preferences{ApplyChanged: true}, outcome{content: "ONE\n2\n"}},
		"changed match":       {seen{"one\ntwo\n", []string{"one\ntwo\n"}, "one\ntwo three\n"}, EditArgs{OldString: "two", NewString: "2"}, Preferences{ApplyChanged: true}, outcome{slug: refusal.SlugModified, shows: "one\ntwo three\n"}},
		"changed all over":    {seen{lines(100), []string{lines(100)}, long}, EditArgs{OldString: "the middle", NewString: "x"}, Preferences{}, outcome{slug: refusal.SlugModified}},
	} {
		g := c.file.gate(t, "/w/a.txt")
		change, err := editPlan{gate: g, args: &c.edit, preferences: c.set}.plan()
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
		"shown":       {seen{"one\ntwo\n", []string{"one\ntwo\n"}, ""}, outcome{content: content}},
		"in part":     {seen{"one\ntwo\n", []string{"two\n"}, ""}, outcome{slug: refusal.SlugPartlyRead, shows: "one\ntwo\n"}},
		"never shown": {seen{"one\ntwo\n", nil, ""}, outcome{slug: refusal.SlugNotRead}},
		"changed":     {seen{"one\ntwo\n", []string{"one\ntwo\n"}, "one\n"}, outcome{slug: refusal.SlugModified, shows: "one\n"}},
		"the same":    {seen{content, []string{content}, ""}, outcome{content: content}},
		"a mark":      {seen{"\ufeffone\n", []string{"\ufeffone\n"}, ""}, outcome{content: "\ufeff" + content}},
		"too much":    {seen{lines(200), []string{"filler"}, ""}, outcome{slug: refusal.SlugPartlyRead}},
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
		"shown":     {seen{was, []string{one}, ""}, NotebookEditArgs{CellID: "a", NewSource: &two}, outcome{content: strings.Replace(was, "one", "two", 1)}},
		"not shown": {seen{was, []string{"nbformat"}, ""}, NotebookEditArgs{CellID: "a", NewSource: &two}, outcome{slug: refusal.SlugPartlyRead, shows: one + "nbformat"}},
		"deleted":   {seen{was, []string{one}, ""}, NotebookEditArgs{CellID: "a", EditMode: modeDelete}, outcome{content: strings.Replace(was, was[strings.Index(was, "{\"cell_type"):strings.Index(was, "],")], "", 1)}},
		"no such":   {seen{was, []string{one}, ""}, NotebookEditArgs{CellID: "b", NewSource: &two}, outcome{slug: refusal.SlugNoSuchCell}},
		"changed":   {seen{was, []string{was}, now}, NotebookEditArgs{CellID: "a", NewSource: &two}, outcome{slug: refusal.SlugModified, shows: now}},
		"as it is":  {seen{was, []string{one}, ""}, NotebookEditArgs{CellID: "a", NewSource: src("one")}, outcome{content: was}},
		"a new one": {seen{was, []string{one}, ""}, NotebookEditArgs{EditMode: modeInsert, CellType: notebook.Raw, NewSource: &two}, outcome{content: strings.Replace(was, "[{", `[{"cell_type":"raw","id":"00000000","metadata":{},"source":"two"},{`, 1)}},
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
