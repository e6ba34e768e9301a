package refusal

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/fsmcp/fsmcp/internal/fsys"
	"github.com/fsmcp/fsmcp/internal/media"
	"github.com/fsmcp/fsmcp/internal/phrase"
)

// Image words why a picture is not shown; any other error stays as it is.
func Image(name string, f media.PictureFacts, err error) error {
	var damage *media.DamageError
	var region *media.RegionError
	var lost *media.BreakdownError
	switch {
	case errors.As(err, &damage) && damage.ForVips:
		return New(imageForVips, name, damage.Kind, phrase.Foreign(damage.What))
	case errors.As(err, &damage) && damage.Rare:
		return New(imageRare, name, damage.Kind, phrase.Foreign(damage.What))
	case errors.As(err, &damage):
		return New(imageDamaged, name, damage.Kind, phrase.Foreign(damage.What))
	case errors.As(err, &region):
		return New(imageRegion, name, region.Reason, f.Width, f.Height)
	case errors.Is(err, media.ErrNoFit):
		return New(imageNoFit, name)
	case errors.As(err, &lost):
		return New(breakdown(lost.Why), "The image "+name)
	case outOfTime(err):
		return New(decoderBusy, "The image "+name)
	}
	return err
}

// outOfTime reports whether the time of a call ended before a decoder's did. (A call
// that its client has given up gets no answer.)
func outOfTime(err error) bool {
	return errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
}

// TooManyPixels refuses a picture that is too large to be decoded.
func TooManyPixels(name string, f media.PictureFacts, b media.Bounds) error {
	return New(tooManyPixels, name, f.Width, f.Height, phrase.Bytes(f.Bytes), b.Pixels/1_000_000, b.Side, b.Bytes>>20)
}

// breakdown returns the row for the end of a decoder.
func breakdown(why media.Breakdown) string {
	row, known := map[media.Breakdown]string{
		media.Late: decoderLate, media.Greedy: decoderGreedy, media.Unready: decoderUnready,
		media.Unread: decoderUnread, media.Absent: decoderAbsent, media.Stopped: decoderStopped, media.Forbidden: decoderForbidden,
	}[why]
	if !known {
		return decoderDied
	}
	return row
}

// PDF words why a PDF is not read; any other error stays as it is.
func PDF(name string, err error) error {
	var outline *media.OutlineError
	var pages *media.PagesError
	var damage *media.DamageError
	var lost *media.BreakdownError
	switch {
	case errors.As(err, &outline), errors.As(err, &pages):
		if outline != nil {
			pages = &outline.PagesError
		}
		more := ""
		if outline != nil {
			if more = Outline(outline); more != "" {
				more = " Outline: " + more
			}
		}
		return New(pdfPages, name, pages.Reason, pages.Count, media.MostPages, more)
	case errors.Is(err, media.ErrLocked):
		return New(pdfLocked, name)
	case errors.As(err, &damage):
		return New(pdfDamaged, name, phrase.Foreign(damage.What))
	case errors.Is(err, media.ErrNoPDF):
		return New(pdfNoMedia, name)
	case errors.As(err, &lost):
		return New(breakdown(lost.Why), "The PDF "+name)
	case outOfTime(err):
		return New(decoderBusy, "The PDF "+name)
	}
	return err
}

// Office words why an Office document is not read; any other error stays as it is.
func Office(name string, err error) error {
	var damage *media.DamageError
	var lost *media.BreakdownError
	switch {
	case errors.Is(err, media.ErrLocked):
		return New(officeLocked, name)
	case errors.Is(err, media.ErrOldOffice):
		return New(officeOld, name)
	case errors.Is(err, media.ErrNoPDF):
		return New(officeNoMedia, name)
	case errors.As(err, &damage):
		return New(officeDamaged, name, phrase.Foreign(damage.What))
	case errors.As(err, &lost):
		return New(breakdown(lost.Why), "The Office document "+name)
	case outOfTime(err):
		return New(decoderBusy, "The Office document "+name)
	}
	return err
}

// Sections refuses a choice of sheets or slides, and names those that there are.
func Sections(name string, kind media.DocumentKind, names []string, err error) error {
	var pages *media.PagesError
	if !errors.As(err, &pages) {
		return err
	}
	const most = 20
	what, more := fmt.Sprintf("%d %s", len(names), phrase.Plural(len(names), "slide", "slides")), ""
	if kind == media.Spreadsheet {
		what = fmt.Sprintf("%d %s", len(names), phrase.Plural(len(names), "sheet", "sheets"))
		var list []string
		for _, n := range names[:min(len(names), most)] {
			list = append(list, fsys.InSentence(n))
		}
		more = ": " + strings.Join(list, ", ")
		if len(names) > most {
			more += fmt.Sprintf(" and %d more", len(names)-most)
		}
	}
	return New(officeParts, name, pages.Reason, what, more)
}

// Outline is the outline of a document in one line, "" if it has none.
func Outline(e *media.OutlineError) string {
	said := chapters(e.Outline)
	if e.More > 0 && said != "" {
		said += fmt.Sprintf(" (and %d more)", e.More)
	}
	return said
}

func chapters(all []media.Chapter) string {
	var out []string
	for _, c := range all {
		title := fsys.InSentence(c.Title)
		if c.Page > 0 {
			title += fmt.Sprintf(" (page %d)", c.Page)
		}
		out = append(out, title)
	}
	return strings.Join(out, "; ")
}
