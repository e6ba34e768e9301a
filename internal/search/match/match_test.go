package match

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/fsmcp/fsmcp/internal/search/match/matchtest"
	"github.com/fsmcp/fsmcp/internal/shortrun"
)

// parts of patterns and texts that are put together at random. Texts are made of the same
// letters, so that something matches.
var (
	patternParts = []string{
		"a", "b", "ab", "foo", "fob", "ba", "é", "K", "k", "ſ", "s", "_", "7", " ", ".", ".*", ".+", "a*", "b+", "(ab)+", "(?:foo|ba)", "[ab]", "[^a]",
		"[a-f]+", "[^\\n]", "\\w", "\\w+", "\\W", "\\s", "\\s+", "\\d{2}", "a{2,3}", "\\b", "\\B", "^", "$", "\\A", "\\z", "(?i:fOO)", "(?m:^)", "(?m:$)",
		"\\pL", "[[:upper:]]", "(a|b|)", "(?s:.)", "\\r", "\\x{FFFD}", "x?", "(foo)?", "|", "(?:)", "\\x00", "foo{1,2}", "[é-ü]",
	}
	textParts = []string{
		"a", "b", "ab", "foo", "fob", "ba", "é", "K", "k", "\u212a", "ſ", "S", "s", "_", "77", "7", " ", "\t", "FOO", "aa", "aaa", "x",
		"\n", "\n", "\n", "\r\n", "\r\n", "\r", "\xff", "\xc3", "\x00", "\ufffd", "ü", "-",
	}
)

func drawPattern(rnd *rand.Rand) string {
	var b strings.Builder
	for range 1 + rnd.IntN(6) {
		b.WriteString(patternParts[rnd.IntN(len(patternParts))])
	}
	return b.String()
}

func drawText(rnd *rand.Rand) []byte {
	var b []byte
	for range rnd.IntN(40) {
		b = append(b, textParts[rnd.IntN(len(textParts))]...)
	}
	return b
}

// plainLines are the starts of the lines that the standard package matches, one by one.
func plainLines(re *regexp.Regexp, text []byte) (starts []int) {
	at := 0
	for line := range bytes.Lines(text) {
		body, feed := bytes.CutSuffix(line, []byte("\n"))
		if feed {
			body = bytes.TrimSuffix(body, []byte("\r"))
		}
		if re.Match(body) {
			starts = append(starts, at)
		}
		at += len(line)
	}
	return starts
}

func lines(m *Matcher, text []byte) (starts []int, err error) {
	for at := 0; at < len(text); {
		start, end, ok := m.Next(text, at)
		if !ok {
			break
		}
		if start < at || end < start || bytes.IndexByte(text[start:end], '\n') >= 0 {
			return nil, fmt.Errorf("line %d to %d from %d on", start, end, at)
		}
		starts = append(starts, start)
		at = Behind(text, end)
	}
	return starts, nil
}

// compare holds a matcher against the standard package.
func compare(pattern string, o Options, change func(*Pattern), text []byte) error {
	p, err := Compile(pattern, o)
	if err != nil {
		return nil // what is refused cannot differ
	}
	if change != nil {
		change(p)
	}
	m := p.Matcher()
	if o.Multiline {
		if got, want := m.Text(text), p.re.Match(text); got != want {
			return fmt.Errorf("multiline %q in %q: %v, want %v", pattern, text, got, want)
		}
		return nil
	}
	got, err := lines(m, text)
	if want := plainLines(p.re, text); err != nil || !slices.Equal(got, want) {
		return fmt.Errorf("%q (fold %v) in %q: lines at %v, %v; want %v", pattern, o.Fold, text, got, err, want)
	}
	return nil
}

// TestMatcherAgreesWithRegexp also has a control arm: with a literal that is not required
// and with an automaton that was tampered with, the same comparison has to fail.
func TestMatcherAgreesWithRegexp(t *testing.T) {
	texts := shortrun.Count(t, 30_000, 6000, "texts")
	const control = 6000 // texts, enough to see either wrong matcher
	differ := func(texts int, change func(*Pattern)) (n int) {
		rnd := rand.New(rand.NewPCG(17, 1))
		for range texts {
			o := Options{Fold: rnd.IntN(4) == 0, Multiline: rnd.IntN(4) == 0}
			pattern, text := drawPattern(rnd), drawText(rnd)
			if err := compare(pattern, o, change, text); err != nil {
				if n++; change == nil && n < 10 {
					t.Error(err)
				}
			}
		}
		return n
	}
	differ(texts, nil)
	literal := differ(control, func(p *Pattern) {
		if p.literal == nil {
			p.literal = []byte("fo")
		}
	})
	looks := differ(control, func(p *Pattern) {
		if p.prog != nil {
			p.prog.words = false
			p.prog.word = make([]bool, len(p.prog.word))
		}
	})
	t.Logf("control: %d differences with a wrong literal, %d with no word characters", literal, looks)
	if literal < control/300 || looks < control/1500 {
		t.Error("the comparison does not see a wrong matcher")
	}
}

