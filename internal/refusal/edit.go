package refusal

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/fsmcp/fsmcp/internal/edit"
	"github.com/fsmcp/fsmcp/internal/phrase"
)

// shownOld bounds how much of old_string an error repeats, in characters.
const shownOld = 1000

// IsNotebook refuses an Edit of a notebook.
func IsNotebook(name string) error {
	return refuse(SlugNotebook, "File is a Jupyter Notebook. Use the NotebookEdit to edit this file.\nPath: %s", name)
}

// Exists refuses an Edit that would create a file that is there.
func Exists(name string) error {
	return refuse(SlugExists, "Cannot create new file - file already exists.\nPath: %s. To change it, give the text to replace as old_string; to replace all of it, use Write.", name)
}

// TooLargeToEdit refuses a file above 1 GiB.
func TooLargeToEdit(name string, size, limit int64) error {
	return refuse(SlugTooLarge, "File is too large to edit (%s). Maximum editable file size is 1 GiB. Path: %s.", phrase.Above(size, limit), name)
}

// TooLittleMemory refuses a change of a large file while the system has too little memory
// for it.
func TooLittleMemory(name string, size, free int64) error {
	return refuse(SlugTooLarge, "File is too large to edit now (%s): it is changed in memory, and %s are free. Make the same call again later, or change it with another program. Path: %s.", phrase.Bytes(size), phrase.Bytes(free), name)
}

// NoMatch refuses an Edit whose old_string is not in the file. near is the nearest
// place, where found is true.
func NoMatch(name, old string, near edit.Hint, found bool) error {
	var b strings.Builder
	fmt.Fprintf(&b, "String to replace not found in file.\nString: %s\nPath: %s", phrase.Cut(old, shownOld), name)
	if found {
		fmt.Fprintf(&b, "\nNearest place, from line %d on (%s):\n%s", near.Line, near.Why, strings.Join(near.Lines, "\n"))
		if near.Given != "" {
			fmt.Fprintf(&b, "\nold_string has there: %s", near.Given)
		}
	} else {
		b.WriteString("\nNothing like it is in the file. Read the part to be changed and copy old_string from it, without the line numbers.")
	}
	return refuse(SlugNoMatch, "%s", b.String())
}

// NoExactMatch refuses an Edit whose old_string is not in a file above 64 MiB.
func NoExactMatch(name, old string) error {
	return refuse(SlugNoMatch, "String to replace not found in file.\nString: %s\nPath: %s\nIn a file above 64 MiB only an exact match is looked for. Read the lines to be changed and copy old_string from them, without the line numbers.", phrase.Cut(old, shownOld), name)
}

// Ambiguous words several matches, and too many; any other error stays as it is.
func Ambiguous(name, old string, err error) error {
	if many := (*edit.TooManyError)(nil); errors.As(err, &many) {
		return refuse(SlugTooLarge, "old_string is in %s %d times; at most %d places of a file of this size are replaced in one call. Give a longer old_string.", name, many.Count, many.Most)
	}
	many := (*edit.AmbiguousError)(nil)
	if !errors.As(err, &many) {
		return err
	}
	return refuse(SlugNotUnique, "Found %d matches of the string to replace, but replace_all is false. To replace all occurrences, set replace_all to true. To replace only one occurrence, please provide more context to uniquely identify the instance.\nThe matches begin in %s of %s.\nString: %s",
		many.Count, places(many), name, phrase.Cut(old, shownOld))
}

// places names the first of several places by their lines, and by their columns where
// several are in one line.
func places(many *edit.AmbiguousError) string {
	var parts []string
	for i := 0; i < len(many.Lines); {
		end := i + 1
		for end < len(many.Lines) && many.Lines[end] == many.Lines[i] {
			end++
		}
		part := strconv.Itoa(many.Lines[i])
		if end > i+1 {
			part += " (columns " + strings.Trim(strings.ReplaceAll(fmt.Sprint(many.Cols[i:end]), " ", ", "), "[]") + ")"
		}
		parts = append(parts, part)
		i = end
	}
	word := "lines "
	if len(parts) == 1 {
		word = "line "
	}
	if many.Count > len(many.Lines) {
		parts = append(parts, "…")
	}
	return word + strings.Join(parts, ", ")
}

// StubAsText refuses the notice of an unchanged file as the text of one; argument is
// its name.
func StubAsText(argument string) error {
	return refuse(SlugBadArgument, "%s is the notice that a file is unchanged, not a file's text. Read the file again and send the text itself.", argument)
}

// StrayBytes refuses a Write over a file with bytes that are no valid text.
func StrayBytes(name string, strays int) error {
	return refuse(SlugNotEncodable, "%s holds %d bytes that are no valid text in its encoding; Write would lose them. Use Edit, which keeps them byte for byte.", name, strays)
}

// NotText refuses a change of a picture or a PDF.
func NotText(name, kind string) error {
	return refuse(SlugBinary, "%s is a %s file, not text: it is never changed here. Nothing was changed.", name, kind)
}
