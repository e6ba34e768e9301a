package edit

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/fsmcp/fsmcp/internal/edit/likeness"
)

// A Hint is the place of a text that is nearest to old text found nowhere. It
// is something to show, never something to change.
type Hint struct {
	// Line is the 1-based number of the line that Lines begin with.
	Line int
	// Lines are a few lines of the text as "12\tline", cut where they are long.
	// The line that differs has its blanks, tabs and unusual characters made
	// visible; control and invisible characters are in the others as well.
	Lines []string
	// Given is the line of old text that stands beside the one that differs,
	// made visible alike; empty where the two cannot be set side by side.
	Given string
	// Why says what differs, as facts.
	Why string
}

// looseLen bounds the text that is compared loosely; of a longer text, that is the
// surroundings of old text's longest words.
const looseLen = 1 << 20

// Nearest tells where old text was probably meant to be, and why it is not
// there; old is text that Apply found nowhere. It goes over the whole text a
// few times at the speed of a plain search, and looks closer at a part of
// bounded size. It returns false where nothing is near.
func Nearest(text, old, new string) (Hint, bool) {
	if text == "" || strings.TrimSpace(old) == "" {
		return Hint{}, false
	}
	n := newNearest(text, old)
	if h, ok := n.rewritten(lineNumbers(old)); ok {
		return h, true
	}
	loose, isLoose := n.loosely(old)
	if m, ok := n.standsAlready(new, loose, isLoose); ok {
		return n.alone(m, "already replaced: new_string stands there"), true
	}
	if h, ok := n.rewritten(escapes(old)); ok {
		return h, true
	}
	if isLoose {
		return n.beside(loose, old, facts("")), true
	}
	for _, r := range append(lineNumbers(old), escapes(old)...) {
		if m, ok := n.loosely(r.text); ok {
			return n.beside(m, r.text, facts(r.why)), true
		}
	}
	return n.similar()
}

// nearest is one search for the nearest place.
type nearest struct {
	text, old string
	breaks    breaks
	near      []Match  // the parts to look at closely, in order
	folded    [][]byte // the same parts folded, once that was needed
}

func newNearest(text, old string) *nearest {
	noLF := strings.IndexByte(text, '\n') < 0
	n := &nearest{text: text, old: old, breaks: breaks{inText: noLF, inCall: true}}
	n.near = n.surroundings()
	return n
}

// surroundings are the parts of the text that may hold the nearest place: all
// of it, or in a long one whole lines around old text's longest words.
func (n *nearest) surroundings() []Match {
	if len(n.text) <= looseLen {
		return []Match{{0, len(n.text)}}
	}
	const words, places = 6, 8
	reach := min(len(n.old)+1<<10, looseLen/(2*words*places))
	var parts spans
	for _, w := range likeness.LongestWords(n.old, words) {
		left := places
		for i := range n.each(w) {
			start, _ := n.row(max(0, i-reach), i)
			_, end := n.row(i, min(len(n.text), i+len(w)+reach))
			parts = append(parts, Match{start, end})
			if left--; left == 0 {
				break
			}
		}
	}
	return parts.merged()
}

// each yields the places of a literal word.
func (n *nearest) each(word string) func(func(int) bool) {
	return func(yield func(int) bool) {
		textMatcher([]string{word}, n.breaks).occurrences(n.text, word, yield)
	}
}

// row widens [start, end) to whole lines, where their ends are not far.
func (n *nearest) row(start, end int) (int, int) {
	const far = 4 << 10
	for at := start; start-at <= far; at-- {
		if n.view().startsLine(at) {
			start = at
			break
		}
	}
	for at := end; at-end <= far; at++ {
		if n.view().endsLine(at) {
			end = at
			break
		}
	}
	return start, end
}

func (n *nearest) view() view[string] {
	return view[string]{s: n.text, u: narrow, loneCR: n.breaks.inText}
}

// first is the first place of s in one of the parts under the exact rule.
func (n *nearest) first(s string, parts []Match) (found Match, ok bool) {
	if s == "" || !utf8.ValidString(s) {
		return Match{}, false
	}
	lines, _ := splitLines(s, n.breaks.inCall)
	m := textMatcher(lines, n.breaks)
	for _, p := range parts {
		m.each(n.text[p.Start:p.End], func(start, end int) bool {
			found, ok = Match{p.Start + start, p.Start + end}, true
			return false
		})
		if ok {
			break
		}
	}
	return found, ok
}

// rewritten explains old text that is in the text once it is rewritten.
func (n *nearest) rewritten(ways []rewriting) (Hint, bool) {
	for _, r := range ways {
		if m, ok := n.first(r.text, n.near); ok {
			return n.beside(m, n.old, func([]pair) string { return r.why }), true
		}
	}
	return Hint{}, false
}

// loosely is the first place where the text is like s but for blanks, line
// breaks, invisible characters, letter case and the kind of quotes and dashes.
func (n *nearest) loosely(s string) (Match, bool) {
	want := likeness.Fold(nil, s, likeness.OverAll)
	if len(want) == 0 || len(want) > looseLen {
		return Match{}, false
	}
	for i, part := range n.near {
		piece := n.text[part.Start:part.End]
		if i == len(n.folded) {
			n.folded = append(n.folded, likeness.Fold(make([]byte, 0, len(piece)), piece, likeness.OverAll))
		}
		at := -1
		bytesMatcher([][]byte{want}, narrow, breaks{}).occurrences(n.folded[i], want, func(i int) bool {
			at = i
			return false
		})
		if at >= 0 {
			start, end := likeness.Unfold(piece, likeness.OverAll, at, at+len(want)-1)
			return Match{part.Start + start, part.Start + end}, true
		}
	}
	return Match{}, false
}

