package media

import (
	"bytes"
	"errors"
	"sync/atomic"
)

// Engine decodes pictures and encodes them anew. It is the only part of the
// pipeline that touches pixels, and runs in a process of its own.
type Engine interface {
	// Open decodes a file, as large as the view needs it. What cannot be decoded
	// whole is a *DamageError, never half a picture.
	Open(data []byte, f PictureFacts, v WantedView) (Picture, error)
}

// WantedView is the largest that will be asked of an opened picture: a part of the
// upright picture, at most that large.
type WantedView struct {
	Part          Rect
	Width, Height int
}

// Picture is a decoded picture.
type Picture interface {
	// Opaque reports whether the picture has no transparency.
	Opaque() bool
	// Approximate reports whether the colours are not exactly those of the file.
	Approximate() bool
	// Render encodes the view at a size, upright, in sRGB, without metadata.
	// JPEG has transparency laid on white. It may be called twice at once.
	Render(s PictureEncoding) ([]byte, error)
	Close()
}

// PictureEncoding is a form in which a view is encoded.
type PictureEncoding struct {
	Width, Height int
	As            Kind // PNG or JPEG
	Quality       int  // of JPEG, to 100
	Colours       int  // PNG with a palette of so many; 0: without
	// Most bounds the bytes of the result; nil or 0 sets no bound. It may be set while the
	// engine works. Above it the engine may give up with ErrLonger.
	Most *atomic.Int64
}

// Request asks for one picture within limits.
type Request struct {
	Kind Kind
	// Region is the part to show; nil: all of it. A small one is enlarged, and one of
	// a lossless file stays lossless if that fits.
	Region *Rect
	Limits Limits
	Bounds Bounds
}

// FittedPicture is a picture within the limits.
type FittedPicture struct {
	Data   []byte `json:"-"` // which comes beside the JSON between the processes
	As     Kind
	Shown  Mapping
	Frames int // of the file; the first is shown
	// Approximate: its colours are, as a colour profile is missing that it needs,
	// or cannot be read.
	Approximate bool
	// OnWhite: the picture has transparency, which the result shows on white.
	OnWhite bool
}

// Facts about pictures that get no result.
var (
	ErrTooLarge = errors.New("the picture is over the bounds of what is decoded")
	ErrTooLong  = errors.New("the file is longer than those that are decoded")
	ErrNoFit    = errors.New("no size and quality of the picture is within the limits")
	ErrLonger   = errors.New("the picture takes more bytes than are of use")
)

// Fit decodes a picture, or a region of it, and encodes it within the limits: the largest
// picture and the best quality that fit. It returns a *DamageError or a
// *RegionError, ErrTooLarge, ErrNoFit, or what the engine failed with.
func Fit(e Engine, data []byte, q Request) (FittedPicture, error) {
	f, err := Inspect(q.Kind, bytes.NewReader(data), int64(len(data)))
	if err != nil {
		return FittedPicture{}, err
	}
	if !q.Bounds.Admits(f) {
		return FittedPicture{}, ErrTooLarge
	}
	part := Rect{0, 0, f.Width, f.Height}
	if q.Region != nil {
		if part, err = q.Region.Clamp(f.Width, f.Height); err != nil {
			return FittedPicture{}, err
		}
	}
	w, h := fit(part.Width, part.Height, q.Limits.Side)
	if q.Region != nil {
		w, h = enlarged(w, h, q.Limits.Side)
	}
	p, err := e.Open(data, f, WantedView{part, w, h})
	if err != nil {
		return FittedPicture{}, err
	}
	defer p.Close()
	l := ladder{p: p, limits: q.Limits, width: w, height: h}
	as := target(f.Kind, data, p.Opaque())
	var encoding PictureEncoding
	var out []byte
	if q.Region != nil && w >= part.Width && lossless(f.Kind, data) {
		as = PNG
		encoding, out, err = l.best([]PictureEncoding{{Width: w, Height: h, As: PNG}})
	}
	if err == nil && out == nil {
		encoding, out, err = l.climb(as)
	}
	if err != nil {
		return FittedPicture{}, err
	}
	return FittedPicture{Data: out, As: encoding.As, Frames: Frames(q.Kind, data), Approximate: p.Approximate(), OnWhite: encoding.As == JPEG && !p.Opaque(), Shown: Mapping{
		Width: f.Width, Height: f.Height, Part: part, Zoomed: q.Region != nil, DisplayWidth: encoding.Width, DisplayHeight: encoding.Height,
	}}, nil
}

