package find

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode/utf16"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/fsmcp/fsmcp/internal/search/match/matchtest"
	"github.com/fsmcp/fsmcp/internal/shortrun"
	"github.com/fsmcp/fsmcp/internal/text"
)

// foldLetters equal others if case is ignored, more than one or none of them in ASCII.
var foldLetters = []string{"k", "K", "\u212a", "s", "S", "ſ", "σ", "ς", "Σ", "i", "I", "ı", "İ", "ß", "ẞ", "å", "\u212b", "ǆ", "ǅ", "µ", "μ", "θ", "ϑ", "ϴ", "x"}

func foldText(r *rand.Rand, most int) string {
	var b strings.Builder
	for range 1 + r.IntN(most) {
		b.WriteString(foldLetters[r.IntN(len(foldLetters))])
	}
	return b.String()
}

// drawExpression draws an expression, and a function that draws a text.
func drawExpression(r *rand.Rand) (pattern string, a GrepArgs, drawText func() []byte) {
	if r.IntN(3) > 0 {
		e := matchtest.Draw(r)
		return e.Pattern, GrepArgs{Fold: e.Fold, Multiline: e.Multiline}, func() []byte { return e.Text(r) }
	}
	part := func() string {
		return []string{regexp.QuoteMeta(foldText(r, 3)), regexp.QuoteMeta(foldText(r, 1)), "[" + foldText(r, 2) + "]", ".", "^", "$", `\b`, foldText(r, 1) + "+", "(?:" + foldText(r, 2) + "|" + foldText(r, 2) + ")"}[r.IntN(9)]
	}
	for range 1 + r.IntN(3) {
		pattern += part()
	}
	a = GrepArgs{Fold: r.IntN(4) > 0, Multiline: r.IntN(4) == 0}
	return pattern, a, func() (b []byte) {
		for range r.IntN(8) {
			b = append(b, foldText(r, 4)+[]string{"\n", "\n", " ", "\r\n", "\n\n"}[r.IntN(5)]...)
		}
		return b
	}
}

// encoded writes a text in one of the encodings that Read knows.
func encoded(r *rand.Rand, drawn []byte) []byte {
	valid := strings.ToValidUTF8(string(drawn), "")
	wide := func(mark string, low, high int) []byte {
		out := []byte(mark)
		for _, u := range utf16.Encode([]rune(valid)) {
			out = append(out, byte(u>>low), byte(u>>high))
		}
		return out
	}
	switch r.IntN(10) {
	case 0:
		return []byte("\ufeff" + valid)
	case 1:
		return wide("\xff\xfe", 0, 8)
	case 2:
		return wide("\xfe\xff", 8, 0)
	case 3:
		return []byte(strings.ReplaceAll(strings.ReplaceAll(valid, "\r\n", "\r"), "\n", "\r"))
	case 4:
		return []byte(strings.ReplaceAll(strings.ReplaceAll(valid, "\r\n", "\n"), "\n", "\r\n"))
	case 5:
		return append(drawn, 0, 1, 2, '\n')
	}
	return drawn
}

// naiveRow is a row of an answer; begins says that a group of lines begins with it.
type naiveRow struct {
	text   string
	begins bool
}

