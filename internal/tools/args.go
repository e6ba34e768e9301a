package tools

import (
	"cmp"
	"fmt"

	"github.com/fsmcp/fsmcp/internal/phrase"
)

// The tools' names, as published.
const (
	nameRead         = "Read"
	nameWrite        = "Write"
	nameEdit         = "Edit"
	nameNotebookEdit = "NotebookEdit"
	nameMove         = "Move"
	nameDelete       = "Delete"
	nameMultiEdit    = "MultiEdit"
)

// ReadArgs are the arguments of Read.
type ReadArgs struct {
	FilePath string `json:"file_path"`
	Offset   *int   `json:"offset"`
	Limit    *int   `json:"limit"`
	Column   *int   `json:"column"`
	CellID   string `json:"cell_id"`
	Region   string `json:"region"`
	Pages    string `json:"pages"`
	Large    bool   `json:"allow_large"`
}

// Target is the file argument as it arrived.
func (a *ReadArgs) Target() string { return a.FilePath }

// WriteArgs are the arguments of Write.
type WriteArgs struct {
	FilePath string `json:"file_path"`
	Content  string `json:"content"`
	Append   bool   `json:"append"`
}

// Target is the file argument as it arrived.
func (a *WriteArgs) Target() string { return a.FilePath }

// Intent tells the user what the call is about to do.
func (a *WriteArgs) Intent() string {
	verb := "writes"
	if a.Append {
		verb = "appends"
	}
	return fmt.Sprintf("It %s %s (%s).", verb, phrase.LinesOf(a.Content), phrase.Bytes(int64(len(a.Content))))
}

// EditArgs are the arguments of Edit.
type EditArgs struct {
	FilePath   string `json:"file_path"`
	OldString  string `json:"old_string"`
	NewString  string `json:"new_string"`
	ReplaceAll bool   `json:"replace_all"`
	Line       int    `json:"line"`
}

// Target is the file argument as it arrived.
func (a *EditArgs) Target() string { return a.FilePath }

// Intent tells the user what the call is about to do.
func (a *EditArgs) Intent() string {
	every := ""
	if a.ReplaceAll {
		every = ", wherever that stands"
	}
	return fmt.Sprintf("It puts %s in the place of %s%s.", phrase.LinesOf(a.NewString), phrase.LinesOf(a.OldString), every)
}

// NotebookEditArgs are the arguments of NotebookEdit. NewSource is nil if it
// was not given: "" is an empty cell.
type NotebookEditArgs struct {
	NotebookPath string  `json:"notebook_path"`
	NewSource    *string `json:"new_source"`
	CellID       string  `json:"cell_id"`
	CellType     string  `json:"cell_type"`
	EditMode     string  `json:"edit_mode"`
}

// Target is the file argument as it arrived.
func (a *NotebookEditArgs) Target() string { return a.NotebookPath }

// Intent tells the user what the call is about to do.
func (a *NotebookEditArgs) Intent() string {
	switch a.mode() {
	case modeDelete:
		return fmt.Sprintf("It deletes the cell %s.", phrase.Quote(a.CellID))
	case modeInsert:
		return fmt.Sprintf("It inserts a cell of %s.", phrase.LinesOf(*a.NewSource))
	}
	return fmt.Sprintf("It replaces the cell %s by %s.", phrase.Quote(a.CellID), phrase.LinesOf(*a.NewSource))
}

// The edit modes.
const (
	modeReplace = "replace"
	modeInsert  = "insert"
	modeDelete  = "delete"
)

// mode is edit_mode with its default. The arguments stay as they came: a call that
// is made again after a question is told by them.
func (a *NotebookEditArgs) mode() string { return cmp.Or(a.EditMode, modeReplace) }
