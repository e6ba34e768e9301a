package search

import (
	"context"
	"errors"
	"slices"
	"sort"
	"strconv"
	"strings"

	"github.com/fsmcp/fsmcp/internal/fsys"
	"github.com/fsmcp/fsmcp/internal/media"
	"github.com/fsmcp/fsmcp/internal/search/filter"
)

// Documents gives the text of a PDF, or of what may be an Office document. The result is not
// changed. The error is media.ErrNotOffice for another archive.
type Documents interface {
	Text(ctx context.Context, f *fsys.File, pdf bool) (*media.Document, error)
}

// nameOfFile is the name of the file that a tally is of.
func (t *tally) nameOfFile() string {
	switch {
	case t.entry != nil:
		return t.entry.name
	case t.result.start != nil:
		return t.result.start.Path
	}
	return t.result.rel
}

// document searches the text of a document, if that is to be searched, or else counts it. It
// reports whether nothing is left to search.
func (s *fileSearch) document(f *fsys.File, head []byte, r *room) bool {
	name := s.tally.nameOfFile()
	pdf, office := filter.Document(name, head)
	selected := s.g.everyDocument || s.g.filter.SelectsDocument(name)
	if !pdf && !office && s.g.everyDocument {
		office = filter.Archive(head)
	}
	if !pdf && !office {
		return false
	}
	if !selected || s.run.documents == nil {
		s.g.leftOut(pdf)
		return false
	}
	s.tally.setGap(&DocumentGap{PDF: pdf, Err: context.DeadlineExceeded}) // if the search is over before
	doc, err := s.run.documents.Text(s.run.context, f, pdf)
	switch {
	case errors.Is(err, media.ErrNotOffice):
		s.tally.setGap(nil)
		return false
	case err != nil:
		s.tally.setGap(&DocumentGap{PDF: pdf, Err: err})
		return true
	}
	s.tally.setGap(&DocumentGap{PDF: pdf, Cut: media.CutByTime})
	s.searchDocument(doc, r)
	if !s.run.stopped.Load() {
		s.tally.searched.Store(f.Opened().Size)
	}
	return true
}

// searchDocument searches the text of a document. Nothing of it is recorded as shown.
func (s *fileSearch) searchDocument(doc *media.Document, r *room) {
	body, at := placesOf(doc)
	s.lines.place = at
	s.searchBody(body, nil, r)
	if s.run.stopped.Load() {
		return
	}
	if s.tally.setGap(nil); doc.Cut != "" && !s.over() {
		s.tally.setGap(&DocumentGap{PDF: doc.Kind == media.Pages, Cut: doc.Cut, Pages: len(doc.Sections), Count: doc.Count})
	}
	if doc.Kind == media.Pages {
		for _, section := range doc.Sections {
			if section.Lines == 0 {
				s.g.scans.Add(1)
			}
		}
	}
}

// placesOf returns the lines of a document that are searched, and the place of each by its number;
// nil means that the number is the place. Numbers are asked for in rising order.
func placesOf(doc *media.Document) (body []byte, place func(line int) string) {
	switch doc.Kind {
	case media.Spreadsheet:
		c := &cellPlaces{doc: doc, line: 1}
		return cellValues(doc), c.place
	case media.TextDocument:
		return []byte(doc.Body), nil
	}
	mark := "s"
	if doc.Kind == media.Pages {
		mark = "p"
	}
	ends, line := make([]int, len(doc.Sections)), 0 // the last line of each section
	for i, s := range doc.Sections {
		line += s.Lines
		ends[i] = line
	}
	return []byte(doc.Body), func(line int) string {
		return mark + strconv.Itoa(sort.SearchInts(ends, line)+1)
	}
}

// cellValues returns the values of the cells of all sheets, each on a line.
func cellValues(doc *media.Document) []byte {
	body := make([]byte, 0, len(doc.Body))
	for row := range strings.Lines(doc.Body) {
		for rest := strings.TrimSuffix(row, "\n"); rest != ""; {
			var value string
			_, value, rest = media.NextCell(rest)
			body = append(append(body, value...), '\n')
		}
	}
	return body
}

// cellPlaces finds the cells of a document by their numbers.
type cellPlaces struct {
	doc     *media.Document
	section int
	passed  int // bytes of the body in the sections before
	at      int // the byte behind the row in hand
	line    int // the number of the next cell
	row     string
	name    string // of the last cell
}

func (c *cellPlaces) place(line int) string {
	for c.line <= line && c.next() {
	}
	return c.name
}

// next goes to the next cell.
func (c *cellPlaces) next() bool {
	for c.row == "" {
		if c.at >= len(c.doc.Body) {
			return false
		}
		row, _, _ := strings.Cut(c.doc.Body[c.at:], "\n")
		for c.section < len(c.doc.Sections)-1 && c.at >= c.passed+c.doc.Sections[c.section].Size {
			c.passed += c.doc.Sections[c.section].Size
			c.section++
		}
		c.row, c.at = row, c.at+len(row)+1
	}
	var cell string
	cell, _, c.row = media.NextCell(c.row)
	c.name = sheetName(c.doc.Sections[c.section].Name) + "!" + cell
	c.line++
	return true
}

// sheetName quotes the name of a sheet as formulas do.
func sheetName(name string) string {
	plain := name != "" && strings.IndexFunc(name, func(r rune) bool {
		return r != '_' && r != '.' && (r < '0' || r > '9') && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z') && r < 0x80
	}) < 0
	if plain {
		return name
	}
	return "'" + strings.ReplaceAll(name, "'", "''") + "'"
}

// leftOut counts a document whose text is not searched.
func (g *tallies) leftOut(pdf bool) {
	if pdf {
		g.pdfs.Add(1)
	} else {
		g.office.Add(1)
	}
}

// setGap notes what is not searched of the document at hand; nil: nothing.
func (t *tally) setGap(gap *DocumentGap) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.gap = gap
}

// addGap adds what is not searched of a document.
func (g *tallies) addGap(gap DocumentGap) {
	g.mu.Lock()
	defer g.mu.Unlock()
	at, _ := slices.BinarySearchFunc(g.gaps, gap.Path, func(d DocumentGap, path string) int { return strings.Compare(d.Path, path) })
	g.gaps = slices.Insert(g.gaps, at, gap)
	if len(g.gaps) > maxNamed {
		g.gaps, g.moreGaps = g.gaps[:maxNamed], g.moreGaps+1
	}
}
