package office

import (
	"fmt"
	"strings"

	"github.com/fsmcp/fsmcp/internal/media"
)

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
	return r.readEdges()
}

// readEdges writes the headers and footers.
func (r *odReader) readEdges() error {
	s := r.scan("styles.xml")
	r.s = s
	var walk func(name string)
	walk = func(name string) {
		kind := strings.SplitN(name, "-", 2)[0]
		if kind != "header" && kind != "footer" || strings.HasSuffix(name, "-style") {
			s.each(walk)
			return
		}
		r.edge(kind, r.inner())
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
	outer := r.items
	r.items = nil
	defer func() { r.items = outer }()
	return gather(func(write func(string)) {
		r.s.each(func(name string) { r.block(name, write) })
	})
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
