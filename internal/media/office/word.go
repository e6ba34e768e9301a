package office

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/fsmcp/fsmcp/internal/media"
)

// wordReader reads the parts of a text document.
type wordReader struct {
	*writer
	rels     map[string]relationship // of the part that is read
	styles   map[string]wordStyle
	lists    numbering
	notes    []string          // the texts of notes and comments, for the end
	authors  map[string]string // of comments, by their id
	shown    map[string]int    // the numbers of notes, by kind and id
	noteText map[string]string
}

// wordStyle is the part of a style that the text shows.
type wordStyle struct {
	base    string
	heading int // 0: none
	list    listPlace
	hidden  bool
}

// word reads a text document whose main part has begun.
func (w *writer) word(s *scanner, main string) error {
	r := &wordReader{writer: w, styles: map[string]wordStyle{}, shown: map[string]int{}, noteText: map[string]string{}}
	rels, err := w.relations(main)
	if err != nil {
		return err
	}
	if err := w.begin(media.Section{}); err != nil {
		return err
	}
	r.rels = rels
	for _, step := range []func() error{
		func() error { return r.readStyles(related(rels, "styles")) },
		func() error { return r.readNumbering(related(rels, "numbering")) },
		func() error { return r.readNotes(related(rels, "footnotes"), "footnote") },
		func() error { return r.readNotes(related(rels, "endnotes"), "endnote") },
		func() error { return r.readNotes(related(rels, "comments"), "comment") },
	} {
		if err := step(); err != nil {
			return err
		}
	}
	s.each(func(name string) {
		if name == "body" {
			r.blocks(s, r.line)
		}
	})
	if err := s.end(); err != nil {
		return err
	}
	for _, note := range r.notes {
		r.line(note)
	}
	return r.readEdges(rels)
}

// readEdges writes the headers and footers.
func (r *wordReader) readEdges(rels map[string]relationship) error {
	for _, kind := range []string{"header", "footer"} {
		for _, rel := range sorted(rels) {
			if rel.kind != kind || rel.external {
				continue
			}
			text, err := r.partText(rel.target)
			if err != nil {
				return err
			}
			r.edge(kind, text)
		}
	}
	return r.stop
}

// partText returns the text of a part of its own, such as a footer.
func (r *wordReader) partText(part string) (string, error) {
	rels, err := r.relations(part)
	if err != nil {
		return "", err
	}
	s := r.scan(part)
	outer := r.rels
	r.rels = rels
	defer func() { r.rels = outer }()
	text := ""
	if s.root() != "" {
		text = r.inner(s)
	}
	return text, s.end()
}

// readStyles reads the styles that are headings, lists or hidden.
func (r *wordReader) readStyles(part string) error {
	s := r.scan(part)
	s.root()
	s.each(func(name string) {
		if name != "style" {
			return
		}
		id := s.attr("styleId")
		var st wordStyle
		s.each(func(name string) {
			switch name {
			case "name":
				st.heading = headingOf(s.attr("val"))
			case "basedOn":
				st.base = s.attr("val")
			case "rPr":
				s.each(func(name string) {
					if name == "vanish" {
						st.hidden = isOn(s.attr("val"))
					}
				})
			case "pPr":
				p := r.paragraphProperties(s)
				if st.list = p.list; p.outline > 0 && st.heading == 0 {
					st.heading = p.outline
				}
			}
		})
		if len(r.styles) < media.MaxEntries {
			r.styles[id] = st
		}
	})
	return s.end()
}

// headingOf returns the level of a heading by the name of its style.
func headingOf(name string) int {
	name = strings.ToLower(name)
	if name == "title" {
		return 1
	}
	if rest, ok := strings.CutPrefix(name, "heading "); ok {
		if n, err := strconv.Atoi(rest); err == nil && n >= 1 && n <= 9 {
			return n
		}
	}
	return 0
}

// isOn reports whether a switch is on, which it is without a value.
func isOn(value string) bool { return value != "0" && value != "false" && value != "off" }

