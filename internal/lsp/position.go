package lsp

import (
	"cmp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/fsmcp/fsmcp/internal/changes"
)

// position is a place in a text, as the protocol has it: a line, and the code units before
// the place in that line, both from 0.
type position struct {
	Line      int `json:"line"`
	Character int `json:"character"`
}

func (p position) compare(q position) int {
	return cmp.Or(cmp.Compare(p.Line, q.Line), cmp.Compare(p.Character, q.Character))
}

// textRange is a half-open range of a text.
type textRange struct {
	Start position `json:"start"`
	End   position `json:"end"`
}

// encoding counts the code units of positions (source: Language Server Protocol 3.17,
// "positionEncoding").
type encoding string

const (
	utf8Units  encoding = "utf-8"
	utf16Units encoding = "utf-16" // where the server names none
)

// units returns the number of code units of s.
func (e encoding) units(s string) int {
	if e == utf8Units {
		return len(s)
	}
	n := 0
	for _, r := range s {
		if n++; r >= 1<<16 {
			n++
		}
	}
	return n
}

// lineIndex finds the lines of a text. They end at LF, CRLF or CR, as the protocol has it.
type lineIndex struct {
	text   string
	starts []int
}

func indexLines(text string) lineIndex {
	starts := []int{0}
	for i := range len(text) {
		if c := text[i]; c == '\n' || c == '\r' && (i+1 == len(text) || text[i+1] != '\n') {
			starts = append(starts, i+1)
		}
	}
	return lineIndex{text, starts}
}

// position returns the place of the byte at off.
func (l lineIndex) position(off int, enc encoding) position {
	line, found := slices.BinarySearch(l.starts, off)
	if !found {
		line--
	}
	return position{line, enc.units(l.text[l.starts[line]:off])}
}

// edit is one replacement of lines: the place of the old ones, and of the new ones in the
// new text.
type edit struct{ old, now textRange }

// contentChange replaces a range of a document, or all of it where the range is nil.
type contentChange struct {
	Range *textRange `json:"range,omitempty"`
	Text  string     `json:"text"`
}

// editsOf returns the edits that turn old into now, ascending, and the same as changes to
// be applied one after the other.
func editsOf(old, now string, enc encoding) (edits []edit, steps []contentChange) {
	was, is := indexLines(old), indexLines(now)
	shift := 0
	for _, s := range changes.LineSplices(old, now) {
		start, end := int(s.Start), int(s.End)
		e := edit{
			old: textRange{was.position(start, enc), was.position(end, enc)},
			now: textRange{is.position(start+shift, enc), is.position(start+shift+len(s.New), enc)},
		}
		shift += len(s.New) - (end - start)
		edits = append(edits, e)
		steps = append(steps, contentChange{Range: &e.old, Text: string(s.New)})
	}
	slices.Reverse(steps) // the later ones first, so that places before them stay as they are
	return edits, steps
}

// shifted returns where a place of the old text is in the new one. For a place in replaced
// lines that is their beginning, and lines is the number of lines that stand there now.
func shifted(p position, edits []edit) (q position, lines int) {
	q = p
	for _, e := range edits {
		switch {
		case p.compare(e.old.Start) < 0:
			return q, 0
		case p.compare(e.old.End) < 0:
			return e.now.Start, e.now.End.Line - e.now.Start.Line + 1
		case p.Line == e.old.End.Line:
			q = position{e.now.End.Line, e.now.End.Character + p.Character - e.old.End.Character}
		default:
			q = position{p.Line + e.now.End.Line - e.old.End.Line, p.Character}
		}
	}
	return q, 0
}

// asText returns the bytes as the text of a document; ok is false for what is not UTF-8.
func asText(b []byte) (text string, ok bool) {
	if !utf8.Valid(b) {
		return "", false
	}
	return strings.TrimPrefix(string(b), "\uFEFF"), true
}
