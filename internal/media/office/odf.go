package office

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/fsmcp/fsmcp/internal/media"
)

// odReader reads a document in the OpenDocument format.
type odReader struct {
	*writer
	s       *scanner
	hidden  map[string]bool // styles of text, sheets and slides that are not shown, by family and name
	lists   map[string]*[maxLevel + 1]listLevel
	listsOf map[string]string // the style of list of a style of paragraph
	changes map[string]odChange
	change  string // the mark of the insertion that is open
	items   []odItem
	notes   []string
	counts  map[string]int // of notes and comments
}

// odChange is a tracked change.
type odChange struct{ mark, text string }

// odItem is a list that is open.
type odItem struct {
	style string
	count int
	first bool // the next paragraph begins an item
}

// newOD reads the styles, and opens the content.
func (w *writer) newOD() (*odReader, error) {
	r := &odReader{writer: w, hidden: map[string]bool{}, lists: map[string]*[maxLevel + 1]listLevel{}, listsOf: map[string]string{}, changes: map[string]odChange{}, counts: map[string]int{}}
	s, err := w.scan("styles.xml")
	if err != nil {
		return nil, err
	}
	if r.s = s; s.root() != "" {
		s.each(r.stylesIn)
	}
	if err := s.end(); err != nil {
		return nil, err
	}
	r.s, err = w.scan("content.xml")
	return r, err
}

// stylesIn reads an element that holds styles.
func (r *odReader) stylesIn(name string) {
	if name == "styles" || name == "automatic-styles" {
		r.s.each(r.style)
	}
}

// style reads one style.
func (r *odReader) style(name string) {
	s := r.s
	id := s.attr("name")
	if len(r.lists)+len(r.hidden)+len(r.listsOf) > media.MaxEntries {
		return
	}
	switch name {
	case "style":
		key := s.attr("family") + "/" + id
		if list := s.attr("list-style-name"); list != "" {
			r.listsOf[id] = list
		}
		s.each(func(name string) {
			switch name {
			case "text-properties", "table-properties":
				if d := s.attr("display"); d == "none" || d == "false" {
					r.hidden[key] = true
				}
			case "drawing-page-properties":
				if s.attr("visibility") == "hidden" {
					r.hidden[key] = true
				}
			}
		})
	case "list-style":
		levels := new([maxLevel + 1]listLevel)
		r.lists[id] = levels
		s.each(func(name string) {
			at := s.number("level", 0) - 1
			if at < 0 || at > maxLevel {
				return
			}
			l := listLevel{format: "bullet", start: s.number("start-value", 1)}
			if name == "list-level-style-number" {
				l.format = s.attr("num-format")
				l.text = s.attr("num-prefix") + "%" + s.attr("num-suffix")
			}
			levels[at] = l
		})
	}
}

// body calls f for each child of the body of the content, behind its styles.
func (r *odReader) body(f func(name string)) error {
	s := r.s
	if s.root() == "" {
		return faultf("its content is missing")
	}
	s.each(func(name string) {
		if name == "body" {
			s.each(func(string) { s.each(f) })
			return
		}
		r.stylesIn(name)
	})
	if err := s.end(); err != nil {
		return err
	}
	return r.stop
}

// odText reads a text document.
func (w *writer) odText() error {
	r, err := w.newOD()
	if err != nil {
		return err
	}
	if err := w.begin(media.Section{}); err != nil {
		return err
	}
	if err := r.body(func(name string) { r.block(name, r.line) }); err != nil {
		return err
	}
	for _, note := range r.notes {
		r.line(note)
	}
	return r.edges()
}

