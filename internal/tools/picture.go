package tools

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/fsmcp/fsmcp/internal/fsys"
	"github.com/fsmcp/fsmcp/internal/media"
	"github.com/fsmcp/fsmcp/internal/phrase"
	"github.com/fsmcp/fsmcp/internal/refusal"
	"github.com/fsmcp/fsmcp/internal/reminders"
	"github.com/fsmcp/fsmcp/internal/toolcall"
)

// Pictures decodes, outside this process, pictures that cannot be sent as they
// are. The errors are those of media.Fit, media.ErrTooLong,
// *media.BreakdownError, the context's and the file's own.
type Pictures interface {
	Picture(ctx context.Context, file io.ReaderAt, size int64, q media.Request, report media.Progress) (media.FittedPicture, error)
}

// pictureReader brings pictures within the limits.
type pictureReader struct {
	engine      Pictures
	preferences func() Preferences
}

// picture answers Read of an image: a text that stands on its own, and the image.
func (r *reading) picture(ctx context.Context, content *io.SectionReader, kind media.Kind) toolcall.Outcome {
	r.ignore("an image", "offset", "limit", "column", "cell_id", "pages", "allow_large")
	q := r.tool.pictures.request(kind, r.call.Client)
	var result media.FittedPicture
	facts, err := media.Inspect(kind, content, content.Size())
	switch {
	case err != nil:
	case r.call.Client.Pictures == toolcall.NoPictures:
		return toolcall.Outcome{Answer: unshownPicture(r.target, facts, content.Size())}
	case !q.Bounds.Admits(facts):
		err = media.ErrTooLarge
	default:
		if q.Region, err = regionOf(r.want.region, facts); err == nil {
			result, err = r.decoded(ctx, content, facts, q)
		}
	}
	switch name := r.target.Name(); {
	case errors.Is(err, media.ErrTooLarge): // also an icon in the file, or the file has grown
		return toolcall.Failed(refusal.TooManyPixels(name, facts, q.Bounds))
	case errors.Is(err, media.ErrTooLong):
		return toolcall.Failed(refusal.New(refusal.TooLongImage, name, phrase.Bytes(content.Size())))
	case err != nil:
		return toolcall.Failed(refusal.Image(name, facts, err))
	}
	out := toolcall.Outcome{Answer: shownPicture(r.target, facts, content.Size(), result)}
	if q.Region == nil {
		out.File.Extent = reminders.AsPictures
	}
	return out
}

// regionOf parses the region of a picture that a call asks for; nil: all of it.
func regionOf(given string, f media.PictureFacts) (*media.Rect, error) {
	if given == "" {
		return nil, nil
	}
	region, err := media.ParseRegion(given)
	if err == nil {
		_, err = region.Clamp(f.Width, f.Height)
	}
	return &region, err
}

// request asks for a whole picture within the limits of the settings and of the client.
func (p pictureReader) request(kind media.Kind, client toolcall.ClientLimits) media.Request {
	set := p.preferences()
	l, b := media.DefaultLimits(), set.Bounds
	l.Side = toolcall.AtMost(l.Side, set.SentSide)
	if n := set.ImageTokens; n > 0 {
		l.Tokens = n
	}
	if c := client.Answer; c > 0 { // base64 is four thirds, and text stands beside it
		l.Bytes = max(min(l.Bytes, (c-toolcall.AnswerRest*8)/4*3), 1)
	}
	if b == (media.Bounds{}) {
		b = media.DefaultBounds()
	}
	return media.Request{Kind: kind, Limits: l, Bounds: b}
}

// decoded is the picture as it is if that may be handed on, else what the decoder makes of
// it.
func (r *reading) decoded(ctx context.Context, content *io.SectionReader, f media.PictureFacts, q media.Request) (media.FittedPicture, error) {
	if q.Region != nil || !q.SendsUnchanged(f, content.Size()) {
		return r.tool.pictures.decode(ctx, r.call.Progress, content, q)
	}
	data, err := io.ReadAll(content)
	if err != nil {
		return media.FittedPicture{}, err
	}
	now, err := media.Inspect(f.Kind, bytes.NewReader(data), int64(len(data)))
	switch {
	case err != nil:
		return media.FittedPicture{}, err
	case !q.SendsUnchanged(now, int64(len(data))): // it is another picture by now
		return media.FittedPicture{}, fsys.ErrUnstable
	}
	return media.Unchanged(now, data)
}

// errNoPictures is the error of a picture for a client that shows none.
var errNoPictures = errors.New(noPictures)

// part brings a picture that stands in another file within the limits.
func (p pictureReader) part(ctx context.Context, call toolcall.Call, data []byte) (media.FittedPicture, error) {
	kind := media.Sniff(data, "")
	f, err := media.Inspect(kind, bytes.NewReader(data), int64(len(data)))
	if err != nil {
		return media.FittedPicture{}, err
	}
	if call.Client.Pictures == toolcall.NoPictures {
		return media.FittedPicture{}, errNoPictures
	}
	q := p.request(kind, call.Client)
	switch {
	case q.SendsUnchanged(f, int64(len(data))):
		return media.Unchanged(f, data)
	case !q.Bounds.Admits(f):
		return media.FittedPicture{}, media.ErrTooLarge
	}
	return p.decode(ctx, call.Progress, section(data), q)
}

