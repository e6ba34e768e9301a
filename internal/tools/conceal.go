package tools

import (
	"context"
	"errors"
	"fmt"

	"github.com/fsmcp/fsmcp/internal/edit"
	"github.com/fsmcp/fsmcp/internal/fsys"
	"github.com/fsmcp/fsmcp/internal/text"
)

// What an answer or an error of Write, Edit or NotebookEdit shows of a file is
// reading. It is shown only where a Read of the file takes no question, or where
// the user has consented to this very call. access decides that; the
// answers of plans go through target.answer, their errors through concealing, and
// what hooks did through passed.

// answer is the answer to a change: what was done, what it shows of the file
// where that may be shown, and remarks.
func (s *target) answer(done, shows string, remarks ...string) *Result {
	parts := []string{done}
	if !s.Hidden {
		parts = append(parts, shows)
	}
	return textResult(append(append(parts, remarks...), s.note())...)
}

// concealing returns a planner that shows nothing of a hidden file, and has
// nothing count as shown.
func (h *House) concealing(call Call, plan planner) planner {
	return func(ctx context.Context, s *target, old *fsys.File) (*change, error) {
		if !s.Hidden {
			return plan(ctx, s, old)
		}
		notes := len(*call.sent)
		c, err := plan(ctx, s, old)
		*call.sent = (*call.sent)[:notes]
		return c, conceal(call, s, err)
	}
}

// conceal words an error of a plan without what it tells of the file's text. It
// must not tell either whether a guess is right: as long as the file was not
// shown in full, a match that was not shown reads like no match at all.
func conceal(call Call, s *target, err error) error {
	rec, known := call.Session.files.Get(s.Path)
	var r *refusal
	switch {
	case errors.As(err, &r):
	case provesMatch(err) && !(known && shownInFull(rec)):
		r = refused(slugNoMatch, "")
	default:
		return err // worded by its kind alone
	}
	read := fmt.Sprintf("Call Read with file_path \"%s\" first: reading it needs the user's consent, and without that nothing of it is shown here.", s.name())
	switch r.slug {
	case slugNotFound, slugExists, slugBinary, slugNotebook, slugNotNotebook, slugBadArgument, slugNoChange, slugReadOnly, slugBusy, slugIO:
		return err
	case slugTooLarge:
		if s.Stamp.Size > maxEditBytes {
			return err
		}
	case slugModified:
		return refuse(slugModified, "%s Path: %s.\n%s", modifiedWords, s.name(), read)
	}
	switch {
	case !known:
		return refuse(slugNotRead, "%s %s", notReadWords, read)
	case r.slug == slugNoSuchCell:
		return &refusal{slug: r.slug, code: r.code, text: fmt.Sprintf("%s has no such cell, or more than one. %s", s.name(), read)}
	case !shownInFull(rec):
		return refuse(slugPartlyRead, "%s Of %s the text that this call would replace was never shown, or is not there. %s", notReadWords, s.name(), read)
	case r.slug == slugNoMatch:
		return refuse(slugNoMatch, "String to replace not found in file.\nPath: %s\n%s", s.name(), read)
	case r.slug == slugNotUnique:
		return refuse(slugNotUnique, "The string to replace is in %s more than once, but replace_all is false. Give more of the text around it, or set replace_all to true.", s.name())
	}
	return &refusal{slug: r.slug, code: r.code, text: fmt.Sprintf("%s cannot be changed like this. %s", s.name(), read)}
}

// provesMatch reports whether an error comes only where old_string was found.
func provesMatch(err error) bool {
	return errors.As(err, new(*edit.StrippedToSameError)) || errors.As(err, new(*text.UnencodableError))
}
