package tools

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/fsmcp/fsmcp/internal/fsys"
	"github.com/fsmcp/fsmcp/internal/state"
	"github.com/fsmcp/fsmcp/internal/toolcall"
)

// ignore drops the arguments that the kind of the file has no use for, and notes
// which of them were given: models fill in whatever a tool offers.
func (r *reading) ignore(kind string, useless ...string) {
	a := r.args
	present := map[string]bool{
		"offset": a.Offset != nil, "limit": a.Limit != nil, "column": a.Column != nil,
		"cell_id": a.CellID != "", "region": a.Region != "", "pages": a.Pages != "", "allow_large": a.Large,
	}
	given := slices.DeleteFunc(useless, func(name string) bool { return !present[name] })
	if slices.Contains(given, "cell_id") {
		r.want.cell = ""
	}
	if len(given) > 0 {
		r.target.Remarks = append(r.target.Remarks, fmt.Sprintf("(Ignored, because the file is %s: %s.)", kind, strings.Join(given, ", ")))
	}
}

// repeated reports whether the answer can be that nothing changed since the same was
// served before. sum is of the bytes to be shown; zero if the record's text proves them.
func (r *reading) repeated(sum state.Sum) bool {
	return r.tool.preferences().Dedup && r.call.Session.Files.Stub(r.target.Path, r.want.view(), sum)
}

// steady returns the outcome of decoding a file elsewhere, if the file did not change
// meanwhile. Half of one picture and half of another may well decode; and a file that is only
// being written is not damaged. (A file that is renamed or linked has the bytes it had.)
func steady(f *fsys.File, before fsys.Stamp, out toolcall.Outcome) toolcall.Outcome {
	if after, err := f.Stamp(); err == nil && (after.Size != before.Size || after.Mtime != before.Mtime) {
		return toolcall.Failed(fsys.ErrUnstable)
	}
	return out
}

// want is the part of a text that a Read asks for.
type want struct {
	asked        int // the offset as it came; below zero it counts from the end
	first, limit int // limit counts characters if there is a column
	column       int // 0: whole lines
	plain        bool
	bounded      bool   // the caller has given the limit
	cell         string // of a notebook
	region       string // of a picture, as given
	pages        string // of a PDF, as given
	large        bool   // bounds are lifted
}

// view is the want as the key of the unchanged answer.
func (w want) view() state.PageRequest {
	return state.PageRequest{Offset: w.asked, Limit: w.limit, Column: w.column, Cell: w.cell, Large: w.large}
}

// from returns the first of so many lines, cells or entries that a want begins with.
func (w want) from(total int) int {
	if w.first < 0 {
		return max(1, total+w.first+1)
	}
	return w.first
}

// pastEnd says that nothing is at the wanted place of a text of so many lines.
// The number is not known (-1) only if the line was found.
func (w want) pastEnd(lines int) string {
	first, column := w.first, w.column
	switch {
	case column == 0 || lines >= 0 && lines < first:
		return fmt.Sprintf("<system-reminder>Warning: the file exists but is shorter than the provided offset (%d). The file has %d lines.</system-reminder>", first, lines)
	case lines < 0:
		return fmt.Sprintf("<system-reminder>Warning: line %d ends before the provided column (%d).</system-reminder>", first, column)
	}
	return fmt.Sprintf("<system-reminder>Warning: line %d ends before the provided column (%d). The file has %d lines.</system-reminder>", first, column, lines)
}

// The reminders of the reference, word for word.
const emptyReminder = "<system-reminder>Warning: the file exists but the contents are empty.</system-reminder>"

// part is the extent of the text that an answer shows.
type part struct {
	first, last, total int    // lines; the total is -1 if it is not known
	of                 string // the total in words
	nextColumn         int    // where the rest of the last line begins; 0: all of it is shown
	more               bool   // something follows
	call               string // the arguments that name the text beside the file
}

// onward says what follows a part: with the call that shows it, unless the caller has
// drawn the line there itself.
func (w want) onward(p part) string {
	left := w.left(p)
	switch {
	case p.nextColumn > 0 && left <= 0:
		return fmt.Sprintf("(Line %d%s goes on at column %d.)", p.last, p.of, p.nextColumn)
	case p.nextColumn > 0:
		limit := ""
		if w.bounded && w.column > 0 {
			limit = fmt.Sprintf(", limit=%d", left)
		}
		return fmt.Sprintf("(Line %d%s goes on. Next: Read %soffset=%d, column=%d%s.)", p.last, p.of, p.call, p.last, p.nextColumn, limit)
	case p.first < 0 && p.more && left <= 0:
		return fmt.Sprintf("(Lines (%d) to (%d) are shown.)", p.first, p.last)
	case p.first < 0 && p.more:
		return fmt.Sprintf("(Lines (%d) to (%d) are shown. Next: Read offset=%d, limit=%d.)", p.first, p.last, p.last+1, min(left, -p.last-1, toolcall.DefaultLines))
	case p.more && left <= 0:
		return fmt.Sprintf("(Lines %d-%d%s are shown.)", p.first, p.last, p.of)
	case p.more:
		limit := min(left, toolcall.DefaultLines)
		if p.total >= 0 {
			limit = min(limit, p.total-p.last)
		}
		return fmt.Sprintf("(Lines %d-%d%s are shown. Next: Read %soffset=%d, limit=%d.)", p.first, p.last, p.of, p.call, p.last+1, limit)
	}
	return ""
}

// left returns the lines or characters that a part lacks of what the caller wanted.
func (w want) left(p part) int {
	switch {
	case !w.bounded, w.column == 0 && p.nextColumn > 0:
		return math.MaxInt
	case w.column == 0:
		return w.limit - (p.last - p.first + 1)
	case p.nextColumn > 0:
		return w.limit - (p.nextColumn - w.column)
	}
	return 0
}

// noteOnly is the answer that says only one thing of the file.
func (r *reading) noteOnly(what string) toolcall.Outcome {
	return toolcall.Outcome{Answer: toolcall.Answer{Notes: []string{r.target.Note(), what}}}
}

// shownEmpty answers for a file without text.
func (r *reading) shownEmpty(rec state.Record) toolcall.Outcome {
	out := r.noteOnly(emptyReminder)
	out.Shown = []toolcall.Shown{{Path: r.target.Path, Record: rec}}
	return out
}

// unchanged is the answer to a Read of what was served before and has not changed since.
func (r *reading) unchanged() toolcall.Outcome {
	return toolcall.Outcome{
		Answer:  toolcall.Answer{Head: stub, Notes: []string{r.target.Note()}},
		Effects: toolcall.Effects{Shown: []toolcall.Shown{{Path: r.target.Path, How: toolcall.Again, View: r.want.view()}}},
	}
}