// style returns a style with what it takes from those that it is based on.
func (r *wordReader) style(id string) (st wordStyle) {
	for range 16 {
		next, known := r.styles[id]
		if !known {
			return st
		}
		if st.heading == 0 {
			st.heading = next.heading
		}
		if st.list.id == "" {
			st.list = next.list
		}
		st.hidden = st.hidden || next.hidden
		id = next.base
	}
	return st
}

// properties are those of a paragraph.
type properties struct {
	style   string
	outline int // level of a heading; 0: none
	list    listPlace
}

// listPlace is a place in a list: the list and the level.
type listPlace struct {
	id    string
	level int
}

func (r *wordReader) paragraphProperties(s *scanner) (p properties) {
	s.each(func(name string) {
		switch name {
		case "pStyle":
			p.style = s.attr("val")
		case "outlineLvl":
			if n := s.number("val", 9); n >= 0 && n < 9 {
				p.outline = n + 1
			}
		case "numPr":
			s.each(func(name string) {
				switch name {
				case "ilvl":
					p.list.level = min(max(s.number("val", 0), 0), maxLevel)
				case "numId":
					p.list.id = s.attr("val")
				}
			})
		}
	})
	return p
}

// blocks writes the paragraphs and tables of the element that has started.
func (r *wordReader) blocks(s *scanner, write func(string)) {
	s.each(func(name string) { r.block(s, name, write) })
}

// block writes one child of a body or of a cell.
func (r *wordReader) block(s *scanner, name string, write func(string)) {
	switch name {
	case "p":
		r.paragraph(s, write)
	case "tbl":
		r.table(s, write)
	case "sdt", "sdtContent", "customXml", "ins", "moveTo", "Choice", "AlternateContent", "smartTag":
		s.each(func(name string) { r.block(s, name, write) })
	case "altChunk":
		write("[an embedded document, which is not read]")
	}
}

// inner returns the paragraphs of the element that has started, as one text.
func (r *wordReader) inner(s *scanner) string {
	return gather(func(write func(string)) { r.blocks(s, write) })
}

// table writes a row as a line.
func (r *wordReader) table(s *scanner, write func(string)) {
	s.each(func(name string) { r.rows(s, name, write) })
}

func (r *wordReader) rows(s *scanner, name string, write func(string)) {
	switch name {
	case "tr":
		var cells []string
		pictures := len(r.doc.Pictures)
		s.each(func(name string) { r.cells(s, name, &cells) })
		r.place(pictures)
		write(strings.Join(cells, " | "))
	case "sdt", "sdtContent", "customXml", "ins":
		s.each(func(name string) { r.rows(s, name, write) })
	}
}

func (r *wordReader) cells(s *scanner, name string, cells *[]string) {
	switch name {
	case "tc":
		if len(*cells) < maxCells {
			*cells = append(*cells, inRow(r.inner(s)))
		}
	case "sdt", "sdtContent", "customXml":
		s.each(func(name string) { r.cells(s, name, cells) })
	}
}

const maxCells = 16_384 // of a row

// paragraph writes a paragraph.
func (r *wordReader) paragraph(s *scanner, write func(string)) {
	var props properties
	p := &wordParagraph{r: r, s: s, write: write}
	pictures := len(r.doc.Pictures)
	s.each(func(name string) {
		if name == "pPr" {
			props = r.paragraphProperties(s)
			p.hidden = r.style(props.style).hidden
			return
		}
		p.part(name)
	})
	p.close("")
	st := r.style(props.style)
	if props.outline > 0 {
		st.heading = props.outline
	}
	if props.list.id != "" {
		st.list = props.list
	}
	text := strings.TrimRight(p.b.String(), " ")
	switch {
	case text == "" && st.heading+len(st.list.id) > 0:
		return
	case st.heading > 0:
		text = strings.Repeat("#", min(st.heading, 9)) + " " + r.lists.item(st.list, true) + text
	case st.list.id != "" && st.list.id != "0":
		text = r.lists.item(st.list, false) + text
	}
	r.place(pictures)
	write(text)
}

// wordParagraph gathers the text of a paragraph.
type wordParagraph struct {
	inline
	r      *wordReader
	s      *scanner
	write  func(string) // of what stands in a box of its own
	hidden bool         // by the style
}

