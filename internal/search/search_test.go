package search

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"
	"unicode/utf16"

	"github.com/fsmcp/fsmcp/internal/access"
	"github.com/fsmcp/fsmcp/internal/fsys"
	"github.com/fsmcp/fsmcp/internal/perm"
	"github.com/fsmcp/fsmcp/internal/search/match/matchtest"
	"github.com/fsmcp/fsmcp/internal/shortrun"
	"github.com/fsmcp/fsmcp/internal/state"
)

// tree is a workspace with a Searcher.
type tree struct {
	testing.TB
	dir    string
	policy atomic.Pointer[perm.Policy]
	*Searcher
}

func newTree(t testing.TB, rules ...string) *tree {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return treeAt(t, dir, rules...)
}

func treeAt(t testing.TB, dir string, rules ...string) *tree {
	y := &tree{TB: t, dir: dir}
	y.deny(rules...)
	y.Searcher = New(Options{Checker: &access.Checker{
		Lexer:    func() fsys.Lexer { return fsys.Lexer{OS: runtime.GOOS, Base: dir} },
		Resolver: fsys.NewResolver(),
		Policy:   y.policy.Load,
		Now:      time.Now,
	}})
	return y
}

// deny replaces the rules. A rule that begins with "ask " asks.
func (y *tree) deny(rules ...string) {
	config := perm.Config{Workspace: []perm.Dir{{Name: y.dir, Real: y.dir}}, CaseSensitive: true, Windows: runtime.GOOS == "windows", Own: []string{filepath.Join(y.dir, "own")}}
	for _, text := range rules {
		list := perm.Deny
		if rest, ok := strings.CutPrefix(text, "ask "); ok {
			list, text = perm.Ask, rest
		}
		config.Rules = append(config.Rules, perm.RuleText{Text: text, List: list, Source: perm.Source{Name: "--deny", Level: perm.Flag}})
	}
	policy, warnings := perm.Compile(config)
	if len(warnings) > 0 {
		y.Fatal(warnings)
	}
	y.policy.Store(policy)
}

func (y *tree) path(name string) string { return filepath.Join(y.dir, filepath.FromSlash(name)) }

func (y *tree) put(name, content string) {
	y.Helper()
	if err := os.MkdirAll(filepath.Dir(y.path(name)), 0o755); err != nil {
		y.Fatal(err)
	}
	if err := os.WriteFile(y.path(name), []byte(content), 0o644); err != nil {
		y.Fatal(err)
	}
}

// scope starts at names below the workspace, none: at the workspace.
func (y *tree) scope(names ...string) Scope {
	y.Helper()
	if len(names) == 0 {
		names = []string{"."}
	}
	var s Scope
	for _, name := range names {
		p, err := y.checker.Parse(y.path(name))
		if err != nil {
			y.Fatal(err)
		}
		f, err := y.checker.Open(access.Request{Op: perm.Read, Path: p})
		if err != nil {
			y.Fatal(err)
		}
		y.Cleanup(f.Close)
		s.Starts = append(s.Starts, f)
	}
	return s
}

func (y *tree) rel(path string) string {
	rel, err := filepath.Rel(y.dir, path)
	if err != nil {
		y.Fatal(err)
	}
	return filepath.ToSlash(rel)
}

// names are the sorted results of a Glob.
func (y *tree) names(s Scope, pattern string) (names []string) {
	y.Helper()
	found, err := y.Glob(context.Background(), s, GlobQuery{Pattern: pattern})
	if err != nil {
		y.Fatal(err)
	}
	for _, m := range found.Matches {
		names = append(names, y.rel(m.Path))
	}
	slices.Sort(names)
	if found.Total != len(names) || !found.Complete || found.More {
		y.Errorf("%s: %d of %d, %+v", pattern, len(names), found.Total, found.Coverage)
	}
	return names
}

// grep returns the lines of a Content search as NAME:NUMBER:TEXT, context lines as
// NAME-NUMBER-TEXT, sorted by name.
func (y *tree) grep(s Scope, q GrepQuery) (lines []string) {
	y.Helper()
	q.Mode = Content
	got, err := y.Grep(context.Background(), s, q)
	if err != nil {
		y.Fatal(err)
	}
	return y.lines(got)
}

