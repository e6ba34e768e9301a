package gate

import (
	"errors"
	"strings"
	"testing"

	"github.com/fsmcp/fsmcp/internal/access"
	"github.com/fsmcp/fsmcp/internal/edit"
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
	f := &state.KnownFile{Path: name, Content: state.NewContent([]byte(now)), Stamp: fsys.Stamp{Size: int64(len(now))}, Doc: doc, Known: shown != nil}
	var places span.Set
	for _, part := range shown {
		at := int64(strings.Index(was, part))
		places = places.Add(span.Span{Start: at, End: at + int64(len(part))})
	}
	if f.Known {
		before := state.KnownFile{Content: state.NewContent([]byte(was)), Stamp: fsys.Stamp{Size: int64(len(was))}}
		f.Record = before.Recorded(places)
	}
	target := &toolcall.Target{AllowedFile: &access.AllowedFile{Target: &fsys.Target{Asked: path, Path: name}}}
	return Gate{Target: target, File: f, Budget: toolcall.Budget{Counter: tokens.Local{}, Most: 25_000}}
}

// refused is the slug of a refusal, and the text of the file that its answer shows.
type refused struct{ slug, shows string }

func refusedBy(g Gate, out toolcall.Outcome) (r refused) {
	var refusal *refusal.Refusal
	if errors.As(out.Err, &refusal) {
		r.slug = refusal.Slug
	}
	for _, s := range out.Shown {
		if s.How == toolcall.Differs {
			continue
		}
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
		"shown":                {file: "/w/a", was: lines, now: lines, shown: []string{lines}},
		"empty":                {file: "/w/a"},
		"never shown":          {file: "/w/a", was: lines, now: lines, want: refused{slug: refusal.SlugNotRead}},
		"in part":              {file: "/w/a", was: lines, now: lines, shown: []string{"two\n"}, want: refused{slug: refusal.SlugPartlyRead, shows: lines}},
		"in part, too long":    {file: "/w/a", was: long, now: long, shown: []string{"filler"}, want: refused{slug: refusal.SlugPartlyRead}},
		"changed":              {file: "/w/a", was: lines, now: "one\n", shown: []string{lines}, want: refused{slug: refusal.SlugModified, shows: "one\n"}},
		"changed, too long":    {file: "/w/a", was: "one\n", now: long, shown: []string{"one\n"}, want: refused{slug: refusal.SlugModified}},
		"a notebook":           {file: "/w/a.ipynb", was: cells, now: cells, shown: []string{`"one"`}},
		"a notebook, in part":  {file: "/w/a.ipynb", was: cells, now: cells, shown: []string{"nbformat"}, want: refused{slug: refusal.SlugPartlyRead}},
		"a notebook, changed":  {file: "/w/a.ipynb", was: cells, now: strings.Replace(cells, "one", "1", 1), shown: []string{cells}, want: refused{slug: refusal.SlugModified, shows: strings.Replace(cells, "one", "1", 1)}},
		"a notebook, no JSON":  {file: "/w/a.ipynb", was: lines, now: lines, shown: []string{"one\n"}, want: refused{slug: refusal.SlugPartlyRead, shows: lines}},
		"a notebook, not read": {file: "/w/a.ipynb", was: cells, now: cells, want: refused{slug: refusal.SlugNotRead}},
	} {
		g := gateOf(t, c.file, c.was, c.now, c.shown...)
		out := g.AllowWrite()
		if got := refusedBy(g, out); got != c.want || (out.Err == nil) != (c.want == refused{}) {
			t.Errorf("%s: %+v, not %+v: %v", name, got, c.want, out.Err)
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
		"shown":                   {source: "one", shown: `"one"`},
		"not shown":               {source: "one", shown: `"cells"`, want: refused{slug: refusal.SlugPartlyRead, shows: `"cells""one"`}},
		"not shown, too long":     {source: long, shown: `"cells"`, want: refused{slug: refusal.SlugPartlyRead}},
		"too long as it is shown": {source: framed, shown: `"cells"`, want: refused{slug: refusal.SlugPartlyRead}},
	} {
		raw := cells(c.source)
		g := gateOf(t, "/w/a.ipynb", raw, raw, c.shown)
		g.Budget = g.Budget.ForClient(toolcall.ClientLimits{Errors: 10_000})
		nb, err := notebook.Parse(g.File.Raw)
		if err != nil {
			t.Fatal(err)
		}
		out := g.AllowCell(nb.Cell(0), "a", g.File.Compare(nil).Record)
		if got := refusedBy(g, out); got != c.want || (out.Err == nil) != (c.want == refused{}) {
			t.Errorf("%s: %+v, not %+v: %v", name, got, c.want, out.Err)
		}
	}
}

func TestAllowEdit(t *testing.T) {
	const lines = "one\ntwo\n"
	long := strings.Repeat(strings.Repeat("filler ", 30)+"\n", 2000) // above state.KeepText
	spans := func(text, part string) []span.Span {
		at := int64(strings.Index(text, part))
		return []span.Span{{Start: at, End: at + int64(len(part))}}
	}
	for name, c := range map[string]struct {
		was, now string
		shown    []string
		by       Replaced
		want     refused
	}{
		"shown":                   {was: lines, now: lines, shown: []string{lines}, by: Replaced{Spans: spans(lines, "two"), Only: true}},
		"empty":                   {by: Replaced{Spans: spans("", ""), Only: true}},
		"never shown":             {was: lines, now: lines, by: Replaced{Spans: spans(lines, "two"), Only: true}},
		"never shown, no match":   {was: lines, now: lines, by: Replaced{Err: &edit.NoMatchError{}, Only: true}, want: refused{slug: refusal.SlugNotRead}},
		"never shown, in full":    {was: lines, now: lines, by: Replaced{Spans: spans(lines, "two")}, want: refused{slug: refusal.SlugNotRead}},
		"in part, in full":        {was: lines, now: lines, shown: []string{"two\n"}, by: Replaced{Spans: spans(lines, "two")}, want: refused{slug: refusal.SlugPartlyRead, shows: lines}},
		"changed":                 {was: lines, now: "ONE\ntwo\n", shown: []string{lines}, by: Replaced{Spans: spans(lines, "two"), Only: true}, want: refused{slug: refusal.SlugModified, shows: "ONE\ntwo\n"}},
		"changed, no match":       {was: lines, now: "ONE\n", shown: []string{lines}, by: Replaced{Err: &edit.NoMatchError{}, Only: true}, want: refused{slug: refusal.SlugModified, shows: "ONE\n"}},
		"a part of a grown log":   {was: "first\n" + long, now: "first\n" + long + "last\n", shown: []string{"first\n"}, by: Replaced{Spans: spans("first", "first"), Only: true}},
		"a part that has changed": {was: "first\n" + long, now: "First\n" + long, shown: []string{"first\n"}, by: Replaced{Spans: spans("First", "First"), Only: true}, want: refused{slug: refusal.SlugModified}},
	} {
		g := gateOf(t, "/w/a", c.was, c.now, c.shown...)
		_, out := g.AllowEdit(c.by)
		if got := refusedBy(g, out); got != c.want || (out.Err == nil) != (c.want == refused{}) {
			t.Errorf("%s: %+v, not %+v: %v", name, got, c.want, out.Err)
		}
	}
}