// part reads a child of a paragraph.
func (p *wordParagraph) part(name string) {
	switch name {
	case "r":
		p.run()
	case "ins", "del", "moveFrom", "moveTo":
		outer := p.change
		words := map[string]string{"ins": "inserted", "del": "deleted", "moveFrom": "moved away", "moveTo": "moved here"}
		if p.change = words[name]; p.s.attr("author") != "" {
			p.change += " by " + short(p.s.attr("author"))
		}
		p.s.each(p.part)
		p.change = outer
	case "t": // of a formula
		p.text(p.s.textOf(maxString), false)
	case "pPr", "rPr", "sdtPr", "rt", "Fallback", "instrText", "rPrChange", "pPrChange":
	default:
		p.s.each(p.part)
	}
}

// run reads a run of text.
func (p *wordParagraph) run() {
	hidden := p.hidden
	p.s.each(func(name string) { p.inRun(name, &hidden) })
}

func (p *wordParagraph) inRun(name string, hidden *bool) {
	s := p.s
	switch name {
	case "rPr":
		s.each(func(name string) {
			switch name {
			case "vanish":
				*hidden = isOn(s.attr("val"))
			case "rStyle":
				*hidden = *hidden || p.r.style(s.attr("val")).hidden
			}
		})
	case "t", "delText":
		p.text(s.textOf(maxString), *hidden)
	case "tab", "ptab":
		p.text("\t", *hidden)
	case "br", "cr":
		if kind := s.attr("type"); kind != "page" && kind != "column" {
			p.text("\n", *hidden)
		}
	case "noBreakHyphen":
		p.text("-", *hidden)
	case "sym":
		p.text("□", *hidden)
	case "footnoteReference", "endnoteReference", "commentReference":
		p.note(strings.TrimSuffix(name, "Reference"), s.attr("id"))
	case "drawing", "pict", "object":
		p.drawing()
	case "AlternateContent", "Choice", "ruby", "rubyBase", "r":
		s.each(func(name string) { p.inRun(name, hidden) })
	}
}

// note writes the mark of a note or comment, whose text stands at the end.
func (p *wordParagraph) note(kind, id string) {
	r := p.r
	key := kind + id
	text, known := r.noteText[key]
	if !known {
		return
	}
	n, seen := r.shown[key]
	if !seen {
		r.shown["#"+kind]++
		n = r.shown["#"+kind]
		r.shown[key] = n
	}
	mark := fmt.Sprintf("[%s %d]", kind, n)
	p.put(mark)
	if !seen {
		author := r.authors[id]
		if kind != "comment" || author == "" {
			author = ""
		} else {
			author = " " + short(author) + ":"
		}
		r.notes = append(r.notes, mark+author+" "+text)
	}
}

// drawing reads a picture, a chart or a box of text.
func (p *wordParagraph) drawing() {
	description := ""
	var walk func(name string)
	walk = func(name string) {
		s := p.s
		switch name {
		case "docPr":
			description = s.attr("descr")
		case "blip":
			p.picture(s.relation("embed"), description)
		case "imagedata":
			p.picture(s.relation("id"), s.attr("title"))
		case "chart":
			p.put("[chart]")
		case "txbxContent":
			p.r.blocks(s, p.write)
			return
		case "Fallback":
			return
		}
		s.each(walk)
	}
	p.s.each(walk)
}

// picture writes the mark of a picture.
func (p *wordParagraph) picture(id, description string) {
	part := ""
	if rel, known := p.r.rels[id]; known && !rel.external {
		part = rel.target
	}
	p.put(p.r.writer.picture(part, description))
}

// readNotes reads the texts of the footnotes, endnotes or comments of a part.
func (r *wordReader) readNotes(part, kind string) error {
	if part == "" {
		return nil
	}
	s := r.scan(part)
	if r.authors == nil {
		r.authors = map[string]string{}
	}
	s.root()
	s.each(func(name string) {
		if name != kind || len(r.noteText) >= media.MaxEntries {
			return
		}
		id, t := s.attr("id"), s.attr("type")
		if kind == "comment" {
			r.authors[id] = s.attr("author")
		}
		if text := oneLine(r.inner(s)); text != "" && t != "separator" && t != "continuationSeparator" {
			r.noteText[kind+id] = text
		}
	})
	return s.end()
}
