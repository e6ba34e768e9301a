package edit

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/fsmcp/fsmcp/internal/similar"
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
	// made visible alike; empty if the two cannot be set side by side.
	Given string
	// Why says what differs, as facts.
	Why string
}

// Nearest tells where old text was probably meant to be, and why it is not there; old is
// text that Apply found nowhere. It looks closely at a part of bounded size. It returns
// false if nothing is near.
func Nearest(text, old, new string) (Hint, bool) {
	if text == "" || strings.TrimSpace(old) == "" {
		return Hint{}, false
	}
	n := nearest{text: text, old: old, loneCR: strings.IndexByte(text, '\n') < 0, part: closePart(text, old)}
	if len(old) > maxOld {
		n.old = old[:maxOld]
		return n.similar()
	}
	loose, isLoose := n.findLoosely(old)
	if !isLoose {
		if h, ok := n.rewritten(lineNumbers(old)); ok {
			return h, true
		}
	}
	switch m, ok := n.findReplaced(new, loose, isLoose); {
	case ok:
		return n.alone(m, "already replaced: new_string stands there"), true
	case isLoose:
		return n.beside(loose, rewriting{text: old}), true
	}
	if h, ok := n.rewritten(escapes(old, text)); ok {
		return h, true
	}
	return n.similar()
}

// nearest is one search for the nearest place.
type nearest struct {
	text, old string
	loneCR    bool   // a lone CR ends a line of the text
	part      Match  // the part to look at closely
	folded    string // that part folded, once it was needed
}

// looseLen bounds the part of a text that is compared loosely.
const looseLen = 256 << 10

// maxOld bounds old text that is rewritten and folded in every way; of longer text only
// the beginning is compared, word by word.
const maxOld = looseLen / 4

// closePart is the part of a text to look at closely: all of it, or in a long one the
// surroundings of the block that has the most of old text's words, each word counting
// the less the more blocks have it.
func closePart(text, old string) Match {
	if len(text) <= looseLen {
		return Match{0, len(text)}
	}
	const size = looseLen / 4
	score := make([]float64, len(text)/size+1)
	for _, word := range similar.LongestWords(old, 16) {
		var having []int
		for i := range score {
			if strings.Contains(text[i*size:min(len(text), (i+1)*size+len(word))], word) {
				having = append(having, i)
			}
		}
		for _, i := range having {
			score[i] += 1 / float64(len(having))
		}
	}
	best := slices.Index(score, slices.Max(score))
	return Match{max(0, best-1) * size, min(len(text), (best+2)*size)}
}

// findLoosely is the first place where the text is like s but for blanks, line
// breaks, invisible characters, letter case and the kind of quotes and dashes.
func (n *nearest) findLoosely(s string) (Match, bool) {
	want := similar.Fold(s, similar.OverAll)
	part := n.text[n.part.Start:n.part.End]
	if n.folded == "" {
		n.folded = similar.Fold(part, similar.OverAll)
	}
	at := indexOf(n.folded, want)
	if want == "" || at < 0 {
		return Match{}, false
	}
	start, end := similar.Unfold(part, similar.OverAll, at, at+len(want))
	return Match{n.part.Start + start, n.part.Start + end}, true
}

// rewritten explains old text that is in the text, at least loosely, once it is rewritten.
func (n *nearest) rewritten(ways []rewriting) (Hint, bool) {
	for _, r := range ways {
		if m, ok := n.findLoosely(r.text); ok {
			return n.beside(m, r), true
		}
	}
	return Hint{}, false
}

