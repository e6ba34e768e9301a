package commit

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/fsmcp/fsmcp/internal/access"
	"github.com/fsmcp/fsmcp/internal/fsys"
	"github.com/fsmcp/fsmcp/internal/history"
	"github.com/fsmcp/fsmcp/internal/refusal"
	"github.com/fsmcp/fsmcp/internal/reminders"
	"github.com/fsmcp/fsmcp/internal/state"
	"github.com/fsmcp/fsmcp/internal/toolcall"
)

// planned is a plan that is known already.
type planned struct {
	change *Plan
	err    error
}

func (p planned) Plan(context.Context, *toolcall.Target, *fsys.File) (*Plan, error) {
	return p.change, p.err
}

// committingWith is a change under way of a conversation that was shown nothing.
func committingWith(p Planner) *committing {
	session := toolcall.NewSession(time.Now, reminders.New(reminders.Options{}))
	return &committing{by: &Committer{}, call: toolcall.Call{Session: session}, planner: p}
}

// A refusal keeps its effects; of a hidden file its words tell nothing of the text.
func TestPlanRefuses(t *testing.T) {
	text := refusal.New(refusal.UnseenShown, "/w/a", "secret")
	effects := toolcall.Refused(text, toolcall.Shown{Path: "/w/a"})
	refused, err := Refused(effects)
	for name, c := range map[string]struct {
		plan   planned
		hidden bool
		shown  int
		tells  bool // the file's text
	}{
		"with effects":         {plan: planned{change: refused, err: err}, shown: 1, tells: true},
		"without":              {plan: planned{err: text}, tells: true},
		"hidden, with effects": {plan: planned{change: refused, err: err}, hidden: true},
		"hidden, without":      {plan: planned{err: text}, hidden: true},
	} {
		path, err := fsys.Lexer{OS: "linux", Base: "/w"}.Parse("/w/a")
		if err != nil {
			t.Fatal(err)
		}
		s := &toolcall.Target{AllowedFile: &access.AllowedFile{Target: &fsys.Target{Asked: path, Path: "/w/a"}, Hidden: c.hidden}}
		if c.plan.change != nil {
			c.plan.change = &Plan{Outcome: effects}
		}
		change := committingWith(c.plan).plan(context.Background(), s, nil)
		if !change.Nothing() {
			t.Errorf("%s: it was let through", name)
		}
		if c.hidden {
			change.Outcome.Hide()
		}
		if n := len(change.Outcome.Shown); n != c.shown || strings.Contains(change.Outcome.Err.Error(), "secret") != c.tells {
			t.Errorf("%s: %d shown: %v", name, n, change.Outcome.Err)
		}
	}
}

func TestChangeOnceItWasMade(t *testing.T) {
	now := state.NewContent([]byte("new"))
	part := state.PartsOf([]byte("e"), 1)
	stamp := fsys.Stamp{Size: 3, Mtime: 9}
	for name, c := range map[string]struct {
		change Plan
		record bool // there is one
		hash   bool // it is known
		parts  int  // that were shown before
		parse  bool
		shown  int
	}{
		"not hashed":       {change: Plan{}, record: true},
		"hashed":           {change: Plan{Now: now}, record: true, hash: true},
		"parts worked out": {change: Plan{parts: func() []state.Part { return part }}, record: true, parts: 1},
		"a notebook":       {change: Plan{Now: now, Notebook: true}, record: true, hash: true, parse: true},
		"more is shown":    {change: Plan{Now: now, Shown: part}, record: true, hash: true, shown: 1},
		"removed":          {change: Plan{Now: now, Remove: true}},
	} {
		c.change.Outcome.Head = "Done."
		m := c.change.applied("/w/a", stamp)
		if (m.record != nil) != c.record || m.record != nil && (m.record.Stamp != stamp || len(m.record.Parts) != c.parts) {
			t.Errorf("%s: the record is %+v", name, m.record)
		}
		if (m.Facts.Hash == now.Sum()) != c.hash || (m.Parse.Content != nil) != c.parse || m.Head != "Done." {
			t.Errorf("%s: %+v", name, m.Outcome)
		}
		if len(m.Shown) != c.shown || c.shown > 0 && (m.Shown[0].How != toolcall.Added || len(m.Shown[0].Record.Parts) != 1) {
			t.Errorf("%s: %+v", name, m.Shown)
		}
	}
}

// The history's remark comes until an answer with it was sent, and never to a restore.
func TestUnkeptIsSaidOnce(t *testing.T) {
	for name, c := range map[string]struct {
		mark      *history.Mark
		restoring bool
		says      string
	}{
		"kept":      {mark: &history.Mark{}},
		"no mark":   {},
		"secret":    {mark: &history.Mark{Secret: true}, says: "counts as secret"},
		"off":       {mark: &history.Mark{Off: true}, says: "is turned off"},
		"too large": {mark: &history.Mark{Missed: history.ErrTooLarge}, says: "larger than history.maxSize"},
		"missed":    {mark: &history.Mark{Missed: errors.New("no room")}},
		"a restore": {mark: &history.Mark{Off: true}, restoring: true},
	} {
		w := committingWith(nil)
		w.call.Restoring = c.restoring
		for _, sent := range []bool{false, true} {
			var out toolcall.Outcome
			w.noteUnkept(&out, "/w/a", c.mark)
			if text := out.Text(); !strings.Contains(text, c.says) || (text == "") != (c.says == "") {
				t.Errorf("%s: %q", name, text)
			}
			if sent {
				w.call.Session.Apply(out.Effects, true)
			}
		}
		var out toolcall.Outcome
		if w.noteUnkept(&out, "/w/a", c.mark); out.Text() != "" {
			t.Errorf("%s: a second time: %q", name, out.Text())
		}
	}
}
