package notebook

import (
	"errors"
	"fmt"
)

// A Fault is the class of what keeps a file from being read as a notebook.
type Fault int

// The faults, in the order in which a file is checked.
const (
	NotUTF8     Fault = iota // bytes that are not UTF-8
	Malformed                // no JSON
	BadEscape                // an escape that JSON does not know
	TooDeep                  // nested deeper than MaxDepth
	NotNotebook              // JSON, but of another shape
	BadVersion               // a notebook of a version this package does not know
)

// A ParseError tells why and where a file is no notebook.
type ParseError struct {
	Fault  Fault
	Offset int64  // the byte of the file
	What   string // a plain fact: "unexpected end"
}

func (e *ParseError) Error() string { return fmt.Sprintf("%s at byte %d", e.What, e.Offset) }

// A Miss is why a name leads to no cell.
type Miss int

// The misses.
const (
	NoSuchIndex Miss = iota // a cell-N past the last cell
	NoSuchID                // no cell bears that id
	Twice                   // several cells bear that id
)

// A CellError is a name that does not lead to one cell.
type CellError struct {
	Miss  Miss
	Name  string   // as it was asked for
	Names []string // at most 20 that lead to a cell: of those that exist, or of those that share the id
	Count int      // how many cells the notebook has, or how many share the id
	// Hidden is how many of those that share the id no name leads to: their
	// cell-N are the ids of other cells.
	Hidden int
}

func (e *CellError) Error() string {
	switch e.Miss {
	case NoSuchIndex:
		return fmt.Sprintf("no cell %q among %d", e.Name, e.Count)
	case Twice:
		return fmt.Sprintf("%d cells have the id %q", e.Count, e.Name)
	}
	return fmt.Sprintf("no cell has the id %q", e.Name)
}

// A VersionError is an edit of a notebook that is only shown.
type VersionError struct{ Major, Minor int }

func (e *VersionError) Error() string {
	return fmt.Sprintf("nbformat %d.%d is not edited", e.Major, e.Minor)
}

// ErrType is a cell type other than code, markdown and raw.
var ErrType = errors.New("unknown cell type")

// ErrSource is a new source that is not UTF-8.
var ErrSource = errors.New("source is not UTF-8")
