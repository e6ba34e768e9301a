package office

import (
	"strings"
	"unicode"

	"github.com/fsmcp/fsmcp/internal/media"
)

const (
	maxName     = 200   // bytes of a name in an answer
	maxPictures = 1_000 // of a document
	maxString   = 1 << 20
)

// writer writes the text of a document, section by section.
type writer struct {
	*archive
	doc     media.Document
	body    strings.Builder
	began   int // where the section begins in the body
	lines   int // of the section
	section bool
	numbers int // of the pictures
	edges   map[string]bool
}

func (w *writer) begins(kind media.DocumentKind, format string) {
	w.doc.Kind, w.doc.Format = kind, format
}

// begin begins a section, and ends the one before it.
func (w *writer) begin(s media.Section) error {
	w.endSection()
	if len(w.doc.Sections) >= media.MaxSections {
		return errFull
	}
	s.Name = short(s.Name)
	w.doc.Sections = append(w.doc.Sections, s)
	w.began, w.lines, w.section = w.body.Len(), 0, true
	return nil
}

// now is the section that is written.
func (w *writer) now() *media.Section { return &w.doc.Sections[len(w.doc.Sections)-1] }

func (w *writer) endSection() {
	if w.section {
		w.now().Size, w.now().Lines = w.body.Len()-w.began, w.lines
		w.section = false
	}
}

// short bounds a name, and takes out what would break a line.
func short(name string) string {
	name = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || r == '\u2028' || r == '\u2029' {
			return ' '
		}
		return r
	}, name)
	if len(name) > maxName {
		name = strings.ToValidUTF8(name[:maxName], "") + "…"
	}
	return name
}

// line writes a line, or several if the text has breaks. Nothing is written any more after the
// bound of the text.
func (w *writer) line(text string) {
	if w.stop != nil || w.body.Len()+len(text)+1 > media.MaxDocText {
		w.stop = errFull
		return
	}
	w.body.WriteString(text)
	w.body.WriteByte('\n')
	w.lines += strings.Count(text, "\n") + 1
}

// picture returns the mark of a picture for the line that is to be written, and notes where it
// will stand.
func (w *writer) picture(part, description string) string {
	w.numbers++
	if part != "" && len(w.doc.Pictures) < maxPictures {
		w.doc.Pictures = append(w.doc.Pictures, media.DocumentPicture{Part: part, Section: len(w.doc.Sections) - 1})
	}
	mark := "[picture"
	if description = oneLine(description); description != "" {
		mark += ": " + short(description)
	}
	return mark + "]"
}

// place notes that the pictures that have no line yet stand in the next line.
func (w *writer) place(from int) {
	for i := from; i < len(w.doc.Pictures); i++ {
		if w.doc.Pictures[i].Line == 0 {
			w.doc.Pictures[i].Line = w.lines + 1
		}
	}
}

// edge writes a header or footer, each text once.
func (w *writer) edge(kind, text string) {
	if text = oneLine(text); text != "" && !w.edges[kind+text] {
		w.edges[kind+text] = true
		w.line("[" + kind + "] " + text)
	}
}

// finish ends the document.
func (w *writer) finish() *media.Document {
	w.endSection()
	w.doc.Body = w.body.String()
	return &w.doc
}

// gather returns the lines that f writes, as one text.
func gather(f func(write func(string))) string {
	var all []string
	size := 0
	f(func(line string) {
		if size += len(line) + 1; size < maxString {
			all = append(all, line)
		}
	})
	return strings.Join(all, "\n")
}

// oneLine joins the lines of a text.
func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

// inRow returns a text as a cell holds it: breaks and tabs are written as \n and \t.
func inRow(text string) string {
	return rowEscapes.Replace(text)
}

var rowEscapes = strings.NewReplacer("\r\n", `\n`, "\n", `\n`, "\r", `\n`, "\t", `\t`, "\v", `\n`, "\f", `\n`, "\u2028", `\n`, "\u2029", `\n`, "\u0085", `\n`)
