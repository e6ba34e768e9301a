package tools

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/fsmcp/fsmcp/internal/text/charset"
)

// linesOf splits a text as a reader of it would: its last line may lack an end.
func linesOf(content, eol string) []string {
	lines := strings.Split(content, eol)
	if lines[len(lines)-1] == "" {
		lines = lines[:len(lines)-1]
	}
	return lines
}

// numberedIn returns the lines of an answer that have a number.
func numberedIn(answer string) (lines []string) {
	for line := range strings.SplitSeq(answer, "\n") {
		if number, _, ok := strings.Cut(line, "\t"); ok && strings.Trim(number, "0123456789") == "" {
			lines = append(lines, line)
		}
	}
	return lines
}

// A Read from the end shows the lines that a naive count from the end names, in texts with any line
// ending, long lines and none at the end.
func TestReadFromTheEnd(t *testing.T) {
	b := newBench(t)
	b.with(func(o *Options) { o.Preferences = func() Preferences { return Preferences{} } })
	words := []string{"", "x", "ten words", "日本語", strings.Repeat("long ", 300), "\u2028", "\tindented", "(1)"}
	for seed := range uint64(250) {
		rng := rand.New(rand.NewPCG(seed, 11))
		eol := []string{"\n", "\r\n", "\r"}[rng.IntN(3)]
		var content strings.Builder
		n := 1 + rng.IntN(30)
		for i := range n {
			content.WriteString(words[rng.IntN(len(words))])
			if i < n-1 || rng.IntN(2) == 0 {
				content.WriteString(eol)
			}
		}
		enc := charset.Encoding{Set: []charset.Charset{charset.UTF8, charset.UTF16LE, charset.UTF16BE}[rng.IntN(3)], Mark: true}
		raw, err := enc.EncodeFile(content.String())
		if err != nil {
			t.Fatal(err)
		}
		if content.Len() == 0 {
			continue
		}
		lines := linesOf(content.String(), eol)
		last, limit := 1+rng.IntN(n+4), 1+rng.IntN(n+4)
		first := max(1, len(lines)-last+1)
		var want []string
		for i := first; i <= min(len(lines), first+limit-1); i++ {
			want = append(want, fmt.Sprintf("%d\t%s", i, lines[i-1]))
		}
		from := -last
		answer := b.ok(&ReadArgs{FilePath: b.put("f.txt", string(raw)), Offset: &from, Limit: &limit})
		what := fmt.Sprintf("seed %d, offset %d, limit %d of %q", seed, from, limit, content.String())
		if got := numberedIn(answer); fmt.Sprintf("%q", got) != fmt.Sprintf("%q", want) {
			t.Fatalf("%s: %q, want %q", what, got, want)
		}
		atEnd := first+limit-1 >= len(lines)
		if open := strings.Contains(answer, "(No newline at the end of the file.)"); open != (atEnd && !strings.HasSuffix(content.String(), eol)) {
			t.Fatalf("%s: the end is told as open: %v\n%s", what, open, answer)
		}
	}
}
