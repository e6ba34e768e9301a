package tools

import "cmp"

// The tools' names, as published.
const (
	nameRead         = "Read"
	nameWrite        = "Write"
	nameEdit         = "Edit"
	nameNotebookEdit = "NotebookEdit"
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
}

// Target is the file argument as it arrived.
func (a *ReadArgs) Target() string { return a.FilePath }

// WriteArgs are the arguments of Write.
type WriteArgs struct {
	FilePath string `json:"file_path"`
	Content  string `json:"content"`
}

// Target is the file argument as it arrived.
func (a *WriteArgs) Target() string { return a.FilePath }

// EditArgs are the arguments of Edit.
type EditArgs struct {
	FilePath   string `json:"file_path"`
	OldString  string `json:"old_string"`
	NewString  string `json:"new_string"`
	ReplaceAll bool   `json:"replace_all"`
}

// Target is the file argument as it arrived.
func (a *EditArgs) Target() string { return a.FilePath }

// NotebookEditArgs are the arguments of NotebookEdit. NewSource is nil where it
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

// The edit modes.
const (
	modeReplace = "replace"
	modeInsert  = "insert"
	modeDelete  = "delete"
)

// mode is edit_mode with its default. The arguments stay as they came: a call that
// is made again after a question is told by them.
func (a *NotebookEditArgs) mode() string { return cmp.Or(a.EditMode, modeReplace) }