// TestLongLinesAgreeWithRegexp compares the search that goes on where the automaton does not
// pay, on lines that take several pieces.
func TestLongLinesAgreeWithRegexp(t *testing.T) {
	rnd := rand.New(rand.NewPCG(17, 2))
	compared, matches := 0, 0
	for range 3000 {
		p, err := Compile(drawPattern(rnd), Options{Fold: rnd.IntN(4) == 0})
		if err != nil {
			continue
		}
		var line []byte
		for len(line) < longLine+rnd.IntN(2*pieces) {
			line = append(line, bytes.ReplaceAll(drawText(rnd), []byte("\n"), []byte("-"))...)
		}
		if rnd.IntN(2) == 0 { // something that matches at most near its end
			line = append(bytes.Repeat([]byte("-"), longLine-rnd.IntN(30)), line[len(line)-40:]...)
		}
		m := p.Matcher()
		m.auto.off = true
		got, want := m.Line(line), p.re.Match(line)
		if compared++; got != want {
			t.Errorf("%q: %v, want %v, in %q", p.re, got, want, line[len(line)-30:])
		}
		if want {
			matches++
		}
	}
	if t.Logf("%d lines, %d match", compared, matches); matches < 100 || matches > compared-100 {
		t.Error("the lines say little")
	}
}

// A line that comes in pieces matches as a whole, also from the place on where the automaton
// gives up, and whatever lies over the end of a piece.
func TestStreamGoesOnWhereTheAutomatonGivesUp(t *testing.T) {
	const piece = 256 << 10
	for pattern, want := range map[string]bool{"z{300} foo": true, "z{300} foo é$": true, "^z{300}$": false, "z{300}$": false, "^é": false} {
		for _, n := range []int{piece - 300, piece - 3, piece - 1, 2*piece + 100} {
			p, err := Compile(pattern, Options{})
			if err != nil {
				t.Fatal(err)
			}
			m := p.Matcher()
			s := m.Stream()
			for rest := append(bytes.Repeat([]byte("z"), n), " foo é"...); len(rest) > 0; {
				size := min(piece, len(rest))
				s.Feed(rest[:size])
				rest = rest[size:]
			}
			if s.End() != want {
				t.Errorf("%q behind %d bytes: %v", pattern, n, !want)
			}
			if pattern == "z{300} foo" && m.Reliable() {
				t.Error("the automaton did not give up: the case says little")
			}
		}
	}
}

