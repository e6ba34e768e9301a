package notebook

import (
	"bytes"
	"fmt"
	"strconv"
	"unicode/utf8"

	"github.com/fsmcp/fsmcp/internal/span"
	"github.com/fsmcp/fsmcp/internal/text"
)

// DefaultMaxOutput is how many characters of a cell's outputs are shown where
// several cells are.
const DefaultMaxOutput = 10_000

// A Part is one block of what is shown: text, or a picture.
type Part struct {
	Text    string
	Picture *Picture // nil for text
}

// Shown is a cell whose source is in what is shown.
type Shown struct {
	Index  int
	Name   string
	Source span.Span // the bytes of the file that count as shown
}

// Options say what Render shows.
type Options struct {
	First int // index of the first cell
	Limit int // how many cells; 0 is all
	// MaxText is how many bytes of text to show at most; 0 is any number. A
	// cell that would pass it is not shown, nor is any behind it.
	MaxText int
	// MaxOutput is how many characters of each cell's outputs to show; 0 is
	// DefaultMaxOutput.
	MaxOutput int
}

// A View is what Render shows of a notebook.
type View struct {
	Parts []Part
	Shown []Shown
	Size  int // bytes of text
	// Next is the index of the first cell behind those that are shown.
	Next int
	// Notice tells in which cells characters stand that a reader cannot see.
	Notice string
}

// Render shows cells in order, each with its outputs behind it and its pictures
// behind those. The first part is a text, unless there is none.
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

// maxRoom bounds the room that Render begins with.
const maxRoom = 128 << 10

// roomFor guesses how many bytes of text the cells come to that o asks for, the
// last of them before end.
func (nb *Notebook) roomFor(o Options, end int) int {
	if o.First == end {
		return 0
	}
	room := min((nb.cellAt(end-1).end-nb.cellAt(o.First).start)/2, maxRoom)
	if o.MaxText > 0 {
		room = min(room, o.MaxText)
	}
	return room
}

// renderCell shows one cell with its outputs, cut; ok is false where the text
// would grow too long.
func (nb *Notebook) renderCell(w *writer, i int, o Options) (shown Shown, ok bool) {
	f, name := nb.fieldsOf(i), nb.name(i)
	mark := len(w.buf)
	w.buf = nb.appendCell(w.buf, name, f)
	if o.MaxText > 0 && w.total() > o.MaxText {
		w.buf = w.buf[:mark]
		return Shown{}, false
	}
	nb.readOutputs(&w.out, i, f)
	if len(w.out.text) > 0 {
		w.buf = append(w.buf, outputLine...)
		from := len(w.buf)
		w.buf = text.EscapeFrameFrom(nb.appendCut(w.buf, i, w.out.text, o.MaxOutput), from)
	}
	w.endLine()
	if o.MaxText > 0 && w.total() > o.MaxText {
		w.buf = w.buf[:mark]
		return Shown{}, false
	}
	w.odd.Add(w.buf[mark:], i)
	w.pictures(w.out.pictures)
	return Shown{i, name, sourceExtent(nb.cellAt(i), f).public()}, true
}

// writer gathers parts.
type writer struct {
	parts []Part
	buf   []byte
	size  int     // bytes of text in parts
	out   outputs // of the cell that is written
	odd   text.Oddities
}

// outputLine stands before what a cell's run left.
const outputLine = "Output:\n"

// total is how long all text is, but for a last line's end.
func (w *writer) total() int { return w.size + len(bytes.TrimSuffix(w.buf, []byte("\n"))) }

func (w *writer) endLine() {
	if n := len(w.buf); n > 0 && w.buf[n-1] != '\n' {
		w.buf = append(w.buf, '\n')
	}
}

func (w *writer) pictures(all []*Picture) {
	for _, p := range all {
		w.picture(p)
	}
}

func (w *writer) picture(p *Picture) {
	w.flush()
	w.parts = append(w.parts, Part{Picture: p})
}

// flush makes a part of the text so far.
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

// CellText is the cell at index i without its outputs.
func (nb *Notebook) CellText(i int) string {
	return string(bytes.TrimSuffix(nb.appendCell(nil, nb.name(i), nb.fieldsOf(i)), []byte("\n")))
}

// appendCell appends a cell of that name without its outputs, and a line's end.
func (nb *Notebook) appendCell(dst []byte, name string, f fields) []byte {
	dst = nb.appendOpen(dst, name, f)
	halves := 0
	if f.source.ok() {
		from := len(dst)
		dst, halves, _ = joinText(dst, nb.raw, f.source)
		dst = text.EscapeFrameFrom(dst, from)
	}
	return appendHalves(appendClose(dst, name), halves)
}

// appendHalves says what a source has that UTF-8 cannot say.
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

// kind is a cell's type as it can stand in an attribute.
func (nb *Notebook) kind(v extent) string {
	for _, known := range []string{Code, Markdown, Raw} {
		if string(nb.bytes(v)) == known {
			return known
		}
	}
	return nb.attribute(v, "unknown")
}

func (nb *Notebook) count(v extent) (int64, bool) {
	if !v.ok() {
		return 0, false
	}
	n, err := strconv.ParseInt(string(nb.raw[v.start:v.end]), 10, 64)
	return n, err == nil
}

func appendClose(dst []byte, name string) []byte {
	return append(appendAttribute(append(dst, "</cell"...), "id", name), '>', '\n')
}

// appendCut appends the outputs of the cell at index i, of which only head and
// tail where they have more than limit characters.
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

// runeOffset is where the character with that number begins.
func runeOffset(text []byte, n int) int {
	at := 0
	for ; n > 0; n-- {
		_, size := utf8.DecodeRune(text[at:])
		at += size
	}
	return at
}

// lineBefore leaves out a broken last line, where that costs little.
func lineBefore(text []byte) []byte {
	if at := bytes.LastIndexByte(text, '\n'); at >= len(text)-len(text)/8 {
		return text[:at+1]
	}
	return text
}

// lineAfter is text from at on, without a broken first line where that costs
// little.
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
