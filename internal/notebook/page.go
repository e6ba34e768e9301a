package notebook

import (
	"bytes"
	"slices"
	"strconv"
	"unicode/utf8"

	"github.com/fsmcp/fsmcp/internal/notebook/scan"
	"github.com/fsmcp/fsmcp/internal/span"
	"github.com/fsmcp/fsmcp/internal/text"
)

// CellOptions select the lines of a cell that RenderCell shows. Lines are counted through
// the source and then the outputs.
type CellOptions struct {
	First  int // number of the first line; 0 means 1
	Limit  int // number of lines; 0 means all
	Column int // first character of the one line to show in part; 0 means none
	// Columns bounds the characters of that line, or of a line that is too long for
	// MaxText; 0 means all.
	Columns int
	// MaxText bounds the bytes of text; 0 means no bound.
	MaxText int
}

// A CellView is the result of RenderCell.
type CellView struct {
	Parts []Part
	Cell  Cell
	// Shown is the part of the source that counts as shown. Views of all lines together
	// show Cell.Source.
	Shown span.Span
	// First and Last are the numbers of the lines shown; Last is below First if there are
	// none from First on.
	First, Last int
	// Total is the number of lines, and SourceLines of those of the source.
	Total, SourceLines int
	// More says that lines follow, or the rest of the last one.
	More bool
	// NextColumn is the column of the rest of a line that did not fit, else 0.
	NextColumn int
	// Notice names the lines with characters that a reader cannot see, and those with text
	// that has a backslash before it.
	Notice string
}

// RenderCell shows the cell at index i with all of its outputs. If everything fits and no
// lines were selected, the text is that of Render. Otherwise lines are numbered, up to
// MaxText, with the pictures of those lines. A first line that does not fit is shown in
// part, as with Column.
func (nb *Notebook) RenderCell(i int, o CellOptions) CellView {
	f := nb.fieldsOf(i)
	out := nb.outputsOf(i, f)
	v := CellView{Cell: nb.Cell(i), First: max(o.First, 1)}
	var source []byte
	if f.source.OK() {
		source, _, _ = scan.JoinText(nil, nb.raw, f.source)
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

// whole writes a cell and its outputs, and returns false if they do not fit.
func (nb *Notebook) whole(w *writer, i int, f fields, out *outputs, room int) bool {
	w.buf, _ = nb.appendCell(w.buf, nb.name(i), f)
	if len(out.text) > 0 {
		w.buf = append(slices.Grow(w.buf, len(outputLine)+len(out.text)+1), outputLine...) // and a line feed
		from := len(w.buf)
		w.buf, _ = text.EscapeFrameFrom(append(w.buf, out.text...), from)
	}
	w.endLine()
	if room > 0 && w.total() > room {
		w.buf = w.buf[:0]
		return false
	}
	return true
}

// oddLines counts the invisible characters and the imitations of lines; first is the first
// line's number.
func (w *writer) oddLines(all []byte, first int) {
	for line := range bytes.Lines(all) {
		w.odd.Add(line, first)
		w.odd.AddEscaped(text.Imitations(line), first)
		first++
	}
}

// pager writes numbered lines.
type pager struct {
	source, outputs []byte
	options         CellOptions
	room            int // bytes that are left; negative means no bound
	line            int // the next line
	from, to        int // the part of the source that was written
	column          int // column of the rest of the last line; 0 means none
	body            []byte
	odd             *text.Oddities
}

// page writes the selected lines and stores their numbers in v.
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

// shownSource returns the place of the source that p wrote. Bytes between two lines count
// with the first of them.
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

// done reports whether the last selected line was written.
func (p *pager) done() bool {
	first := max(p.options.First, 1)
	written := p.line - first
	return p.column > 0 ||
		p.options.Limit > 0 && written >= p.options.Limit ||
		p.options.Column > 0 && written >= 1
}

// write writes the next lines of a text, as long as they fit. Its first line has the number
// base. It sets from and to to the part that it wrote.
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

// writeLine writes a whole line, and returns false if it does not fit.
func (p *pager) writeLine(line []byte) bool {
	start := len(p.body)
	p.body = append(strconv.AppendInt(p.body, int64(p.line), 10), '\t')
	from := len(p.body)
	whole := bytes.TrimSuffix(line, []byte("\n"))
	fits := p.room < 0 || from-start+len(whole)+1 <= p.room // a long line is not copied
	escaped := 0
	if fits {
		p.body, escaped = text.EscapeFrameFrom(append(p.body, whole...), from)
		p.body = append(p.body, '\n')
		fits = p.room < 0 || len(p.body)-start <= p.room
	}
	if !fits {
		p.body = p.body[:start]
		return false
	}
	p.spend(len(p.body) - start)
	p.odd.Add(line, p.line)
	p.odd.AddEscaped(escaped, p.line)
	p.line++
	return true
}

func (p *pager) spend(size int) {
	if p.room >= 0 {
		p.room -= size
	}
}

// writePart writes as much of a line from a column on as fits, and at least one character,
// and moves to after it. It returns the number of bytes before the column.
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
	body, escaped := text.EscapeFrameFrom(append(p.body, rest[:size]...), from)
	p.body = append(body, '\n')
	p.odd.Add(rest[:size], p.line)
	p.odd.AddEscaped(escaped, p.line)
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

// wholeRunes returns the length of the longest prefix of s of at most n bytes that ends with
// a whole character, and at least that of one character.
func wholeRunes(s []byte, n int) int {
	_, first := utf8.DecodeRune(s)
	n = max(n, first)
	for n < len(s) && !utf8.RuneStart(s[n]) {
		n--
	}
	return max(n, first)
}

// lineStart returns the offset of the line after n others, -1 if there is none.
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

// rawAt returns the offset in the file of the byte off of the text at v.
func (nb *Notebook) rawAt(v scan.Extent, off int) int {
	if scan.IsString(nb.raw, v) {
		at, _ := nb.rawIn(v, off)
		return at
	}
	at := v.End
	scan.Elements(nb.raw, v, func(e scan.Extent) bool {
		at, off = nb.rawIn(e, off)
		return off > 0
	})
	return at
}

// rawIn returns the offset of the byte off of the string at lit, or the string's end and the
// number of bytes after it.
func (nb *Notebook) rawIn(lit scan.Extent, off int) (at, left int) {
	for at = lit.Start + 1; at < lit.End-1 && off > 0; {
		if nb.raw[at] != '\\' {
			run := bytes.IndexByte(nb.raw[at:lit.End-1], '\\')
			if run < 0 {
				run = lit.End - 1 - at
			}
			run = min(run, off)
			at, off = at+run, off-run
			continue
		}
		r, n := scan.Unescape(nb.raw[at : lit.End-1])
		at, off = at+n, off-utf8.RuneLen(r)
	}
	return at, off
}
