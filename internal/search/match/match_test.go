package match

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"

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
		at = next(text, end)
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
	differ := func(change func(*Pattern)) (n int) {
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
	differ(nil)
	literal := differ(func(p *Pattern) {
		if p.literal == nil {
			p.literal = []byte("fo")
		}
	})
	looks := differ(func(p *Pattern) {
		if p.prog != nil {
			p.prog.words = false
			p.prog.word = make([]bool, len(p.prog.word))
		}
	})
	t.Logf("control: %d differences with a wrong literal, %d with no word characters", literal, looks)
	if literal < texts/300 || looks < texts/1500 {
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
			at = next(text, end)
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