// naiveGrep are the rows of a file, and how many of its lines match: line by line, by the
// standard package.
func naiveGrep(re *regexp.Regexp, raw []byte, a *GrepArgs, head func(number int, mark string) string, name string) (rows []naiveRow, count int) {
	doc, err := text.Decode(raw)
	if err != nil {
		matches := len(matchtest.Lines(re, raw)) > 0
		if a.Multiline {
			matches = re.Match(raw)
		}
		if !matches {
			return nil, 0
		}
		return []naiveRow{{name + ": binary file matches", false}}, 1
	}
	body := []byte(doc.Text)
	if bytes.IndexByte(body, '\n') < 0 {
		body = bytes.ReplaceAll(body, []byte("\r"), []byte("\n"))
	}
	plain, starts := body, matchtest.Lines
	if a.Multiline {
		plain, starts = bytes.ReplaceAll(body, []byte("\r\n"), []byte("\n")), matchtest.Touched
	}
	matching, number, counted := map[int]bool{}, 0, 0
	for _, at := range starts(re, plain) {
		number, counted = number+bytes.Count(plain[counted:at], []byte("\n")), at
		matching[number] = true
	}
	var lines []string
	for line := range bytes.Lines(body) {
		if cut, ok := bytes.CutSuffix(line, []byte("\n")); ok {
			line = bytes.TrimSuffix(cut, []byte("\r"))
		}
		lines = append(lines, string(line))
	}
	before, after, _ := a.contextOf()
	last := -1
	for i, line := range lines {
		mark := ""
		for k := max(0, i-after); k <= min(i+before, len(lines)-1); k++ {
			if matching[k] && mark == "" {
				mark = "-"
			}
		}
		if matching[i] {
			mark = ":"
		}
		if mark != "" {
			rows = append(rows, naiveRow{head(i+1, mark) + text.Escape(line), last < 0 || last != i-1})
			last = i
		}
	}
	return rows, len(matching)
}

// naiveWants decides by doublestar whether a list of globs lets a file through.
func naiveWants(list, rel string) bool {
	any, only := false, false
	for _, glob := range globs(list) {
		text, not := strings.CutPrefix(glob, "!")
		matches := func(name string) bool {
			if strings.Contains(text, "/") {
				return doublestar.MatchUnvalidated(strings.TrimPrefix(text, "/"), name)
			}
			return doublestar.MatchUnvalidated(text, path.Base(name))
		}
		if not {
			for name := rel; name != "."; name = path.Dir(name) {
				if matches(name) {
					return false
				}
			}
			continue
		}
		only, any = true, any || matches(rel)
	}
	return any || !only
}

var nextOffset = regexp.MustCompile(`Next: Grep offset=(\d+)\.`)

