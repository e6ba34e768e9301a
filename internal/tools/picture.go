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
)

// Pictures develops pictures that cannot be handed on as they are, outside this
// process. The errors are those of media.Develop, media.ErrTooLong,
// *media.BreakdownError, the context's and the file's own.
type Pictures interface {
	Picture(ctx context.Context, file io.ReaderAt, size int64, q media.Request, told media.Progress) (media.Result, error)
}

// picture answers Read of an image: a text that stands on its own, and the image.
func (r *reading) picture(ctx context.Context, kind media.Kind, size int64) (*Result, error) {
	name := r.target.name()
	facts, err := media.Inspect(kind, r.file, size)
	if err != nil {
		return nil, pictureError(name, facts, err)
	}
	q := media.Request{Kind: kind, Limits: r.imageLimits(r.call), Bounds: r.bounds()}
	if !q.Bounds.Admits(facts) {
		return nil, tooManyPixels(name, facts, q.Bounds)
	}
	if r.want.region != "" {
		region, err := media.ParseRegion(r.want.region)
		if err == nil {
			_, err = region.Clamp(facts.Width, facts.Height)
		}
		if err != nil {
			return nil, pictureError(name, facts, err)
		}
		q.Region = &region
	}
	result, err := r.developed(ctx, facts, size, q)
	switch {
	case errors.Is(err, media.ErrTooLarge): // an icon among them, or it has grown
		return nil, tooManyPixels(name, facts, q.Bounds)
	case errors.Is(err, media.ErrTooLong):
		return nil, refuse(slugTooLarge, "The image %s has %s, which is more than is handed to a decoder. Have it converted by another program and read that.", name, phrase.Bytes(size))
	case err != nil:
		return nil, pictureError(name, facts, err)
	}
	if q.Region == nil {
		r.call.account.extent = asPictures
	}
	return r.shownPicture(facts, size, result), nil
}

// imageLimits are those of the settings, and what the client passes on.
func (h *House) imageLimits(call Call) media.Limits {
	l := media.DefaultLimits()
	if n := h.Preferences().SentSide; n > 0 {
		l.Side = min(l.Side, n)
	}
	if n := h.Preferences().ImageTokens; n > 0 {
		l.Tokens = n
	}
	if c := call.Client.Answer; c > 0 { // base64 is four thirds, and text stands beside it
		l.Bytes = max(min(l.Bytes, (c-answerRest*8)/4*3), 1)
	}
	return l
}

// bounds are what a picture may have to be decoded.
func (h *House) bounds() media.Bounds {
	if b := h.Preferences().Bounds; b != (media.Bounds{}) {
		return b
	}
	return media.DefaultBounds()
}

// developed is the picture as it is where that may be handed on, else what
// becomes of it.
func (r *reading) developed(ctx context.Context, f media.Facts, size int64, q media.Request) (media.Result, error) {
	if q.Region != nil || !q.HandsOn(f, size) {
		return r.House.develop(ctx, r.call, r.file, size, q)
	}
	data, _, err := r.file.ReadAll(int64(q.Limits.Bytes))
	if err != nil {
		return media.Result{}, err
	}
	now, err := media.Inspect(f.Kind, bytes.NewReader(data), int64(len(data)))
	switch {
	case err != nil:
		return media.Result{}, err
	case !q.HandsOn(now, int64(len(data))): // it is another picture by now
		return media.Result{}, fsys.ErrUnstable
	}
	return media.AsItIs(now, data)
}

