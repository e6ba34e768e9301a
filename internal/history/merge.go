package history

import (
	"bytes"
	"slices"

	"github.com/fsmcp/fsmcp/internal/linediff"
	"github.com/fsmcp/fsmcp/internal/span"
)

// Conflict is a place that both sides changed differently. Lines count from 1; if the place
// has no lines of ours, First is the line after it.
type Conflict struct {
	// First and Last are the lines of ours, Last before First if it has none.
	First, Last int
}

// maxSteps bounds the comparison of texts that have little in common: their smallest
// difference is not worth its time.
const maxSteps = 4096

// Merge applies the changes from base to theirs to ours, line by line. It returns splices
// of ours, or the conflicts. Equal changes on both sides need no splice; different changes
// that touch are a conflict.
func Merge(base, ours, theirs []byte) (splices []span.Splice, conflicts []Conflict) {
	switch {
	case bytes.Equal(ours, theirs), bytes.Equal(base, theirs):
		return nil, nil
	case bytes.Equal(base, ours):
		return span.Tighten([]span.Splice{{End: int64(len(ours)), New: theirs}}, ours), nil
	case hasNul(base) || hasNul(ours) || hasNul(theirs):
		return nil, []Conflict{{First: 1, Last: len(splitLines(ours))}}
	}
	o, t := splitLines(ours), splitLines(theirs)
	n := linediff.Number(splitLines(base), o, t)
	m := merger{theirs: t, offsets: offsets(o), numbers: [2][]int{n[1], n[2]}}
	m.merge(linediff.Compare(n[0], n[1], maxSteps), linediff.Compare(n[0], n[2], maxSteps))
	if m.conflicts != nil {
		return nil, m.conflicts
	}
	return m.splices, nil
}

// splitLines cuts a text behind each newline.
func splitLines(text []byte) [][]byte {
	lines := bytes.SplitAfter(text, []byte{'\n'})
	if last := len(lines) - 1; len(lines[last]) == 0 {
		return lines[:last]
	}
	return lines
}

// hasNul reports whether bytes count as binary, as git decides.
func hasNul(b []byte) bool {
	const looked = 8000
	return bytes.IndexByte(b[:min(len(b), looked)], 0) >= 0
}

// offsets returns the offsets at which lines begin, and the end.
func offsets(lines [][]byte) []int64 {
	out := make([]int64, 1, len(lines)+1)
	at := int64(0)
	for _, l := range lines {
		at += int64(len(l))
		out = append(out, at)
	}
	return out
}

type merger struct {
	theirs    [][]byte
	offsets   []int64  // of ours
	numbers   [2][]int // of ours and theirs
	splices   []span.Splice
	conflicts []Conflict
}

// merge walks both lists of changes of base. It treats those that overlap or touch as one.
func (m *merger) merge(ours, theirs []linediff.Hunk) {
	moved := [2]int{} // lines that a side has more than base, up to here
	for len(ours) > 0 || len(theirs) > 0 {
		if len(theirs) == 0 || len(ours) > 0 && ours[0].A1 < theirs[0].A0 {
			moved[0] = ours[0].B1 - ours[0].A1
			ours = ours[1:]
			continue
		}
		if len(ours) == 0 || theirs[0].A1 < ours[0].A0 {
			h := theirs[0]
			m.take(h.A0+moved[0], h.A1+moved[0], h.B0, h.B1)
			moved[1] = h.B1 - h.A1
			theirs = theirs[1:]
			continue
		}
		start, end := min(ours[0].A0, theirs[0].A0), min(ours[0].A0, theirs[0].A0)
		after := moved
		for {
			if len(ours) > 0 && ours[0].A0 <= end {
				end, after[0] = max(end, ours[0].A1), ours[0].B1-ours[0].A1
				ours = ours[1:]
			} else if len(theirs) > 0 && theirs[0].A0 <= end {
				end, after[1] = max(end, theirs[0].A1), theirs[0].B1-theirs[0].A1
				theirs = theirs[1:]
			} else {
				break
			}
		}
		m.both(start+moved[0], end+after[0], start+moved[1], end+after[1])
		moved = after
	}
}

// take replaces lines of ours by lines of theirs.
func (m *merger) take(o0, o1, t0, t1 int) {
	m.splices = append(m.splices, span.Splice{Start: m.offsets[o0], End: m.offsets[o1], New: bytes.Join(m.theirs[t0:t1], nil)})
}

// both notes a conflict, unless both sides changed the place alike.
func (m *merger) both(o0, o1, t0, t1 int) {
	if slices.Equal(m.numbers[0][o0:o1], m.numbers[1][t0:t1]) {
		return
	}
	m.conflicts = append(m.conflicts, Conflict{First: o0 + 1, Last: o1})
}
