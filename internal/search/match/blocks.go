package match

import (
	"bytes"
	"iter"
	"unicode/utf8"
)

// rangesAtOnce bounds the matches of a text that are held in memory.
const rangesAtOnce = 1000

// Blocks calls f for each run of lines that matches of a Multiline pattern touch, in order
// and without overlap, until f returns false: from the start of its first line to the end
// of its last one, without the line feed. Matches that begin behind limit are left out.
func (m *Matcher) Blocks(text []byte, limit int, f func(start, end int) bool) {
	if !m.Text(text) {
		return
	}
	start, end := -1, -1 // of a block that may grow
	for from, to := range m.p.all(text, rangesAtOnce) {
		if from >= limit && limit < len(text) {
			break
		}
		if from == len(text) && from > 0 && text[from-1] == '\n' {
			continue // behind the last line
		}
		to = max(from, to-1)
		if start >= 0 && from <= end { // in the last line of the block
			if to > end {
				end = to + lineLength(text[to:])
			}
			continue
		}
		if start >= 0 && !f(start, end) {
			return
		}
		start, end = bytes.LastIndexByte(text[:from], '\n')+1, to+lineLength(text[to:])
	}
	if start >= 0 {
		f(start, end)
	}
}

// all returns the matches in a text, those of FindAllIndex, without holding more than atOnce of
// them in memory.
func (p *Pattern) all(text []byte, atOnce int) iter.Seq2[int, int] {
	return func(yield func(from, to int) bool) {
		last := -1 // the end of the match before
		for at := 0; ; {
			matches, more := p.some(text, at, atOnce)
			for _, r := range matches {
				if r[0] == r[1] && r[0] == last {
					continue
				}
				if last = r[1]; !yield(r[0], last) {
					return
				}
			}
			if !more {
				return
			}
			end := matches[len(matches)-1][1]
			if end == at { // one empty match
				_, size := utf8.DecodeRune(text[at:])
				if end += size; size == 0 {
					return
				}
			}
			at = end
		}
	}
}

// some returns the first matches from a place on, at most atOnce. They see the text in front of
// that place. more says that others may follow.
func (p *Pattern) some(text []byte, at, atOnce int) (matches [][]int, more bool) {
	if at == 0 || p.behind == nil {
		matches = p.re.FindAllIndex(text[at:], atOnce)
		for _, r := range matches {
			r[0], r[1] = r[0]+at, r[1]+at
		}
		return matches, len(matches) == atOnce
	}
	_, size := utf8.DecodeLastRune(text[:at])
	r := p.behind.FindIndex(text[at-size:])
	if r == nil {
		return nil, false
	}
	from := at - size + r[0]
	_, first := utf8.DecodeRune(text[from:])
	return [][]int{{from + first, at - size + r[1]}}, true
}
