package office

import (
	"slices"
	"strconv"
	"strings"

	"github.com/fsmcp/fsmcp/internal/media"
)

// The extent of a sheet.
const (
	maxRows    = 1_048_576
	maxColumns = 16_384
)

const maxStrings = 64 << 20 // bytes of the strings that sheets share

// workbookReader reads the sheets of a workbook.
type workbookReader struct {
	*writer
	strings []string
	formats numberFormats
	epoch   epoch
}

// sheetEntry is a sheet as the workbook lists it.
type sheetEntry struct {
	name, id string
	hidden   bool
}

// workbook reads a workbook whose main part has begun.
func (w *writer) workbook(s *scanner, main string) error {
	r := &workbookReader{writer: w}
	var sheets []sheetEntry
	s.each(func(name string) {
		switch name {
		case "workbookPr":
			if v := s.attr("date1904"); v != "" && isOn(v) {
				r.epoch = from1904
			}
		case "sheets":
			s.each(func(name string) {
				if name == "sheet" && len(sheets) < media.MaxSections {
					state := s.attr("state")
					sheets = append(sheets, sheetEntry{s.attr("name"), s.relation("id"), state == "hidden" || state == "veryHidden"})
				}
			})
		}
	})
	if err := s.end(); err != nil {
		return err
	}
	rels, err := w.relations(main)
	if err != nil {
		return err
	}
	if err := r.readFormats(related(rels, "styles")); err != nil {
		return err
	}
	if err := r.readStrings(related(rels, "sharedStrings")); err != nil {
		return err
	}
	for _, sheet := range sheets {
		if err := w.begin(media.Section{Name: sheet.name, Hidden: sheet.hidden}); err != nil {
			return err
		}
		if err := r.sheet(rels[sheet.id].target); err != nil {
			return err
		}
	}
	return w.stop
}

// readStrings reads the strings that cells share.
func (r *workbookReader) readStrings(part string) error {
	if part == "" {
		return nil
	}
	s := r.scan(part)
	s.root()
	size := 0
	s.each(func(name string) {
		if name == "si" {
			text := richText(s)
			if size += len(text) + 16; size > maxStrings {
				s.fail(errFull)
			}
			r.strings = append(r.strings, text)
		}
	})
	return s.end()
}

// richText returns the text of a string with its runs, without what tells its sound.
func richText(s *scanner) string {
	var text string
	var walk func(name string)
	walk = func(name string) {
		switch name {
		case "t":
			if len(text) < maxString {
				text += s.textOf(maxString)
			}
		case "r":
			s.each(walk)
		}
	}
	s.each(walk)
	return text
}

// sheetReader reads one sheet.
type sheetReader struct {
	*workbookReader
	s      *scanner
	row    int // the last one
	column int // of the last cell
	hidden []columns
}

// columns is a range of columns, from 1.
type columns struct{ from, to int }

// sheet reads a sheet, then what is pinned to it: comments and drawings.
func (r *workbookReader) sheet(part string) error {
	if part == "" {
		return nil
	}
	s := r.scan(part)
	t := &sheetReader{workbookReader: r, s: s}
	s.root()
	s.each(func(name string) {
		switch name {
		case "cols":
			s.each(func(name string) {
				if from, to := s.number("min", 0), s.number("max", 0); name == "col" && s.attr("hidden") != "" && isOn(s.attr("hidden")) && from > 0 && to >= from && len(t.hidden) < maxCells {
					t.hidden = append(t.hidden, columns{from, min(to, maxColumns)})
				}
			})
		case "sheetData":
			s.each(func(name string) {
				if name == "row" {
					t.readRow()
				}
			})
		}
	})
	r.now().HiddenColumns = columnNames(t.hidden)
	if err := s.end(); err != nil {
		return err
	}
	return r.pinned(part)
}

// readRow writes a row, unless it is empty.
func (t *sheetReader) readRow() {
	t.row = t.s.number("r", t.row+1)
	hidden := t.s.attr("hidden") != "" && isOn(t.s.attr("hidden"))
	t.column = 0
	var b strings.Builder
	t.s.each(func(name string) {
		if name == "c" && b.Len() < maxString {
			t.readCell(&b)
		}
	})
	if b.Len() == 0 || t.row < 1 || t.row > maxRows {
		return
	}
	if hidden {
		t.line(hiddenRow + b.String())
	} else {
		t.line(b.String())
	}
	t.now().Rows = max(t.now().Rows, t.row)
}