func (y *tree) lines(got *Grepped) (lines []string) {
	slices.SortFunc(got.Files, func(a, b FileMatches) int { return strings.Compare(y.rel(a.Path), y.rel(b.Path)) })
	for _, f := range got.Files {
		if f.Binary {
			lines = append(lines, y.rel(f.Path)+": binary")
		}
		for _, l := range f.Lines {
			var text []byte
			for _, p := range l.Parts {
				text = append(text, p.Text...)
			}
			mark := ":"
			if l.Context {
				mark = "-"
			}
			lines = append(lines, fmt.Sprintf("%s%s%d%s%s", y.rel(f.Path), mark, l.Number, mark, text))
		}
	}
	return lines
}

func (y *tree) want(what string, got []string, want ...string) {
	y.Helper()
	if !slices.Equal(got, want) {
		y.Errorf("%s: %q, want %q", what, got, want)
	}
}

func TestGlob(t *testing.T) {
	y := newTree(t)
	for _, name := range []string{"a.go", "b.txt", "src/c.go", "src/deep/er/d.go", ".hidden/e.go", "src/f.ts", "src/g.tsx", ".git/config", "own/state.go"} {
		y.put(name, name)
	}
	for pattern, want := range map[string]string{
		"*.go": ".hidden/e.go a.go src/c.go src/deep/er/d.go", "src/*.go": "src/c.go", "src/**/*.go": "src/c.go src/deep/er/d.go", "./a.go": "a.go",
		"*.{ts,tsx}": "src/f.ts src/g.tsx", "/*.go": "a.go", "/*/": ".hidden/ src/", "src/*/": "src/deep/", "deep/": "src/deep/", "**/er/*": "src/deep/er/d.go", "config": "", "src/{c,f}.*": "src/c.go src/f.ts",
		"{src,.hidden}/*.go": ".hidden/e.go src/c.go", "src/d*/**": "src/deep/er/d.go",
	} {
		t.Run(strings.ReplaceAll(pattern, "/", "_"), func(t *testing.T) {
			var wanted []string
			for _, w := range strings.Fields(want) {
				wanted = append(wanted, strings.TrimSuffix(w, "/"))
			}
			if got := y.names(y.scope(), pattern); !slices.Equal(got, wanted) {
				t.Errorf("%q, want %q", got, wanted)
			}
		})
	}
	for _, bad := range []string{"", "a[", "{a", "//abs", "/"} {
		if _, err := y.Glob(context.Background(), y.scope(), GlobQuery{Pattern: bad}); !errors.As(err, new(*GlobError)) {
			t.Errorf("%q: %v", bad, err)
		}
	}
	if _, err := y.Glob(context.Background(), y.scope(".git"), GlobQuery{Pattern: "*"}); !errors.Is(err, ErrNeverSearched) {
		t.Error(err)
	}
	if _, err := y.Glob(context.Background(), y.scope("a.go"), GlobQuery{Pattern: "*"}); !errors.Is(err, ErrNoFolder) {
		t.Error(err)
	}
}

func TestNewestFirstAndWindows(t *testing.T) {
	y := newTree(t)
	base := time.Unix(1_700_000_000, 0)
	for i := range 20 {
		name := fmt.Sprintf("f%02d", i)
		y.put(name, strings.Repeat("hit\n", i+1))
		if err := os.Chtimes(y.path(name), base, base.Add(time.Duration(i/2)*time.Hour)); err != nil {
			t.Fatal(err)
		}
	}
	found, err := y.Glob(context.Background(), y.scope(), GlobQuery{Pattern: "f*", Window: Window{Skip: 1, Most: 3}})
	if err != nil || found.Total != 20 || !found.More || len(found.Matches) != 3 || y.rel(found.Matches[0].Path) != "f19" || y.rel(found.Matches[2].Path) != "f17" {
		t.Errorf("%+v, %v", found, err)
	}
	all, err := y.Grep(context.Background(), y.scope(), GrepQuery{Pattern: "hit", Mode: Counts})
	if err != nil || all.TotalFiles != 20 || all.TotalMatches != 210 || len(all.Files) != 20 || all.Files[0].Count != 19 || all.More {
		t.Errorf("%+v, %v", all, err)
	}
	some, err := y.Grep(context.Background(), y.scope(), GrepQuery{Pattern: "hit", Mode: Content, Window: Window{Skip: 18, Most: 5}})
	if err != nil || !some.More || len(some.Files) != 2 || y.rel(some.Files[0].Path) != "f18" || len(some.Files[0].Lines) != 1 || some.Files[0].Lines[0].Number != 19 ||
		y.rel(some.Files[1].Path) != "f19" || some.Files[1].Lines[3].Number != 4 {
		t.Errorf("%+v, %v", some, err)
	}
	few, err := y.Grep(context.Background(), y.scope(), GrepQuery{Pattern: "hit", Mode: FilesOnly, Window: Window{MaxBytes: 30}})
	if err != nil || len(few.Files) == 0 || len(few.Files) > 5 || !few.More || few.TotalFiles != 20 {
		t.Errorf("%+v, %v", few, err)
	}
}

