// Package refusal holds every code, slug and sentence that a model reads when a call of a
// tool fails: table.go has a row for each. New fills a row with facts. Of does it for the
// errors of other packages, and a few functions put a sentence together from parts. A refusal
// says what was wrong, with the path, and the next step.
//
// It decides nothing and looks at nothing. Words of another program or of a file get into a
// sentence only in a form that cannot pass for fsmcp's own.
package refusal

import (
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/fsmcp/fsmcp/internal/phrase"
)

// Slugs name the kinds of failure for programs. They are stable and equal across tools.
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
	SlugNotEmpty      = "not_empty"
	SlugNotKept       = "not_kept"
	SlugPartial       = "partial"
)

// Refusal is a failure with its words. It is an error, so that a plan can return it.
type Refusal struct {
	Slug string
	Text string
	code int // 0: by the table
}

// Error implements error.
func (r *Refusal) Error() string { return r.Text }

// With is the refusal with more text, below its own.
func (r *Refusal) With(more string) *Refusal {
	return &Refusal{r.Slug, r.Text + "\n" + more, r.code}
}

// Worded is the refusal with another text.
func (r *Refusal) Worded(text string) *Refusal { return &Refusal{r.Slug, text, r.code} }

// Code returns the number of the failure in the table of a tool: the same slug has
// another number in another tool.
func (r *Refusal) Code(tool string) int {
	if r.code != 0 {
		return r.code
	}
	return codeOf(tool, r.Slug)
}

// New returns the refusal of a row of the table, its verbs filled with facts.
func New(row string, facts ...any) *Refusal {
	for i, f := range facts {
		switch f := f.(type) {
		case string:
			facts[i] = words(f)
		case error:
			facts[i] = phrase.Cause(f)
		}
	}
	head, text, _ := strings.Cut(fmt.Sprintf(row, facts...), ": ")
	slug, number, _ := strings.Cut(head, " ")
	code, _ := strconv.Atoi(number)
	return &Refusal{Slug: slug, Text: text, code: code}
}

// words is a string among the facts of a row.
type words string

// Format implements fmt.Formatter: see the head of the table.
func (w words) Format(s fmt.State, verb rune) {
	text := string(w)
	most, bounded := s.Precision()
	switch {
	case verb == 'q' && bounded:
		text = phrase.QuoteAtMost(text, most)
	case verb == 'q':
		text = phrase.Quote(text)
	case bounded:
		text = phrase.Cut(text, most)
	}
	_, _ = io.WriteString(s, text)
}

// codes is the table of error codes: the numbers of Read, Write, Edit and NotebookEdit. Glob
// and Grep have Read's; MultiEdit, Move and Delete have Edit's.
var codes = map[string][4]int{
	SlugDenied:        {1, 1, 2, 11},
	SlugNotFound:      {2, 19, 4, 19},
	SlugNotRead:       {12, 2, 6, 9},
	SlugPartlyRead:    {12, 2, 6, 9},
	SlugModified:      {21, 3, 7, 10},
	SlugExists:        {3, 3, 3, 3},
	SlugBadArgument:   {12, 12, 12, 12},
	SlugNotebook:      {8, 18, 5, 18},
	SlugNotNotebook:   {1, 1, 1, 1},
	SlugBinary:        {4, 18, 18, 18},
	SlugTooLarge:      {6, 6, 10, 10},
	SlugTooManyTokens: {6, 6, 10, 10},
	SlugBrokenFile:    {8, 8, 8, 6},
	SlugIsDirectory:   {9, 9, 20, 20},
	SlugNoChange:      {1, 1, 1, 1},
	SlugNoMatch:       {8, 8, 8, 8},
	SlugNoSuchCell:    {12, 8, 8, 8},
	SlugNotUnique:     {9, 9, 9, 9},
	SlugIO:            {11, 11, 11, 21},
	SlugPlanMode:      {13, 13, 13, 13},
	SlugReadOnly:      {14, 14, 14, 14},
	SlugHook:          {15, 15, 15, 15},
	SlugBusy:          {16, 16, 16, 16},
	SlugNotEncodable:  {17, 17, 17, 17},
	SlugSpecialFile:   {18, 18, 18, 18},
	SlugNotEmpty:      {22, 22, 22, 22},
	SlugNotKept:       {23, 23, 23, 23},
	SlugPartial:       {24, 24, 24, 24},
}

// codeOf returns the number of a slug in the table of a tool.
func codeOf(tool, slug string) int {
	row := codes[slug]
	switch tool {
	case "Read", "Glob", "Grep":
		return row[0]
	case "Write":
		return row[1]
	case "Edit", "MultiEdit", "Move", "Delete":
		return row[2]
	}
	return row[3]
}
