package text

import (
	"sort"
	"unicode/utf8"

	"github.com/fsmcp/fsmcp/internal/text/charset"
)

// markEvery is the distance in bytes of the file between two marks.
const markEvery = 4096

// mark holds the places of a character in the file and in the text.
type mark struct{ raw, text int }

// walker goes along a file and its text, character by character.
type walker struct {
	raw  []byte
	s    string
	set  charset.Charset
	at   mark
	next mark // behind the character at `at`
}

func newWalker(raw []byte, s string, set charset.Charset, at mark) *walker {
	w := &walker{raw: raw, s: s, set: set, at: at}
	w.measure()
	return w
}

func (w *walker) measure() {
	if w.at.text >= len(w.s) {
		w.next = w.at
		return
	}
	w.next = mark{w.at.raw + 1, w.at.text + 1}
	if w.s[w.at.text] >= utf8.RuneSelf {
		_, n := utf8.DecodeRuneInString(w.s[w.at.text:])
		w.next = mark{w.at.raw + w.set.CharLen(w.raw[w.at.raw:]), w.at.text + n}
	} else if w.set.Wide() {
		w.next.raw++
	}
}

func (w *walker) done() bool { return w.at.text >= len(w.s) }

func (w *walker) step() {
	w.at = w.next
	w.measure()
}

// toText goes to the character that holds the byte of the text at off.
func (w *walker) toText(off int) {
	for !w.done() && w.next.text <= off {
		w.step()
	}
}

// toRaw goes to the character that holds the byte of the file at off.
func (w *walker) toRaw(off int) {
	for !w.done() && w.next.raw <= off {
		w.step()
	}
}

// markOffsets walks the whole file once. In a charset of one byte the marks are
// regular in the file, in the others nearly so.
func markOffsets(raw []byte, s string, enc charset.Encoding) []mark {
	at := mark{raw: len(enc.BOM())}
	marks := make([]mark, 1, len(raw)/markEvery+1)
	marks[0] = at
	w := newWalker(raw, s, enc.Set, at)
	for next := at.raw + markEvery; next < len(raw); next = w.at.raw + markEvery {
		w.toRaw(next)
		marks = append(marks, w.at)
	}
	return marks
}

// walkFrom is a walker at the last mark for which before holds.
func (d *Doc) walkFrom(before func(mark) bool) *walker {
	i := sort.Search(len(d.marks), func(i int) bool { return !before(d.marks[i]) })
	return newWalker(d.Raw, d.Text, d.Enc.Set, d.marks[max(i-1, 0)])
}

// RawOffset returns the place in the file of the character at textOff in Text. The start of Text
// is behind the byte order mark.
func (d *Doc) RawOffset(textOff int) int64 {
	textOff = max(0, min(textOff, len(d.Text)))
	if d.marks == nil {
		return int64(textOff + len(d.Enc.BOM()))
	}
	w := d.walkFrom(func(m mark) bool { return m.text <= textOff })
	w.toText(textOff)
	return int64(w.at.raw)
}

// TextOffset returns the place in Text of the character that holds the byte at raw in the file; 0
// for the byte order mark.
func (d *Doc) TextOffset(raw int64) int {
	at := int(max(0, min(raw, int64(len(d.Raw)))))
	if d.marks == nil {
		return max(0, at-len(d.Enc.BOM()))
	}
	w := d.walkFrom(func(m mark) bool { return m.raw <= at })
	w.toRaw(at)
	return w.at.text
}