// lossless reports whether a file keeps its pixels as they were.
func lossless(k Kind, data []byte) bool {
	switch k {
	case PNG, GIF, BMP, ICO:
		return true
	case TIFF:
		switch LayoutOf(data).Compression {
		case 6, 7, 34712, 34892: // JPEG, JPEG 2000, lossy JPEG of DNG
			return false
		}
		return true
	case WebP:
		return webpLossless(data)
	}
	return false
}

// webpLossless reports whether the first picture of a WebP is stored losslessly.
func webpLossless(data []byte) bool {
	for name, body := range RIFFChunks(data) {
		switch name {
		case "VP8L":
			return true
		case "VP8 ":
			return false
		case "ANMF": // its picture follows a header of 16 bytes, and may be missing
			if len(body) > 16 {
				return webpLossless(body[16-12:])
			}
		}
	}
	return false
}

// target returns the kind that a picture is encoded as first: JPEG for a JPEG, and for an
// opaque HEIC, AVIF or lossy WebP; PNG for all else.
func target(k Kind, data []byte, opaque bool) Kind {
	switch k {
	case JPEG:
		return JPEG
	case HEIC, AVIF: // as PNG they would be ten times the size
		if opaque {
			return JPEG
		}
	case WebP:
		if opaque && !webpLossless(data) {
			return JPEG
		}
	}
	return PNG
}

// The sizes and qualities of the ladder, in the order of steps.
const (
	firstQuality = 80
	textQuality  = 90 // of what was a PNG: at 80, text of 9 pixels suffers
	paletteSide  = 800
	colours      = 64
	smallSide    = 600
	tinySide     = 400
	lastQuality  = 20
)

// ladder tries one encoding after the other.
type ladder struct {
	p             Picture
	limits        Limits
	width, height int // of the whole view, within the limits
	last          PictureEncoding
}

// climb returns the first encoding within the limits.
func (l *ladder) climb(as Kind) (PictureEncoding, []byte, error) {
	encoding, out, err := l.first(as)
	if err != nil || out != nil && l.limits.Takes(len(out)) {
		return encoding, out, err
	}
	encodings := l.steps(encoding.As)
	if encodings[0] == l.last {
		encodings = encodings[1:] // it was too large already
	}
	if encoding, out, err = l.best(encodings); err == nil && out == nil {
		err = ErrNoFit
	}
	return encoding, out, err
}

// best returns the first of some encodings that is within the limits; no bytes: there is
// none.
func (l *ladder) best(encodings []PictureEncoding) (PictureEncoding, []byte, error) {
	for _, s := range encodings {
		if out, err := l.try(s, l.limits.most()); err != nil || out != nil {
			return s, out, err
		}
	}
	return PictureEncoding{}, nil, nil
}