// hiddenRow begins the line of a hidden row.
const hiddenRow = "[hidden row] "

// readCell adds a cell to a row, unless it is empty.
func (t *sheetReader) readCell(b *strings.Builder) {
	s := t.s
	t.column++
	if at, _, ok := cellPlace(s.attr("r")); ok {
		t.column = at
	}
	kind, style := s.attr("t"), s.number("s", 0)
	value, formula, stored, calculated := "", "", false, false
	s.each(func(name string) {
		switch name {
		case "v":
			value, stored = s.textOf(maxString), true
		case "f":
			calculated = true
			formula = s.textOf(maxName * 20)
		case "is":
			value, stored = richText(s), true
		}
	})
	switch {
	case t.column < 1 || t.column > maxColumns:
		return // there is no such column
	case calculated && (!stored || value == "" && kind != "str"):
		if value = "=" + formula; formula == "" {
			value = "=(a shared formula)"
		}
	case value == "":
		return
	default:
		value = t.shown(value, kind, style)
	}
	addCell(b, t.column, t.row, value)
	t.now().Columns = max(t.now().Columns, t.column)
}

// addCell adds a cell to the line of a row.
func addCell(b *strings.Builder, column, row int, value string) {
	if b.Len() > 0 {
		b.WriteString(" | ")
	}
	b.WriteString(columnName(column))
	b.WriteString(strconv.Itoa(row))
	b.WriteByte('\t')
	b.WriteString(inRow(value))
}

// shown returns a value as a person sees it, by the kind and the format of its cell.
func (r *workbookReader) shown(value, kind string, style int) string {
	switch kind {
	case "s":
		if n, err := strconv.Atoi(strings.TrimSpace(value)); err == nil && n >= 0 && n < len(r.strings) {
			return r.strings[n]
		}
		return "#(a missing string)"
	case "b":
		if strings.TrimSpace(value) == "1" {
			return "TRUE"
		}
		return "FALSE"
	case "str", "e", "inlineStr", "d":
		return value
	}
	return r.formats.number(value, style, r.epoch)
}

// cellPlace reads a name such as B7.
func cellPlace(name string) (column, row int, ok bool) {
	i := 0
	for ; i < len(name) && i < 4 && name[i] >= 'A' && name[i] <= 'Z'; i++ {
		column = column*26 + int(name[i]-'A') + 1
	}
	row, err := strconv.Atoi(name[i:])
	return column, row, i > 0 && err == nil
}

// columnName returns the letters of a column, from 1.
func columnName(n int) string {
	var b []byte
	for ; n > 0; n = (n - 1) / 26 {
		b = append(b, byte('A'+(n-1)%26))
	}
	slices.Reverse(b)
	return string(b)
}

// columnNames writes ranges of columns.
func columnNames(all []columns) string {
	var names []string
	for i := 0; i < len(all); i++ {
		c := all[i]
		for ; i+1 < len(all) && all[i+1].from == c.to+1; i++ {
			c.to = all[i+1].to
		}
		name := columnName(c.from)
		if c.to > c.from {
			name += "-" + columnName(c.to)
		}
		if names = append(names, name); len(names) == 20 {
			names = append(names, "…")
			break
		}
	}
	return strings.Join(names, ", ")
}

// pinned writes the comments, boxes of text and pictures of a sheet.
func (r *workbookReader) pinned(part string) error {
	rels, err := r.relations(part)
	if err != nil {
		return err
	}
	return follow(rels, map[string]func(part string) error{"comments": r.comments, "drawing": r.drawing})
}

// comments writes the comments on cells, as cells.
func (r *workbookReader) comments(part string) error {
	s := r.scan(part)
	s.root()
	s.each(func(name string) {
		if name != "commentList" {
			return
		}
		s.each(func(name string) {
			column, row, ok := cellPlace(s.attr("ref"))
			if name != "comment" || !ok {
				return
			}
			text := ""
			s.each(func(name string) {
				if name == "text" {
					text = richText(s)
				}
			})
			var b strings.Builder
			addCell(&b, column, row, "[comment: "+strings.TrimSpace(text)+"]")
			r.line(b.String())
		})
	})
	return s.end()
}

// drawing writes the texts and pictures of a drawing on a sheet.
func (r *workbookReader) drawing(part string) error {
	rels, err := r.relations(part)
	if err != nil {
		return err
	}
	s := r.scan(part)
	s.root()
	d := &shapes{writer: r.writer, s: s, rels: rels, prefix: "[on the sheet] "}
	s.each(d.shape)
	return s.end()
}