func TestGrepContext(t *testing.T) {
	y := newTree(t)
	y.put("a", "1\n2\nhit 3\n4\n5\n6\n7\nhit 8\nhit 9\n10\n")
	y.want("context", y.grep(y.scope(), GrepQuery{Pattern: "hit", Before: 1, After: 2}), "a-2-2", "a:3:hit 3", "a-4-4", "a-5-5", "a-7-7", "a:8:hit 8", "a:9:hit 9", "a-10-10")
	y.want("overlap", y.grep(y.scope(), GrepQuery{Pattern: "hit", Before: 3, After: 3})[5:], "a-6-6", "a-7-7", "a:8:hit 8", "a:9:hit 9", "a-10-10")
	got, _ := y.Grep(context.Background(), y.scope(), GrepQuery{Pattern: "hit", Mode: Content, Before: 1})
	if l := got.Files[0].Lines; len(l) != 5 || l[0].Gap || !l[2].Gap || l[3].Gap {
		t.Errorf("%+v", l)
	}
	y.want("multiline", y.grep(y.scope(), GrepQuery{Pattern: "3.*5\n", Multiline: true}), "a:3:hit 3", "a:4:4", "a:5:5")
	y.want("multiline context", y.grep(y.scope(), GrepQuery{Pattern: "4\n5", Multiline: true, Before: 1, After: 1}), "a-3-hit 3", "a:4:4", "a:5:5", "a-6-6")
}

func TestGrepEncodings(t *testing.T) {
	y := newTree(t)
	wide := []byte{0xFF, 0xFE}
	for _, u := range utf16.Encode([]rune("first\r\ngrün hit\r\n")) {
		wide = append(wide, byte(u), byte(u>>8))
	}
	y.put("utf16", string(wide))
	y.put("latin1", "Die Stra\xdfe ist sch\xf6n und gr\xfcn.\nF\xfcr alle hit.\n")
	y.put("utf8", "\ufeffgrün hit\nhit\r\nlast hit")
	y.put("mac", "one\rgrün hit\rthree\r")
	y.put("binary", "hit\x00\x01\n")
	y.put("strays", "some text that is long enough \xff hit\n")
	y.want("all", y.grep(y.scope(), GrepQuery{Pattern: "hit"}),
		"binary: binary", "latin1:2:Für alle hit.", "mac:2:grün hit", "strays:1:some text that is long enough \xff hit", "utf16:2:grün hit",
		"utf8:1:grün hit", "utf8:2:hit", "utf8:3:last hit")
	y.want("umlaut", y.grep(y.scope(), GrepQuery{Pattern: "grü"}), "latin1:1:Die Straße ist schön und grün.", "mac:2:grün hit", "utf16:2:grün hit", "utf8:1:grün hit")
	y.want("ends", y.grep(y.scope(), GrepQuery{Pattern: "^hit$|^last|^gr.*hit$"}), "mac:2:grün hit", "utf16:2:grün hit", "utf8:1:grün hit", "utf8:2:hit", "utf8:3:last hit")
	y.want("one file", y.grep(y.scope("utf16"), GrepQuery{Pattern: "hit"}), "utf16:2:grün hit")
}

