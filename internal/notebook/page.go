package notebook

import (
	"bytes"
	"slices"
	"strconv"
	"unicode/utf8"

	"github.com/fsmcp/fsmcp/internal/span"
	"github.com/fsmcp/fsmcp/internal/text"
)

// CellOptions say which lines of a cell RenderCell shows. Lines count over the
// source and on over the outputs.
type CellOptions struct {
	First  int // number of the first line; 0 is 1
	Limit  int // how many lines; 0 is all
	Column int // first character of the one line to show in part; 0 is none
	// Columns is how many characters to show of that line, or of one for which there
	// is no room; 0 is all.
	Columns int
	// MaxText is how many bytes of text to show at most; 0 is any number.
	MaxText int
}

// A CellView is what RenderCell shows of a cell.
type CellView struct {
	Parts []Part
	Cell  Cell
	// Shown are the bytes of the source that count as shown. Views of all
	// lines together show Cell.Source.
	Shown span.Span
	// First and Last are the numbers of the lines shown; Last is below First
	// where there are none from First on.
	First, Last int
	// Total is how many lines there are, and SourceLines how many of them are
	// the source's.
	Total, SourceLines int
	// More tells that lines follow, or the rest of the last one.
	More bool
	// NextColumn is where the rest of a line begins that did not fit, else 0.
	NextColumn int
	// Notice tells in which lines characters stand that a reader cannot see.
	Notice string
}

// RenderCell shows the cell at index i, its outputs whole. All of it comes in
// the shape that Render gives it; lines, or as many as MaxText has room for,
// come numbered, and pictures with their lines. A line for which there is no
// room comes in part, as with Column.
func (nb *Notebook) RenderCell(i int, o CellOptions) CellView {
	f := nb.fieldsOf(i)
	out := nb.outputsOf(i, f)
	v := CellView{Cell: nb.Cell(i), First: max(o.First, 1)}
	var source []byte
	if f.source.ok() {
		source, _, _ = joinText(nil, nb.raw, f.source)
	}
	v.SourceLines = countLines(source)
	v.Total = v.SourceLines + countLines(out.text)
	w := writer{}
	fits := o.MaxText <= 0 || len(source)+len(out.text) <= o.MaxText
	if fits && o.First <= 1 && o.Limit <= 0 && o.Column <= 0 && nb.whole(&w, i, f, out, o.MaxText) {
		v.Last, v.Shown = v.Total, v.Cell.Source
		w.oddLines(source, 1)
		w.oddLines(out.text, v.SourceLines+1)
	} else {
		nb.page(&w, &v, f, pager{source: source, outputs: out.text, options: o})
	}
	v.More = v.Last < v.Total || v.NextColumn > 0
	for _, p := range out.pictures {
		line := v.SourceLines + countLines(out.text[:p.noted])
		if line >= v.First && (line < v.Last || line == v.Last && v.NextColumn == 0) {
			w.picture(p)
		}
	}
	v.Parts = w.finish()
	v.Notice = w.odd.Notice("line ", "lines ", strconv.Itoa)
	return v
}

// whole writes all of a cell if there is room.
func (nb *Notebook) whole(w *writer, i int, f fields, out *outputs, room int) bool {
	w.buf = nb.appendCell(w.buf, nb.name(i), f)
	if len(out.text) > 0 {
		w.buf = append(slices.Grow(w.buf, len(outputLine)+len(out.text)+1), outputLine...) // and a line's end
		from := len(w.buf)
		w.buf = text.EscapeFrameFrom(append(w.buf, out.text...), from)
	}
	w.endLine()
	if room > 0 && w.total() > room {
		w.buf = w.buf[:0]
		return false
	}
	return true
}

// oddLines counts what a reader cannot see in lines, the first of which bears the
// number first.
func (w *writer) oddLines(all []byte, first int) {
	for line := range bytes.Lines(all) {
		w.odd.Add(line, first)
		first++
	}
}

// pager writes numbered lines.
type pager struct {
	source, outputs []byte
	options         CellOptions
	room            int // bytes that are left; negative is any number
	line            int // the next line
	from, to        int // what of the source was written
	column          int // where the rest of the last line begins; 0 is none
	body            []byte
	odd             *text.Oddities
}

// page writes the lines that were asked for and notes in v which those were.
func (nb *Notebook) page(w *writer, v *CellView, f fields, p pager) {
	open := append(nb.appendOpen(nil, v.Cell.Name, f), '\n')
	closing := appendHalves(appendClose(nil, v.Cell.Name), v.Cell.Halves)
	p.line, p.room, p.odd = v.First, -1, &w.odd
	if p.options.MaxText > 0 {
		p.room = max(p.options.MaxText-len(open)-len(closing), 1)
	}
	p.write(p.source, 1, &p.from, &p.to)
	inSource := len(p.body)
	var from, to int
	p.write(p.outputs, v.SourceLines+1, &from, &to)
	v.Last, v.NextColumn = p.line-1, p.column
	if inSource > 0 {
		w.buf = append(append(append(w.buf, open...), p.body[:inSource]...), closing...)
		if len(p.body) > inSource {
			w.buf = append(w.buf, outputLine...)
		}
	} else if len(p.body) > 0 {
		w.buf = append(append(append(w.buf, "[outputs of cell "...), v.Cell.Name...), "]\n"...)
	}
	w.buf = append(w.buf, p.body[inSource:]...)
	v.Shown = nb.shownSource(v.Cell, f, p)
}

