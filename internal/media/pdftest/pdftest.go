// Package pdftest writes PDFs for tests and shows: the caller's objects, bound to a file.
// It looks into none of them, so that it can write files that no honest program would.
package pdftest

import (
	"bytes"
	"fmt"
	"strings"
)

// File is a PDF of objects, which are numbered from 1 in their order. The first one
// is the catalogue.
func File(objects ...string) []byte {
	var b bytes.Buffer
	b.WriteString("%PDF-1.7\n")
	var places []int
	for i, o := range objects {
		places = append(places, b.Len())
		fmt.Fprintf(&b, "%d 0 obj\n%s\nendobj\n", i+1, o)
	}
	table := b.Len()
	fmt.Fprintf(&b, "xref\n0 %d\n0000000000 65535 f \n", len(objects)+1)
	for _, at := range places {
		fmt.Fprintf(&b, "%010d 00000 n \n", at)
	}
	fmt.Fprintf(&b, "trailer<</Size %d/Root 1 0 R>>\nstartxref\n%d\n%%%%EOF\n", len(objects)+1, table)
	return b.Bytes()
}

// Stream is an object with a content, and what its dictionary says of it beside its
// length.
func Stream(dict, content string) string {
	return fmt.Sprintf("<<%s/Length %d>>\nstream\n%s\nendstream", dict, len(content), content)
}

// chapterPages is the number of pages of a chapter of Pages.
const chapterPages = 5

// Pages is a PDF of so many pages with those contents, whose font is F1, Helvetica,
// and with an outline that names every fifth page "Chapter 1" and so on. catalogue
// is written into the document's catalogue, behind the entries that every document has.
func Pages(count int, catalogue string, content func(page int) string) []byte {
	const first = 5 // the object of the first page; its content follows each
	chapters := (count + chapterPages - 1) / chapterPages
	outline := first + 2*count
	var kids strings.Builder
	for i := range count {
		fmt.Fprintf(&kids, "%d 0 R ", first+2*i)
	}
	objects := []string{
		fmt.Sprintf("<</Type/Catalog/Pages 2 0 R/Outlines 4 0 R%s>>", catalogue),
		fmt.Sprintf("<</Type/Pages/Count %d/Kids[%s]/MediaBox[0 0 595 842]>>", count, kids.String()),
		"<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>",
		fmt.Sprintf("<</Type/Outlines/First %d 0 R/Last %d 0 R/Count %d>>", outline, outline+chapters-1, chapters),
	}
	for i := range count {
		objects = append(objects,
			fmt.Sprintf("<</Type/Page/Parent 2 0 R/Resources<</Font<</F1 3 0 R>>>>/Contents %d 0 R>>", first+2*i+1),
			Stream("", content(i+1)))
	}
	for i := range chapters {
		next := ""
		if i+1 < chapters {
			next = fmt.Sprintf("/Next %d 0 R", outline+i+1)
		}
		objects = append(objects, fmt.Sprintf("<</Title(Chapter %d)/Parent 4 0 R/Dest[%d 0 R/Fit]%s>>", i+1, first+2*chapterPages*i, next))
	}
	return File(objects...)
}
