package office

import (
	"strings"

	"github.com/fsmcp/fsmcp/internal/media"
)

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
		r.named("Notes:", gather(func(write func(string)) {
			s.each(func(name string) {
				if class := s.attr("class"); class == "notes" || class == "" { // a box that is no placeholder has none
					r.shape(write)
				}
			})
		}))
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
