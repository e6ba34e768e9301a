package refusal

import (
	"errors"

	"github.com/fsmcp/fsmcp/internal/clipboard"
	"github.com/fsmcp/fsmcp/internal/fsys"
	"github.com/fsmcp/fsmcp/internal/phrase"
)

// Clipboard returns the refusal for an error of package clipboard, and err itself if it is
// another one.
func Clipboard(err error) error {
	var missing *clipboard.MissingError
	var failed *clipboard.FailedError
	var large *clipboard.TooLargeError
	switch {
	case errors.Is(err, clipboard.ErrEmpty):
		return refuse(SlugNotFound, "The clipboard holds neither a picture nor text. Ask the user to copy it again, or to save it as a file, and read that.")
	case errors.Is(err, clipboard.ErrTooLong):
		return refuse(SlugIO, "The clipboard could not be read: the program that holds its content did not hand it over in time. Ask the user to copy it again.")
	case errors.As(err, &large):
		return refuse(SlugTooLarge, "The clipboard holds more than %s, and is not read. Ask the user to save it as a file, and read that.", phrase.Bytes(large.Limit))
	case errors.As(err, &missing) && missing.Program.Package != "":
		return refuse(SlugIO, "The clipboard cannot be read: the program %s is not found. The user can install it: it is in the package %s.", missing.Program.Name, missing.Program.Package)
	case errors.As(err, &missing):
		return refuse(SlugIO, "The clipboard cannot be read: the program %s, a part of the system, is not found in PATH.", missing.Program.Name)
	case errors.As(err, &failed):
		return refuse(SlugIO, "The clipboard cannot be read: %s says %s. Ask the user to save its content as a file, and read that.", failed.Program.Name, phrase.Quote(failed.Said))
	}
	return err
}

// ClipboardOff refuses to read the clipboard, which takes a setting in the user's own file.
func ClipboardOff(file string) error {
	return refuse(SlugNotFound, "clipboard: is the user's clipboard, which is not read here: the setting clipboard is off. The user can turn it on by \"clipboard\": true in %s.", fsys.InSentence(file))
}

// UnknownClipboardPicture refuses a picture in a form that is not read.
var UnknownClipboardPicture = refuse(SlugBrokenFile, "The clipboard holds a picture in a form that is not read. Ask the user to save it as PNG, and read that.")

// ClipboardReadOnly refuses to change the clipboard.
var ClipboardReadOnly = refuse(SlugBadArgument, "clipboard: is the user's clipboard, which only Read knows: it is not changed. Name a file, and write there.")
