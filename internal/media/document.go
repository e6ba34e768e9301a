package media

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Limits of documents whose text is read (source: docs/media.md, "Office documents").
const (
	MaxOffice     = 33_554_432 // bytes
	MaxEntries    = 10_000     // of the archive
	MaxSections   = 2_000      // sheets or slides
	MaxDocPicture = 16 << 20   // bytes of a picture in a document
	MaxDocText    = 8 << 20    // bytes of text
)

// DocumentKind is the kind of a document, by its content.
type DocumentKind uint8

// The kinds.
const (
	NoDocument DocumentKind = iota
	TextDocument
	Spreadsheet
	Presentation
	Pages // a PDF
)

// Document is the text of a document. Body comes beside the JSON between the processes.
type Document struct {
	Kind DocumentKind
	// Format is the usual extension, such as docx.
	Format   string
	Sections []Section
	// Body holds the lines of all sections, each with a line feed. In that of a sheet a line is a
	// row: the cells that are not empty, as name, tab and value, joined by " | ".
	Body string `json:"-"`
	// Cut says why the end is missing, "" if all is there. Beside the reasons below, a reader of
	// Office documents has its own.
	Cut string
	// Count is the number of a PDF's pages, and Next the first one that is not in Sections; 0 if
	// none is left.
	Count, Next int
	// Pictures are in their order.
	Pictures []DocumentPicture
}

// Section is a sheet, a slide or a page, or all of a text document.
type Section struct {
	Name string // of the sheet
	// Rows and Columns are the filled extent of a sheet.
	Rows, Columns int
	Hidden        bool
	// HiddenColumns are the names of hidden columns, such as "C, F-H".
	HiddenColumns string
	Size          int // bytes of the section in Body
	Lines         int
}

// Why the end of a document is missing.
const (
	CutByTime    = "there was no time to read more"
	CutBySize    = "it has more text than is read"
	CutByFailure = "the program that reads it failed at the next page"
)

// StoppedEarly reports whether the end of a document is missing that another try may reach.
func (d *Document) StoppedEarly() bool { return d.Cut == CutByTime || d.Cut == CutByFailure }

// AddSection adds a section without a name, and its text to the body.
func (d *Document) AddSection(body *strings.Builder, text string) {
	var s Section
	if text = strings.TrimRight(text, "\n"); text != "" {
		body.WriteString(text)
		body.WriteByte('\n')
		s.Size, s.Lines = len(text)+1, strings.Count(text, "\n")+1
	}
	d.Sections = append(d.Sections, s)
}

// DocumentPicture is a picture in a document.
type DocumentPicture struct {
	Part    string // its name in the archive
	Section int    // its index
	Line    int    // of its mark in the section, from 1
}

// DocumentRequest asks for the text of a document, or for pictures of it.
type DocumentRequest struct {
	// Millis bounds the time: what was read by then is the result. 0: no bound.
	Millis int
	// From is the first page of a PDF to read.
	From int
	// Parts are the names of pictures of an Office document; nil asks for the text.
	Parts []string
}

// Facts about documents that are not read.
var (
	// ErrNotOffice: an archive is no Office document of the kinds that are read.
	ErrNotOffice = errors.New("the file is no Office document")
	// ErrOldOffice: the document is in the binary format of Office before 2007.
	ErrOldOffice = errors.New("the document is in the old binary format of Office")
)

// mayBeOffice reports whether a file that begins with these bytes may be an Office document: a
// ZIP archive, or the older container in which encrypted ones lie.
func mayBeOffice(head []byte) bool {
	return hasPrefix(head, "PK\x03\x04") || hasPrefix(head, "\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1")
}

// ParseSections returns the indices of the sections that a text names: a name, a number, a range
// of numbers such as "2-4" or "3-", or a list of these. "" names all. The error is a *PagesError.
func ParseSections(s string, names []string) ([]int, error) {
	var all []int
	add := func(from, to int) {
		for i := from; i <= to; i++ {
			all = append(all, i-1)
		}
	}
	count := len(names)
	if s == "" {
		add(1, count)
		return all, nil
	}
	if at := slices.Index(names, s); at >= 0 {
		return []int{at}, nil
	}
	for _, part := range strings.Split(s, ",") {
		part = strings.TrimSpace(part)
		if at := slices.Index(names, part); at >= 0 && part != "" {
			all = append(all, at)
			continue
		}
		from, to, open, ok := pageRange(part)
		switch {
		case !ok:
			return nil, &PagesError{fmt.Sprintf("%q is neither a name nor a number, nor a range such as \"2-4\"", part), count}
		case from > count:
			return nil, &PagesError{fmt.Sprintf("there is no number %d", from), count}
		case open:
			to = count
		case to < from:
			return nil, &PagesError{fmt.Sprintf("the range %s runs backwards", part), count}
		}
		add(from, min(to, count))
	}
	slices.Sort(all)
	return slices.Compact(all), nil
}

// NextCell returns the first cell of a row in the body of a sheet, its name and its value, and the
// rest of the row. A value holds no tab, so that the name before each tab is that of a cell.
func NextCell(row string) (name, value, rest string) {
	name, value, found := strings.Cut(row, "\t")
	if !found {
		return "", row, ""
	}
	name = name[strings.LastIndexByte(name, ' ')+1:] // behind the mark of a hidden row
	if next := strings.IndexByte(value, '\t'); next >= 0 {
		if at := strings.LastIndex(value[:next], " | "); at >= 0 {
			return name, value[:at], value[at+len(" | "):]
		}
	}
	return name, value, ""
}

func hasPrefix(b []byte, s string) bool { return len(b) >= len(s) && string(b[:len(s)]) == s }