// first returns the whole view in its own kind, else as JPEG; no bytes if these are too
// many. A picture with transparency becomes a JPEG only if the PNG is over a limit. An
// opaque PNG becomes one also if that has under half the bytes. Both are encoded at once then;
// the JPEG, which is done sooner, bounds the bytes of the PNG that are of use.
func (l *ladder) first(as Kind) (PictureEncoding, []byte, error) {
	encoding := PictureEncoding{Width: l.width, Height: l.height, As: as}
	if as != PNG {
		encoding.Quality = firstQuality
		out, err := l.try(encoding, l.limits.most())
		return encoding, out, err
	}
	other := PictureEncoding{Width: l.width, Height: l.height, As: JPEG, Quality: textQuality}
	if !l.p.Opaque() {
		encoding, out, err := l.best([]PictureEncoding{encoding, other})
		if err == nil && out == nil {
			encoding = other
		}
		return encoding, out, err
	}
	l.last = encoding
	var small []byte
	var failed error
	var most atomic.Int64
	done := make(chan struct{})
	go func() {
		defer close(done)
		if small, failed = l.p.Render(other); failed != nil {
			return
		}
		enough := 2*len(small) + 1
		if l.limits.Takes(len(small)) {
			enough = min(enough, l.limits.most())
		}
		most.Store(int64(enough))
	}()
	out, err := render(l.p, encoding, &most)
	<-done
	switch n := int(most.Load()); {
	case failed != nil:
		return other, nil, failed
	case err == nil && (out == nil || len(out) > n):
		return other, small, nil
	}
	return encoding, out, err
}

// steps returns the encodings after the first one: from size to size, and of each the best first.
func (l *ladder) steps(as Kind) (encodings []PictureEncoding) {
	lossy := func(w, h int, qualities ...int) {
		for _, q := range qualities {
			encodings = append(encodings, PictureEncoding{Width: w, Height: h, As: JPEG, Quality: q})
		}
	}
	for _, quarters := range []int{4, 3, 2, 1} {
		w, h := scaled(l.width, quarters, 4), scaled(l.height, quarters, 4)
		if as == PNG {
			encodings = append(encodings, PictureEncoding{Width: w, Height: h, As: PNG})
		} else {
			lossy(w, h, firstQuality, 60, 40, lastQuality)
		}
	}
	w, h := fit(l.width, l.height, paletteSide)
	encodings = append(encodings, PictureEncoding{Width: w, Height: h, As: PNG, Colours: colours})
	w, h = fit(l.width, l.height, smallSide)
	lossy(w, h, firstQuality, 60, 40, lastQuality)
	w, h = fit(l.width, l.height, tinySide)
	lossy(w, h, lastQuality)
	return encodings
}

// try renders an encoding; no bytes if it takes more than so many.
func (l *ladder) try(s PictureEncoding, most int) ([]byte, error) {
	l.last = s
	var bound atomic.Int64
	bound.Store(int64(most))
	return render(l.p, s, &bound)
}

// render renders an encoding; no bytes if it takes more than most says at the end.
func render(p Picture, s PictureEncoding, most *atomic.Int64) ([]byte, error) {
	s.Most = most
	out, err := p.Render(s)
	if n := int(most.Load()); errors.Is(err, ErrLonger) || err == nil && n > 0 && len(out) > n {
		return nil, nil
	}
	return out, err
}

// SendsUnchanged reports whether a picture with these facts and so many bytes is sent unchanged:
// it is upright, within all limits, and of a kind that models accept.
func (q Request) SendsUnchanged(f PictureFacts, size int64) bool {
	return f.Kind.MIME() != "" && f.Kind != PDF && f.Orientation == 1 && q.Limits.Holds(f.Width, f.Height) &&
		size <= int64(q.Limits.Bytes) && q.Limits.Takes(int(size))
}

// Unchanged returns the result of sending a picture unchanged, after a look at its structure.
// The error is a *DamageError.
func Unchanged(f PictureFacts, data []byte) (FittedPicture, error) {
	if err := Check(f.Kind, data); err != nil {
		return FittedPicture{}, err
	}
	return FittedPicture{Data: data, As: f.Kind, Frames: 1, Shown: Mapping{
		Width: f.Width, Height: f.Height, Part: Rect{0, 0, f.Width, f.Height}, DisplayWidth: f.Width, DisplayHeight: f.Height,
	}}, nil
}