// The charset and the line ending of a file are those of all of it, wherever it shows them.
func TestGrepEncodingsThatShowLate(t *testing.T) {
	y := newTree(t)
	ascii := strings.Repeat("plain ascii line\n", 30_000)
	legacy := strings.Repeat("caf\xe9 au lait tr\xe8s bon\n", 30)
	wide := []byte{0xFF, 0xFE}
	for _, u := range utf16.Encode([]rune(strings.Repeat("foo\r", 50_000))) {
		wide = append(wide, byte(u), byte(u>>8))
	}
	y.put("legacy", ascii+legacy)
	y.put("utf8", ascii+strings.Repeat("café au lait\n", 30))
	y.put("returns", strings.Repeat("x", 300_000)+strings.Repeat("\rfoo", 30))
	y.put("feeds", strings.Repeat("a\r", 200_000)+"needle\nfoo\n")
	y.put("wide", string(wide))
	for _, c := range []struct {
		name, pattern string
		want          int
	}{
		{"legacy", "café", 30}, {"legacy", "^caf. au", 30}, {"legacy", "[é]", 30}, {"legacy", "^plain", 30_000}, {"utf8", "café", 30},
		{"returns", "^foo$", 30}, {"returns", "^x+$", 1}, {"feeds", "^needle", 0}, {"feeds", "^foo", 1}, {"wide", "^foo$", 50_000},
	} {
		for _, q := range []GrepQuery{{Mode: FilesOnly}, {Mode: Counts}, {Mode: Content, Window: Window{Most: 5}}, {Mode: Counts, Multiline: true}} {
			q.Pattern = c.pattern
			want := c.want
			if q.Mode == FilesOnly {
				want = min(want, 1)
			}
			got, err := y.Grep(context.Background(), y.scope(c.name), q)
			if err != nil || got.TotalMatches != want || q.Mode == Content && (len(got.Files) > 0) != (want > 0) {
				t.Errorf("%s, %q, mode %d, multiline %v: %d of %d, %d files, %v", c.name, c.pattern, q.Mode, q.Multiline, got.TotalMatches, want, len(got.Files), err)
			}
		}
	}
}

// An empty file has no line, in every mode.
func TestEmptyFilesDoNotMatch(t *testing.T) {
	y := newTree(t)
	y.put("empty", "")
	y.put("mark", "\ufeff")
	y.put("text", "a\n")
	for _, pattern := range []string{"^", "$", "x*", `\A`, `\z`, "^$"} {
		for _, multiline := range []bool{false, true} {
			q := GrepQuery{Pattern: pattern, Multiline: multiline, Mode: Counts}
			got, err := y.Grep(context.Background(), y.scope(), q)
			if err != nil {
				t.Fatal(err)
			}
			q.Mode = Content
			if lines := len(y.grep(y.scope(), q)); got.TotalMatches != lines || lines > 1 {
				t.Errorf("%q, multiline %t: %d counted, %d shown", pattern, multiline, got.TotalMatches, lines)
			}
		}
	}
}

func TestShownLinesAreRecorded(t *testing.T) {
	y := newTree(t)
	y.put("a", "\ufeffhit\r\nno\r\nlast hit")
	y.put("b", "x\n"+strings.Repeat("long ", 200)+"hit\nhit\n")
	got, err := y.Grep(context.Background(), y.scope(), GrepQuery{Pattern: "hit", Mode: Content})
	if err != nil {
		t.Fatal(err)
	}
	slices.SortFunc(got.Files, func(a, b FileMatches) int { return strings.Compare(a.Path, b.Path) })
	a, b := got.Files[0], got.Files[1]
	for _, f := range []*FileMatches{&a, &b} {
		var exact []state.Part
		for _, l := range f.Lines {
			exact = append(exact, l.Exact...)
		}
		f.Record = f.Showing(exact)
	}
	if s := a.Record.Shown(); !a.Recorded || len(s) != 2 || s[0].Start != 0 || s[0].End != 8 || s[1].Start != 12 || s[1].End != 20 {
		t.Errorf("%+v", a.Record)
	}
	if s := b.Record.Shown(); len(s) != 1 || s[0].Len() != 4 || b.Lines[0].Whole || b.Lines[0].Parts[0].Column < 800 || !b.Lines[1].Whole {
		t.Errorf("%+v, %+v", b.Record, b.Lines)
	}
}