// unshown says in a few words why a picture in another file is not shown.
func unshown(err error) string {
	var damage *media.DamageError
	var lost *media.BreakdownError
	switch {
	case errors.As(err, &damage) && damage.Rare:
		return "it is of a sort that is not decoded"
	case errors.As(err, &damage):
		return "it cannot be decoded, for it is damaged"
	case errors.Is(err, errNoPictures):
		return noPictures
	case errors.Is(err, media.ErrTooLarge):
		return "it has more pixels than are decoded"
	case errors.Is(err, media.ErrNoFit):
		return "it cannot be brought within the limits on images"
	case errors.As(err, &lost) && lost.Why == media.Absent:
		return "it needs decoding, and the program that decodes could not be started"
	case errors.As(err, &lost):
		return "the process that decodes it got lost over it"
	}
	return "it could not be decoded in time"
}

// section returns a reader of bytes in memory.
func section(data []byte) *io.SectionReader {
	return io.NewSectionReader(bytes.NewReader(data), 0, int64(len(data)))
}

// decode hands a picture to a decoder. progress may be nil.
func (p pictureReader) decode(ctx context.Context, progress toolcall.Progress, content *io.SectionReader, q media.Request) (media.FittedPicture, error) {
	if progress != nil {
		progress(0, 1, "decoding the picture")
		defer progress(1, 1, "decoded")
	}
	return p.engine.Picture(ctx, content, content.Size(), q, nil)
}

// shownPicture is the answer with a picture.
func shownPicture(t *toolcall.Target, f media.PictureFacts, size int64, p media.FittedPicture) toolcall.Answer {
	return toolcall.Answer{
		Head:  fmt.Sprintf("Image file read: %s (%s, %dx%d, %s%s)", t.Name(), f.Kind, f.Width, f.Height, phrase.Bytes(size), sentAs(f.Kind, p)),
		Notes: []string{misnamed(t, f.Kind), firstOf(f.Kind, p), inexactColours(p), p.Shown.Line(), t.Note()},
		Media: []toolcall.Block{{Data: p.Data, MIME: p.As.MIME()}},
		Facts: toolcall.Facts{
			OriginalSize: size, OriginalWidth: p.Shown.Width, OriginalHeight: p.Shown.Height,
			DisplayWidth: p.Shown.DisplayWidth, DisplayHeight: p.Shown.DisplayHeight,
		},
	}
}

// sentAs says what became of a picture of a kind; empty if it is sent in that.
func sentAs(had media.Kind, p media.FittedPicture) string {
	said := ""
	if p.As != had {
		said = fmt.Sprintf(", sent as %s", p.As)
	}
	if p.OnWhite {
		said += ", transparency is shown on white"
	}
	return said
}

// unshownPicture is the answer to a client that shows no pictures: the facts in words.
func unshownPicture(t *toolcall.Target, f media.PictureFacts, size int64) toolcall.Answer {
	return toolcall.Answer{
		Head: fmt.Sprintf("Image file: %s (%s, %dx%d, %s)", t.Name(), f.Kind, f.Width, f.Height, phrase.Bytes(size)),
		Notes: []string{
			misnamed(t, f.Kind),
			fmt.Sprintf("(The image is not sent: %s. Get text out of it with another program, or ask the user what it shows. If the client does show pictures, the user can set \"pictures\" for it in the setting limits.clients.)", noPictures),
			t.Note(),
		},
		Facts: toolcall.Facts{OriginalSize: size, OriginalWidth: f.Width, OriginalHeight: f.Height},
	}
}

// noPictures says why no picture is sent.
const noPictures = "this client passes no pictures on to its model"

// misnamed says that a name's extension promises another kind.
func misnamed(t *toolcall.Target, kind media.Kind) string {
	ext := t.Asked.Ext()
	own := map[string]media.Kind{
		"png": media.PNG, "jpg": media.JPEG, "jpeg": media.JPEG, "gif": media.GIF, "webp": media.WebP,
		"bmp": media.BMP, "ico": media.ICO, "tif": media.TIFF, "tiff": media.TIFF, "pdf": media.PDF,
	}
	if other, known := own[ext]; !known || other == kind {
		return ""
	}
	return fmt.Sprintf("(The name ends in .%s, but the file is a %s by its content.)", fsys.InSentence(ext), kind)
}

// firstOf says what of a file with several pictures is shown.
func firstOf(kind media.Kind, p media.FittedPicture) string {
	if p.Frames < 2 {
		return ""
	}
	switch kind {
	case media.TIFF:
		return fmt.Sprintf("(%d pages; first shown.)", p.Frames)
	case media.ICO:
		return fmt.Sprintf("(%d icons; the largest shown.)", p.Frames)
	}
	return fmt.Sprintf("(%d frames; first shown.)", p.Frames)
}

// inexactColours says that a picture's colours are not quite the file's.
func inexactColours(p media.FittedPicture) string {
	if !p.Approximate {
		return ""
	}
	return "(Its colours are approximate: the colour profile that they need is missing or cannot be read.)"
}
