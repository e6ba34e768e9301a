package text

import (
	"encoding/binary"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/fsmcp/fsmcp/internal/span"
)

// noBound is the limit if none is given.
const noBound = math.MaxInt

// Page is a part of a file in an answer. A page without lines (First is 0) means that
// there are none, or, if More is set, that not even the first line fits: then ColumnPage
// shows its beginning.
type Page struct {
	// Body are the numbered lines: number, tab, line, with LF between them
	// and none after the last. Bytes that are no character are shown as \xNN.
	Body []byte
	// First and Last are the line numbers, counted from 1.
	First, Last int
	// Shown is the range of the file that Body shows, line endings included,
	// and the byte order mark if line 1 is shown from its start.
	Shown span.Span
	// Raw are the bytes of that range, as they were read for Body.
	Raw []byte
	// Total is the number of lines of the file, -1 if it is not known.
	Total int
	// More tells that something follows in the file.
	More bool
	// Ends are the offsets in Body after each line.
	Ends []int
	// Cut marks a column page that did not reach the line's end; it goes on
	// at NextColumn.
	Cut        bool
	NextColumn int
	// Unended says that the page ends with the file, and the last line has no ending.
	Unended bool
	// Notice is a line that counts what a reader cannot see in Body: control,
	// bidirectional and tag characters, bytes that are no character; or "".
	Notice string
}

// window is a text from the begin of a line on.
type window struct {
	s      string
	eol    byte // the last byte of a line ending
	whole  bool // s reaches to the end of the file
	strays bool // s may hold bytes that are no character
	ascii  bool // nothing for the notice in it
}

func (w *window) crLines() bool { return w.eol == '\r' }

// take writes at most limit lines (0: no bound), numbered from first, into the
// page, as long as the body has at most maxBody bytes (0: no bound), and returns
// where they end in w.s; open tells that the window ended before a line did that
// might have been taken.
func (w *window) take(p *Page, first, limit, maxBody int) (ends []int64, open bool) {
	limit, maxBody = atMost(limit), atMost(maxBody)
	scope := w.s
	if len(scope)-2 > maxBody { // an ending takes no room
		scope = scope[:maxBody+2]
	}
	reach, lines := skipLines(span.Narrow, span.BytesOf(scope), w.eol, limit)
	if lines < limit && reach == len(w.s) && w.whole && w.unended() {
		lines++
	}
	ends = w.number(p, first, lines, maxBody)
	open = len(ends) == lines && lines < limit && reach == len(w.s) && !w.whole
	if len(ends) == 0 {
		return nil, open
	}
	p.First, p.Last = first, first+len(ends)-1
	p.Unended = w.whole && ends[len(ends)-1] == int64(len(w.s)) && w.unended()
	if !w.ascii {
		p.Notice = notice(w.s[:ends[len(ends)-1]], ends, first, w.strays, w.crLines())
	}
	return ends, open
}

// unended reports that the last line has no ending.
func (w *window) unended() bool { return w.s != "" && w.s[len(w.s)-1] != w.eol }

// number writes the first lines of w.s into p.Body, up to the one that would
// make it longer than maxBody.
func (w *window) number(p *Page, first, lines, maxBody int) []int64 {
	ends := make([]int64, 0, lines)
	marks := make([]int, 0, lines)
	end, _ := skipLines(span.Narrow, span.BytesOf(w.s), w.eol, lines)
	digits := max(len(strconv.Itoa(first+lines)), len(strconv.Itoa(first))+2)
	// Exact but for \xNN and a last line that proves too long.
	body := make([]byte, 0, min(end+lines*(digits+1), maxBody)+8)
	for at := 0; len(ends) < lines; {
		content, full, _ := w.line(at)
		body = w.appendLine(body, first+len(ends), w.s[at:at+content])
		if len(body) > maxBody {
			break
		}
		at += full
		marks = append(marks, len(body))
		ends = append(ends, int64(at))
		body = append(body, '\n')
	}
	if n := len(marks); n > 0 {
		p.Body, p.Ends = body[:marks[n-1]], marks
	}
	return ends
}

