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
func Image(name string, f media.Facts, err error) error {
	var damage *media.DamageError
	var region *media.RegionError
	var lost *media.BreakdownError
	switch {
	case errors.As(err, &damage) && damage.ForVips:
		return refuse(SlugBrokenFile, "The image %s cannot be shown: it is a %s of a sort that fsmcp does not decode without libvips (%s). Ask the user to install libvips and to put fsmcp-vips beside fsmcp, which decodes most of these; or have it converted to PNG or JPEG by another program, and read that.", name, damage.Kind, phrase.Foreign(damage.What))
	case errors.As(err, &damage) && damage.Rare:
		return refuse(SlugBrokenFile, "The image %s cannot be shown: it is a %s of a sort that fsmcp does not decode (%s). Have it converted to PNG or JPEG by another program, and read that.", name, damage.Kind, phrase.Foreign(damage.What))
	case errors.As(err, &damage):
		return refuse(SlugBrokenFile, "The image %s cannot be shown: as a %s it is damaged (%s). No part of it is shown, since a part would pass for the whole. Have it made anew, or mended by another program, and read that.", name, damage.Kind, phrase.Foreign(damage.What))
	case errors.As(err, &region):
		return badRange(`The region of the image %s cannot be shown: %s. The upright image has %dx%d pixels; region is "x,y,width,height" in these.`, name, region.Reason, f.Width, f.Height)
	case errors.Is(err, media.ErrNoFit):
		return refuse(SlugTooLarge, "The image %s cannot be brought within the limits on images (the setting maxImageTokens, or what this client takes), not even at 400 pixels and the lowest quality. region shows a smaller part of it.", name)
	case errors.As(err, &lost):
		return breakdown("The image "+name, lost.Why)
	case outOfTime(err):
		return untimely("The image " + name)
	}
	return err
}

// outOfTime reports whether the time of a call ended before a decoder's did. (A call
// that its client has given up gets no answer.)
func outOfTime(err error) bool {
	return errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
}

// untimely words that other calls had the decoders for too long.
func untimely(what string) error {
	return refuse(SlugBusy, "%s was not decoded before this call was over: those who decode were busy with others, or the call was given up. Make the same call again, with fewer of the kind beside it.", what)
}

// TooManyPixels refuses a picture that is too large to be decoded.
func TooManyPixels(name string, f media.Facts, b media.Bounds) error {
	return refuse(SlugTooLarge, "The image %s has %dx%d pixels (%s decoded), more than is decoded: at most %d megapixels, %d pixels a side and %d MB. Have it scaled down by another program and read that; the user can raise these bounds (the settings under images).",
		name, f.Width, f.Height, phrase.Bytes(f.Bytes), b.Pixels/1_000_000, b.Side, b.Bytes>>20)
}

// breakdown words the end of a decoder.
func breakdown(what string, why media.Breakdown) error {
	switch why {
	case media.Late:
		return refuse(SlugTooLarge, "%s could not be decoded within the time that it may take, and was given up. The server goes on. Where the machine is busy, make the same call again later; else have another program convert the file.", what)
	case media.Greedy:
		return refuse(SlugTooLarge, "%s takes more memory to decode than it may, and was given up. The server goes on; have another program convert the file.", what)
	case media.Unready:
		return refuse(SlugBusy, "%s was not read yet: what reads it is being compiled, which takes longer than usual. (It happens once on a machine, but each time where the user's cache folder is full or cannot be written.) It goes on in the background: make the same call again in half a minute.", what)
	case media.Unread:
		return refuse(SlugBusy, "%s could not be decoded: its disk did not hand it over within the time that decoding may take. Make the same call again later.", what)
	case media.Absent:
		return refuse(SlugIO, "%s needs decoding, and the program that decodes could not be started. Make the same call again; if that fails too, ask the user to look at fsmcp's installation (fsmcp version says what it finds).", what)
	case media.Stopped:
		return refuse(SlugIO, "%s could not be decoded: the process that does it was stopped from outside. Make the same call again.", what)
	}
	return refuse(SlugIO, "%s could not be decoded: the process that does it died. The server goes on. Make the same call again; if that fails too, the file is damaged in a way that breaks the decoder.", what)
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
		text := fmt.Sprintf("The PDF %s was not read: %s. It has %d pages; a call shows at most %d of them.", name, pages.Reason, pages.Count, media.MostPages)
		if outline != nil && len(outline.Outline) > 0 {
			text += " Outline: " + chapters(outline.Outline)
			if outline.More > 0 {
				text += fmt.Sprintf(" (and %d more)", outline.More)
			}
		}
		return badRange("%s", text)
	case errors.Is(err, media.ErrLocked):
		return refuse(SlugBrokenFile, "The PDF %s is encrypted with a password and cannot be read. Ask the user for an unlocked copy.", name)
	case errors.As(err, &damage):
		return refuse(SlugBrokenFile, "The PDF %s cannot be read: it is damaged (%s). Have it made anew, or mended by another program, and read that.", name, phrase.Foreign(damage.What))
	case errors.Is(err, media.ErrNoPDF):
		return refuse(SlugBinary, "%s is a PDF. PDFs are read by the program fsmcp-media, which does not lie beside fsmcp here; have the user put it there (make build makes both) or name it in FSMCP_MEDIA, or extract the text by another program.", name)
	case errors.As(err, &lost):
		return breakdown("The PDF "+name, lost.Why)
	case outOfTime(err):
		return untimely("The PDF " + name)
	}
	return err
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

// TooLongImage refuses a picture of more bytes than a decoder gets.
func TooLongImage(name string, size int64) error {
	return refuse(SlugTooLarge, "The image %s has %s, which is more than is handed to a decoder. Have it converted by another program and read that.", name, phrase.Bytes(size))
}

// TooLongPDF refuses a PDF above 32 MB.
func TooLongPDF(name string, size int64) error {
	return refuse(SlugTooLarge, "PDF file exceeds maximum allowed size of 32MB. %s has %s; have it divided, or its text extracted, by another program.", name, phrase.Above(size, media.MaxPDF))
}

// EmptyImage refuses a picture of no bytes.
func EmptyImage(name string) error {
	return refuseAs(5, SlugBrokenFile, "Empty image files cannot be processed. Path: %s\nIt has no bytes: have it made anew, or name another file.", name)
}

// EmptyPDF refuses a PDF of no bytes.
func EmptyPDF(name string) error {
	return refuse(SlugBrokenFile, "PDF file is empty: %s\nIt has no bytes: have it made anew, or name another file.", name)
}
