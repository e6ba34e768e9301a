package office

import (
	"strings"

	"github.com/fsmcp/fsmcp/internal/media"
)

// presentation reads the slides of a presentation whose main part has begun.
func (w *writer) presentation(s *scanner, main string) error {
	var ids []string
	s.each(func(name string) {
		if name != "sldIdLst" {
			return
		}
		s.each(func(name string) {
			if name == "sldId" && len(ids) <= media.MaxSections {
				ids = append(ids, s.relation("id"))
			}
		})
	})
	if err := s.end(); err != nil {
		return err
	}
	rels, err := w.relations(main)
	if err != nil {
		return err
	}
	for _, id := range ids {
		if err := w.begin(media.Section{}); err != nil {
			return err
		}
		if err := w.slide(rels[id].target); err != nil {
			return err
		}
	}
	return w.stop
}

// slide writes the texts, notes and comments of a slide.
func (w *writer) slide(part string) error {
	if part == "" {
		return nil
	}
	rels, err := w.relations(part)
	if err != nil {
		return err
	}
	s := w.scan(part)
	s.root()
	if show := s.attr("show"); show != "" && !isOn(show) {
		w.now().Hidden = true
	}
	d := &shapes{writer: w, s: s, rels: rels}
	s.each(d.shape)
	if err := s.end(); err != nil {
		return err
	}
	return follow(rels, map[string]func(part string) error{"notesSlide": w.notes, "comments": w.slideComments, "diagramData": w.diagram})
}

// notes writes the notes of a slide, in a part of their own, and the texts that stand beside them.
func (w *writer) notes(part string) error {
	s := w.scan(part)
	s.root()
	w.named("Notes:", gather(func(write func(string)) {
		d := &shapes{writer: w, s: s, only: "body", write: write}
		s.each(d.shape)
	}))
	return s.end()
}

// named writes a text below a line that names it, unless it is blank.
func (w *writer) named(name, text string) {
	if strings.TrimSpace(text) != "" {
		w.line(name)
		w.line(text)
	}
}

// slideComments writes the comments on a slide.
func (w *writer) slideComments(part string) error {
	s := w.scan(part)
	s.root()
	var walk func(name string)
	walk = func(name string) {
		switch name {
		case "text", "txBody":
			if text := oneLine(s.textOf(maxString)); text != "" {
				w.line("[comment] " + text)
			}
		case "pos", "extLst":
		default:
			s.each(walk)
		}
	}
	s.each(walk)
	return s.end()
}

// diagram writes the texts of a diagram.
func (w *writer) diagram(part string) error {
	s := w.scan(part)
	s.root()
	d := &shapes{writer: w, s: s, prefix: "[diagram] "}
	s.each(d.shape)
	return s.end()
}

// shapes writes the texts and pictures of the shapes of a drawing.
type shapes struct {
	*writer
	s      *scanner
	rels   map[string]relationship
	prefix string       // of each line
	only   string       // the kind of the placeholders that are written, beside what is none; "" is all
	write  func(string) // nil writes lines of the section

	kind   string // of the placeholder of the shape
	isHeld bool   // it is a placeholder
	hidden bool   // the shape
}

// out writes a line.
func (d *shapes) out(line string) {
	switch {
	case strings.TrimSpace(line) == "":
		return
	case d.hidden:
		line = "[hidden: " + line + "]"
	}
	if d.write != nil {
		d.write(line)
		return
	}
	d.line(d.prefix + line)
}

// shape reads an element of a drawing.
func (d *shapes) shape(name string) {
	s := d.s
	switch name {
	case "sp", "pic", "graphicFrame", "cxnSp":
		outer := *d
		d.kind, d.isHeld = "", false
		description := ""
		s.each(func(name string) { d.inShape(name, &description) })
		d.kind, d.isHeld, d.hidden = outer.kind, outer.isHeld, outer.hidden
	case "grpSp":
		outer := d.hidden
		s.each(d.shape)
		d.hidden = outer
	case "cNvPr":
		d.hidden = d.hidden || s.attr("hidden") != "" && isOn(s.attr("hidden"))
	case "txBody", "t": // t is the text of a point of a diagram
		d.body()
	case "Fallback", "extLst", "timing", "transition":
	default:
		s.each(d.shape)
	}
}

// inShape reads a part of a shape.
func (d *shapes) inShape(name string, description *string) {
	s := d.s
	switch name {
	case "cNvPr":
		d.hidden = d.hidden || s.attr("hidden") != "" && isOn(s.attr("hidden"))
		*description = s.attr("descr")
	case "ph":
		d.isHeld, d.kind = true, s.attr("type")
	case "blip":
		d.blip(*description)
	case "txBody":
		if d.only == "" || d.kind == d.only || !d.isHeld {
			d.body()
		}
	case "tbl":
		d.table()
	case "chart":
		d.out("[chart]")
	case "Fallback", "extLst":
	default:
		s.each(func(name string) { d.inShape(name, description) })
	}
}

// blip writes the mark of a picture.
func (d *shapes) blip(description string) {
	if d.only != "" {
		return
	}
	part := ""
	if rel, known := d.rels[d.s.relation("embed")]; known && !rel.external {
		part = rel.target
	}
	from := len(d.doc.Pictures)
	mark := d.picture(part, description)
	d.place(from)
	d.out(mark)
}

// body writes the paragraphs of a shape. The title is a heading; the items of a body are a list.
func (d *shapes) body() {
	s := d.s
	s.each(func(name string) {
		if name != "p" {
			return
		}
		text, level := d.paragraph()
		switch {
		case strings.TrimSpace(text) == "":
			return
		case d.kind == "title", d.kind == "ctrTitle":
			text = "# " + oneLine(text)
		case d.isHeld && d.only == "" && (d.kind == "" || d.kind == "body" || d.kind == "obj"):
			text = strings.Repeat("  ", level) + "- " + text
		}
		d.out(text)
	})
}

// paragraph returns the text of a paragraph and its level.
func (d *shapes) paragraph() (text string, level int) {
	s := d.s
	var b strings.Builder
	var walk func(name string)
	walk = func(name string) {
		switch name {
		case "pPr":
			level = min(max(s.number("lvl", 0), 0), maxLevel)
		case "t":
			if b.Len() < maxString {
				b.WriteString(s.textOf(maxString))
			}
		case "br":
			b.WriteByte('\n')
		case "rPr", "endParaRPr", "Fallback":
		default:
			s.each(walk)
		}
	}
	s.each(walk)
	return b.String(), level
}

// table writes the rows of a table.
func (d *shapes) table() {
	s := d.s
	s.each(func(name string) {
		if name != "tr" {
			return
		}
		var cells []string
		s.each(func(name string) {
			if name != "tc" || len(cells) >= maxCells {
				return
			}
			cells = append(cells, inRow(gather(func(write func(string)) {
				cell := &shapes{writer: d.writer, s: s, write: write}
				s.each(cell.shape)
			})))
		})
		d.out(strings.Join(cells, " | "))
	})
}