// TestGrepIsNaive compares all pages of an answer of Grep with a search line by line, by the
// standard package: encodings, letters of several cases, context, groups, filters, windows.
func TestGrepIsNaive(t *testing.T) {
	dir, finder, call := finderOf(t)
	finder.Budget.Most = 1 << 20
	rows, pages := 0, 0
	for round := range shortrun.Count(t, 1200, 150, "searches") {
		r := rand.New(rand.NewPCG(uint64(round), 31))
		pattern, a, drawText := drawExpression(r)
		flags := ""
		if a.Fold {
			flags += "i"
		}
		if a.Multiline {
			flags += "sm"
		}
		re, err := regexp.Compile(strings.Replace("(?"+flags+")", "(?)", "", 1) + pattern)
		if err != nil {
			t.Fatal(err)
		}
		top := filepath.Join(dir, strconv.Itoa(round))
		type made struct {
			rel string
			raw []byte
		}
		var files []made // the newest first
		names := []string{"a.go", "b.txt", "sub/a.go", "sub/b.GO", "sub/deep/c.txt", ".hidden/d.go", "K.go", "sub/ſ.txt"}
		r.Shuffle(len(names), func(i, k int) { names[i], names[k] = names[k], names[i] })
		for i, rel := range names[:1+r.IntN(len(names))] {
			raw := encoded(r, drawText())
			if round%300 == 7 && i == 0 && len(raw) > 0 { // larger than what is held in memory
				raw = bytes.Repeat(raw, 1+(5<<20)/len(raw))
			}
			name := filepath.Join(top, filepath.FromSlash(rel))
			stamp := time.Unix(1_700_000_000-int64(i)*10, 0)
			for _, err := range []error{os.MkdirAll(filepath.Dir(name), 0o755), os.WriteFile(name, raw, 0o644), os.Chtimes(name, stamp, stamp)} {
				if err != nil {
					t.Fatal(err)
				}
			}
			files = append(files, made{rel, raw})
		}
		a.Pattern, a.Path = pattern, top
		a.OutputMode = []string{outputContent, outputContent, outputContent, outputFiles, outputCount}[r.IntN(5)]
		for _, n := range []**int{&a.After, &a.Before, &a.Around, &a.Context} {
			if r.IntN(4) == 0 && a.OutputMode == outputContent {
				*n = new(r.IntN(4))
			}
		}
		if r.IntN(3) == 0 {
			a.Numbers = new(r.IntN(2) == 0)
		}
		if r.IntN(2) == 0 {
			a.HeadLimit = new([]int{0, 1, 2, 3, 7, 40, 300}[r.IntN(7)])
		}
		a.Glob = []string{"", "", "", "*.go", "*.{go,txt}", "!*.go", "sub/**", "/sub/*", "**/*.txt", "!sub", "*,!sub/deep", "[!a].*", "{a,b}.go, K*", "s*/**/c*"}[r.IntN(14)]
		a.Type = []string{"", "", "", "go", "txt"}[r.IntN(5)]
		alone := r.IntN(5) == 0
		if alone {
			files, a.Glob, a.Type = files[:1], "", ""
			a.Path = filepath.Join(top, filepath.FromSlash(files[0].rel))
		}

		var want []naiveRow
		for _, f := range files {
			if a.Type != "" && path.Ext(f.rel) != "."+a.Type || !naiveWants(a.Glob, f.rel) {
				continue
			}
			name := filepath.FromSlash(strconv.Itoa(round) + "/" + f.rel)
			numbers := a.Numbers == nil || *a.Numbers
			lines, count := naiveGrep(re, f.raw, &a, func(number int, mark string) (head string) {
				if !alone || !numbers {
					head = name + mark
				}
				if numbers {
					head += strconv.Itoa(number) + mark
				}
				return head
			}, name)
			switch {
			case count == 0:
			case a.OutputMode == outputFiles:
				want = append(want, naiveRow{name, false})
			case a.OutputMode == outputCount:
				want = append(want, naiveRow{fmt.Sprintf("%s:%d", name, count), false})
			default:
				want = append(want, lines...)
			}
		}
		if slices.ContainsFunc(want, func(row naiveRow) bool { return len(row.text) > 500 }) {
			continue // long lines have a test of their own
		}
		before, after, _ := a.contextOf()
		parted := a.OutputMode == outputContent && before+after > 0
		w, _ := window(a.HeadLimit, nil, defaultResults)
		rows += len(want)
		for at := 0; ; pages++ {
			a.Offset = &at
			out := finder.Grep(t.Context(), call, &a)
			if out.Err != nil {
				if strings.Contains(out.Err.Error(), "pattern") {
					break // it is too large
				}
				t.Fatal(round, out.Err)
			}
			next, more := len(want), nextOffset.FindStringSubmatch(out.Text())
			if more != nil {
				next, _ = strconv.Atoi(more[1])
			}
			if next < at || next > len(want) || more != nil && (next == at || next == len(want)) {
				t.Fatalf("round %d: %+v: offset %d follows %d of %d\n%.2000s", round, a, next, at, len(want), out.Text())
			}
			var text []string
			for i, row := range want[at:next] {
				if parted && row.begins && i > 0 {
					text = append(text, "--")
				}
				text = append(text, row.text)
			}
			body := strings.Join(text, "\n")
			if len(want) == 0 {
				body = map[bool]string{true: noLines, false: noFiles}[a.OutputMode == outputContent]
			}
			if most := w.Most; out.Body != body || most > 0 && next-at > most {
				t.Fatalf("round %d: %q %+v from %d to %d\nis\n%.2000q\nnot\n%.2000q", round, a.Pattern, a, at, next, out.Body, body)
			}
			if at = next; more == nil {
				break
			}
			if len(want) > 5000 && at < len(want)-9 {
				at = len(want) - 9 // of a large one the first page and the end
			}
		}
		if err := os.RemoveAll(top); err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("%d rows on %d pages", rows, pages)
}