// standsAlready finds new text where old text would have been, or, where that
// is nowhere, in any place if it is long enough to be there by no accident.
func (n *nearest) standsAlready(new string, loose Match, isLoose bool) (Match, bool) {
	wanted, asked := likeness.Fold(nil, new, likeness.OverAll), likeness.Fold(nil, n.old, likeness.OverAll)
	if len(wanted) == 0 || len(wanted) < len(asked) && contains(string(asked), string(wanted)) {
		return Match{}, false // it says nothing that old text does not say
	}
	m, ok := n.first(new, []Match{{0, len(n.text)}})
	if !ok {
		return Match{}, false
	}
	if isLoose {
		return m, m.Start < loose.End && loose.Start < m.End
	}
	const enough = 8
	return m, len(wanted) >= enough || n.standsApart(m)
}

// standsApart tells whether a match is no part of longer words.
func (n *nearest) standsApart(m Match) bool {
	before, _ := utf8.DecodeLastRuneInString(n.text[:m.Start])
	first, _ := utf8.DecodeRuneInString(n.text[m.Start:])
	last, _ := utf8.DecodeLastRuneInString(n.text[:m.End])
	after, _ := utf8.DecodeRuneInString(n.text[m.End:])
	return !(likeness.IsWord(before) && likeness.IsWord(first)) && !(likeness.IsWord(last) && likeness.IsWord(after))
}

// similar is the place whose lines share most words with those of old text, if
// it shares at least half of them.
func (n *nearest) similar() (Hint, bool) {
	asked := n.lines(n.old)
	v := likeness.NewTally(asked)
	for _, part := range n.near {
		v.Count(n.text[part.Start:part.End], part.Start, n.breaks.inText)
	}
	start, skipped, ok := v.Winner()
	if !ok {
		return Hint{}, false
	}
	start, asked = n.aligned(start, asked, skipped)
	rows := n.rows(start, len(n.text), len(asked))
	pairs := make([]pair, 0, len(asked))
	for i, r := range rows {
		own, from := likeness.Narrow(asked[i], n.text[r.Start:r.End])
		if body := strings.TrimLeft(own, " \t"); i == 0 && strings.TrimLeft(asked[0], " \t") == asked[0] {
			own, from = body, from+len(own)-len(body) // it may begin inside the line
		}
		pairs = append(pairs, pair{asked[i], own, r.Start + from})
	}
	at := firstDifferent(pairs)
	if len(rows) < len(asked) && pairs[at].asked == pairs[at].own {
		return n.hint(rows, pairs, -1, "the file ends there"), true
	}
	return n.hint(rows, pairs, at, join(lineFacts(pairs[at])...)), true
}

// aligned moves a place by a few lines if the first lines of old text then
// equal those beside them: where a line was added or left out in the middle,
// most words agree behind it, but the reader wants the line where it begins.
func (n *nearest) aligned(start int, asked []string, skipped int) (int, []string) {
	const far = 10
	top := start
	for range far {
		if top == 0 {
			break
		}
		top = n.rows(top-1, top, 1)[0].Start
	}
	rows := n.rows(top, len(n.text), 2*far+len(asked))
	most := 0
	for i := range rows[:min(2*far, len(rows))] {
		same := 0
		for same < len(asked) && i+same < len(rows) && n.text[rows[i+same].Start:rows[i+same].End] == asked[same] {
			same++
		}
		if same > most {
			most, start, skipped = same, rows[i].Start, 0
		}
	}
	return start, asked[skipped:]
}

// lines are the lines of s, as many as a hint considers.
func (n *nearest) lines(s string) []string {
	lines, _ := splitLines(s, n.breaks.inCall)
	return lines[:min(len(lines), maxRows)]
}

// maxRows bounds how many lines a hint considers.
const maxRows = 400

// rows are the whole lines from the one that start is on to the one that the
// last byte before end is on, at most most of them and at least one.
func (n *nearest) rows(start, end, most int) []Match {
	c := byte('\n')
	if n.breaks.inText {
		c = '\r'
	}
	at := strings.LastIndexByte(n.text[:start], c) + 1
	var rows []Match
	for {
		i := strings.IndexByte(n.text[at:], c)
		if i < 0 {
			return append(rows, Match{at, len(n.text)})
		}
		stop, next := at+i, at+i+1
		if c == '\n' && i > 0 && n.text[stop-1] == '\r' {
			stop--
		}
		rows = append(rows, Match{at, stop})
		if next >= end || len(rows) >= most {
			return rows
		}
		at = next
	}
}

// number is the 1-based number of the line that begins at start.
func (n *nearest) number(start int) int {
	return 1 + countBreaks(n.text[:start], n.breaks.inText)
}

// spans are parts of a text.
type spans []Match

// merged is the parts in order, those that touch made one.
func (s spans) merged() []Match {
	slices.SortFunc(s, func(a, b Match) int { return a.Start - b.Start })
	var out []Match
	for _, p := range s {
		if len(out) > 0 && p.Start <= out[len(out)-1].End {
			out[len(out)-1].End = max(out[len(out)-1].End, p.End)
			continue
		}
		out = append(out, p)
	}
	return out
}