func TestLongLines(t *testing.T) {
	shortrun.Skip(t, "it searches files of 8 MB 11 times")
	y := newTree(t)
	const far = 6 << 20
	long := bytes.Repeat([]byte("abcdefgh"), far/8)
	copy(long[far/2:], "needle")
	copy(long[far-100:], "needle")
	y.put("long", "first\n"+string(long)+"\nafter needle\n")
	got, err := y.Grep(context.Background(), y.scope(), GrepQuery{Pattern: "needle", Mode: Content})
	if err != nil || len(got.Files) != 1 || got.TotalMatches != 2 {
		t.Fatalf("%+v, %v", got, err)
	}
	lines := got.Files[0].Lines
	if len(lines) != 2 || lines[0].Number != 2 || lines[1].Number != 3 || len(lines[0].Parts) != 2 {
		t.Fatalf("%.1000v", lines)
	}
	for i, column := range []int{far / 2, far - 100} {
		p := lines[0].Parts[i]
		if at := bytes.Index(p.Text, []byte("needle")); p.Column+at != column+1 || at < 0 || len(p.Text) > aroundMatch {
			t.Errorf("column %d, %s", p.Column, p.Text)
		}
	}
	for pattern, want := range map[string]int{"needle$": 1, "^abc.*gh$": 1, "h$": 1, "x$": 0, "^after": 1, "[n]eedle": 2, "(?i)NEEDLEg": 1} {
		got, err := y.Grep(context.Background(), y.scope(), GrepQuery{Pattern: pattern, Mode: Counts})
		if err != nil || got.TotalMatches != want {
			t.Errorf("%s: %+v, %v", pattern, got, err)
		}
	}
	large := strings.Repeat("some line of text\r\n", 400_000)
	y.put("large", large+"\xffone hit at the end")
	y.want("large", y.grep(y.scope("large"), GrepQuery{Pattern: "[h]it", Before: 1}), "large-400000-some line of text", "large:400001:\xffone hit at the end")
	counts, err := y.Grep(context.Background(), y.scope("large"), GrepQuery{Pattern: "text$", Mode: Counts})
	if err != nil || counts.TotalMatches != 400_000 {
		t.Errorf("%+v, %v", counts, err)
	}
	multi, err := y.Grep(context.Background(), y.scope("large"), GrepQuery{Pattern: "^some.line of text\n.one", Multiline: true, Mode: Counts})
	if err != nil || multi.TotalMatches != 2 {
		t.Errorf("%+v, %v", multi, err)
	}
}

// A match over the end of a piece of a long line is found where the pattern takes more states
// than the automaton has room for.
func TestLongLineBeyondTheAutomaton(t *testing.T) {
	y := newTree(t)
	y.put("long", "x\n"+strings.Repeat("z", windowSize-3)+" foo é\ny\n")
	for _, mode := range []GrepMode{FilesOnly, Counts, Content} {
		got, err := y.Grep(context.Background(), y.scope(), GrepQuery{Pattern: "z{300} foo", Mode: mode})
		if err != nil || got.TotalMatches != 1 || len(got.Files) != 1 {
			t.Errorf("mode %d: %+v, %v", mode, got, err)
		}
	}
}

