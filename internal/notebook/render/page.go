package render

import (
	"bytes"
	"math"
	"strconv"
	"unicode/utf8"

	"github.com/fsmcp/fsmcp/internal/notebook"
	"github.com/fsmcp/fsmcp/internal/span"
	"github.com/fsmcp/fsmcp/internal/text"
)

// CellOptions select the lines of a cell that Cell shows. Lines are counted through the
// source and then the outputs.
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

// A CellView is the result of Cell.
type CellView struct {
	Parts []Block
	// Shown is the part of the source that counts as shown. Views of all lines together
	// show all of it.
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

// Cell shows the cell at index i with all of its outputs. If everything fits and no lines
// were selected, the text is that of Cells. Otherwise lines are numbered, up to MaxText, with
// the pictures of those lines. A first line that does not fit is shown in part, as with
// Column.
func Cell(nb *notebook.Notebook, i int, o CellOptions) CellView {
	f := nb.Fields(i)
	var w writer
	w.out.read(nb, i)
	source, surrogates, _ := f.Source.AppendText(nil)
	v := CellView{First: max(o.First, 1), SourceLines: countLines(source)}
	v.Total = v.SourceLines + countLines(w.out.text)
	fits := o.MaxText <= 0 || len(source)+len(w.out.text) <= o.MaxText
	if fits && o.First <= 1 && o.Limit <= 0 && o.Column <= 0 && w.whole(nb, i, o.MaxText) {
		v.Last, v.Shown = v.Total, f.SourceSpan()
		w.countOdd(source, 1)
		w.countOdd(w.out.text, v.SourceLines+1)
	} else {
		open := append(appendOpen(nil, nb, &f, nb.Name(i)), '\n')
		closing := appendClose(nil, nb.Name(i), surrogates)
		p := pager{options: o, line: v.First, room: math.MaxInt, odd: &w.odd}
		if o.MaxText > 0 {
			p.room = max(o.MaxText-len(open)-len(closing), 1)
		}
		from, to := p.write(source, 1)
		inSource := len(p.body)
		p.write(w.out.text, v.SourceLines+1)
		switch {
		case inSource > 0:
			w.buf = append(append(append(w.buf, open...), p.body[:inSource]...), closing...)
			if len(p.body) > inSource {
				w.buf = append(w.buf, outputLine...)
			}
		case len(p.body) > 0:
			w.buf = append(append(append(w.buf, "[outputs of cell "...), nb.Name(i)...), "]\n"...)
		}
		w.buf = append(w.buf, p.body[inSource:]...)
		v.Last, v.NextColumn = p.line-1, p.column
		v.Shown = shownSource(&f, from, to, len(source))
	}
	v.More = v.Last < v.Total || v.NextColumn > 0
	for _, p := range w.out.pictures {
		line := v.SourceLines + countLines(w.out.text[:p.noted])
		if line >= v.First && (line < v.Last || line == v.Last && v.NextColumn == 0) {
			w.picture(p)
		}
	}
	v.Parts = w.finish()
	v.Notice = w.odd.Notice("line ", "lines ", strconv.Itoa)
	return v
}

// whole writes a cell and its outputs, and returns false if they do not fit.
func (w *writer) whole(nb *notebook.Notebook, i, room int) bool {
	w.source(nb, i)
	if len(w.out.text) > 0 {
		w.buf = append(w.buf, outputLine...)
		from := len(w.buf)
		w.buf, _ = text.EscapeFrameFrom(append(w.buf, w.out.text...), from)
	}
	w.buf = endLine(w.buf)
	return w.fits(0, room)
}

// countOdd counts the invisible characters and the imitations of lines; first is the first
// line's number.
func (w *writer) countOdd(all []byte, first int) {
	for line := range bytes.Lines(all) {
		w.odd.Add(line, first)
		w.odd.AddEscaped(text.Imitations(line), first)
		first++
	}
}

// shownSource returns the place of the bytes from and to of a source with that size. Bytes of
// the file between two lines count with the first of them.
func shownSource(f *notebook.Fields, from, to, size int) span.Span {
	shown := f.SourceSpan()
	if size > 0 && from == to {
		shown.End = shown.Start
		return shown
	}
	if from > 0 {
		shown.Start = int64(f.Source.OffsetOf(from))
	}
	if to < size {
		shown.End = int64(f.Source.OffsetOf(to))
	}
	return shown
}

// pager writes numbered lines.
type pager struct {
	options CellOptions
	room    int // bytes that are left
	line    int // the next line
	column  int // column of the rest of the last line; 0 means none
	body    []byte
	odd     *text.Oddities
}

// write writes the next lines of a text, as long as they fit. Its first line has the number
// first. It returns the part of the text that it wrote.
func (p *pager) write(all []byte, first int) (from, to int) {
	number := first
	for line := range bytes.Lines(all) {
		if number < p.line { // before the first line to show
			from += len(line)
			to = from
			number++
			continue
		}
		written := p.line - max(p.options.First, 1)
		if number > p.line || p.column > 0 || p.options.Limit > 0 && written >= p.options.Limit || p.options.Column > 0 && written > 0 {
			break
		}
		skipped, size := p.writeLine(line)
		if skipped+size == 0 {
			break
		}
		from, to = from+skipped, to+skipped+size
		number++
	}
	return from, to
}

// writeLine writes a line from the wanted column on. If it is the first line and does not
// fit, it writes at least one character. It returns the number of bytes before the column,
// and of those that it wrote.
func (p *pager) writeLine(line []byte) (skipped, size int) {
	whole := bytes.TrimSuffix(line, []byte("\n"))
	overhead := len(strconv.Itoa(p.line)) + 2 // the number, a tab, the line feed
	if p.options.Column <= 1 && overhead+len(whole) <= p.room && p.add(line, p.room) {
		return 0, len(line)
	}
	if len(p.body) > 0 {
		return 0, 0
	}
	column := max(p.options.Column, 1)
	skipped = runeOffset(whole, column-1)
	rest := whole[skipped:]
	size = len(rest)
	if p.options.Columns > 0 {
		size = runeOffset(rest, p.options.Columns)
	}
	if size > p.room-overhead {
		size = wholeRunes(rest, p.room-overhead)
	}
	if size < len(rest) {
		p.column = column + utf8.RuneCount(rest[:size])
	} else {
		size = len(line) - skipped
	}
	p.add(line[skipped:skipped+size], math.MaxInt)
	return skipped, size
}

// add writes the number of the next line and a part of the line, and returns false if that
// takes more than room.
func (p *pager) add(part []byte, room int) bool {
	before := len(p.body)
	p.body = append(strconv.AppendInt(p.body, int64(p.line), 10), '\t')
	body, escaped := text.EscapeFrameFrom(append(p.body, part...), len(p.body))
	p.body = endLine(body)
	added := len(p.body) - before
	if added > room {
		p.body = p.body[:before]
		return false
	}
	p.odd.Add(part, p.line)
	p.odd.AddEscaped(escaped, p.line)
	p.room -= added
	p.line++
	return true
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

// countLines counts lines; a line feed at the end adds none.
func countLines(text []byte) int {
	n := bytes.Count(text, []byte("\n"))
	if len(text) > 0 && text[len(text)-1] != '\n' {
		n++
	}
	return n
}
