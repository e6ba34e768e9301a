package notebook

import (
	"bytes"
	"fmt"
	"strconv"
	"unicode/utf8"

	"github.com/fsmcp/fsmcp/internal/notebook/scan"
	"github.com/fsmcp/fsmcp/internal/span"
	"github.com/fsmcp/fsmcp/internal/text"
)

// DefaultMaxOutput bounds the characters of a cell's outputs where several cells are shown.
const DefaultMaxOutput = 10_000

// A Part is one block of an answer: text or a picture.
type Part struct {
	Text    string
	Picture *Picture // nil for text
}

// Shown is a cell whose source is shown.
type Shown struct {
	Index  int
	Name   string
	Source span.Span // the bytes of the file that count as shown
}

// Options select the cells that Render shows.
type Options struct {
	First int // index of the first cell
	Limit int // number of cells; 0 means all
	// MaxText bounds the bytes of text; 0 means no bound. A cell that would exceed it is
	// not shown, nor is any cell after it.
	MaxText int
	// MaxOutput bounds the characters of each cell's outputs; 0 means DefaultMaxOutput.
	MaxOutput int
}

// A View is the result of Render.
type View struct {
	Parts []Part
	Shown []Shown
	Size  int // bytes of text
	// Next is the index of the first cell after those that are shown.
	Next int
	// Notice names the cells with characters that a reader cannot see, and those with text
	// that has a backslash before it.
	Notice string
}

// Render shows cells in order, each followed by its outputs and then its pictures. The
// first part is text unless there is none.
func (nb *Notebook) Render(o Options) View {
	if o.MaxOutput == 0 {
		o.MaxOutput = DefaultMaxOutput
	}
	end := nb.Len()
	if o.First < 0 || o.First > end {
		o.First = end
	}
	if o.Limit > 0 {
		end = min(end, o.First+o.Limit)
	}
	v := View{Next: o.First}
	w := writer{buf: make([]byte, 0, nb.roomFor(o, end))}
	for ; v.Next < end; v.Next++ {
		shown, ok := nb.renderCell(&w, v.Next, o)
		if !ok {
			break
		}
		v.Shown = append(v.Shown, shown)
	}
	v.Parts, v.Size = w.finish(), w.size
	v.Notice = w.odd.Notice("cell ", "cells ", nb.name)
	return v
}

// maxRoom bounds the memory that Render begins with.
const maxRoom = 128 << 10

// roomFor estimates the bytes of text of the cells from o.First to end.
func (nb *Notebook) roomFor(o Options, end int) int {
	if o.First == end {
		return 0
	}
	room := min((nb.cellAt(end-1).End-nb.cellAt(o.First).Start)/2, maxRoom)
	if o.MaxText > 0 {
		room = min(room, o.MaxText)
	}
	return room
}

// renderCell writes one cell with its outputs, cut. It writes nothing and returns false if
// the text would be longer than o.MaxText.
func (nb *Notebook) renderCell(w *writer, i int, o Options) (shown Shown, ok bool) {
	f, name := nb.fieldsOf(i), nb.name(i)
	mark := len(w.buf)
	var escaped int
	w.buf, escaped = nb.appendCell(w.buf, name, f)
	if o.MaxText > 0 && w.total() > o.MaxText {
		w.buf = w.buf[:mark]
		return Shown{}, false
	}
	nb.readOutputs(&w.out, i, f)
	if len(w.out.text) > 0 {
		w.buf = append(w.buf, outputLine...)
		from := len(w.buf)
		var more int
		w.buf, more = text.EscapeFrameFrom(nb.appendCut(w.buf, i, w.out.text, o.MaxOutput), from)
		escaped += more
	}
	w.endLine()
	if o.MaxText > 0 && w.total() > o.MaxText {
		w.buf = w.buf[:mark]
		return Shown{}, false
	}
	w.odd.Add(w.buf[mark:], i)
	w.odd.AddEscaped(escaped, i)
	for _, p := range w.out.pictures {
		w.picture(p)
	}
	return Shown{i, name, sourceExtent(nb.cellAt(i), f).Span()}, true
}

// writer collects parts.
type writer struct {
	parts []Part
	buf   []byte
	size  int     // bytes of text in parts
	out   outputs // of the current cell
	odd   text.Oddities
}

// outputLine precedes the outputs of a cell.
const outputLine = "Output:\n"

// total returns the length of all text without a last line feed.
func (w *writer) total() int { return w.size + len(bytes.TrimSuffix(w.buf, []byte("\n"))) }

func (w *writer) endLine() {
	if n := len(w.buf); n > 0 && w.buf[n-1] != '\n' {
		w.buf = append(w.buf, '\n')
	}
}

func (w *writer) picture(p *Picture) {
	w.flush()
	w.parts = append(w.parts, Part{Picture: p})
}

