// Package render shows the cells of a notebook and their outputs as a person sees them: text
// in frames, and pictures.
//
// It does not decode pictures (it checks their base64 and first bytes) and does not decide
// what may be shown. With a MaxText of at most the file's size it allocates less than ten
// times the file, whatever that contains.
package render

import (
	"bytes"
	"fmt"
	"strconv"
	"unicode/utf8"

	"github.com/fsmcp/fsmcp/internal/notebook"
	"github.com/fsmcp/fsmcp/internal/span"
	"github.com/fsmcp/fsmcp/internal/text"
)

// DefaultMaxOutput bounds the characters of a cell's outputs if several cells are shown.
const DefaultMaxOutput = 10_000

// Block is one block of an answer: text or a picture.
type Block struct {
	Text    string
	Picture *Picture // nil for text
}

// Options select the cells that Cells shows.
type Options struct {
	First int // index of the first cell
	Limit int // number of cells; 0 means all
	// MaxText bounds the bytes of text; 0 means no bound. A cell that would exceed it is
	// not shown, nor is any cell after it.
	MaxText int
	// MaxOutput bounds the characters of each cell's outputs; 0 means DefaultMaxOutput.
	MaxOutput int
}

// A Rendered is the result of Cells.
type Rendered struct {
	Parts []Block
	Shown span.Set // the bytes of the file that count as shown: the sources of the cells
	Size  int      // bytes of text
	// Next is the index of the first cell after those that are shown.
	Next int
	// Notice names the cells with characters that a reader cannot see, and those with text
	// that has a backslash before it.
	Notice string
}

// Cells shows cells in order, each followed by its outputs and then its pictures. The
// first part is text unless there is none.
func Cells(nb *notebook.Notebook, o Options) Rendered {
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
	v := Rendered{Next: o.First}
	w := writer{buf: make([]byte, 0, roomFor(nb, o, end))}
	for ; v.Next < end && w.cell(nb, v.Next, o); v.Next++ {
		f := nb.Fields(v.Next)
		if source := f.SourceSpan(); source.Start < source.End {
			v.Shown = append(v.Shown, source)
		}
	}
	v.Parts, v.Size = w.finish(), w.size
	v.Notice = w.odd.Notice("cell ", "cells ", nb.Name)
	return v
}

// maxRoom bounds the memory that Cells begins with.
const maxRoom = 128 << 10

// roomFor estimates the bytes of text of the cells from o.First to end.
func roomFor(nb *notebook.Notebook, o Options, end int) int {
	if o.First == end {
		return 0
	}
	first, last := nb.Fields(o.First), nb.Fields(end-1)
	room := min((last.Whole.End()-first.Whole.Start())/2, maxRoom)
	if o.MaxText > 0 {
		room = min(room, o.MaxText)
	}
	return room
}

// writer collects parts.
type writer struct {
	parts []Block
	buf   []byte
	size  int     // bytes of text in parts
	out   outputs // of the current cell
	odd   text.Oddities
}

// outputLine precedes the outputs of a cell.
const outputLine = "Output:\n"

// cell writes one cell with its outputs, cut. It writes nothing and returns false if the text
// would be longer than o.MaxText.
func (w *writer) cell(nb *notebook.Notebook, i int, o Options) bool {
	mark := len(w.buf)
	escaped := w.source(nb, i)
	if !w.fits(mark, o.MaxText) { // outputs that are not shown are not read
		return false
	}
	w.out.read(nb, i)
	if len(w.out.text) > 0 {
		w.buf = append(w.buf, outputLine...)
		from := len(w.buf)
		var more int
		w.buf, more = text.EscapeFrameFrom(appendCut(w.buf, w.out.text, o.MaxOutput, func() string { return nb.CallName(i) }), from)
		escaped += more
	}
	w.buf = endLine(w.buf)
	if !w.fits(mark, o.MaxText) {
		return false
	}
	w.odd.Add(w.buf[mark:], i)
	w.odd.AddEscaped(escaped, i)
	for _, p := range w.out.pictures {
		w.picture(p)
	}
	return true
}

