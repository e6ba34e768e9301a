package notebook

import (
	"errors"
	"fmt"
)

// An ErrorClass is the class of an error of Parse.
type ErrorClass int

// The faults, in the order in which a file is checked.
const (
	NotUTF8     ErrorClass = iota // bytes that are not UTF-8
	Malformed                     // not JSON
	BadEscape                     // an invalid escape in a string
	TooDeep                       // nested deeper than MaxDepth
	NotNotebook                   // JSON of another shape
	BadVersion                    // a notebook of a version this package does not know
)

// A ParseError says why and where a file is not a notebook.
type ParseError struct {
	Fault  ErrorClass
	Offset int64  // the byte of the file
	What   string // a plain fact: "unexpected end"
}

func (e *ParseError) Error() string { return fmt.Sprintf("%s at byte %d", e.What, e.Offset) }

// A Miss is the reason why a name finds no cell.
type Miss int

// The misses.
const (
	NoSuchIndex Miss = iota // a cell-N past the last cell
	NoSuchID                // no cell has that id
	Twice                   // several cells have that id
)

// A CellError is a name that finds no cell or several.
type CellError struct {
	Miss  Miss
	Name  string   // as the caller gave it
	Names []string // at most 20 names that find a cell: of all cells, or of those that share the id
	Count int      // the number of cells, or of those that share the id
	// Hidden counts the cells that share the id and that no name finds: their cell-N are
	// the ids of other cells.
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

// A VersionError is an edit of a notebook of a version that is shown only.
type VersionError struct{ Major, Minor int }

func (e *VersionError) Error() string {
	return fmt.Sprintf("nbformat %d.%d is not edited", e.Major, e.Minor)
}

// ErrType is a cell type other than code, markdown and raw.
var ErrType = errors.New("unknown cell type")

// ErrSource is a new source that is not UTF-8.
var ErrSource = errors.New("source is not UTF-8")