// edges writes the headers and footers, each text once.
func (r *odReader) edges() error {
	s, err := r.scan("styles.xml")
	if err != nil {
		return err
	}
	r.s = s
	seen := map[string]bool{}
	var walk func(name string)
	walk = func(name string) {
		kind := strings.SplitN(name, "-", 2)[0]
		if kind != "header" && kind != "footer" || strings.HasSuffix(name, "-style") {
			s.each(walk)
			return
		}
		if text := oneLine(r.inner()); text != "" && !seen[kind+text] {
			seen[kind+text] = true
			r.line("[" + kind + "] " + text)
		}
	}
	if s.root() != "" {
		s.each(func(name string) {
			if name == "master-styles" {
				s.each(walk)
			}
		})
	}
	if err := s.end(); err != nil {
		return err
	}
	return r.stop
}

// block writes one child of a body, a cell or a box.
func (r *odReader) block(name string, write func(string)) {
	s := r.s
	inside := func(name string) { r.block(name, write) }
	switch name {
	case "p", "h":
		r.paragraph(name, write)
	case "list":
		r.list(write)
	case "table":
		r.table(write)
	case "tracked-changes":
		s.each(r.changedRegion)
	case "section":
		if s.attr("display") == "none" {
			s.each(func(name string) { r.block(name, func(line string) { write("[hidden: " + line + "]") }) })
			return
		}
		s.each(inside)
	case "frame", "custom-shape", "rect", "ellipse", "line", "connector", "polygon", "path", "g":
		p := &odParagraph{r: r, write: write}
		p.frame()
		if p.b.Len() > 0 {
			write(p.b.String())
		}
	case "text-box", "soft-page-break", "numbered-paragraph", "index-body", "index-title", "table-of-content", "alphabetical-index", "illustration-index", "table-index", "bibliography", "user-index", "object-index", "page-sequence":
		s.each(inside)
	case "change-start", "change-end":
		r.mark(name, s.attr("change-id"))
	}
}

// inner returns the paragraphs of the element that has started, as one text.
func (r *odReader) inner() string {
	var all []string
	size := 0
	outer := r.items
	r.items = nil
	r.s.each(func(name string) {
		r.block(name, func(line string) {
			if size += len(line) + 1; size < maxString {
				all = append(all, line)
			}
		})
	})
	r.items = outer
	return strings.Join(all, "\n")
}

// changedRegion reads a tracked change.
func (r *odReader) changedRegion(name string) {
	s := r.s
	id := s.attr("id")
	if name != "changed-region" || len(r.changes) > media.MaxEntries {
		return
	}
	s.each(func(name string) {
		c := odChange{mark: map[string]string{"insertion": "inserted", "deletion": "deleted"}[name]}
		author := ""
		var texts []string
		s.each(func(name string) {
			if name != "change-info" {
				r.block(name, func(line string) { texts = append(texts, line) })
				return
			}
			s.each(func(name string) {
				if name == "creator" {
					author = short(s.textOf(maxName))
				}
			})
		})
		if c.text = oneLine(strings.Join(texts, " ")); c.mark != "" {
			if author != "" {
				c.mark += " by " + author
			}
			r.changes[id] = c
		}
	})
}

// mark begins or ends the mark of an insertion.
func (r *odReader) mark(name, id string) {
	if r.change = ""; name == "change-start" {
		r.change = r.changes[id].mark
	}
}

// list writes the items of a list.
func (r *odReader) list(write func(string)) {
	s := r.s
	style := s.attr("style-name")
	if n := len(r.items); style == "" && n > 0 {
		style = r.items[n-1].style
	}
	r.items = append(r.items, odItem{style: style})
	at := len(r.items) - 1
	s.each(func(name string) {
		if name != "list-item" && name != "list-header" {
			return
		}
		if r.items[at].first = name == "list-item"; r.items[at].first {
			r.items[at].count++
			if n := s.number("start-value", 0); n > 0 {
				r.items[at].count = n
			}
		}
		s.each(func(name string) { r.block(name, write) })
	})
	r.items = r.items[:at]
}

