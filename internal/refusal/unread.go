package refusal

import (
	"errors"
	"fmt"

	"github.com/fsmcp/fsmcp/internal/changes"
	"github.com/fsmcp/fsmcp/internal/edit"
	"github.com/fsmcp/fsmcp/internal/notebook"
	"github.com/fsmcp/fsmcp/internal/phrase"
)

// UnseenMatch refuses an Edit whose matches were never shown: body shows them, or
// where it is empty, calls name the Reads that do. read says that the file was read.
func UnseenMatch(name, body, calls string, read bool) error {
	r := New(unseenMatchShown, name, body)
	if body == "" {
		r = New(unseenMatch, name, calls)
	}
	if !read {
		r.Slug = SlugNotRead
	}
	return r
}

// Needed says what a call still lacks once an outside change of its file is shown.
type Needed struct {
	// Err is why the call would fail in the file as it is now.
	Err error
	// Matches: the call lacks the text that it would replace, else lines of the file.
	Matches bool
	// Bytes were never shown; 0 says that nothing is lacking. Shown shows them, or
	// where it is empty, Calls name the Reads that do.
	Bytes int64
	Shown string
	Calls string
	// Line is the number that the line which the call names has now, if that is another one.
	Line int
	// ByHook: a before hook of this very call made the change, and may make another one.
	ByHook bool
}

// Changed refuses a change of a file that another program has changed since. body is
// all that changed, as a numbered diff.
func Changed(name, body string, n Needed) error {
	next, below := n.words()
	return New(changed, name, changes.Form, next, body, below)
}

// words are the end of the sentence that shows the change, and what is shown below it.
func (n Needed) words() (next, below string) {
	again := ", so the same call may be made again at once:"
	if n.ByHook {
		again = ". A hook of the user made this change before the call's own. Make the same call again: it passes if the hook then leaves the file as it is."
	}
	if n.Line > 0 {
		again = fmt.Sprintf(", so the call may be made again at once with line=%d, the number of its line now:", n.Line)
	}
	what, heading := "%s of the file were", "These lines were never shown before; they count as shown now too:"
	if n.Matches {
		what = "The text that this call would replace (%s) was"
		heading = "The text that this call would replace was never shown before; it counts as shown now too:"
	}
	switch {
	case n.Err != nil:
		return "." + notNow(n.Err), ""
	case n.Bytes == 0:
		return again, ""
	case n.Shown == "":
		return fmt.Sprintf(". "+what+" never shown: go on with %s, then make the same call again.", phrase.Bytes(n.Bytes), n.Calls), ""
	}
	return again, "\n" + heading + "\n" + n.Shown
}

// notNow says why a call would fail in the file as it is now.
func notNow(err error) string {
	if no := (*edit.NoMatchError)(nil); errors.As(err, &no) {
		return " old_string is not in the file as it is now: take it from there anew."
	}
	if many := (*edit.AmbiguousError)(nil); errors.As(err, &many) {
		return fmt.Sprintf(" old_string is in %d places of the file as it is now, beginning in %s: give more of the text around it, or set replace_all.", many.Count, places(many))
	}
	if other := (*edit.OtherLineError)(nil); errors.As(err, &other) {
		return fmt.Sprintf(" No match of old_string starts in the line that the call names; in the file as it is now they begin in %s.", places(other.Found))
	}
	if stale := (*edit.StaleLineError)(nil); errors.As(err, &stale) {
		return fmt.Sprintf(" Line %d is among the lines that changed, or their numbers are unclear: take line from the file as it is now.", stale.Line)
	}
	if errors.As(err, new(*notebook.CellError)) {
		return " The notebook as it is now has no such cell: Read shows its cells."
	}
	return ""
}

// Amount counts an outside change that is too large to be shown.
type Amount struct {
	// Added and Removed count lines where the old text is known.
	Added, Removed int
	Lines          int // of the file as it is now
	Size, Was      int64
	// Parts: only the parts that were shown are compared. Shown is their number of
	// bytes, Lost that of the parts that changed, be it by one byte.
	Parts       bool
	Shown, Lost int64
	// Err is why the call would fail in the file as it is now, or nil.
	Err error
}

// String says what changed, and why the call would fail.
func (a Amount) String() string {
	if a.Added+a.Removed > 0 {
		return fmt.Sprintf("Since it was read %s came and %s went; it has %s now.", phrase.Lines(a.Added), phrase.Lines(a.Removed), phrase.Lines(a.Lines)) + notNow(a.Err)
	}
	size := fmt.Sprintf("It has %s and %s now", phrase.Lines(a.Lines), phrase.Bytes(a.Size))
	if a.Was != a.Size {
		size += fmt.Sprintf(", and had %s when it was read", phrase.Bytes(a.Was))
	}
	if a.Parts {
		size += fmt.Sprintf("; parts with %s of the %s that were shown of it changed", phrase.Bytes(a.Lost), phrase.Bytes(a.Shown))
	}
	return size + "." + notNow(a.Err)
}

// ChangedNotebook refuses an edit of a notebook that another program has changed
// since. body is all that changed, as a numbered diff of the file.
func ChangedNotebook(name, body string, n Needed) error {
	next, _ := n.words()
	return New(changedNotebook, name, changes.Form, next, body)
}
