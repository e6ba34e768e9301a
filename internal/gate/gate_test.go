package gate

import (
	"errors"
	"strings"
	"testing"

	"github.com/fsmcp/fsmcp/internal/access"
	"github.com/fsmcp/fsmcp/internal/fsys"
	"github.com/fsmcp/fsmcp/internal/notebook"
	"github.com/fsmcp/fsmcp/internal/refusal"
	"github.com/fsmcp/fsmcp/internal/span"
	"github.com/fsmcp/fsmcp/internal/state"
	"github.com/fsmcp/fsmcp/internal/text"
	"github.com/fsmcp/fsmcp/internal/tokens"
	"github.com/fsmcp/fsmcp/internal/toolcall"
)

// gateOf is the gate of a file that held was when parts of it were shown, and holds now.
func gateOf(t *testing.T, name, was, now string, shown ...string) Gate {
	t.Helper()
	path, err := fsys.Lexer{OS: "linux", Base: "/w"}.Parse(name)
	if err != nil {
		t.Fatal(err)
	}
	doc, err := text.Decode([]byte(now))
	if err != nil {
		t.Fatal(err)
	}
	f := &state.File{Path: name, Content: state.NewContent([]byte(now)), Stamp: fsys.Stamp{Size: int64(len(now))}, Doc: doc, Known: shown != nil}
	if f.Known {
		f.Record = state.Record{Stamp: fsys.Stamp{Size: int64(len(was))}, Text: []byte(was), Enc: doc.Enc}
	}
	var places span.Set
	for _, part := range shown {
		at := int64(strings.Index(was, part))
		places = places.Add(span.Span{Start: at, End: at + int64(len(part))})
	}
	if f.Known {
		f.Record = f.WithShown(f.Record, places)
	}
	target := &toolcall.Target{File: &access.File{Target: &fsys.Target{Asked: path, Path: name}}}
	return Gate{Target: target, File: f, Budget: toolcall.Budget{Counter: tokens.Local{}, Most: 25_000}}
}

// refused is the slug of a refusal, and the text of the file that its answer shows.
type refused struct{ slug, shows string }

func refusedBy(g Gate, err error) (r refused) {
	var refusal *refusal.Refusal
	if errors.As(err, &refusal) {
		r.slug = refusal.Slug
	}
	shown, _ := toolcall.ShownIn(err)
	for _, s := range shown {
		for _, part := range s.Record.Shown() {
			r.shows += string(g.File.Raw[part.Start:part.End])
		}
	}
	return r
}

func TestAllowWrite(t *testing.T) {
	const (
		lines = "one\ntwo\n"
		cells = `{"cells":[{"cell_type":"raw","id":"a","metadata":{},"source":"one"}],"metadata":{},"nbformat":4,"nbformat_minor":5}`
	)
	long := strings.Repeat(strings.Repeat("filler ", 30)+"\n", 200)
	for name, c := range map[string]struct {
		file, was, now string
		shown          []string
		want           refused
	}{
		"shown":                {"/w/a", lines, lines, []string{lines}, refused{}},
		"empty":                {"/w/a", "", "", nil, refused{}},
		"never shown":          {"/w/a", lines, lines, nil, refused{slug: refusal.SlugNotRead}},
		"in part":              {"/w/a", lines, lines, []string{"two\n"}, refused{refusal.SlugPartlyRead, lines}},
		"in part, too long":    {"/w/a", long, long, []string{"filler"}, refused{slug: refusal.SlugPartlyRead}},
		"changed":              {"/w/a", lines, "one\n", []string{lines}, refused{refusal.SlugModified, "one\n"}},
		"changed, too long":    {"/w/a", "one\n", long, []string{"one\n"}, refused{slug: refusal.SlugModified}},
		"a notebook":           {"/w/a.ipynb", cells, cells, []string{`"one"`}, refused{}},
		"a notebook, in part":  {"/w/a.ipynb", cells, cells, []string{"nbformat"}, refused{slug: refusal.SlugPartlyRead}},
		"a notebook, changed":  {"/w/a.ipynb", cells, strings.Replace(cells, "one", "1", 1), []string{cells}, refused{refusal.SlugModified, strings.Replace(cells, "one", "1", 1)}},
		"a notebook, no JSON":  {"/w/a.ipynb", lines, lines, []string{"one\n"}, refused{refusal.SlugPartlyRead, lines}},
		"a notebook, not read": {"/w/a.ipynb", cells, cells, nil, refused{slug: refusal.SlugNotRead}},
	} {
		g := gateOf(t, c.file, c.was, c.now, c.shown...)
		err := g.AllowWrite()
		if got := refusedBy(g, err); got != c.want || (err == nil) != (c.want == refused{}) {
			t.Errorf("%s: %+v, not %+v: %v", name, got, c.want, err)
		}
	}
}

func TestAllowCell(t *testing.T) {
	cells := func(source string) string {
		return `{"cells":[{"cell_type":"raw","id":"a","metadata":{},"source":"` + source + `"}],"metadata":{},"nbformat":4,"nbformat_minor":5}`
	}
	long := strings.Repeat("x", toolcall.ShowUnseen)
	framed := strings.Repeat("(Cells ", 1200) // each is shown with a backslash
	for name, c := range map[string]struct {
		source, shown string
		want          refused
	}{
		"shown":                   {"one", `"one"`, refused{}},
		"not shown":               {"one", `"cells"`, refused{refusal.SlugPartlyRead, `"cells""one"`}},
		"not shown, too long":     {long, `"cells"`, refused{slug: refusal.SlugPartlyRead}},
		"too long as it is shown": {framed, `"cells"`, refused{slug: refusal.SlugPartlyRead}},
	} {
		raw := cells(c.source)
		g := gateOf(t, "/w/a.ipynb", raw, raw, c.shown)
		g.Budget = g.Budget.Of(toolcall.ClientLimits{Errors: 10_000})
		nb, err := notebook.Parse(g.File.Raw)
		if err != nil {
			t.Fatal(err)
		}
		err = g.AllowCell(nb.Cell(0), "a", g.File.Compare(nil).Record)
		if got := refusedBy(g, err); got != c.want || (err == nil) != (c.want == refused{}) {
			t.Errorf("%s: %+v, not %+v: %v", name, got, c.want, err)
		}
	}
}
