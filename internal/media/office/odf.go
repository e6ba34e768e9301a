package office

import "github.com/fsmcp/fsmcp/internal/media"

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
	s := w.scan("styles.xml")
	if r.s = s; s.root() != "" {
		s.each(r.stylesIn)
	}
	if err := s.end(); err != nil {
		return nil, err
	}
	r.s = w.scan("content.xml")
	return r, nil
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
	if s.root() == "" && s.end() == nil {
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