// picturePart brings a picture that stands in another file within the limits.
func (h *House) picturePart(ctx context.Context, call Call, data []byte) (media.Result, error) {
	kind := media.Sniff(data, "")
	f, err := media.Inspect(kind, bytes.NewReader(data), int64(len(data)))
	if err != nil {
		return media.Result{}, err
	}
	q := media.Request{Kind: kind, Limits: h.imageLimits(call), Bounds: h.bounds()}
	switch {
	case q.HandsOn(f, int64(len(data))):
		return media.AsItIs(f, data)
	case !q.Bounds.Admits(f):
		return media.Result{}, media.ErrTooLarge
	}
	return h.develop(ctx, call, bytes.NewReader(data), int64(len(data)), q)
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

// develop hands a picture to those who decode.
func (h *House) develop(ctx context.Context, call Call, file io.ReaderAt, size int64, q media.Request) (media.Result, error) {
	if h.Pictures == nil {
		return media.Result{}, &media.BreakdownError{Why: media.Absent, Err: errors.New("no engine")}
	}
	if call.Progress != nil {
		call.Progress(0, 1, "decoding the picture")
		defer call.Progress(1, 1, "decoded")
	}
	return h.Pictures.Picture(ctx, file, size, q, nil)
}

// shownPicture is the answer with a picture.
func (r *reading) shownPicture(f media.Facts, size int64, p media.Result) *Result {
	sent := ""
	if p.As != f.Kind {
		sent = fmt.Sprintf(", sent as %s", p.As)
	}
	head := fmt.Sprintf("Image file read: %s (%s, %dx%d, %s%s)", r.target.name(), f.Kind, f.Width, f.Height, phrase.Bytes(size), sent)
	return &Result{
		Blocks: []Block{
			{Text: textResult(head, r.misnamed(f.Kind), firstOf(f.Kind, p), faded(p), p.Shown.Line(), r.target.note()).Blocks[0].Text},
			{Data: p.Data, MIME: p.As.MIME()},
		},
		Meta: map[string]any{
			"fsmcp/originalWidth": p.Shown.Width, "fsmcp/originalHeight": p.Shown.Height, "fsmcp/originalSize": size,
			"fsmcp/displayWidth": p.Shown.DisplayWidth, "fsmcp/displayHeight": p.Shown.DisplayHeight,
		},
	}
}

// misnamed says that a name's extension promises another kind.
func (r *reading) misnamed(kind media.Kind) string {
	ext := r.target.Asked.Ext()
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
func firstOf(kind media.Kind, p media.Result) string {
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

// faded says that a picture's colours are not quite the file's.
func faded(p media.Result) string {
	if !p.Approximate {
		return ""
	}
	return "(Its colours are approximate: the colour profile that they need is missing or cannot be read.)"
}

// pictureError finds the words for a picture that is not shown.
func pictureError(name string, f media.Facts, err error) error {
	var damage *media.DamageError
	var region *media.RegionError
	var lost *media.BreakdownError
	switch {
	case errors.As(err, &damage) && damage.ForVips:
		return refuse(slugBrokenFile, "The image %s cannot be shown: it is a %s of a sort that fsmcp does not decode without libvips (%s). Ask the user to install libvips and to put fsmcp-vips beside fsmcp, which decodes most of these; or have it converted to PNG or JPEG by another program, and read that.", name, damage.Kind, phrase.Foreign(damage.What))
	case errors.As(err, &damage) && damage.Rare:
		return refuse(slugBrokenFile, "The image %s cannot be shown: it is a %s of a sort that fsmcp does not decode (%s). Have it converted to PNG or JPEG by another program, and read that.", name, damage.Kind, phrase.Foreign(damage.What))
	case errors.As(err, &damage):
		return refuse(slugBrokenFile, "The image %s cannot be shown: as a %s it is damaged (%s). No part of it is shown, since a part would pass for the whole. Have it made anew, or mended by another program, and read that.", name, damage.Kind, phrase.Foreign(damage.What))
	case errors.As(err, &region):
		return badRange(`The region of the image %s cannot be shown: %s. The upright image has %dx%d pixels; region is "x,y,width,height" in these.`, name, region.Reason, f.Width, f.Height)
	case errors.Is(err, media.ErrNoFit):
		return refuse(slugTooLarge, "The image %s cannot be brought within the limits on images (the setting maxImageTokens, or what this client takes), not even at 400 pixels and the lowest quality. region shows a smaller part of it.", name)
	case errors.As(err, &lost):
		return breakdown("The image "+name, lost.Why)
	case outOfTime(err):
		return untimely("The image " + name)
	}
	return err
}

// outOfTime tells whether the time of a call ended before a decoder's did. (A call
// that its client has given up gets no answer, so that its words matter to nobody.)
func outOfTime(err error) bool {
	return errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
}

// untimely words that others had the decoders for too long.
func untimely(what string) error {
	return refuse(slugBusy, "%s was not decoded before this call was over: those who decode were busy with others, or the call was given up. Make the same call again, with fewer of the kind beside it.", what)
}

// tooManyPixels refuses what is not decoded at all.
func tooManyPixels(name string, f media.Facts, b media.Bounds) error {
	return refuse(slugTooLarge, "The image %s has %dx%d pixels (%s decoded), more than is decoded: at most %d megapixels, %d pixels a side and %d MB. Have it scaled down by another program and read that; the user can raise these bounds (the settings under images).",
		name, f.Width, f.Height, phrase.Bytes(f.Bytes), b.Pixels/1_000_000, b.Side, b.Bytes>>20)
}

// breakdown words that a decoder got lost.
func breakdown(what string, why media.Breakdown) error {
	switch why {
	case media.Late:
		return refuse(slugTooLarge, "%s could not be decoded within the time that it may take, and was given up. The server goes on. Where the machine is busy, make the same call again later; else have another program convert the file.", what)
	case media.Greedy:
		return refuse(slugTooLarge, "%s takes more memory to decode than it may, and was given up. The server goes on; have another program convert the file.", what)
	case media.Unready:
		return refuse(slugBusy, "%s was not read yet: what reads it is being compiled, which takes longer than usual. (It happens once on a machine, but each time where the user's cache folder is full or cannot be written.) It goes on in the background: make the same call again in half a minute.", what)
	case media.Unread:
		return refuse(slugBusy, "%s could not be decoded: its disk did not hand it over within the time that decoding may take. Make the same call again later.", what)
	case media.Absent:
		return refuse(slugIO, "%s needs decoding, and the program that decodes could not be started. Make the same call again; if that fails too, ask the user to look at fsmcp's installation (fsmcp version says what it finds).", what)
	case media.Stopped:
		return refuse(slugIO, "%s could not be decoded: the process that does it was stopped from outside. Make the same call again.", what)
	}
	return refuse(slugIO, "%s could not be decoded: the process that does it died. The server goes on. Make the same call again; if that fails too, the file is damaged in a way that breaks the decoder.", what)
}
