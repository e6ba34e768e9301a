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
	return reword(err, append([]errorRow{
		as(func(e *media.DamageError) *Refusal {
			switch what := phrase.Foreign(e.What); {
			case e.ForVips:
				return New(imageForVips, name, e.Kind, what)
			case e.Rare:
				return New(imageRare, name, e.Kind, what)
			default:
				return New(imageDamaged, name, e.Kind, what)
			}
		}),
		as(func(e *media.RegionError) *Refusal { return New(imageRegion, name, e.Reason, f.Width, f.Height) }),
		is(media.ErrNoFit, imageNoFit, name),
	}, decoderRows("The image "+name)...)...)
}

// decoderRows lists the errors of decoders whatever they decode, and the end of a call's time
// before that of a decoder. (A call that its client has given up gets no answer.)
func decoderRows(what string) []errorRow {
	return []errorRow{
		as(func(e *media.BreakdownError) *Refusal { return New(breakdown(e.Why), what) }),
		is(context.Canceled, decoderBusy, what),
		is(context.DeadlineExceeded, decoderBusy, what),
	}
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
	noPages := func(e *media.PagesError, more string) *Refusal {
		return New(pdfPages, name, e.Reason, e.Count, media.MostPages, more)
	}
	return reword(err, append([]errorRow{
		as(func(e *media.OutlineError) *Refusal {
			more := Outline(e)
			if more != "" {
				more = " Outline: " + more
			}
			return noPages(&e.PagesError, more)
		}),
		as(func(e *media.PagesError) *Refusal { return noPages(e, "") }),
		is(media.ErrLocked, pdfLocked, name),
		as(func(e *media.DamageError) *Refusal { return New(pdfDamaged, name, phrase.Foreign(e.What)) }),
		is(media.ErrNoPDF, pdfNoMedia, name),
	}, decoderRows("The PDF "+name)...)...)
}

// Office words why an Office document is not read; any other error stays as it is.
func Office(name string, err error) error {
	return reword(err, append([]errorRow{
		is(media.ErrLocked, officeLocked, name),
		is(media.ErrOldOffice, officeOld, name),
		is(media.ErrNoPDF, officeNoMedia, name),
		as(func(e *media.DamageError) *Refusal { return New(officeDamaged, name, phrase.Foreign(e.What)) }),
	}, decoderRows("The Office document "+name)...)...)
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