// flush makes the text so far a part.
func (w *writer) flush() {
	if all := bytes.TrimSuffix(w.buf, []byte("\n")); len(all) > 0 {
		w.parts = append(w.parts, Part{Text: string(all)})
		w.size += len(all)
	}
	w.buf = w.buf[:0]
}

func (w *writer) finish() []Part {
	w.flush()
	return w.parts
}

// CellText returns the cell at index i without its outputs.
func (nb *Notebook) CellText(i int) string {
	cell, _ := nb.appendCell(nil, nb.name(i), nb.fieldsOf(i))
	return string(bytes.TrimSuffix(cell, []byte("\n")))
}

// appendCell appends a cell of that name without its outputs, and a line feed. It returns
// the number of backslashes before what imitates a frame.
func (nb *Notebook) appendCell(dst []byte, name string, f fields) (all []byte, escaped int) {
	dst = nb.appendOpen(dst, name, f)
	halves := 0
	if f.source.OK() {
		from := len(dst)
		dst, halves, _ = scan.JoinText(dst, nb.raw, f.source)
		dst, escaped = text.EscapeFrameFrom(dst, from)
	}
	return appendHalves(appendClose(dst, name), halves), escaped
}

// appendHalves appends a note on the lone surrogates of a source, if it has any.
func appendHalves(dst []byte, halves int) []byte {
	if halves == 0 {
		return dst
	}
	return fmt.Appendf(dst, "[%d lone surrogates in this source are shown as U+FFFD]\n", halves)
}

func (nb *Notebook) appendOpen(dst []byte, name string, f fields) []byte {
	kind := nb.kind(f.kind)
	dst = appendAttribute(append(dst, "<cell"...), "id", name)
	dst = appendAttribute(dst, "type", kind)
	if kind == Code {
		dst = appendAttribute(dst, "language", nb.attribute(f.language, nb.language))
		if n, ok := nb.count(f.count); ok {
			dst = appendAttribute(dst, "execution_count", strconv.FormatInt(n, 10))
		}
	}
	return append(dst, '>')
}

func appendAttribute(dst []byte, key, value string) []byte {
	dst = append(append(append(dst, ' '), key...), '=', '"')
	return append(append(dst, value...), '"')
}

// kind returns a cell's type for an attribute.
func (nb *Notebook) kind(v scan.Extent) string {
	for _, known := range []string{Code, Markdown, Raw} {
		if string(nb.bytes(v)) == known {
			return known
		}
	}
	return nb.attribute(v, "unknown")
}

func (nb *Notebook) count(v scan.Extent) (int64, bool) {
	if !v.OK() {
		return 0, false
	}
	n, err := strconv.ParseInt(string(nb.raw[v.Start:v.End]), 10, 64)
	return n, err == nil
}

func appendClose(dst []byte, name string) []byte {
	return append(appendAttribute(append(dst, "</cell"...), "id", name), '>', '\n')
}

// appendCut appends the outputs of the cell at index i. If they have more than limit
// characters, it appends only their head and tail, with a note between.
func (nb *Notebook) appendCut(dst []byte, i int, text []byte, limit int) []byte {
	total := 0
	if len(text) > limit {
		total = utf8.RuneCount(text)
	}
	if total <= limit {
		return append(dst, text...)
	}
	head := lineBefore(text[:runeOffset(text, limit/2)])
	tail := lineAfter(text, runeOffset(text, total-(limit-limit/2)))
	missing := total - utf8.RuneCount(head) - utf8.RuneCount(tail)
	dst = append(dst, head...)
	if !bytes.HasSuffix(head, []byte("\n")) {
		dst = append(dst, '\n')
	}
	how := "no cell_id leads to this cell, whose names are ids of other cells"
	if name := nb.CallName(i); name != "" {
		how = fmt.Sprintf("Read with cell_id \"%s\" shows them whole", name)
	}
	dst = fmt.Appendf(dst, "[... %d of %d characters of this cell's outputs are left out here; %s ...]\n", missing, total, how)
	return append(dst, tail...)
}

// runeOffset returns the offset of the character with that number.
func runeOffset(text []byte, n int) int {
	at := 0
	for ; n > 0; n-- {
		_, size := utf8.DecodeRune(text[at:])
		at += size
	}
	return at
}

// lineBefore returns text without a broken last line, if that line is short.
func lineBefore(text []byte) []byte {
	if at := bytes.LastIndexByte(text, '\n'); at >= len(text)-len(text)/8 {
		return text[:at+1]
	}
	return text
}

// lineAfter returns text from the offset at on, without a broken first line if that line is
// short.
func lineAfter(text []byte, at int) []byte {
	tail := text[at:]
	if at > 0 && text[at-1] == '\n' {
		return tail
	}
	if end := bytes.IndexByte(tail, '\n'); end >= 0 && end < len(tail)/8 {
		return tail[end+1:]
	}
	return tail
}
