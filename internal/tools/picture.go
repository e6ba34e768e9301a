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

// Pictures develops pictures that cannot be handed on as they are, outside this
// process. The errors are those of media.Fit, media.ErrTooLong,
// *media.BreakdownError, the context's and the file's own.
type Pictures interface {
	Picture(ctx context.Context, file io.ReaderAt, size int64, q media.Request, report media.Progress) (media.Result, error)
}

// pictureReader brings pictures within the limits.
type pictureReader struct {
	engine      Pictures
	preferences func() Preferences
}

// picture answers Read of an image: a text that stands on its own, and the image.
func (r *reading) picture(ctx context.Context, kind media.Kind, size int64) (*toolcall.Result, error) {
	name := r.target.Name()
	facts, err := media.Inspect(kind, r.content, size)
	if err != nil {
		return nil, refusal.Image(name, facts, err)
	}
	if r.call.Client.Pictures == toolcall.NoPictures {
		return r.unshownPicture(facts, size), nil
	}
	q := r.tool.pictures.request(kind, r.call.Client)
	if !q.Bounds.Admits(facts) {
		return nil, refusal.TooManyPixels(name, facts, q.Bounds)
	}
	if r.want.region != "" {
		region, err := media.ParseRegion(r.want.region)
		if err == nil {
			_, err = region.Clamp(facts.Width, facts.Height)
		}
		if err != nil {
			return nil, refusal.Image(name, facts, err)
		}
		q.Region = &region
	}
	result, err := r.decoded(ctx, facts, size, q)
	switch {
	case errors.Is(err, media.ErrTooLarge): // an icon among them, or it has grown
		return nil, refusal.TooManyPixels(name, facts, q.Bounds)
	case errors.Is(err, media.ErrTooLong):
		return nil, refusal.TooLongImage(name, size)
	case err != nil:
		return nil, refusal.Image(name, facts, err)
	}
	if q.Region == nil {
		r.call.About.Extent = reminders.AsPictures
	}
	return r.shownPicture(facts, size, result), nil
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

// decoded is the picture as it is where that may be handed on, else what
// becomes of it.
func (r *reading) decoded(ctx context.Context, f media.Facts, size int64, q media.Request) (media.Result, error) {
	if q.Region != nil || !q.SendsUnchanged(f, size) {
		return r.tool.pictures.develop(ctx, r.call, r.content, size, q)
	}
	data, err := io.ReadAll(io.NewSectionReader(r.content, 0, size))
	if err != nil {
		return media.Result{}, err
	}
	now, err := media.Inspect(f.Kind, bytes.NewReader(data), int64(len(data)))
	switch {
	case err != nil:
		return media.Result{}, err
	case !q.SendsUnchanged(now, int64(len(data))): // it is another picture by now
		return media.Result{}, fsys.ErrUnstable
	}
	return media.Unchanged(now, data)
}

// errNoPictures is the error of a picture for a client that shows none.
var errNoPictures = errors.New(noPictures)

// part brings a picture that stands in another file within the limits.
func (p pictureReader) part(ctx context.Context, call toolcall.Call, data []byte) (media.Result, error) {
	kind := media.Sniff(data, "")
	f, err := media.Inspect(kind, bytes.NewReader(data), int64(len(data)))
	if err != nil {
		return media.Result{}, err
	}
	if call.Client.Pictures == toolcall.NoPictures {
		return media.Result{}, errNoPictures
	}
	q := p.request(kind, call.Client)
	switch {
	case q.SendsUnchanged(f, int64(len(data))):
		return media.Unchanged(f, data)
	case !q.Bounds.Admits(f):
		return media.Result{}, media.ErrTooLarge
	}
	return p.develop(ctx, call, bytes.NewReader(data), int64(len(data)), q)
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

// develop hands a picture to a decoder.
func (p pictureReader) develop(ctx context.Context, call toolcall.Call, file io.ReaderAt, size int64, q media.Request) (media.Result, error) {
	if call.Progress != nil {
		call.Progress(0, 1, "decoding the picture")
		defer call.Progress(1, 1, "decoded")
	}
	return p.engine.Picture(ctx, file, size, q, nil)
}

// shownPicture is the answer with a picture.
func (r *reading) shownPicture(f media.Facts, size int64, p media.Result) *toolcall.Result {
	head := fmt.Sprintf("Image file read: %s (%s, %dx%d, %s%s)", r.target.Name(), f.Kind, f.Width, f.Height, phrase.Bytes(size), sentAs(f.Kind, p))
	return &toolcall.Result{
		Blocks: []toolcall.Block{
			{Text: toolcall.TextResult(head, misnamed(r.target, f.Kind), firstOf(f.Kind, p), faded(p), p.Shown.Line(), r.target.Note()).Blocks[0].Text},
			{Data: p.Data, MIME: p.As.MIME()},
		},
		Meta: map[string]any{
			"fsmcp/originalWidth": p.Shown.Width, "fsmcp/originalHeight": p.Shown.Height, "fsmcp/originalSize": size,
			"fsmcp/displayWidth": p.Shown.DisplayWidth, "fsmcp/displayHeight": p.Shown.DisplayHeight,
		},
	}
}

// sentAs says what became of a picture of a kind; empty where it is sent in that.
func sentAs(had media.Kind, p media.Result) string {
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
func (r *reading) unshownPicture(f media.Facts, size int64) *toolcall.Result {
	return &toolcall.Result{
		Blocks: toolcall.TextResult(
			fmt.Sprintf("Image file: %s (%s, %dx%d, %s)", r.target.Name(), f.Kind, f.Width, f.Height, phrase.Bytes(size)),
			misnamed(r.target, f.Kind),
			fmt.Sprintf("(The image is not sent: %s. Get text out of it with another program, or ask the user what it shows. If the client does show pictures, the user can set \"pictures\" for it in the setting limits.clients.)", noPictures),
			r.target.Note(),
		).Blocks,
		Meta: map[string]any{"fsmcp/originalWidth": f.Width, "fsmcp/originalHeight": f.Height, "fsmcp/originalSize": size},
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
