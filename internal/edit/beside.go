package edit

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/fsmcp/fsmcp/internal/edit/likeness"
)

// A pair is a line of old text and what the text has beside it.
type pair struct {
	asked, own string
	start      int // of own in the text
}

// facts tells what differs between lines that are alike, after what is known.
func facts(known string) func([]pair) string {
	return func(pairs []pair) string { return join(append([]string{known}, differences(pairs)...)...) }
}

// beside is the hint that sets old text beside the place m; tell tells what
// differs between lines that stand beside each other.
func (n *nearest) beside(m Match, old string, tell func([]pair) string) Hint {
	asked, dropped := inked(n.lines(old))
	m = n.widened(m, asked)
	rows := n.rows(m.Start, m.End, maxRows)
	if len(rows) != len(asked) {
		return n.alone(m, join(tell(nil), "the line breaks differ"))
	}
	pairs := make([]pair, len(rows))
	for i, r := range rows {
		start, end := max(r.Start, m.Start), min(r.End, m.End)
		pairs[i] = pair{asked[i], n.text[start:max(start, end)], start}
	}
	why := tell(pairs)
	if why == "" && dropped {
		why = "old_string begins or ends with a line break or blank line that the file does not have there"
	}
	return n.hint(rows, pairs, firstDifferent(pairs), why)
}

// alone is the hint that shows a place with nothing beside it.
func (n *nearest) alone(m Match, why string) Hint {
	return n.hint(n.rows(m.Start, m.End, maxRows), nil, -1, why)
}

// inked is lines without the blank ones at both ends, and whether there were any.
func inked(lines []string) (rest []string, dropped bool) {
	n := len(lines)
	for len(lines) > 1 && strings.TrimSpace(lines[0]) == "" {
		lines = lines[1:]
	}
	for len(lines) > 1 && strings.TrimSpace(lines[len(lines)-1]) == "" {
		lines = lines[:len(lines)-1]
	}
	return lines, len(lines) < n
}

// widened is m without the white space at its ends, but with the blanks there
// where old text has some too.
func (n *nearest) widened(m Match, asked []string) Match {
	inside := n.text[m.Start:m.End]
	m.Start += len(inside) - len(strings.TrimLeft(inside, " \t\r\n"))
	m.End -= len(inside) - len(strings.TrimRight(inside, " \t\r\n"))
	m.End = max(m.Start, m.End)
	if first := asked[0]; strings.TrimLeft(first, " \t") != first {
		m.Start = len(trimTrailing(n.text[:m.Start]))
	}
	if last := asked[len(asked)-1]; trimTrailing(last) != last {
		rest := n.text[m.End:]
		m.End += len(rest) - len(strings.TrimLeft(rest, " \t"))
	}
	return m
}

// firstDifferent is the first pair that differs, or the first of all.
func firstDifferent(pairs []pair) int {
	for i, p := range pairs {
		if p.asked != p.own {
			return i
		}
	}
	return 0
}

// aroundRows bounds the lines that a hint shows on either side of the one that differs.
const aroundRows = 2

// hint shows the lines around rows[at], which stands beside pairs[at]; without
// a pair (at is -1) it shows the first few.
func (n *nearest) hint(rows []Match, pairs []pair, at int, why string) Hint {
	differs := 0 // as a place in the row
	h := Hint{Why: why}
	if at >= 0 && pairs[at].asked != pairs[at].own {
		p := pairs[at]
		shared := sharedFront(p.asked, p.own)
		differs = p.start + shared - rows[at].Start
		h.Given = likeness.Excerpt(p.asked, shared, likeness.Visible)
		if why == "" {
			h.Why = otherText(n.text[rows[at].Start:rows[at].End], differs)
		}
	} else {
		at = -1
	}
	from := max(0, at-aroundRows)
	to := min(len(rows), max(at, aroundRows)+aroundRows+1)
	h.Line = n.number(rows[from].Start)
	for i, r := range rows[from:to] {
		write, place := likeness.Printable, 0
		if from+i == at {
			write, place = likeness.Visible, differs
		}
		h.Lines = append(h.Lines, fmt.Sprintf("%d\t%s", h.Line+i, likeness.Excerpt(n.text[r.Start:r.End], place, write)))
	}
	return h
}

// otherText is the fact that the words themselves differ.
func otherText(row string, at int) string {
	return fmt.Sprintf("the text differs from column %d on", utf8.RuneCountInString(row[:at])+1)
}

// sharedFront returns the number of bytes, in whole characters, that a and b share at
// the front.
func sharedFront(a, b string) int {
	i := 0
	for i < len(a) && i < len(b) && a[i] == b[i] {
		i++
	}
	for i > 0 && (i < len(a) && !utf8.RuneStart(a[i]) || i < len(b) && !utf8.RuneStart(b[i])) {
		i--
	}
	return i
}

// join puts facts together.
func join(facts ...string) string {
	var kept []string
	for _, f := range facts {
		if f != "" {
			kept = append(kept, f)
		}
	}
	return strings.Join(kept, "; ")
}
