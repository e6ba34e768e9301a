package refusal

import (
	"errors"
	"fmt"

	"github.com/fsmcp/fsmcp/internal/edit"
	"github.com/fsmcp/fsmcp/internal/text"
)

// Hidden says what a caller was shown of a file that an error must tell nothing of.
type Hidden struct {
	Name string
	// Read: some of the file was shown; Whole: all of it was.
	Read, Whole bool
	// Huge: the file is larger than any call takes, which its size alone tells.
	Huge bool
}

// Refusal words an error of a change without the file's text. The words must not
// confirm a guess either: as long as the file was not shown in full, a match that was
// not shown reads like no match at all.
func (h Hidden) Refusal(err error) error {
	var r *Refusal
	switch {
	case errors.As(err, &r):
	case provesMatch(err) && !h.Whole:
		r = &Refusal{Slug: SlugNoMatch}
	default:
		return err // worded by its kind alone
	}
	read := fmt.Sprintf("Call Read with file_path \"%s\" first: reading it needs the user's consent, and without that nothing of it is shown here.", h.Name)
	switch r.Slug {
	case SlugNotFound, SlugExists, SlugBinary, SlugNotebook, SlugNotNotebook, SlugBadArgument, SlugNoChange, SlugReadOnly, SlugBusy, SlugIO:
		return err
	case SlugTooLarge:
		if h.Huge {
			return err
		}
	case SlugModified:
		return New(hiddenChanged, h.Name, read)
	}
	switch {
	case !h.Read:
		return New(hiddenNotRead, read)
	case r.Slug == SlugNoSuchCell:
		return r.reworded(New(hiddenCell, h.Name, read))
	case !h.Whole:
		return New(hiddenPartly, h.Name, read)
	case r.Slug == SlugNoMatch:
		return New(hiddenNoMatch, h.Name, read)
	case r.Slug == SlugNotUnique:
		return New(hiddenNotUnique, h.Name)
	}
	return r.reworded(New(hiddenOther, h.Name, read))
}

// reworded returns r with the text of another refusal.
func (r *Refusal) reworded(other *Refusal) *Refusal {
	return &Refusal{Slug: r.Slug, Text: other.Text, code: r.code}
}

// provesMatch reports whether an error comes only where old_string was found.
func provesMatch(err error) bool {
	return errors.As(err, new(*edit.StrippedToSameError)) || errors.As(err, new(*text.UnencodableError))
}