// A search that is stopped within a line takes the place where it stopped for no end.
func TestStoppedStreamDoesNotMatch(t *testing.T) {
	p, err := Compile("z$", Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, stopped := range []bool{false, true} {
		m := p.Matcher()
		m.Stop = func() bool { return stopped }
		s := m.Stream()
		s.Feed(bytes.Repeat([]byte("z"), 3*pieces))
		if s.End() == stopped {
			t.Errorf("stopped %v: %v", stopped, stopped)
		}
	}
}

func FuzzMatcher(f *testing.F) {
	f.Add("fo+", "foo\r\nbar", false, false)
	f.Add(`\bab$`, "ab\xff\nab\r\n", true, false)
	f.Add("a.b", "a\nb", false, true)
	f.Fuzz(func(t *testing.T, pattern, text string, fold, multiline bool) {
		if len(pattern) > 100 || len(text) > 10_000 {
			t.Skip()
		}
		if err := compare(pattern, Options{Fold: fold, Multiline: multiline}, nil, []byte(text)); err != nil {
			t.Error(err)
		}
	})
}

func TestAutomatonForgetsAndGivesUp(t *testing.T) {
	text := make([]byte, 0, 1<<20)
	rnd := rand.New(rand.NewPCG(1, 2))
	for len(text) < 300<<10 {
		text = append(text, "ab \n"[rnd.IntN(4)])
		if len(text)%50 != 0 && text[len(text)-1] == '\n' {
			text[len(text)-1] = 'a'
		}
	}
	// Which of the last characters was an a takes 2^17 states to know.
	for _, pattern := range []string{`a[ab ]{17}b{9}`, `a[ab]{15}b{5} b`} {
		if err := compare(pattern, Options{}, nil, text); err != nil {
			t.Errorf("%.200v", err)
		}
		p, _ := Compile(pattern, Options{})
		m := p.Matcher()
		for at := 0; at < len(text); {
			_, end, ok := m.Next(text, at)
			if !ok {
				break
			}
			at = Behind(text, end)
		}
		if m.auto.size > maxSize+1000 || m.auto.forgotten == 0 {
			t.Errorf("%s: %d bytes, forgotten %d times", pattern, m.auto.size, m.auto.forgotten)
		}
	}
}

func TestCompileSaysWhatIsWrong(t *testing.T) {
	for _, c := range []struct {
		pattern string
		want    Error
	}{
		{"foo(?=bar)", Error{At: 3, Part: "(?=", LookAround: true}},
		{"(?<!x)y", Error{At: 0, Part: "(?<!", LookAround: true}},
		{`(a)\1`, Error{At: 3, Part: `\1`, BackReference: true}},
		{"a(b", Error{At: 0, Part: "a(b"}},
		{"a[b", Error{At: 1, Part: "[b"}},
		{"*a", Error{At: 0, Part: "*"}},
		{"(a{1000}){1000}", Error{At: -1, TooLarge: true}},
		{"(((a{100}){100}){100}", Error{At: -1, TooLarge: true}},
		{"foo\nbar", Error{At: -1, NeedsMultiline: true}},
		{`foo\n`, Error{At: -1, NeedsMultiline: true}},
	} {
		_, err := Compile(c.pattern, Options{})
		var got *Error
		if !errors.As(err, &got) {
			t.Errorf("%q: %v", c.pattern, err)
			continue
		}
		if got.At != c.want.At && !got.TooLarge || c.want.Part != "" && got.Part != c.want.Part || got.LookAround != c.want.LookAround || got.BackReference != c.want.BackReference ||
			got.TooLarge != c.want.TooLarge || got.NeedsMultiline != c.want.NeedsMultiline || got.Reason == "" {
			t.Errorf("%q: %+v", c.pattern, got)
		}
	}
}

func TestRequiredLiteral(t *testing.T) {
	for pattern, want := range map[string]string{
		"needle": "needle", "foo.*barbaz": "barbaz", "(foo)bar": "foobar", "(?:ab)+c": "ab", "a|b": "", "(?i)foo": "", "x(foo|bar)yz": "yz",
		"a?bc": "bc", "a": "", "é": "é", `\x{FFFD}a`: "", "(ab){2}": "ab", "(ab){0,2}cd": "cd",
	} {
		p, err := Compile(pattern, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if string(p.literal) != want {
			t.Errorf("%q: %q, want %q", pattern, p.literal, want)
		}
	}
}

// BenchmarkNext has the figures of the package comment: MB/s here and of the standard
// package line by line.
func BenchmarkNext(b *testing.B) {
	rnd := rand.New(rand.NewPCG(3, 4))
	var text []byte
	for len(text) < 1<<20 {
		for range 3 + rnd.IntN(9) {
			for range 2 + rnd.IntN(9) {
				text = append(text, byte('a'+rnd.IntN(26)))
			}
			text = append(text, ' ')
		}
		text = append(text, '\n')
	}
	for _, pattern := range []string{"needleInHay", "needle[A-Z][a-z]+", "(?i)needleinhay", "[A-Z][a-z]+_[0-9]+", `[a-z]{11} [a-z]+ [a-z]{10} x[0-9]`} {
		p, _ := Compile(pattern, Options{})
		b.Run("fsmcp/"+pattern, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			m := p.Matcher()
			for b.Loop() {
				m.Next(text, 0)
			}
		})
		b.Run("regexp/"+pattern, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				for line := range bytes.Lines(text) {
					p.re.Match(line)
				}
			}
		})
	}
}

// pairs is the number of generated expressions with a text; "make faults" asks for more.
func pairs(t *testing.T) int {
	if n, err := strconv.Atoi(os.Getenv("FSMCP_SEARCH_PAIRS")); err == nil {
		return n
	}
	return shortrun.Count(t, 20_000, 4000, "pairs of an expression and a text")
}

// textsPerExpression is the number of texts in which each generated expression is searched.
const textsPerExpression = 4