// shownSource is where the source that p wrote stands in the file. What joins
// two lines counts with the first of them.
func (nb *Notebook) shownSource(c Cell, f fields, p pager) span.Span {
	switch {
	case len(p.source) == 0:
		return c.Source
	case p.from == p.to:
		return span.Span{Start: c.Source.Start, End: c.Source.Start}
	}
	shown := c.Source
	if p.from > 0 {
		shown.Start = int64(nb.rawAt(f.source, p.from))
	}
	if p.to < len(p.source) {
		shown.End = int64(nb.rawAt(f.source, p.to))
	}
	return shown
}

// done tells whether no further line is to be written.
func (p *pager) done() bool {
	first := max(p.options.First, 1)
	written := p.line - first
	return p.column > 0 ||
		p.options.Limit > 0 && written >= p.options.Limit ||
		p.options.Column > 0 && written >= 1
}

// write writes the lines of a text that are next, as long as there is room. The
// first line of it has number base. What was written is from..to of it.
func (p *pager) write(all []byte, base int, from, to *int) {
	at := lineStart(all, p.line-base)
	if p.line < base || at < 0 {
		return
	}
	*from, *to = at, at
	for *to < len(all) && !p.done() {
		line := all[*to:]
		if end := bytes.IndexByte(line, '\n'); end >= 0 {
			line = line[:end+1]
		}
		if p.options.Column > 1 {
			*from += p.writePart(line, p.options.Column, to)
			continue
		}
		if !p.writeLine(line) {
			if len(p.body) == 0 {
				p.writePart(line, 1, to)
			}
			return
		}
		*to += len(line)
	}
}

// writeLine writes a whole line if there is room.
func (p *pager) writeLine(line []byte) bool {
	start := len(p.body)
	p.body = append(strconv.AppendInt(p.body, int64(p.line), 10), '\t')
	from := len(p.body)
	whole := bytes.TrimSuffix(line, []byte("\n"))
	fits := p.room < 0 || from-start+len(whole)+1 <= p.room // else it may be long, and is not copied
	if fits {
		p.body = append(text.EscapeFrameFrom(append(p.body, whole...), from), '\n')
		fits = p.room < 0 || len(p.body)-start <= p.room
	}
	if !fits {
		p.body = p.body[:start]
		return false
	}
	p.spend(len(p.body) - start)
	p.odd.Add(line, p.line)
	p.line++
	return true
}

func (p *pager) spend(size int) {
	if p.room >= 0 {
		p.room -= size
	}
}

// writePart writes what there is room for of a line from a column on, at least
// one character of it, and moves to behind that. It returns how many bytes of
// the line it left out before.
func (p *pager) writePart(line []byte, column int, to *int) (skipped int) {
	whole := bytes.TrimSuffix(line, []byte("\n"))
	skipped = min(runeOffset(whole, min(column-1, len(whole))), len(whole))
	rest := whole[skipped:]
	size := len(rest)
	if n := p.options.Columns; n > 0 {
		size = min(runeOffset(rest, min(n, size)), size)
	}
	if number := len(strconv.Itoa(p.line)) + 2; p.room >= 0 && size > p.room-number {
		size = wholeRunes(rest, p.room-number)
	}
	p.body = append(strconv.AppendInt(p.body, int64(p.line), 10), '\t')
	from := len(p.body)
	p.body = append(text.EscapeFrameFrom(append(p.body, rest[:size]...), from), '\n')
	p.odd.Add(rest[:size], p.line)
	p.spend(size)
	p.line++
	*to += skipped + size
	if size < len(rest) {
		p.column = column + utf8.RuneCount(rest[:size])
	} else {
		*to += len(line) - len(whole)
	}
	return skipped
}

// wholeRunes is the length of the longest beginning of s of at most n bytes
// that cuts no character, and of one character at least.
func wholeRunes(s []byte, n int) int {
	_, first := utf8.DecodeRune(s)
	n = max(n, first)
	for n < len(s) && !utf8.RuneStart(s[n]) {
		n--
	}
	return max(n, first)
}

// lineStart is where the line behind n others begins, -1 if there is none.
func lineStart(text []byte, n int) int {
	at := 0
	for ; n > 0; n-- {
		end := bytes.IndexByte(text[at:], '\n')
		if end < 0 {
			return -1
		}
		at += end + 1
	}
	return at
}

// countLines counts lines; a line feed at the end adds none.
func countLines(text []byte) int {
	n := bytes.Count(text, []byte("\n"))
	if len(text) > 0 && text[len(text)-1] != '\n' {
		n++
	}
	return n
}

// rawAt is where in the file the byte off of the text at v stands.
func (nb *Notebook) rawAt(v extent, off int) int {
	if isString(nb.raw, v) {
		at, _ := nb.rawIn(v, off)
		return at
	}
	at := v.end
	elements(nb.raw, v, func(e extent) bool {
		at, off = nb.rawIn(e, off)
		return off > 0
	})
	return at
}

// rawIn is where the byte off of the string at lit stands, or the string's end
// and how many bytes are left to go behind it.
func (nb *Notebook) rawIn(lit extent, off int) (at, left int) {
	for at = lit.start + 1; at < lit.end-1 && off > 0; {
		if nb.raw[at] != '\\' {
			run := bytes.IndexByte(nb.raw[at:lit.end-1], '\\')
			if run < 0 {
				run = lit.end - 1 - at
			}
			run = min(run, off)
			at, off = at+run, off-run
			continue
		}
		r, n := unescape(nb.raw[at : lit.end-1])
		at, off = at+n, off-utf8.RuneLen(r)
	}
	return at, off
}
