package media

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Limits of what is read of a PDF (source: docs/media.md, "PDFs").
const (
	MaxPDF = 33_554_432 // bytes
	// WholePages bounds the pages that are shown if none are named, MostPages the pages
	// that a call may name.
	WholePages = 10
	MostPages  = 20
	// PagePictures says which pages come with a picture.
	PagePictures = 7
	// DrawFor is the time in which the pages of an answer are to be drawn: less than a
	// worker's deadline.
	DrawFor = 7 * time.Second
	// WholeDocument is the largest PDF that is handed on as one.
	WholeDocument = 5_767_168 // bytes
)

// PageSize is a form of a page's picture: its longer side in pixels, and the qualities of
// the JPEG, the best first.
type PageSize struct {
	Side      int
	Qualities []int
}

// PageSizes returns the forms of a page's picture, the best first. Pages with too little room
// use later ones. All models take a picture of 1568 pixels unscaled (docs/media.md).
func PageSizes() []PageSize { return []PageSize{{1568, []int{80, 60, 45}}, {1176, []int{45}}} }

// PagesError says why a text names no pages of a document.
type PagesError struct {
	Reason string
	Count  int // the document's pages
}

func (e *PagesError) Error() string { return e.Reason }

// PageSet is which pages of a document are asked for.
type PageSet struct {
	Pages []int // counted from 1, ascending, each once
	// Clipped: an end was behind the last page. Next: with an open end, the first
	// page that is not shown any more; 0 if none is left.
	Clipped bool
	Next    int
}

// ParsePages reads "3", "1-5", "7-" or a list of these for a document of so many
// pages. Empty means all pages, if there are at most WholePages. The error is a *PagesError.
func ParsePages(s string, count int) (PageSet, error) {
	wrong := func(format string, a ...any) (PageSet, error) {
		return PageSet{}, &PagesError{fmt.Sprintf(format, a...), count}
	}
	if s == "" {
		if count > WholePages {
			return wrong("more than %d pages need pages, such as \"1-%d\"", WholePages, min(count, MostPages))
		}
		s = "1-"
	}
	var set PageSet
	for _, part := range strings.Split(s, ",") {
		from, to, open, ok := pageRange(part)
		switch {
		case !ok:
			return wrong("%q is no page range; say \"3\", \"1-5\", \"7-\" or a list of these", strings.TrimSpace(part))
		case from > count:
			first, _, _ := strings.Cut(part, "-")
			return wrong("page %s is behind the last page", strings.TrimSpace(first))
		case open:
			if to = min(count, from+MostPages-1); to < count {
				set.Next = to + 1
			}
		case to < from:
			return wrong("the range %s runs backwards", strings.TrimSpace(part))
		case to > count:
			to, set.Clipped = count, true
		}
		if to-from >= MostPages {
			return wrong("at most %d pages are shown a call", MostPages)
		}
		for p := from; p <= to; p++ {
			set.Pages = append(set.Pages, p)
		}
	}
	slices.Sort(set.Pages)
	if set.Pages = slices.Compact(set.Pages); len(set.Pages) > MostPages {
		return wrong("at most %d pages are shown a call", MostPages)
	}
	return set, nil
}

// pageRange reads one part of a list. open: it has no end.
func pageRange(s string) (from, to int, open, ok bool) {
	first, last, ranged := strings.Cut(strings.TrimSpace(s), "-")
	from, err := pageNumber(first)
	if err != nil {
		return 0, 0, false, false
	}
	switch {
	case !ranged:
		return from, from, false, true
	case strings.TrimSpace(last) == "":
		return from, 0, true, true
	}
	to, err = pageNumber(last)
	return from, to, false, err == nil
}

// beyondPages is more than the pages of any document.
const beyondPages = 1 << 30

func pageNumber(s string) (int, error) {
	n, err := strconv.Atoi(strings.TrimSpace(s))
	if errors.Is(err, strconv.ErrRange) || n > beyondPages {
		n, err = beyondPages, nil // which is clipped, or behind the last page, like any other
	}
	if err != nil || n < 1 || strings.HasPrefix(strings.TrimSpace(s), "+") {
		return 0, errors.New("no page number")
	}
	return n, nil
}

// Spoken writes pages as ranges, as ParsePages reads them.
func Spoken(pages []int) string {
	var out []string
	for i := 0; i < len(pages); {
		k := i
		for k+1 < len(pages) && pages[k+1] == pages[k]+1 {
			k++
		}
		if k == i {
			out = append(out, strconv.Itoa(pages[i]))
		} else {
			out = append(out, fmt.Sprintf("%d-%d", pages[i], pages[k]))
		}
		i = k + 1
	}
	return strings.Join(out, ",")
}

// Progress receives done of total, in pages or seconds, and the current step; total is 0
// while it is unknown.
type Progress func(done, total int64, what string)

// PDFRequest asks for pages of a document.
type PDFRequest struct {
	Pages string // as given
	// Pictures bounds the pages with a picture: the first ones. With Choose, pages of text
	// alone are left out, unless a page is named by itself.
	Pictures int
	Choose   bool
	// Room bounds the whole answer in characters, pictures in base64; Text what
	// of it is text.
	Room, Text int
	// DrawFor bounds the time for drawing pages; 0: without bound. A page is not begun if
	// it would end later, judged by the longest before it. One is always drawn.
	DrawFor time.Duration
	// Document asks for the pages as a PDF of their own, of at most so many bytes.
	Document int
}

// PDFResult is the result of reading a document. Texts, pictures and the document come
// beside the JSON between the processes.
type PDFResult struct {
	Count       int
	Set         PageSet
	Pages       []PDFPage
	Attachments []string
	// MoreAttached is the number of further attachments.
	MoreAttached int
	// Document is the PDF, or a PDF of the pages, if it was asked for. If it is nil, TooLarge
	// says that it has too many bytes; else the pages could not be cut out.
	Document []byte `json:"-"`
	TooLarge bool
	// Behind is the first page whose text had no room any more; 0: none.
	Behind int
	// OutOfTime says that DrawFor ended before all pictures were drawn.
	OutOfTime bool
}

// PDFPage is one page. Picture is a JPEG; nil if there was no room for it, or if the page is text
// alone (Plain). Coarse: there was no room for the best picture.
type PDFPage struct {
	Number        int
	Text          string `json:"-"`
	Cut           int    // bytes of the text that had no room
	Picture       []byte `json:"-"`
	Plain, Coarse bool
}

// Chapter is an entry of an outline's first level.
type Chapter struct {
	Title string
	Page  int // counted from 1; 0 if it leads to none
}

// OutlineError is a *PagesError of a document that has an outline to choose by.
type OutlineError struct {
	PagesError
	Outline []Chapter
	More    int // chapters behind these
}

func (e *OutlineError) Unwrap() error { return &e.PagesError }

// Facts about PDFs that are not read.
var (
	ErrLocked = errors.New("the document is encrypted with a password")
	ErrNoPDF  = errors.New("this worker reads neither PDFs nor Office documents")
)