// line measures the line at the offset at: its content, and with its ending.
// found is false if the window ends before the line does.
func (w *window) line(at int) (content, full int, found bool) {
	s := w.s[at:]
	n := strings.IndexByte(s, w.eol)
	if n < 0 {
		return len(s), len(s), w.whole
	}
	if n > 0 && w.eol == '\n' && s[n-1] == '\r' {
		return n - 1, n + 1, true
	}
	return n, n + 1, true
}

// appendLine appends a line with its number.
func (w *window) appendLine(body []byte, number int, s string) []byte {
	body = append(appendNumber(body, number), '\t')
	if !w.strays {
		return append(body, s...)
	}
	return appendHex(body, s)
}

// appendNumber appends the number of a line. One below zero counts from the end of a file, and
// is in brackets.
func appendNumber(body []byte, number int) []byte {
	if number >= 0 {
		return strconv.AppendInt(body, int64(number), 10)
	}
	return append(strconv.AppendInt(append(body, '('), int64(number), 10), ')')
}

// appendHex appends s with \xNN for the bytes that are no character.
func appendHex(body []byte, s string) []byte {
	const hex = "0123456789ABCDEF"
	for {
		i := span.FirstStray(s)
		body = append(body, s[:i]...)
		if i == len(s) {
			return body
		}
		body = append(body, '\\', 'x', hex[s[i]>>4], hex[s[i]&15])
		s = s[i+1:]
	}
}

// column is a part of a line's content that was chosen for a column page.
type column struct {
	text  string // the part
	count int    // its code points
	whole bool   // it reaches the end of the content
}

// column takes as much from the head of s as fits in room bytes of the answer, at
// most most code points, but at least one.
func (w *window) column(s string, most, room int) column {
	if !w.strays {
		n := min(len(s), max(room, 0))
		for n > 0 && n < len(s) && !utf8.RuneStart(s[n]) {
			n--
		}
		if n == 0 && s != "" {
			_, n = utf8.DecodeRuneInString(s)
		}
		n, count := skipColumns(s[:n], most)
		return column{s[:n], count, n == len(s)}
	}
	n, count := 0, 0
	for n < len(s) && count < most {
		r, width := utf8.DecodeRuneInString(s[n:])
		shown := width
		if r == utf8.RuneError && width == 1 {
			shown = 4
		}
		if room -= shown; room < 0 && n > 0 {
			break
		}
		n += width
		count++
	}
	return column{s[:n], count, n == len(s)}
}

// fillColumn writes part of one line into the page; the caller sets the ranges
// of the file.
func (w *window) fillColumn(p *Page, line, from int, part column) {
	body := w.appendLine(make([]byte, 0, len(part.text)+numberMost), line, part.text)
	p.First, p.Last = line, line
	p.Body, p.Ends = body, []int{len(body)}
	if p.Cut = !part.whole; p.Cut {
		p.NextColumn = from + part.count
	}
	if !w.ascii {
		p.Notice = notice(part.text, []int64{int64(len(part.text))}, line, w.strays, w.crLines())
	}
}

// skipColumns goes n code points forward in s, or to its end: the bytes that
// were passed and the code points.
func skipColumns(s string, n int) (at, count int) {
	b := span.BytesOf(s)
	for count < n && at < len(b) {
		for count+8 <= n && at+8 <= len(b) && binary.LittleEndian.Uint64(b[at:])&high == 0 {
			at += 8
			count += 8
		}
		if count == n || at == len(b) {
			break
		}
		width := 1
		if b[at] >= utf8.RuneSelf {
			_, width = utf8.DecodeRune(b[at:])
		}
		at += width
		count++
	}
	return at, count
}