// findReplaced finds new text where old text would have been, or, where that
// is nowhere, in any place if it is long enough to be there by no accident.
func (n *nearest) findReplaced(new string, loose Match, isLoose bool) (Match, bool) {
	wanted, asked := similar.Fold(new, similar.OverAll), similar.Fold(n.old, similar.OverAll)
	if wanted == "" || !utf8.ValidString(new) || len(wanted) < len(asked) && indexOf(asked, wanted) >= 0 {
		return Match{}, false // it says nothing that old text does not say
	}
	t := tally{all: true, keep: 1}
	searchExact(n.text, new, breaks{inText: n.loneCR, inCall: true}, &t)
	if t.count == 0 {
		return Match{}, false
	}
	m := Match{int(t.spans[0].Start), int(t.spans[0].End)}
	if isLoose {
		return m, m.Start < loose.End && loose.Start < m.End
	}
	const enough = 8
	return m, len(wanted) >= enough || n.isWholeWords(m)
}

// isWholeWords reports whether a match is no part of longer words.
func (n *nearest) isWholeWords(m Match) bool {
	before, _ := utf8.DecodeLastRuneInString(n.text[:m.Start])
	first, _ := utf8.DecodeRuneInString(n.text[m.Start:])
	last, _ := utf8.DecodeLastRuneInString(n.text[:m.End])
	after, _ := utf8.DecodeRuneInString(n.text[m.End:])
	return !(similar.IsWord(before) && similar.IsWord(first)) && !(similar.IsWord(last) && similar.IsWord(after))
}

// A pair is a line of old text and what the text has beside it.
type pair struct {
	asked, own string
	start      int // of own in the text
}

// beside is the hint that sets old text, as rewritten by r, beside the place m. Where
// nothing else differs it sets old text itself there.
func (n *nearest) beside(m Match, r rewriting) Hint {
	rows, pairs := n.pairs(m, r.text)
	found := differences(pairs)
	if len(found) == 0 && r.why != "" {
		rows, pairs = n.pairs(m, n.old)
	}
	if r.why != "" {
		found = append([]string{r.why}, found...)
	}
	if pairs == nil {
		return n.alone(m, strings.Join(append(found, "the line breaks differ"), "; "))
	}
	return n.hint(rows, pairs, strings.Join(found, "; "))
}

// pairs sets the lines of s beside the rows of m, and returns no pairs where their
// numbers differ. Blank lines at both ends of s are left out.
func (n *nearest) pairs(m Match, s string) (rows []Match, pairs []pair) {
	asked, _ := splitLines(s, true)
	for len(asked) > 1 && strings.TrimSpace(asked[0]) == "" {
		asked = asked[1:]
	}
	for len(asked) > 1 && strings.TrimSpace(asked[len(asked)-1]) == "" {
		asked = asked[:len(asked)-1]
	}
	// Blanks at its ends stand beside those of the text.
	if first := asked[0]; strings.TrimLeft(first, " \t") != first {
		m.Start = len(trimTrailing(n.text[:m.Start]))
	}
	if last := asked[len(asked)-1]; trimTrailing(last) != last {
		rest := n.text[m.End:]
		m.End += len(rest) - len(strings.TrimLeft(rest, " \t"))
	}
	if rows = n.rows(m); len(rows) != len(asked) {
		return rows, nil
	}
	for i, r := range rows {
		start, end := max(r.Start, m.Start), min(r.End, m.End)
		pairs = append(pairs, pair{asked[i], n.text[start:max(start, end)], start})
	}
	return rows, pairs
}

// alone is the hint that shows a place with nothing beside it.
func (n *nearest) alone(m Match, why string) Hint { return n.hint(n.rows(m), nil, why) }

