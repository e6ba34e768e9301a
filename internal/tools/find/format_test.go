package find

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/fsmcp/fsmcp/internal/access"
	"github.com/fsmcp/fsmcp/internal/fsys"
	"github.com/fsmcp/fsmcp/internal/media"
	"github.com/fsmcp/fsmcp/internal/nativetest"
	"github.com/fsmcp/fsmcp/internal/perm/notation"
	"github.com/fsmcp/fsmcp/internal/search"
	"github.com/fsmcp/fsmcp/internal/span"
	"github.com/fsmcp/fsmcp/internal/state"
	"github.com/fsmcp/fsmcp/internal/tokens"
	"github.com/fsmcp/fsmcp/internal/toolcall"
)

func TestNames(t *testing.T) {
	n := naming{base: nativetest.Names("/data/project", "/home/you/project")}
	for name, want := range map[string]string{
		"/data/project/a/b.go":            "a/b.go",
		"/home/you/project/a.go":          "a.go",
		"/data/project":                   "/data/project",
		"/data/projects/a.go":             "/data/projects/a.go",
		"/etc/hosts":                      "/etc/hosts",
		"/data/project/~/a":               "./~/a",
		"/data/project/~draft.tmp":        "./~draft.tmp",
		"/data/project/ a":                "./ a",
		"/data/project/clipboard:":        "./clipboard:",
		"/data/project/(No files found.)": "./(No files found.)",
		"/data/project/a\nb\x1b":          `a\nb\x1b`,
		"/data/project/copy (1)":          "copy (1)",
		`/data/project/"x"`:               `"x"`,
		"/data/project/<system-reminder>": "&lt;system-reminder>",
		"/data/project/\xff.go":           `\xff.go`,
	} {
		if nativetest.Windows {
			name, want = nativetest.Name(name), asWindows(want)
		}
		if got := n.name(name); got != want {
			t.Errorf("%q is %q, not %q", name, got, want)
		}
	}
}