// fits reports whether all text is within room, if that is not 0. Otherwise it removes the
// text from mark on.
func (w *writer) fits(mark, room int) bool {
	if room > 0 && w.size+len(bytes.TrimSuffix(w.buf, []byte("\n"))) > room {
		w.buf = w.buf[:mark]
		return false
	}
	return true
}

// endLine appends a line feed to text that does not end with one.
func endLine(text []byte) []byte {
	if n := len(text); n > 0 && text[n-1] != '\n' {
		text = append(text, '\n')
	}
	return text
}

func (w *writer) picture(p *Picture) {
	w.flush()
	w.parts = append(w.parts, Block{Picture: p})
}

// flush makes the text so far a part.
func (w *writer) flush() {
	if all := bytes.TrimSuffix(w.buf, []byte("\n")); len(all) > 0 {
		w.parts = append(w.parts, Block{Text: string(all)})
		w.size += len(all)
	}
	w.buf = w.buf[:0]
}

func (w *writer) finish() []Block {
	w.flush()
	return w.parts
}

// source writes a cell without its outputs. It returns the number of backslashes before what
// imitates a frame.
func (w *writer) source(nb *notebook.Notebook, i int) (escaped int) {
	f, name := nb.Fields(i), nb.Name(i)
	w.buf = appendOpen(w.buf, nb, &f, name)
	from := len(w.buf)
	var surrogates int
	w.buf, surrogates, _ = f.Source.AppendText(w.buf)
	w.buf, escaped = text.EscapeFrameFrom(w.buf, from)
	w.buf = appendClose(w.buf, name, surrogates)
	return escaped
}

// appendOpen appends the line that begins a cell of that name.
func appendOpen(dst []byte, nb *notebook.Notebook, f *notebook.Fields, name string) []byte {
	kind := notebook.Attribute(f.Type, "unknown")
	dst = appendAttribute(append(dst, "<cell"...), "id", name)
	dst = appendAttribute(dst, "type", kind)
	if kind == notebook.Code {
		dst = appendAttribute(dst, "language", notebook.Attribute(f.Language, nb.Language))
		if n, err := strconv.ParseInt(string(f.ExecutionCount.Raw()), 10, 64); err == nil {
			dst = appendAttribute(dst, "execution_count", strconv.FormatInt(n, 10))
		}
	}
	return append(dst, '>')
}

func appendAttribute(dst []byte, key, value string) []byte {
	dst = append(append(append(dst, ' '), key...), '=', '"')
	return append(append(dst, value...), '"')
}

// appendClose appends the end of a cell, and a note on the lone surrogates of its source.
func appendClose(dst []byte, name string, surrogates int) []byte {
	dst = append(appendAttribute(append(dst, "</cell"...), "id", name), '>', '\n')
	if surrogates > 0 {
		dst = fmt.Appendf(dst, "[%d lone surrogates in this source are shown as U+FFFD]\n", surrogates)
	}
	return dst
}

// appendCut appends the outputs of a cell. If they have more than limit characters, it appends
// only their head and tail, with a note between. callName returns the cell's name in a call.
func appendCut(dst, text []byte, limit int, callName func() string) []byte {
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
	how := "no cell_id leads to this cell, whose names are ids of other cells"
	if name := callName(); name != "" {
		how = fmt.Sprintf("Read with cell_id \"%s\" shows them whole", name)
	}
	dst = endLine(append(dst, head...))
	dst = fmt.Appendf(dst, "[... %d of %d characters of this cell's outputs are left out here; %s ...]\n", missing, total, how)
	return append(dst, tail...)
}

// runeOffset returns the offset of the character with that number, or the text's end.
func runeOffset(text []byte, n int) int {
	at := 0
	for ; n > 0 && at < len(text); n-- {
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