// similar is the place whose lines share most words with those of old text, if
// it shares at least half of them.
func (n *nearest) similar() (Hint, bool) {
	asked, _ := splitLines(n.old, true)
	rows := n.rows(n.part)
	own := make([]string, len(rows))
	for i, r := range rows {
		start := min(max(r.Start, n.part.Start), r.End) // the part may begin in the middle of a CRLF
		own[i] = n.text[start:min(r.End, n.part.End)]
	}
	first, ok := similar.Align(asked, own)
	if !ok {
		return Hint{}, false
	}
	asked, rows = asked[max(0, -first):], rows[max(0, first):]
	rows = rows[:min(len(rows), len(asked))]
	var pairs []pair
	for i, r := range rows {
		start := r.Start + besideIn(n.text[r.Start:r.End], asked[i])
		if i == 0 && strings.TrimLeft(asked[0], " \t") == asked[0] { // it may begin inside the line
			start = r.End - len(strings.TrimLeft(n.text[start:r.End], " \t"))
		}
		pairs = append(pairs, pair{asked[i], n.text[start:r.End], start})
	}
	at := firstDifferent(pairs)
	if at < 0 && len(rows) < len(asked) {
		why := "only these lines were compared"
		if n.part.End == len(n.text) {
			why = "the file ends there"
		}
		return n.hint(rows, nil, why), true
	}
	return n.hint(rows, pairs, strings.Join(differences(pairs[max(0, at):][:1]), "; ")), true
}

// besideIn is where in a very long line the part begins that stands beside an asked
// line, judging by the longest word that both have.
func besideIn(own, asked string) int {
	if len(own) <= 4*len(asked)+similar.ExcerptLen {
		return 0
	}
	from := 0
	for _, word := range similar.LongestWords(asked, 8) {
		if i := strings.Index(own, word); i >= 0 {
			from = max(0, i-strings.Index(asked, word))
			break
		}
	}
	for from < len(own) && !utf8.RuneStart(own[from]) {
		from++
	}
	return from
}

// rows are the whole lines that m touches.
func (n *nearest) rows(m Match) []Match {
	c := byte('\n')
	if n.loneCR {
		c = '\r'
	}
	rows := make([]Match, 0, 1+countBreaks(n.text[m.Start:m.End], n.loneCR))
	for at := lastBreak(n.text[:m.Start], n.loneCR) + 1; ; {
		i := strings.IndexByte(n.text[at:], c)
		if i < 0 {
			return append(rows, Match{at, len(n.text)})
		}
		end := at + i
		if c == '\n' && i > 0 && n.text[end-1] == '\r' {
			end--
		}
		rows = append(rows, Match{at, end})
		if at += i + 1; at >= m.End {
			return rows
		}
	}
}

// aroundRows bounds the lines that a hint shows on either side of the one that differs.
const aroundRows = 2

// hint shows the lines around the first row that differs from the line of old text beside
// it, or the first few rows if none does.
func (n *nearest) hint(rows []Match, pairs []pair, why string) Hint {
	at := firstDifferent(pairs)
	differs := 0 // as a place in the row
	h := Hint{Why: why}
	switch {
	case at >= 0:
		p := pairs[at]
		shared, _ := sharedEnds(p.own, p.asked)
		differs = p.start + shared - rows[at].Start
		h.Given = similar.Excerpt(p.asked, shared, similar.Visible)
		if why == "" {
			column := 1 + utf8.RuneCountInString(n.text[rows[at].Start:][:differs])
			h.Why = fmt.Sprintf("the text differs from column %d on", column)
		}
	case why == "":
		h.Why = "old_string begins or ends with a line break or blank line that the file does not have there"
	}
	from := max(0, at-aroundRows)
	to := min(len(rows), max(at, aroundRows)+aroundRows+1)
	h.Line = 1 + countBreaks(n.text[:rows[from].Start], n.loneCR)
	for i, r := range rows[from:to] {
		write, place := similar.Printable, 0
		if from+i == at {
			write, place = similar.Visible, differs
		}
		h.Lines = append(h.Lines, fmt.Sprintf("%d\t%s", h.Line+i, similar.Excerpt(n.text[r.Start:r.End], place, write)))
	}
	return h
}

// firstDifferent is the first pair that differs, or -1.
func firstDifferent(pairs []pair) int {
	return slices.IndexFunc(pairs, func(p pair) bool { return p.asked != p.own })
}
