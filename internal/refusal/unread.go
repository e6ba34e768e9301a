package refusal

import (
	"errors"
	"fmt"

	"github.com/fsmcp/fsmcp/internal/changes"
	"github.com/fsmcp/fsmcp/internal/edit"
	"github.com/fsmcp/fsmcp/internal/notebook"
	"github.com/fsmcp/fsmcp/internal/phrase"
)

// The sentences of the reference for a file that was not read, or changed since; and the one
// for a change that the refusal shows.
const (
	notRead       = "File has not been read yet. Read it first before writing to it."
	modified      = "File has been modified since read, either by the user or by a linter. Read it again before attempting to write it."
	modifiedShown = "File has been modified since read; the change is shown below and counts as read."
)

// NotRead refuses a change of a file that was never read.
func NotRead(name string) error {
	return refuse(SlugNotRead, "%s Call Read with file_path \"%s\", then make the same call again.", notRead, name)
}

// UnseenShown refuses a change of a file that was shown in part, and shows the rest.
func UnseenShown(name, body string) error {
	return refuse(SlugPartlyRead, "%s Of %s only a part was shown; these lines never were. They count as shown now: check them, then make the same call again.\n%s", notRead, name, body)
}

// Unseen refuses a change of a file that was shown in part. bytes counts the rest, and
// calls name the Reads that show it.
func Unseen(name string, bytes int64, calls string) error {
	return refuse(SlugPartlyRead, "%s Of %s %s were never shown. Go on with %s, then make the same call again.", notRead, name, phrase.Bytes(bytes), calls)
}

// UnseenMatch refuses an Edit whose matches were never shown: body shows them, or
// where it is empty, calls name the Reads that do. read says that the file was read.
func UnseenMatch(name, body, calls string, read bool) error {
	slug := SlugPartlyRead
	if !read {
		slug = SlugNotRead
	}
	if body == "" {
		return refuse(slug, "%s Of %s the text that this call would replace was never shown. Go on with %s, then make the same call again.", notRead, name, calls)
	}
	return refuse(slug, "%s Of %s the text that this call would replace was never shown. Here it is with what stands around it; it counts as shown now: check it, then make the same call again.\n%s", notRead, name, body)
}

// UnseenInNotebook refuses a Write over a notebook with a cell that was never shown.
func UnseenInNotebook(name, cell string) error {
	return refuse(SlugPartlyRead, "%s Of %s cell %s was never shown. Read it (offset and limit count cells, cell_id shows one), then make the same call again.", notRead, name, cell)
}

// UnseenCell refuses an edit of a cell that was never shown in full; id is the name
// that the call gives it.
func UnseenCell(name, cell, id string) error {
	return refuse(SlugPartlyRead, "%s Cell %s of %s was never shown in full. Call Read with cell_id %s, then make the same call again.", notRead, cell, name, phrase.Quote(id))
}

// UnseenCellShown refuses an edit of a cell that was never shown, and shows its source.
func UnseenCellShown(name, cell, source string) error {
	return refuse(SlugPartlyRead, "%s Cell %s of %s was never shown. Here is its source; it counts as shown now: check it, then make the same call again.\n%s", notRead, cell, name, source)
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
	// ByHook: a before hook of this very call made the change, and may make another one.
	ByHook bool
}

// Changed refuses a change of a file that another program has changed since. body is
// all that changed, as a numbered diff.
func Changed(name, body string, n Needed) error {
	next, below := n.words()
	return refuse(SlugModified, "%s Path: %s.\nThis is all that changed %s%s\n%s%s", modifiedShown, name, changes.Form, next, body, below)
}

// words are the end of the sentence that shows the change, and what is shown below it.
func (n Needed) words() (next, below string) {
	again := ", so the same call may be made again at once:"
	if n.ByHook {
		again = ". A hook of the user made this change before the call's own. Make the same call again: it passes if the hook then leaves the file as it is."
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
	// bytes, Lost how many of these changed.
	Parts       bool
	Shown, Lost int64
}

// ChangedMuch refuses a change of a file that another program has changed by more than
// is shown. calls name the Reads to go on with; err is why the call would fail in the
// file as it is now, or nil.
func ChangedMuch(name string, a Amount, err error, calls string) error {
	return refuse(SlugModified, "%s Path: %s.\n%s%s Go on with %s, then make the same call again.", modified, name, a.words(), notNow(err), calls)
}

func (a Amount) words() string {
	if a.Added+a.Removed > 0 {
		return fmt.Sprintf("Since it was read %s came and %s went; it has %s now.", phrase.Lines(a.Added), phrase.Lines(a.Removed), phrase.Lines(a.Lines))
	}
	size := fmt.Sprintf("It has %s and %s now", phrase.Lines(a.Lines), phrase.Bytes(a.Size))
	if a.Was != a.Size {
		size += fmt.Sprintf(", and had %s when it was read", phrase.Bytes(a.Was))
	}
	if !a.Parts {
		return size + "."
	}
	return fmt.Sprintf("%s; %s of the %s that were shown of it changed.", size, phrase.Bytes(a.Lost), phrase.Bytes(a.Shown))
}

// ChangedNotebook refuses an edit of a notebook that another program has changed
// since. body is all that changed, as a numbered diff of the file.
func ChangedNotebook(name, body string, n Needed) error {
	next, _ := n.words()
	return refuse(SlugModified, "%s Path: %s.\nThis is all that changed in the notebook's file %s%s\n%s", modifiedShown, name, changes.Form, next, body)
}

// ChangedNotebookMuch refuses an edit of a notebook that another program has changed
// by more than is shown.
func ChangedNotebookMuch(name string, a Amount) error {
	return refuse(SlugModified, "%s Path: %s.\n%s Go on with Read of the cells that the call is about (cell_id shows one, offset and limit count cells).", modified, name, a.words())
}