// item returns what stands before a paragraph of a list.
func (r *odReader) item() string {
	n := len(r.items)
	if n == 0 {
		return ""
	}
	at := &r.items[n-1]
	indent := strings.Repeat("  ", min(n-1, maxLevel))
	if !at.first {
		return indent + "  "
	}
	at.first = false
	levels := r.lists[at.style]
	if levels == nil || n-1 > maxLevel {
		return indent + "- "
	}
	l := levels[n-1]
	if l.format == "bullet" || l.format == "" {
		return indent + "- "
	}
	return indent + strings.Replace(l.text, "%", numeral(at.count+max(l.start, 1)-1, l.format), 1) + " "
}

// table writes a row as a line.
func (r *odReader) table(write func(string)) {
	var rows func(name string)
	rows = func(name string) {
		switch name {
		case "table-row":
			var cells []string
			pictures := len(r.doc.Pictures)
			r.s.each(func(name string) {
				if name == "table-cell" && len(cells) < maxCells {
					cells = append(cells, inRow(r.inner()))
				}
			})
			r.place(pictures)
			write(strings.Join(cells, " | "))
		case "table-header-rows", "table-rows", "table-row-group":
			r.s.each(rows)
		}
	}
	r.s.each(rows)
}

// odParagraph gathers the text of a paragraph.
type odParagraph struct {
	inline
	r     *odReader
	write func(string) // of what stands in a box of its own
	blank bool         // it ends in a blank of the XML
}

// paragraph writes a paragraph or heading.
func (r *odReader) paragraph(name string, write func(string)) {
	p := &odParagraph{r: r, write: write, blank: true}
	level := 0
	if name == "h" {
		level = min(max(r.s.number("outline-level", 1), 1), 9)
	}
	hidden := r.hidden["paragraph/"+r.s.attr("style-name")]
	pictures := len(r.doc.Pictures)
	p.read(hidden)
	p.close("")
	text := strings.TrimRight(p.b.String(), " ")
	switch {
	case level > 0 && text != "":
		text = strings.Repeat("#", level) + " " + text
	case level == 0 && (text != "" || len(r.items) > 0):
		text = r.item() + text
	}
	r.place(pictures)
	write(text)
}

// read reads the content of the element that has started.
func (p *odParagraph) read(hidden bool) {
	p.r.s.content(func(name string) { p.part(name, hidden) }, func(b []byte) { p.collapsed(b, hidden) })
}

// collapsed adds text with each run of blanks as one, as OpenDocument says.
func (p *odParagraph) collapsed(b []byte, hidden bool) {
	var out []byte
	for _, c := range b {
		if !isSpace(c) {
			out, p.blank = append(out, c), false
		} else if !p.blank {
			out, p.blank = append(out, ' '), true
		}
	}
	p.change = p.r.change
	p.text(string(out), hidden)
}

// add adds text as it is.
func (p *odParagraph) add(text string, hidden bool) {
	p.change, p.blank = p.r.change, false
	p.text(text, hidden)
}

// part reads an element of a paragraph.
func (p *odParagraph) part(name string, hidden bool) {
	r, s := p.r, p.r.s
	switch name {
	case "s":
		p.add(strings.Repeat(" ", min(max(s.number("c", 1), 1), 1000)), hidden)
	case "tab":
		p.add("\t", hidden)
	case "line-break":
		p.add("\n", hidden)
		p.blank = true
	case "note":
		p.note(s.attr("note-class"))
	case "annotation":
		p.annotation()
	case "change-start", "change-end":
		r.mark(name, s.attr("change-id"))
	case "change":
		if c := r.changes[s.attr("change-id")]; c.text != "" {
			p.put("[" + c.mark + ": " + c.text + "]")
		}
	case "hidden-text":
		p.add(s.attr("string-value"), true)
	case "frame", "custom-shape", "rect", "ellipse", "g":
		p.frame()
	case "span":
		p.read(hidden || r.hidden["text/"+s.attr("style-name")])
	case "script", "ruby-text", "tracked-changes", "annotation-end", "hidden-paragraph":
	default:
		p.read(hidden)
	}
}