// skipLines is the offset in b behind n line endings, or the end of b if it
// has fewer; passed says how many.
func skipLines(u span.Units, b []byte, eol byte, n int) (at, passed int) {
	const block = 4096 // counting is much faster than finding one by one
	for passed < n && at < len(b) {
		piece := b[at:min(at+block, len(b))]
		if c := u.Count(piece, eol); c < n-passed {
			passed += c
			at += len(piece)
			continue
		}
		for ; passed < n; passed++ {
			i := u.Index(piece, eol, 0) + u.Size()
			at += i
			piece = piece[i:]
		}
	}
	return at, passed
}

// Page shows at most limit lines (0: no bound) from line first on. It stops
// before a line that would make Body longer than maxBody bytes (0: no bound).
func (d *Doc) Page(first, limit, maxBody int) Page {
	first = max(first, 1)
	p := Page{Total: d.Lines()}
	if d.Text == "" { // a byte order mark alone has no line to be shown with
		p.Shown.End = int64(len(d.Raw))
		return p
	}
	at, passed := skipLines(span.Narrow, span.BytesOf(d.Text), d.eol(), first-1)
	if passed < first-1 || at == len(d.Text) {
		return p
	}
	ends, _ := d.window(at).take(&p, first, limit, maxBody)
	if ends == nil {
		p.More = true
		return p
	}
	d.setShown(&p, at, at+int(ends[len(ends)-1]))
	return p
}

func (d *Doc) window(at int) *window {
	return &window{s: d.Text[at:], eol: d.eol(), whole: true, strays: d.Strays > 0, ascii: d.ascii}
}

// setShown sets the bytes of the file that a page with this part of the text shows. The byte
// order mark is shown with the first character.
func (d *Doc) setShown(p *Page, from, to int) {
	if from > 0 {
		p.Shown.Start = d.RawOffset(from)
	}
	p.Shown.End = d.RawOffset(to)
	p.Raw = d.Raw[p.Shown.Start:p.Shown.End]
	p.More = p.Shown.End < int64(len(d.Raw))
}

// ColumnPage shows one line from its code point column (counted from 1) on: at most
// limit code points (0: no bound), as many as fit in maxBody bytes (0: no bound), and
// at least one. A page without a line means that the line or the column is not there.
func (d *Doc) ColumnPage(line, column, limit, maxBody int) Page {
	line, column = max(line, 1), max(column, 1)
	p := Page{Total: d.Lines()}
	at, passed := skipLines(span.Narrow, span.BytesOf(d.Text), d.eol(), line-1)
	if passed < line-1 || at == len(d.Text) {
		return p
	}
	w := d.window(at)
	content, full, _ := w.line(0)
	from, passed := skipColumns(w.s[:content], column-1)
	if passed < column-1 || from == content && column > 1 {
		return p
	}
	part := w.column(w.s[from:content], atMost(limit), columnRoom(line, maxBody))
	w.fillColumn(&p, line, column, part)
	end := from + len(part.text)
	if part.whole {
		end, p.Unended = full, full == content
	}
	d.setShown(&p, at+from, at+end)
	return p
}

// atMost is a limit; 0 is no bound.
func atMost(limit int) int {
	if limit <= 0 {
		return noBound
	}
	return limit
}

// columnRoom returns the bytes that maxBody leaves for text besides the line's number.
func columnRoom(line, maxBody int) int {
	if maxBody <= 0 {
		return noBound
	}
	return maxBody - len(strconv.Itoa(line)) - 1
}

// Escape writes stray bytes as \xNN, as pages show them, and leaves the rest.
func Escape(s string) string {
	if utf8.ValidString(s) {
		return s
	}
	return string(appendHex(nil, s))
}

// Number returns part of a file with these line endings as numbered lines.
func (e EOL) Number(part string, firstLine int) []byte {
	w := &window{s: part, eol: '\n', whole: true, strays: true, ascii: true}
	if e.loneCR() {
		w.eol = '\r'
	}
	var p Page
	w.take(&p, firstLine, 0, 0)
	return p.Body
}