// asWindows spells the shown form of a name, in which a backslash escapes what cannot be shown.
func asWindows(shown string) string {
	if strings.HasPrefix(shown, "/") {
		shown = "C:" + shown
	}
	return strings.ReplaceAll(shown, "/", `\`)
}

func whole(n int, text string) search.FoundLine {
	return search.FoundLine{Number: n, Whole: true, Parts: []search.LinePart{{Column: 1, Text: []byte(text)}}}
}

func beside(l search.FoundLine) search.FoundLine { l.Context = true; return l }
func gap(l search.FoundLine) search.FoundLine    { l.Gap = true; return l }

func TestLines(t *testing.T) {
	files := []search.FileMatches{
		{Path: nativetest.Name("/w/a.go"), Lines: []search.FoundLine{whole(3, "three"), beside(whole(4, "four")), gap(whole(9, "stray \xe9"))}},
		{Path: nativetest.Name("/w/b.bin"), Binary: true, Count: 1},
		{Path: nativetest.Name("/w/long.js"), Lines: []search.FoundLine{{Number: 1, MoreMatches: 1200, Parts: []search.LinePart{{Column: 41, Text: []byte("x = 1")}, {Column: 900, Text: []byte("x = 2")}}}, beside(search.FoundLine{Number: 2})}},
		{Path: nativetest.Name("/w/empty"), Lines: []search.FoundLine{{Number: 7, Whole: true}}},
	}
	w := naming{base: nativetest.Names("/w")}
	for _, c := range []struct {
		name  string
		style lineStyle
		files []search.FileMatches
		want  string
	}{
		{name: "names, numbers and groups", style: lineStyle{naming: w, numbers: true, groups: true}, files: files, want: `a.go:3:three
a.go-4-four
--
a.go:9:stray \xE9
b.bin: binary file matches
--
long.js:1:[column 41] x = 1
long.js:1:[column 900] x = 2
long.js:1:[1,200 matches more in this line]
long.js-2-[a long line]
--
empty:7:`},
		{"no numbers, no context", lineStyle{naming: w}, files[:1], "a.go:three\na.go-four\na.go:stray \\xE9"},
		{"one file", lineStyle{naming: w, alone: true, numbers: true}, files[:1], "3:three\n4-four\n9:stray \\xE9"},
		{"one file, no numbers", lineStyle{naming: w, alone: true}, files[:1], "a.go:three\na.go-four\na.go:stray \\xE9"},
	} {
		var got []string
		for _, p := range c.style.lines(c.files) {
			got = append(got, p.text)
		}
		if text := strings.Join(got, "\n"); text != c.want {
			t.Errorf("%s:\n%s", c.name, text)
		}
	}
}

func budget(client toolcall.ClientLimits) toolcall.Budget {
	return toolcall.Budget{Counter: tokens.Local{}, Most: 25_000}.ForClient(client)
}

// fit is fitted with the sentence that ends an answer of many.
func fit(all []piece, b toolcall.Budget) (body string, kept int) {
	body, kept, _ = fitted(all, b, func(kept int, _ bool) []string { return []string{fmt.Sprint("(", kept, " are shown.)")} })
	return body, kept
}

// An answer never exceeds what the client passes on, and shows as much as fits.
func TestFitted(t *testing.T) {
	var all []piece
	for i := range 5000 {
		all = append(all, piece{text: fmt.Sprintf("internal/some/folder/file.go:%d:\treturn fmt.Errorf(\"number %d\")", i, i)})
	}
	for _, c := range []struct {
		client toolcall.ClientLimits
		least  int
	}{
		{toolcall.ClientLimits{}, 700},
		{toolcall.ClientLimits{Chars: 7000}, 50},
		{toolcall.ClientLimits{Chars: 1100}, 5},
		{toolcall.ClientLimits{Tokens: 10_000, Chars: 40_000}, 300},
		{toolcall.ClientLimits{Lines: 2000, Chars: 50 << 10}, 500},
		{toolcall.ClientLimits{Lines: 300}, 50},
	} {
		b := budget(c.client)
		body, kept := fit(all, b)
		if kept < c.least || len(body) > b.Room() || strings.Count(body, "\n")+1 > b.Lines() || b.Counter.Count([]byte(body)) > b.Bound() {
			t.Errorf("%+v: %d kept, %d bytes", c.client, kept, len(body))
		}
		if want := kept - 1; strings.Count(body, "\n") != want {
			t.Errorf("%+v: %d lines for %d", c.client, strings.Count(body, "\n")+1, kept)
		}
	}
	if body, kept := fit(all[:3], budget(toolcall.ClientLimits{})); kept != 3 || strings.HasSuffix(body, "\n") {
		t.Errorf("%d: %q", kept, body)
	}
	if body, kept := fit(nil, budget(toolcall.ClientLimits{})); kept != 0 || body != "" {
		t.Errorf("%d: %q", kept, body)
	}
	long := []piece{{text: strings.Repeat("ü", 5000)}}
	if body, kept := fit(long, budget(toolcall.ClientLimits{Chars: 2000})); kept != 0 || body == "" || len(body) > 1000 || !strings.HasPrefix(long[0].text, body) {
		t.Errorf("%d: %d bytes", kept, len(body))
	}
}

// An answer with what ends it never exceeds what the client passes on.
func TestFittedWithItsEnd(t *testing.T) {
	var all []piece
	for i := range 500 {
		all = append(all, piece{text: fmt.Sprintf("f:%d: text", i)})
	}
	for size := range 200 {
		b := budget(toolcall.ClientLimits{Chars: 4000})
		body, kept, below := fitted(all, b, func(kept int, _ bool) []string { return []string{strings.Repeat("x", size*20+kept)} })
		if n := len(body) + 1 + len(below[0]); body != "" && n > b.Room() || body == "" && size*20 < b.Room()*9/10 || len(below[0]) != size*20+kept {
			t.Errorf("%d bytes, %d kept, %d bytes below", n, kept, len(below[0]))
		}
	}
}

// Only the lines that are sent count as shown, with the bytes that they hold as they are.
func TestShown(t *testing.T) {
	hash := state.Sum{1}
	line := func(n int, places ...span.Span) search.FoundLine {
		l := whole(n, "x")
		for _, p := range places {
			l.Exact = append(l.Exact, state.Part{Span: p, Sum: hash})
		}
		return l
	}
	small := search.FileMatches{
		Path: "/w/small", Recorded: true,
		Lines: []search.FoundLine{line(1, span.Span{End: 10}), {Number: 2}, line(3, span.Span{Start: 600, End: 610}, span.Span{Start: 611, End: 620})},
	}
	large := search.FileMatches{
		Path: "/w/large", Recorded: true,
		Lines: []search.FoundLine{line(1, span.Span{End: 10}), line(3, span.Span{Start: 600, End: 620})},
	}
	unknown, notebook := small, small
	unknown.Recorded, notebook.Path = false, "/w/n.IPYNB"
	files := []search.FileMatches{small, large, unknown, notebook}
	pieces := lineStyle{}.lines(files)
	for kept, want := range map[int]string{
		0:           "",
		1:           "/w/small [{0 10}] 1",
		2:           "/w/small [{0 10}] 1",
		3:           "/w/small [{0 10} {600 610} {611 620}] 3",
		4:           "/w/small [{0 10} {600 610} {611 620}] 3; /w/large [{0 10}] 1",
		len(pieces): "/w/small [{0 10} {600 610} {611 620}] 3; /w/large [{0 10} {600 620}] 2",
	} {
		all := shown(files, pieces[:kept])
		var got []string
		for _, s := range all {
			if s.How != toolcall.Found {
				t.Errorf("%s replaces what is known", s.Path)
			}
			got = append(got, fmt.Sprint(s.Path, " ", s.Record.Shown(), " ", len(s.Record.Parts)))
		}
		if text := strings.Join(got, "; "); text != want {
			t.Errorf("%d lines: %s", kept, text)
		}
	}
	if len(small.Record.Parts) != 0 || len(large.Record.Parts) != 0 {
		t.Error("the record of the search was changed")
	}
}

// Of a line that does not fit the answer says that it is cut.
func TestCutLine(t *testing.T) {
	r := &finding{tool: NameGrep, budget: budget(toolcall.ClientLimits{Chars: 2000}), starts: []*access.AllowedFile{{Target: &fsys.Target{Path: "/w"}}}}
	found := &search.Grepped{
		Files: []search.FileMatches{{Path: "/w/a", Lines: []search.FoundLine{whole(1, strings.Repeat("ü", 5000))}}}, TotalFiles: 1, TotalMatches: 1,
		Coverage: search.Coverage{Complete: true},
	}
	result := r.content(found, search.GrepQuery{Mode: search.Content}, true)
	if text := result.Text(); len(result.Shown) > 0 || !strings.HasSuffix(text, "üü\n(The line is cut: there is no room for more of it. Read with offset and column shows the rest.)") {
		t.Errorf("%s, %v", text, result.Shown)
	}
}

// An answer that says that nothing was found shows nothing, and nothing of it counts as shown.
func TestNothingFoundIsNothingShown(t *testing.T) {
	for total, want := range []int{0, 1} {
		r := &finding{tool: NameGrep, budget: budget(toolcall.ClientLimits{}), starts: []*access.AllowedFile{{Target: &fsys.Target{Path: "/w"}}}}
		line := whole(1, "needle")
		line.Exact = []state.Part{{Span: span.Span{Start: 0, End: 7}}}
		found := &search.Grepped{Files: []search.FileMatches{{Path: "/w/a", Lines: []search.FoundLine{line}, Recorded: true}}, TotalFiles: total, TotalMatches: total}
		result := r.content(found, search.GrepQuery{Mode: search.Content}, true)
		if text := result.Text(); len(result.Shown) != want || strings.Contains(text, "needle") != (want == 1) {
			t.Errorf("%d files found: %q, %d shown", total, text, len(result.Shown))
		}
	}
}

func TestGlobs(t *testing.T) {
	for list, want := range map[string][]string{
		"":                     nil,
		"*.go":                 {"*.go"},
		"*.go, *.md,":          {"*.go", "*.md"},
		"*.{ts,tsx},!a/**":     {"*.{ts,tsx}", "!a/**"},
		`a\,b,[,]`:             {`a\,b`, "[,]"},
		"{a,{b,c}}.go,**/x.go": {"{a,{b,c}}.go", "**/x.go"},
		"}a,b":                 {"}a", "b"},
	} {
		if got := globs(list); !slices.Equal(got, want) {
			t.Errorf("%q: %q", list, got)
		}
	}
}

func TestGlobsBelowAStart(t *testing.T) {
	r := &finding{starts: []*access.AllowedFile{{Target: &fsys.Target{Path: "/data/w", Names: []string{"/home/you/w", "/data/w"}}}, {Target: &fsys.Target{Path: "/data/v"}}}}
	for glob, want := range map[string]string{
		"*.go": "*.go", "/src/*.go": "/src/*.go", "/data/w/*.go": "/*.go", "!/home/you/w/src/**": "!/src/**", "/data/v/a/b": "/a/b", "/data/ww/*": "/data/ww/*", "/data/w/": "/data/w/",
	} {
		if got := r.globBelow(notation.Convention{}, glob); got != want {
			t.Errorf("%s: %s, want %s", glob, got, want)
		}
	}
}

func TestStartOf(t *testing.T) {
	for _, c := range []struct{ path, pattern, start, rest string }{
		{"", "**/*.go", "", "**/*.go"},
		{"src", "./*.go", "src", "*.go"},
		{"src", "/abs/dir/**/*.go", "/abs/dir", "**/*.go"},
		{"", "/abs/file.go", "/abs", "/file.go"},
		{"", "~/notes/*.md", "~/notes", "/*.md"},
		{"", "~/notes/*/", "~/notes", "/*/"},
		{"", "../lib/*.go", "../lib", "/*.go"},
		{"/w/src", "../lib/*.go", "/w/lib", "/*.go"},
		{"/w", "src/../*.go", "/w", "/*.go"},
		{"", "src/../*.go", ".", "/*.go"},
		{"", "src//./a/.//b.go", "", "src/a/b.go"},
		{"", "/abs/", "/abs", ""},
		{"", "..a/*", "", "..a/*"},
	} {
		if start, rest := startOf(notation.Convention{}, c.path, c.pattern); start != c.start || rest != c.rest {
			t.Errorf("%q, %q: %q, %q", c.path, c.pattern, start, rest)
		}
	}
}

// Patterns of Windows start where those with slashes do.
func TestStartOnWindows(t *testing.T) {
	on := notation.Convention{Windows: true, Home: `C:\Users\u`, Getenv: func(string) string { return `C:\Users\[u]\AppData` }}
	for _, c := range []struct{ path, pattern, start, rest string }{
		{"", `x\**\*.txt`, "", "x/**/*.txt"}, {"", `.\x\*.txt`, "", "x/*.txt"},
		{"", `C:\proj\**\*.txt`, "C:/proj", "**/*.txt"}, {"", "C:/proj/*.txt", "C:/proj", "/*.txt"}, {"", `\\?\C:\proj\*.txt`, "C:/proj", "/*.txt"},
		{"", `C:\*.txt`, "C:/", "/*.txt"}, {"", "//c/proj/**/a", "C:/proj", "**/a"}, {"", `~\x\*`, "~/x", "/*"},
		{"", `%APPDATA%\x\*`, "C:/Users/[u]/AppData/x", "/*"}, {`C:\proj\src`, `..\lib\*.go`, "C:/proj/lib", "/*.go"}, {`C:\w`, `a\`, `C:\w`, "a/"},
		{"", "/*", "/", "/*"}, {`C:\w`, `\src\*.go`, "/src", "/*.go"}, // which Read refuses: no drive is named
	} {
		pattern, err := written(on, "pattern", c.pattern)
		if start, rest := startOf(on, c.path, pattern); err != nil || start != c.start || rest != c.rest {
			t.Errorf("%q, %q: %q, %q, %v", c.path, c.pattern, start, rest, err)
		}
	}
	for pattern, want := range map[string]string{
		"/c/proj/*.txt": `Use "C:/proj/*.txt"`, "/mnt/d/**": `Use "D:/**"`, `\\srv\share\*`: "names another machine", `%TEMP%\*`: "has a variable",
	} {
		if _, err := written(on, "pattern", pattern); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", pattern, err)
		}
	}
	r := &finding{starts: []*access.AllowedFile{{Target: &fsys.Target{Path: `C:\proj`}}}}
	all, err := globsOf(on, `src\*.{go,ts}, !C:\PROJ\gen\*.go,c:/proj/[ab]/*,~\x`)
	for i := range all {
		all[i] = r.globBelow(on, all[i])
	}
	if got := strings.Join(all, " "); err != nil || got != "src/*.{go,ts} !/gen/*.go /[ab]/* ~/x" {
		t.Errorf("%s, %v", got, err)
	}
}

// A search of one document says how far it came, why, and the next call.
func TestGapOfOneDocument(t *testing.T) {
	for _, c := range []struct {
		gap  search.DocumentGap
		want string
	}{
		{search.DocumentGap{PDF: true, Cut: media.CutByTime, Pages: 12, Count: 80}, `Searched: the first 12 pages of 80, because there was no time to read more. The same call again goes on from page 13; Read with pages="13-32" shows the next pages.`},
		{search.DocumentGap{PDF: true, Cut: media.CutByFailure, Pages: 1, Count: 3}, `Searched: the first page of 3, because the program that reads it failed at the next page. The same call again goes on from page 2; Read with pages="2-3" shows the next pages.`},
		{search.DocumentGap{PDF: true, Cut: media.CutBySize, Pages: 900, Count: 2000}, `Searched: the first 900 pages of 2000, because it has more text than is read. Read with pages="901-920" shows the next pages.`},
		{search.DocumentGap{PDF: true, Err: context.DeadlineExceeded}, `Not searched: the text of this document. There was no time to read it: make the same call again, or Read with pages="1-20".`},
		{search.DocumentGap{Err: context.DeadlineExceeded}, `Not searched: the text of this document. There was no time to read it: make the same call again.`},
		{search.DocumentGap{PDF: true, Err: &media.BreakdownError{Why: media.Unready, Err: context.DeadlineExceeded}}, `Not searched: the text of this document. fsmcp is still getting ready to read PDFs: make the same call again.`},
		{search.DocumentGap{PDF: true, Err: media.ErrLocked}, `Not searched: the text of this document. It could not be read; Read says why.`},
		{search.DocumentGap{Cut: media.CutByTime}, `Searched only in part, because there was no time to read more. Make the same call again.`},
		{search.DocumentGap{Cut: media.CutBySize}, `Searched only in part, because it has more text than is read.`},
	} {
		if got := gapOf(c.gap); got != c.want {
			t.Errorf("%+v: %s\nnot %s", c.gap, got, c.want)
		}
	}
}

func TestClosing(t *testing.T) {
	r := &finding{Finder: &Finder{Documents: true}, tool: NameGrep, naming: naming{base: nativetest.Names("/w")}, budget: budget(toolcall.ClientLimits{}), starts: []*access.AllowedFile{{Target: &fsys.Target{Path: "/w"}}}}
	done := search.Coverage{Complete: true}
	var folders []string
	for i := range 20 {
		folders = append(folders, fmt.Sprintf(nativetest.Name("/w/d%02d"), i))
	}
	gaps := []search.DocumentGap{
		{Path: nativetest.Name("/w/a.pdf"), PDF: true, Err: media.ErrLocked},
		{Path: nativetest.Name("/w/b.pdf"), PDF: true, Cut: media.CutByTime, Pages: 12, Count: 80},
		{Path: nativetest.Name("/w/c.docx"), Cut: media.CutBySize},
		{Path: nativetest.Name("/w/d.pdf"), PDF: true, Err: context.DeadlineExceeded},
		{Path: nativetest.Name("/w/e.pdf"), PDF: true, Err: &media.BreakdownError{Why: media.Unready, Err: context.DeadlineExceeded}},
	}
	for _, c := range []struct {
		name string
		c    closing
		want string
	}{
		{"all", closing{shown: 3, found: 3, outcome: done}, "x"},
		{"more", closing{shown: 250, more: true, found: 31, all: "1,204 matching lines in 31 files", one: "line", many: "lines", outcome: done},
			"x\n(250 lines are shown. Found in all: 1,204 matching lines in 31 files. Next: Grep offset=250.)"},
		{"one of more", closing{shown: 1, more: true, found: 2, all: "2 files", one: "file", many: "files", outcome: done}, "x\n(1 file is shown. Found in all: 2 files. Next: Grep offset=1.)"},
		{"a later window", closing{shown: 2, skipped: 4, more: true, found: 9, all: "9 files", one: "file", many: "files", outcome: done}, "x\n(Files 5-6 are shown. Found in all: 9 files. Next: Grep offset=6.)"},
		{"one of a later window", closing{shown: 1, skipped: 4, more: true, found: 9, all: "9 files", one: "file", many: "files", outcome: done}, "x\n(File 5 is shown. Found in all: 9 files. Next: Grep offset=5.)"},
		{"the last window", closing{shown: 2, skipped: 7, found: 9, all: "9 files", one: "file", many: "files", outcome: done}, "x"},
		{"behind the end", closing{skipped: 12, found: 9, all: "9 files", one: "file", many: "files", outcome: done}, "(Nothing is behind offset=12. Found in all: 9 files.)"},
		{"a count", closing{shown: 2, found: 2, all: "7 matching lines in 2 files", counts: true, outcome: done}, "x\n(7 matching lines in 2 files.)"},
		{"nothing", closing{one: "file", outcome: done}, "No files found"},
		{"no line", closing{one: "line", outcome: done}, "No matches found"},
		{"nothing but what is ignored", closing{one: "file", outcome: search.Coverage{Complete: true, Ignored: true}}, "No files found\n(Ignore files left something out: include_ignored=true searches that, too.)"},
		{"binary", closing{shown: 2, found: 2, binary: nativetest.Names("/w/a.bin", "/w/b\x1b"), outcome: done}, `x` + "\n" + `(Binary: a.bin, b\x1b.)`},
		{"changed meanwhile", closing{found: 1, all: "2 matching lines in 1 file", one: "line", outcome: done},
			"(Found: 2 matching lines in 1 file, which changed before they could be shown. Make the same call again.)"},
		{"a long name", closing{found: 2, all: "2 files", one: "file", tooLong: true, outcome: done}, "(There is no room for the first of 2 files. Next: Grep offset=1.)"},
		{"no time to show", closing{found: 1, all: "2 matching lines in 1 file", one: "line", outcome: search.Coverage{Partly: []search.PartOfFile{{Path: nativetest.Name("/w/log"), Searched: 3 << 30, Size: 4 << 30}}}},
			"(Found: at least 2 matching lines in 1 file. No time was left to show them.)\n(This is not all: the search ended after 10 seconds. Searched in part: log, the first 3 GB of 4 GB. Narrow it with path, glob or type.)"},
		{"nothing in time", closing{one: "line", outcome: search.Coverage{NotSearched: folders[:1]}},
			"Nothing was found in what was searched.\n(This is not all: the search ended after 10 seconds. Not searched in full: d00. Narrow it with path, glob or type.)"},
		{"nothing in what can be read", closing{one: "line", outcome: search.Coverage{Complete: true, Unreadable: nativetest.Names("/w/a)")}},
			"Nothing was found in what was searched.\n(The system does not let fsmcp read a\\).)"},
		{"documents", closing{one: "line", outcome: search.Coverage{Complete: true, PDFs: 3, Office: 1}},
			"Nothing was found in what was searched.\n(Not searched: the text of 3 PDFs and 1 Office document. glob=\"*.pdf,*.{docx,xlsx,pptx,odt,ods,odp}\" searches it, or path with the name of one.)"},
		{"documents beside a match", closing{shown: 1, found: 1, one: "file", outcome: search.Coverage{Complete: true, PDFs: 1}}, "x\n(Not searched: the text of 1 PDF. glob=\"*.pdf\" searches it, or path with the name of one.)"},
		{"documents in part", closing{one: "line", outcome: search.Coverage{Complete: true, Gaps: gaps, MoreGaps: 3, Scans: 2}},
			"Nothing was found in what was searched.\n(Not searched, because fsmcp is still getting ready to read PDFs: e.pdf. Make the same call again. Not searched, because there was no time to read the text: d.pdf. The same call again goes on there. Not searched, because the text could not be read: a.pdf. Read says why. Searched in part, because there was no time to read more: b.pdf (the first 12 pages of 80). The same call again goes on from there. Searched in part, because there is more text than is read: c.docx. Not searched, or only in part: 3 more documents. Narrow it with path or glob. Not searched: 2 pages of PDFs without text, such as scans. Read shows them as pictures.)"},
		{"out of time", closing{shown: 1, found: 1, counts: true, all: "1 matching line in 1 file", outcome: search.Coverage{NotSearched: folders, NotSearchedMore: 12}},
			"x\n(At least 1 matching line in 1 file.)\n(This is not all: the search ended after 10 seconds. Not searched in full: d00, d01, d02, d03, d04 and 27 more folders. Narrow it with path, glob or type.)"},
		{"unreadable", closing{shown: 1, found: 1, outcome: search.Coverage{Complete: true, Unreadable: nativetest.Names("/w/root")}}, "x\n(The system does not let fsmcp read root.)"},
	} {
		c.c.finding = r
		body := "x"
		if c.c.shown == 0 {
			body = ""
		}
		if got := r.answer(body, c.c.sentences(), c.c, toolcall.Search{}).Text(); got != c.want {
			t.Errorf("%s:\n%s\nnot\n%s", c.name, got, c.want)
		}
	}
}
