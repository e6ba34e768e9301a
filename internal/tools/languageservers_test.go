package tools

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/fsmcp/fsmcp/internal/commit"
	"github.com/fsmcp/fsmcp/internal/hooks"
	"github.com/fsmcp/fsmcp/internal/lsp"
	"github.com/fsmcp/fsmcp/internal/perm"
	"github.com/fsmcp/fsmcp/internal/toolcall"
)

// serversOf are language servers that a test plays.
type serversOf struct {
	changing map[string]int
	heard    []string
	report   string
	rooms    []int
}

func (s *serversOf) Wants(path string) bool { return strings.HasSuffix(path, ".go") }

func (s *serversOf) Begin(path string) (end func()) {
	s.changing[path]++
	return func() { s.changing[path]-- }
}

func (s *serversOf) Changed(_ context.Context, c lsp.FileChange) {
	old := "no file"
	if c.Old != nil {
		old = fmt.Sprintf("%q", c.Old)
	}
	s.heard = append(s.heard, fmt.Sprintf("%s: %s to %q, changing %d", filepath.Base(c.Path), old, c.Now, s.changing[c.Path]))
}

func (s *serversOf) Renamed(paths []string) {
	for _, path := range paths {
		s.heard = append(s.heard, filepath.Base(path))
	}
}

func (s *serversOf) Report(room int) string {
	s.rooms = append(s.rooms, room)
	return s.report
}

func served(t testing.TB, rules ...perm.RuleText) (*bench, *serversOf) {
	b, s := newBench(t, rules...), &serversOf{changing: make(map[string]int)}
	b.with(func(o *Options) { o.Servers = s })
	return b, s
}

// Language servers hear of each change of a file of theirs, with the bytes before and after it,
// and of nothing else.
func TestServersHearOfChanges(t *testing.T) {
	b, s := served(t)
	commands := &scripted{}
	b.with(func(o *Options) { o.Hooks = commands })
	heard := func(want ...string) {
		t.Helper()
		if got := strings.Join(s.heard, "\n"); got != strings.Join(want, "\n") {
			t.Errorf("%s\nwant %s", got, want)
		}
		s.heard = nil
	}
	p := b.path("a.go")
	b.ok(&WriteArgs{FilePath: p, Content: "one\n"})
	heard(`a.go: no file to "one\n", changing 1`)
	b.ok(&EditArgs{FilePath: p, OldString: "one", NewString: "two"})
	heard(`a.go: "one\n" to "two\n", changing 1`)
	b.ok(&WriteArgs{FilePath: p, Content: "three\n"})
	heard(`a.go: "two\n" to "three\n", changing 1`)
	b.ok(&WriteArgs{FilePath: p, Content: "three\n"}) // nothing to do
	b.ok(&ReadArgs{FilePath: p})
	b.ok(&WriteArgs{FilePath: b.path("a.txt"), Content: "one\n"})
	b.run(&EditArgs{FilePath: p, OldString: "missing", NewString: "two"})
	heard()
	empty := b.put("empty.go", "")
	b.ok(&ReadArgs{FilePath: empty})
	b.ok(&WriteArgs{FilePath: empty, Content: "x"})
	heard(`empty.go: "" to "x", changing 1`)

	commands.after = rewrites(t, func(text string) string { return "formatted " + text })
	b.ok(&EditArgs{FilePath: p, OldString: "three", NewString: "four"})
	heard(`a.go: "three\n" to "formatted four\n", changing 1`)
	commands.after = func(commit.Edited) []hooks.Report { return nil }
	b.ok(&EditArgs{FilePath: p, OldString: "four", NewString: "five"})
	heard(`a.go: "formatted four\n" to "formatted five\n", changing 1`)
	for path, n := range s.changing {
		if n != 0 {
			t.Errorf("%s: %d calls are changing it", path, n)
		}
	}
	large := b.put("large.go", strings.Repeat("x\n", lsp.MaxFile/2)+"end\n")
	b.part(large, lsp.MaxFile/2, 2)
	b.ok(&EditArgs{FilePath: large, OldString: "end", NewString: "END"})
	heard()
}

// They hear of the names that a Move or a Delete has changed, and of no others.
func TestServersHearOfNames(t *testing.T) {
	b, s := served(t)
	a, there := b.put("a.go", "one\n"), b.put("there.go", "two\n")
	b.ok(&MoveArgs{From: a, To: b.path("b.go")})
	b.run(&MoveArgs{From: b.path("b.go"), To: there}) // refused
	b.ok(&DeleteArgs{Paths: []string{there}})
	if got := strings.Join(s.heard, " "); got != "a.go b.go there.go" {
		t.Errorf("%q", got)
	}
}

// They hear nothing of a file that a Read would ask about, although the change was allowed.
func TestServersHearNothingOfHiddenFiles(t *testing.T) {
	b, s := served(t, perm.RuleText{Text: "Read(secret.go)", List: perm.Ask})
	p := b.put("secret.go", "one\n")
	b.call.Consent = toolcall.Consented()
	b.ok(&ReadArgs{FilePath: p})
	b.call.Consent = nil
	r := b.run(&EditArgs{FilePath: p, OldString: "one", NewString: "two"})
	if len(s.heard) > 0 {
		t.Errorf("%q, %q", s.heard, r.Blocks[0].Text)
	}
}

// What they report is a block at the end of an answer of any tool that is no error, in the room
// that is left.
func TestProblemsAreReported(t *testing.T) {
	b, s := served(t)
	s.report = "gopls reports 1 new error:\na.go:1:1: bad"
	p := b.put("a.go", "one\n")
	r := b.run(&ReadArgs{FilePath: p})
	if last := r.Blocks[len(r.Blocks)-1].Text; last != s.report {
		t.Errorf("%q", last)
	}
	if r := b.run(&EditArgs{FilePath: p, OldString: "missing", NewString: "x"}); !r.IsError || len(r.Blocks) > 1 {
		t.Errorf("%v", r.Blocks)
	}
	b.call.Client.Chars = 1000
	b.part(p, 1, 1)
	if room := s.rooms[len(s.rooms)-1]; room > 1000 || room < 900 {
		t.Errorf("room for %d of 1000", room)
	}
}