// number counts a note or comment.
func (r *odReader) number(kind string) string {
	r.counts[kind]++
	return fmt.Sprintf("[%s %d]", kind, r.counts[kind])
}

// note writes the mark of a note, whose text stands at the end.
func (p *odParagraph) note(kind string) {
	if kind != "endnote" {
		kind = "footnote"
	}
	mark := p.r.number(kind)
	p.put(mark)
	at := len(p.r.notes)
	p.r.notes = append(p.r.notes, mark)
	p.r.s.each(func(name string) {
		if name == "note-body" {
			p.r.notes[at] += " " + oneLine(p.r.inner())
		}
	})
}

// annotation writes the mark of a comment.
func (p *odParagraph) annotation() {
	mark := p.r.number("comment")
	author, text := p.r.annotation()
	p.put(mark)
	if author != "" {
		mark += " " + author + ":"
	}
	p.r.notes = append(p.r.notes, mark+" "+text)
}

// annotation reads a comment.
func (r *odReader) annotation() (author, text string) {
	var all []string
	r.s.each(func(name string) {
		switch name {
		case "creator":
			author = short(r.s.textOf(maxName))
		case "p", "list", "h":
			r.block(name, func(line string) { all = append(all, line) })
		}
	})
	return author, oneLine(strings.Join(all, " "))
}

// frame reads a picture or a box of text.
func (p *odParagraph) frame() {
	r, s := p.r, p.r.s
	part, description, isPicture, isTable := "", "", false, false
	var walk func(name string)
	walk = func(name string) {
		switch name {
		case "image":
			if isPicture || isTable {
				return // another form of the same picture, or a picture of the table
			}
			isPicture, part = true, strings.TrimPrefix(s.attr("href"), "./")
			s.each(func(name string) {
				if name == "p" {
					r.block(name, p.write)
				}
			})
		case "title", "desc":
			if text := s.textOf(maxName); description == "" {
				description = text
			}
		case "object", "object-ole":
			if !isPicture {
				p.put("[chart or object]")
			}
		case "p", "h", "list", "table":
			isTable = isTable || name == "table"
			r.block(name, p.write)
		case "enhanced-geometry", "event-listeners", "glue-point":
		default:
			s.each(walk)
		}
	}
	s.each(walk)
	if isPicture {
		if !r.has(part) {
			part = ""
		}
		p.put(r.picture(part, description))
	}
}

// odSlides reads a presentation.
func (w *writer) odSlides() error {
	r, err := w.newOD()
	if err != nil {
		return err
	}
	return r.body(func(name string) {
		if name != "page" {
			return
		}
		hidden := r.hidden["drawing-page/"+r.s.attr("style-name")]
		if err := r.begin(media.Section{Hidden: hidden}); err != nil {
			r.stop = err
			return
		}
		r.s.each(r.onSlide)
	})
}

// onSlide writes a shape of a slide, or its notes.
func (r *odReader) onSlide(name string) {
	s := r.s
	switch name {
	case "notes":
		var lines []string
		s.each(func(name string) {
			if class := s.attr("class"); class == "notes" || class == "" { // a box that is no placeholder has none
				r.shape(func(line string) { lines = append(lines, line) })
			}
		})
		r.named("Notes:", lines)
	case "annotation":
		if _, text := r.annotation(); text != "" {
			r.line("[comment] " + text)
		}
	case "forms", "animations", "par", "seq":
	case "g":
		s.each(r.onSlide)
	default:
		title := s.attr("class") == "title"
		r.shape(func(line string) {
			switch {
			case strings.TrimSpace(line) == "":
				return
			case title:
				line = "# " + oneLine(line)
			}
			r.line(line)
		})
	}
}

// shape writes the texts and the picture of a shape.
func (r *odReader) shape(write func(string)) {
	pictures := len(r.doc.Pictures)
	p := &odParagraph{r: r, write: write}
	p.frame()
	r.place(pictures)
	if p.b.Len() > 0 {
		write(p.b.String())
	}
}

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