// TestGeneratedExpressions compares generated expressions over texts that were drawn from them
// with the standard package: with the literal and the automaton, without either, and without
// both. The control arm takes a repeated capture for a plain literal.
func TestGeneratedExpressions(t *testing.T) {
	arms := []struct {
		name             string
		literal, without bool
	}{
		{"with literal and automaton", true, false}, {"without literal", false, false}, {"without automaton", true, true}, {"without both", false, true},
	}
	rnd := rand.New(rand.NewPCG(23, 2))
	compared, refused, matching, literals, wrong, failed := 0, 0, 0, 0, 0, 0
	for all := pairs(t); compared < all; {
		e := matchtest.Draw(rnd)
		p, refusal := Compile(e.Pattern, Options{Fold: e.Fold, Multiline: e.Multiline})
		re, err := e.Regexp()
		if err != nil {
			t.Fatalf("%q: %v", e.Pattern, err)
		}
		if refusal != nil {
			refused++
			if text := e.Text(rnd); refusal.(*Error).NeedsMultiline && len(matchtest.Lines(re, text)) > 0 {
				t.Errorf("%q is refused, and matches a line of %q", e.Pattern, text)
			}
			continue
		}
		if p.literal != nil {
			literals++
		}
		for range textsPerExpression {
			text := stretched(rnd, e.Text(rnd))
			compared++
			want := matchtest.Lines(re, text)
			if e.Multiline {
				want = matchtest.Touched(re, text)
			}
			if len(want) > 0 {
				matching++
			}
			for _, arm := range arms {
				q := *p
				if !arm.literal {
					q.literal = nil
				}
				m := q.Matcher()
				m.auto.off = m.auto.off || arm.without
				if err := m.agrees(e, text, want); err != nil {
					if failed++; failed <= 10 {
						t.Errorf("%s: %q (fold %v, multiline %v) in %.200q: %.200v", arm.name, e.Pattern, e.Fold, e.Multiline, text, err)
					}
				}
			}
			q := *p
			if q.exact = true; !e.Multiline && q.literal != nil && q.Matcher().agrees(e, text, want) != nil {
				wrong++
			}
		}
	}
	t.Logf("%d pairs, %d of them with a match; %d expressions refused, %d of the others with a literal; %d differences", compared, matching, refused, literals, failed)
	if matching < compared/4 || matching > compared*9/10 || literals < compared/textsPerExpression/10 {
		t.Error("the pairs say little")
	}
	if t.Logf("control: %d differences where each literal is all that a match takes", wrong); wrong < compared/200 {
		t.Error("the comparison does not see a wrong matcher")
	}
}

// stretched makes some texts long: with a long line, or with more matches than are looked for
// at once.
func stretched(rnd *rand.Rand, text []byte) []byte {
	switch rnd.IntN(200) {
	case 0:
		return append(bytes.Repeat([]byte("-"), longLine+rnd.IntN(pieces)), text...)
	case 1:
		return bytes.Repeat(text, 1+rangesAtOnce)
	}
	return text
}

// agrees compares all that a matcher says of a text with the lines that are to be found.
func (m *Matcher) agrees(e *matchtest.Expression, text []byte, want []int) error {
	var got []int
	if e.Multiline {
		if m.Text(text) != (len(m.p.re.FindIndex(text)) > 0) {
			return fmt.Errorf("Text says %v", m.Text(text))
		}
		m.Blocks(text, len(text), func(start, end int) bool {
			for at := start; at <= end && at < len(text); at += lineLength(text[at:]) + 1 {
				got = append(got, at)
			}
			return true
		})
		if !slices.Equal(got, want) {
			return fmt.Errorf("lines at %v, want %v", got, want)
		}
		if len(text) > longLine {
			return nil
		}
		var found [][]int
		for from, to := range m.p.all(text, 1) {
			found = append(found, []int{from, to})
		}
		if all := m.p.re.FindAllIndex(text, -1); !slices.EqualFunc(found, all, slices.Equal) {
			return fmt.Errorf("matches at %v, want %v", found, all)
		}
		return nil
	}
	got, err := lines(m, text)
	if err != nil || !slices.Equal(got, want) {
		return fmt.Errorf("lines at %v, %v; want %v", got, err, want)
	}
	for at := 0; at < len(text); at = Behind(text, at) {
		line := trimmed(text, at, at+lineLength(text[at:]))
		matches := slices.Contains(want, at)
		if m.Line(line) != matches {
			return fmt.Errorf("Line(%q) is not %v", line, matches)
		}
		if m.p.prog == nil {
			continue // a line in pieces counts as several
		}
		s := m.Stream()
		for rest := line; len(rest) > 0; {
			_, n := utf8.DecodeRune(rest)
			s.Feed(rest[:n])
			rest = rest[n:]
		}
		if s.End() != matches {
			return fmt.Errorf("Stream of %q is not %v", line, matches)
		}
	}
	return nil
}
