package edit

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

func TestLinearSearchFindsEveryPlace(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		letters := []string{"ab", "abc", "aab", "abaab"}[rapid.IntRange(0, 3).Draw(t, "letters")]
		draw := func(label string, least, most int) string {
			return strings.Join(rapid.SliceOfN(rapid.SampledFrom(strings.Split(letters, "")), least, most).Draw(t, label), "")
		}
		x := strings.Repeat(draw("unit", 1, 4), rapid.IntRange(1, 4).Draw(t, "times")) + draw("rest", 0, 3)
		s := draw("before", 0, 5) + strings.Repeat(x, rapid.IntRange(0, 3).Draw(t, "copies")) + draw("after", 0, 20)
		from := rapid.IntRange(0, len(s)).Draw(t, "from")
		var got, want []int
		linearSearch([]byte(s), []byte(x), from, func(i int) bool { got = append(got, i); return true })
		for i := from; i+len(x) <= len(s); i++ {
			if s[i:i+len(x)] == x {
				want = append(want, i)
			}
		}
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Fatalf("%q in %q from %d: %v, want %v", x, s, from, got, want)
		}
	})
}

// The two ways through a text of mixed line breaks, each on its own.
func TestMixedLineBreaks(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		pieces := []string{"a", "b", "\n", "\r\n", "\r", "a\n", "a\r\n", "b\r\r\n"}
		text := drawText(t, pieces, "text", 30) + "\n"
		old := drawOld(t, pieces, text)
		br := breaks{inCall: rapid.Bool().Draw(t, "inCall")}
		lines, _ := splitLines(old, br.inCall)
		if len(lines) == 1 {
			return
		}
		want := fmt.Sprint(naiveFind(Exact, text, old, br))
		m := newMatcher(old, br)
		for name, each := range map[string]func([]byte, func(int, int) bool){"each": m.each, "byLines": m.byLines} {
			var got []Match
			each([]byte(text), func(start, end int) bool { got = append(got, Match{start, end}); return true })
			if fmt.Sprint(got) != want {
				t.Fatalf("%s: %v, the model has %v", name, got, want)
			}
		}
	})
}

func TestNormalisedSearchInSmallWindows(t *testing.T) {
	for _, name := range []string{"equivalence", "hangul", "stray"} {
		pieces := alphabets[name]
		t.Run(name, rapid.MakeCheck(func(t *rapid.T) {
			text := drawText(t, pieces, "text", 60)
			old := drawOld(t, pieces, text)
			br := breaks{}
			if old == "" || !utf8.ValidString(old) {
				return
			}
			want := naiveFind(Exact, text, old, br)
			got := tally{keep: 1 << 20}
			normalFolding.search(text, old, br, &got, 1)
			if equivalent := naiveFind(Normalised, text, old, br); fmt.Sprint(got.spans) != fmt.Sprint(equivalent) &&
				len(want) == 0 {
				t.Fatalf("%v, the model has %v", got.spans, equivalent)
			}
		}))
	}
}

// TestCountsAreExactAndLinear would run for hours if any search were quadratic.
func TestCountsAreExactAndLinear(t *testing.T) {
	const n = 1 << 19
	half := strings.Repeat("a", n/2)
	lines := strings.Repeat("a\n", n/2)
	mixed := strings.Repeat("a\n", n/2) + "b\r\n"
	// Thousands of places that begin like the needle and differ at its end.
	period := strings.Repeat("0123456789abcdef!", n/17)
	words := fibonacci(n)
	for _, c := range []struct {
		name      string
		text, old string
		count     int
	}{
		{"one letter", strings.Repeat("a", n), "a", n},
		{"short", strings.Repeat("a", n), "aa", n - 1},
		{"long", strings.Repeat("a", n), half, n/2 + 1},
		{"long but for its end", strings.Repeat("a", n), half + "b", 0},
		{"long but for its start", strings.Repeat("a", n), "b" + half, 0},
		{"lines", lines, strings.Repeat("a\n", n/4), n/4 + 1},
		{"lines but for the end", lines, strings.Repeat("a\n", n/4) + "b", 0},
		{"lines in mixed endings", mixed, strings.Repeat("a\n", n/4), n/4 + 1},
		{"lines in mixed endings but for the end", mixed, strings.Repeat("a\n", n/4) + "c", 0},
		{"empty lines in mixed endings", strings.Repeat("\n", n) + "\r\n", strings.Repeat("\n", n/2), n/2 + 2},
		{name: "a long line again and again", text: strings.Repeat(half[:1000]+"\n", n/1000) + "\r\n", old: strings.Repeat(half[:1000]+"\n", 1000) + "b", count: 0},
		{"false places", period, period[:n/2/17*17] + "z", 0},
		{"fibonacci", words, words[:n/3], -1},
		{"quotes", strings.Repeat("“", n/3), strings.Repeat(`"`, n/6), n/3 - n/6 + 1},
		{"quotes but for the end", strings.Repeat("“", n/3), strings.Repeat(`"`, n/6) + "b", 0},
		{"marks", "a" + strings.Repeat("\u0301", n/2), "á", 0},
		{"marks of two kinds", "a" + strings.Repeat("\u0301\u0316", n/4), "á", 0},
		{"equivalent", strings.Repeat("e\u0301", n/3), strings.Repeat("é", 100), n/3 - 99},
		{"equivalent and long", strings.Repeat("e\u0301", n/3), strings.Repeat("é", n/6), n/3 - n/6 + 1},
		{"jamo", strings.Repeat("\u1100\u1161", n/6), strings.Repeat("가", n/12), n/6 - n/12 + 1},
		{"stray bytes", strings.Repeat("\xff\u0301", n/3), "á", 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := Apply(c.text, Request{Old: c.old, New: "x"})
			count := 0
			switch e := err.(type) {
			case nil:
				count = 1
			case *AmbiguousError:
				count = e.Count
			}
			if count != c.count && c.count >= 0 {
				t.Errorf("%d places, want %d (%v)", count, c.count, err)
			}
		})
	}
}

// fibonacci is a word that repeats itself at every scale.
func fibonacci(n int) string {
	a, b := "a", "ab"
	for len(b) < n {
		a, b = b, b+a
	}
	return b[:n]
}