// A file that is searched in windows has the matching lines that it has as one text: a line that
// a match over the end of a window touches counts once.
func TestMatchesOverTheEndOfAWindowCountOnce(t *testing.T) {
	shortrun.Skip(t, "it searches files of 2 to 8 MB 56 times")
	y := newTree(t)
	const limit = largeWindow - overlap // roughly: where the second window begins
	texts := map[string]string{
		"all":   strings.Repeat("cafe au lait\n", 400_000),
		"short": strings.Repeat("x\n", 1_500_000),
		"crlf":  strings.Repeat("cafe au lait\r\n", 200_000),
		"one":   strings.Repeat("y\n", limit/2-5) + strings.Repeat("x\nz\nz\n", 10) + strings.Repeat("y\n", 1_500_000),
		"long":  strings.Repeat("x", limit+1000) + "\nx\nx\n" + strings.Repeat("cafe au lait\n", 250_000),
		"block": strings.Repeat("y\n", limit/2-100) + strings.Repeat("x\n", 200_000) + strings.Repeat("y", largeWindow) + "\n" + strings.Repeat("x\n", 300_000),
	}
	if !shortrun.Full() {
		t.Log("the texts all and short are left out, which are like crlf and one, and most patterns that the others do not hold; the lines of all but block are counted alone; make faults tries all")
		delete(texts, "all")
		delete(texts, "short")
	}
	held := map[string][]string{"crlf": {"lait"}, "one": {`x\nz`, "{3}"}, "long": {`x\nx`, "lait"}, "block": {`x\n`, "[xy]"}}
	for name, body := range texts {
		y.put(name, body)
		body = strings.ReplaceAll(body, "\r\n", "\n")
		lines := strings.Count(body, "\n")
		// The second window may begin within a match that began in the first one: then matches
		// of more than two lines are others than in one text, up to the lines of one.
		for pattern, more := range map[string]int{`lait\ncafe`: 0, `lait\ncafe au lait\ncafe`: 1, `(?:x\n){3}`: 2, `x\nz\nz`: 0, `x\nx`: 0, `(?:x\n)+y`: 0, `[xy]`: 0} {
			if !shortrun.Full() && !slices.ContainsFunc(held[name], func(part string) bool { return strings.Contains(pattern, part) }) {
				continue
			}
			want := len(matchtest.Touched(regexp.MustCompile("(?sm:"+pattern+")"), []byte(body)))
			for _, mode := range []GrepMode{Counts, Content} {
				if mode == Content && name != "block" && !shortrun.Full() {
					continue
				}
				got, err := y.Grep(context.Background(), y.scope(name), GrepQuery{Pattern: pattern, Mode: mode, Multiline: true, Window: Window{Most: 5}})
				if err != nil || got.TotalMatches < want || got.TotalMatches > min(want+more, lines) {
					t.Errorf("%s, %q, mode %d: %d lines, want %d, %v", name, pattern, mode, got.TotalMatches, want, err)
				}
			}
		}
	}
}

// What is counted of lines that are longer than the window is shown, and nothing else: a
// match over the end of a piece, and none at an end that is none of the line.
func TestMatchesInPieces(t *testing.T) {
	shortrun.Skip(t, "it searches files of 5 MB 15 times")
	y := newTree(t)
	const edge = largeWindow // where the first piece ends
	y.put("over", strings.Repeat("x", edge-3)+"needle"+strings.Repeat("y", 3<<20)+"\nafter\nlast\n")
	y.put("dull", strings.Repeat("x", 5<<20)+"\r\nend\n")
	for pattern, want := range map[string]string{"needle": "over", "x+needle": "over", "^y": "", "x$": "dull", "^[^n]*y$": "", "needley": "over", "^xx": "over dull"} {
		q := GrepQuery{Pattern: pattern, Mode: Counts}
		counts, err := y.Grep(context.Background(), y.scope(), q)
		if err != nil {
			t.Fatal(err)
		}
		q.Mode = Content
		got, err := y.Grep(context.Background(), y.scope(), q)
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, f := range got.Files {
			if names = append(names, y.rel(f.Path)); len(f.Lines) != 1 || f.Lines[0].Number != 1 || len(f.Lines[0].Parts) > 1 {
				t.Errorf("%q: %s: %.300v", pattern, f.Path, f.Lines)
			}
		}
		slices.Sort(names)
		wanted := strings.Fields(want)
		slices.Sort(wanted)
		if !slices.Equal(names, wanted) || counts.TotalMatches != len(names) {
			t.Errorf("%q: %q shown, %d counted, want %q", pattern, names, counts.TotalMatches, wanted)
		}
	}
	got, err := y.Grep(context.Background(), y.scope("over"), GrepQuery{Pattern: "needle", Mode: Content, After: 1})
	if err != nil || len(got.Files) != 1 || len(got.Files[0].Lines) != 2 || got.Files[0].Lines[1].Number != 2 || !got.Files[0].Lines[1].Context {
		t.Errorf("%.300v, %v", got, err)
	}
}

