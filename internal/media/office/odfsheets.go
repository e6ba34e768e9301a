package office

import (
	"strconv"
	"strings"

	"github.com/fsmcp/fsmcp/internal/media"
)

// odSheets reads a spreadsheet.
func (w *writer) odSheets() error {
	r, err := w.newOD()
	if err != nil {
		return err
	}
	return r.body(func(name string) {
		if name != "table" {
			return
		}
		hidden := r.hidden["table/"+r.s.attr("style-name")]
		if err := r.begin(media.Section{Name: r.s.attr("name"), Hidden: hidden}); err != nil {
			r.stop = err
			return
		}
		t := &odSheet{odReader: r}
		r.s.each(t.part)
		r.now().HiddenColumns = columnNames(t.hidden)
		for _, line := range t.pinned {
			r.line(line)
		}
	})
}

// odSheet reads one sheet.
type odSheet struct {
	*odReader
	row, column int // behind which the next one stands
	columns     int
	hidden      []columns
	pinned      []string // comments, for the end
}

// part reads a part of a sheet.
func (t *odSheet) part(name string) {
	s := t.s
	repeated := func(name string) int { return min(max(s.number(name, 1), 1), maxRows) }
	switch name {
	case "table-column":
		n := repeated("number-columns-repeated")
		if v := s.attr("visibility"); (v == "collapse" || v == "filter") && t.columns < maxColumns && len(t.hidden) < maxCells {
			t.hidden = append(t.hidden, columns{t.columns + 1, min(t.columns+n, maxColumns)})
		}
		t.columns = min(t.columns+n, maxColumns)
	case "table-row":
		t.readRow(repeated("number-rows-repeated"))
	case "table-row-group", "table-rows", "table-header-rows", "table-column-group", "table-columns", "table-header-columns":
		s.each(t.part)
	case "shapes":
		s.each(func(string) {
			t.shape(func(line string) {
				if strings.TrimSpace(line) != "" {
					t.line("[on the sheet] " + line)
				}
			})
		})
	}
}

// odCell is a cell that is not empty, and the columns in which it stands.
type odCell struct {
	column, count int
	value         string
}

// readRow writes a row as often as it stands there, unless it is empty.
func (t *odSheet) readRow(count int) {
	s := t.s
	v := s.attr("visibility")
	hidden := v == "collapse" || v == "filter"
	var cells []odCell
	t.column = 0
	s.each(func(name string) {
		n := min(max(s.number("number-columns-repeated", 1), 1), maxColumns)
		if name == "table-cell" || name == "covered-table-cell" {
			if value := t.cell(); value != "" && t.column < maxColumns {
				cells = append(cells, odCell{t.column + 1, min(n, maxColumns-t.column), value})
			}
			t.column = min(t.column+n, maxColumns)
		}
	})
	for i := 0; len(cells) > 0 && i < count && t.row+i < maxRows && t.stop == nil; i++ {
		var b strings.Builder
		for _, c := range cells {
			for k := 0; k < c.count && b.Len() < maxString; k++ {
				addCell(&b, c.column+k, t.row+i+1, c.value)
				t.now().Columns = max(t.now().Columns, c.column+k)
			}
		}
		if hidden {
			t.line(hiddenRow + b.String())
		} else {
			t.line(b.String())
		}
		t.now().Rows = t.row + i + 1
		if t.watch() != nil {
			break
		}
	}
	t.row = min(t.row+count, maxRows)
}

// cell returns what a person sees in a cell.
func (t *odSheet) cell() string {
	s := t.s
	kind, formula := s.attr("value-type"), s.attr("formula")
	value := s.attr("value")
	for _, name := range []string{"date-value", "time-value", "boolean-value", "string-value"} {
		if v := s.attr(name); v != "" && value == "" {
			value = v
		}
	}
	place := columnName(min(t.column, maxColumns-1)+1) + strconv.Itoa(t.row+1)
	var lines []string
	pictures := len(t.doc.Pictures)
	s.each(func(name string) {
		if name == "annotation" {
			if author, text := t.annotation(); text != "" && len(t.pinned) < media.MaxEntries {
				if author != "" {
					text = author + ": " + text
				}
				t.pinned = append(t.pinned, place+"\t[comment: "+inRow(text)+"]")
			}
			return
		}
		t.block(name, func(line string) { lines = append(lines, line) })
	})
	t.place(pictures)
	text := strings.Join(lines, "\n")
	switch {
	case text != "":
		return text
	case value != "":
		return value
	case formula != "" && kind == "":
		if _, rest, ok := strings.Cut(formula, ":="); ok {
			formula = "=" + rest
		}
		return formula
	}
	return ""
}
