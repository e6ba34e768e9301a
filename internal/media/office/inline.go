package office

import "strings"

// inline gathers the text of a paragraph, with marks around what was changed or is hidden.
type inline struct {
	b      strings.Builder
	mark   string // that is open
	change string // the mark of the change that is read
}

// text adds text, in the mark that it needs.
func (p *inline) text(text string, hidden bool) {
	if text == "" || p.b.Len() > maxString {
		return
	}
	mark := p.change
	if hidden {
		mark = strings.TrimPrefix(mark+", hidden", ", ")
	}
	if mark != p.mark {
		p.close(mark)
	}
	p.b.WriteString(text)
}

// close ends the mark that is open, and begins another one.
func (p *inline) close(next string) {
	if p.mark != "" {
		p.b.WriteString("]")
	}
	if p.mark = next; next != "" {
		p.b.WriteString("[" + next + ": ")
	}
}

// put adds a mark of its own, such as that of a picture.
func (p *inline) put(mark string) {
	p.close("")
	p.b.WriteString(mark)
}