func TestGlobsAndTypes(t *testing.T) {
	y := newTree(t)
	for _, name := range []string{"a.go", "b.ts", "c.tsx", "src/d.go", "src/gen/e.go", "Makefile", "f.py"} {
		y.put(name, "hit\n")
	}
	for _, c := range []struct {
		globs []string
		typ   string
		want  string
	}{
		{[]string{"*.{ts,tsx}"}, "", "b.ts c.tsx"}, {[]string{"*.go", "!gen"}, "", "a.go src/d.go"}, {[]string{"src/*.go"}, "", "src/d.go"}, {[]string{"src/**"}, "", "src/d.go src/gen/e.go"},
		{nil, "go", "a.go src/d.go src/gen/e.go"}, {nil, "make", "Makefile"}, {[]string{"!*.go", "!*.py", "!*.ts*"}, "", "Makefile"}, {[]string{"/a.go"}, "", "a.go"},
	} {
		var got []string
		for _, line := range y.grep(y.scope(), GrepQuery{Pattern: "hit", Globs: c.globs, Type: c.typ}) {
			got = append(got, strings.TrimSuffix(line, ":1:hit"))
		}
		y.want(fmt.Sprint(c.globs, c.typ), got, strings.Fields(c.want)...)
	}
	var unknown *TypeError
	if _, err := y.Grep(context.Background(), y.scope(), GrepQuery{Pattern: "x", Type: "rs"}); !errors.As(err, &unknown) || !slices.Contains(unknown.Near, "rust") {
		t.Errorf("%+v", unknown)
	}
	for name, want := range map[string]string{"golang": "go", "JavaScript": "js", "c++": "cpp", "shell": "sh"} {
		if _, err := y.Grep(context.Background(), y.scope(), GrepQuery{Pattern: "x", Type: name}); !errors.As(err, &unknown) || len(unknown.Near) != 1 || unknown.Near[0] != want {
			t.Errorf("%s: %+v", name, unknown)
		}
	}
	if _, err := y.Grep(context.Background(), y.scope(), GrepQuery{Pattern: "x", Type: "pyhton"}); !errors.As(err, &unknown) || !slices.Contains(unknown.Near, "python") {
		t.Errorf("%+v", unknown)
	}
	for _, bad := range []string{"{a,b", "[", ""} {
		if _, err := y.Grep(context.Background(), y.scope(), GrepQuery{Pattern: "x", Globs: []string{bad}}); !errors.As(err, new(*GlobError)) {
			t.Errorf("%q: %v", bad, err)
		}
	}
	if _, err := y.Grep(context.Background(), y.scope(), GrepQuery{Pattern: "x("}); !errors.As(err, new(*PatternError)) {
		t.Error(err)
	}
}

// Of an ignore file that is too large the last pattern is not read in part.
func TestHugeIgnoreFile(t *testing.T) {
	y := newTree(t)
	const first, last = "*.log\n", "keep.txt"
	y.put(".gitignore", first+"#"+strings.Repeat("x", maxIgnoreFile-len(first)-2-len(last))+"\n"+last+".bak/a\n")
	y.put("a.log", "hit\n")
	y.put("keep.txt", "hit\n")
	y.want("names", y.names(y.scope(), "*.*"), ".gitignore", "keep.txt")
}

func TestIgnoreFilesAboveTheStart(t *testing.T) {
	y := newTree(t)
	y.put(".gitignore", "*.log\n/sub/top.txt\n!keep.log\n")
	y.put("sub/.gitignore", "!b.log\n")
	for _, name := range []string{"sub/a.log", "sub/b.log", "sub/keep.log", "sub/top.txt", "sub/c.txt"} {
		y.put(name, "hit\n")
	}
	y.want("start below", y.names(y.scope("sub"), "*"), "sub/.gitignore", "sub/b.log", "sub/c.txt", "sub/keep.log")
	lifted := y.scope("sub")
	lifted.IncludeIgnored = true
	y.want("lifted", y.names(lifted, "*.log"), "sub/a.log", "sub/b.log", "sub/keep.log")
	y.deny("Read(/.gitignore)")
	y.want("may not be read", y.names(y.scope("sub"), "*.log"), "sub/a.log", "sub/b.log", "sub/keep.log")
}
