// Package refusal holds every code, slug and sentence that a model reads when a call
// of a tool fails. Facts go in: an error of another package, or the arguments of a
// function here. Out comes a *Refusal: what was wrong, with the path, and the next
// step.
//
// It decides nothing and looks at nothing. Words of another program or of a file get
// into a sentence only in a form that cannot pass for fsmcp's own.
package refusal

import "fmt"

// Slugs name the kinds of failure; they are stable and equal across tools (source: the
// specification of the tools, "Error codes").
const (
	SlugDenied        = "denied"
	SlugNotFound      = "not_found"
	SlugNotRead       = "not_read"
	SlugPartlyRead    = "partly_read"
	SlugModified      = "modified"
	SlugBinary        = "binary"
	SlugSpecialFile   = "special_file"
	SlugTooLarge      = "too_large"
	SlugTooManyTokens = "too_many_tokens"
	SlugBadArgument   = "bad_argument"
	SlugNotUnique     = "not_unique"
	SlugNoMatch       = "no_match"
	SlugNoChange      = "no_change"
	SlugExists        = "exists"
	SlugIsDirectory   = "is_directory"
	SlugNotebook      = "notebook"
	SlugNotNotebook   = "not_notebook"
	SlugNoSuchCell    = "no_such_cell"
	SlugBrokenFile    = "broken_file"
	SlugNotEncodable  = "not_encodable"
	SlugIO            = "io"
	SlugBusy          = "busy"
	SlugReadOnly      = "read_only"
	SlugPlanMode      = "plan_mode"
	SlugHook          = "hook"
)

// Refusal is a failure with its words. It is an error, so that a plan can return it.
type Refusal struct {
	Slug string
	Text string
	code int // 0: by the table
}

// Error implements error.
func (r *Refusal) Error() string { return r.Text }

// Code returns the number of the failure in the table of a tool: the same slug has
// another number in another tool.
func (r *Refusal) Code(tool string) int {
	if r.code != 0 {
		return r.code
	}
	return codeOf(tool, r.Slug)
}

func refuse(slug, format string, a ...any) *Refusal {
	return &Refusal{Slug: slug, Text: fmt.Sprintf(format, a...)}
}

// refuseAs is refuse with a number that is not the slug's own.
func refuseAs(code int, slug, format string, a ...any) *Refusal {
	return &Refusal{Slug: slug, Text: fmt.Sprintf(format, a...), code: code}
}

// codeOf is the table of error codes.
func codeOf(tool, slug string) int {
	byTool := func(read, write, edit, notebookEdit int) int {
		switch tool {
		case "Read", "Glob", "Grep":
			return read
		case "Write":
			return write
		case "Edit":
			return edit
		}
		return notebookEdit
	}
	switch slug {
	case SlugDenied:
		return byTool(1, 1, 2, 11)
	case SlugNotFound:
		return byTool(2, 19, 4, 19)
	case SlugNotRead, SlugPartlyRead:
		return byTool(12, 2, 6, 9)
	case SlugModified:
		return byTool(21, 3, 7, 10)
	case SlugExists:
		return 3
	case SlugNotebook:
		return byTool(8, 18, 5, 18)
	case SlugNotNotebook:
		return 1
	case SlugBinary:
		return byTool(4, 18, 18, 18)
	case SlugTooLarge, SlugTooManyTokens:
		return byTool(6, 6, 10, 10)
	case SlugBrokenFile:
		return byTool(8, 8, 8, 6)
	case SlugIsDirectory:
		return byTool(9, 9, 20, 20)
	case SlugNoChange:
		return 1
	case SlugNoMatch, SlugNoSuchCell:
		return 8
	case SlugNotUnique:
		return 9
	case SlugIO:
		return byTool(11, 11, 11, 21)
	case SlugPlanMode:
		return 13
	case SlugReadOnly:
		return 14
	case SlugHook:
		return 15
	case SlugBusy:
		return 16
	case SlugNotEncodable:
		return 17
	case SlugSpecialFile:
		return 18
	}
	return 12
}
