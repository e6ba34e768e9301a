// Package documents gives the text of PDFs and Office documents, which decoder processes read,
// and keeps it for the next call.
//
// It promises that a kept text is that of the bytes that the file has now: it is found by the
// file's stamp, if that proves the bytes, and else by their hash. Kept texts take at most 10 MB,
// and one document is read at a time.
//
// It decides on no name, and knows nothing of tools.
package documents

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"io"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/fsmcp/fsmcp/internal/fsys"
	"github.com/fsmcp/fsmcp/internal/media"
)

// Decoder reads documents in another process.
type Decoder interface {
	OfficeText(ctx context.Context, file io.ReaderAt, size int64, q media.DocumentRequest) (*media.Document, error)
	OfficePictures(ctx context.Context, file io.ReaderAt, size int64, parts []string) ([][]byte, error)
}

// PDFDecoder reads PDFs in another process.
type PDFDecoder interface {
	PDFText(ctx context.Context, file io.ReaderAt, size int64, q media.DocumentRequest) (*media.Document, error)
}

// ErrTooLarge: the file is larger than a document that is read.
var ErrTooLarge = errors.New("the document has more than 32 MB")

const (
	keptBytes = 10 << 20 // of texts: one of the largest, or many
	keptMost  = 256      // texts
	pdfTurn   = 2 * time.Second
	readFor   = 6 * time.Second // less than a worker's deadline
	// shortestTurn is too short to start a worker in.
	shortestTurn = 100 * time.Millisecond
)

// Options are the parts of a Store.
type Options struct {
	Office Decoder
	PDFs   PDFDecoder
	Now    func() time.Time
	// Slowdown multiplies the bounds of time; 0 is 1.
	Slowdown time.Duration
	// Uncached keeps nothing, for tests.
	Uncached bool
}

// Store gives texts. It is safe for concurrent use.
type Store struct {
	Options
	place chan struct{} // of the document that is read

	mu   sync.Mutex
	kept []*text // the last used one last
	size int
}

// text is a text that is kept.
type text struct {
	sum     [sha256.Size]byte
	stamp   fsys.Stamp
	settled bool // the stamp proves the bytes
	doc     *media.Document
	err     error
}

// New returns a store. It starts nothing.
func New(o Options) *Store {
	o.Slowdown = max(o.Slowdown, 1)
	return &Store{Options: o, place: make(chan struct{}, 1)}
}

// Text returns the text of an open file: of a PDF, or of what may be an Office document. If ctx has
// a deadline, it returns what it has read before, and leaves the caller a tenth of the time; of a
// PDF the next call reads on from there. The result is shared and must not be changed. The errors
// are ErrTooLarge, those of media and of the decoders, the context's and the file's.
func (s *Store) Text(ctx context.Context, f *fsys.File, pdf bool) (*media.Document, error) {
	ctx, end := early(ctx)
	defer end()
	stamp, err := f.Stamp()
	if err != nil {
		return nil, err
	}
	if stamp.Size > media.MaxOffice {
		return nil, ErrTooLarge
	}
	if t := s.byStamp(stamp); t != nil {
		return t.doc, t.err
	}
	select {
	case s.place <- struct{}{}:
		defer func() { <-s.place }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	began := s.Now()
	raw, stamp, err := f.ReadAll(media.MaxOffice)
	if err != nil {
		return nil, err
	}
	found := &text{sum: sha256.Sum256(raw), stamp: stamp, settled: stamp.Settled(began)}
	before := s.bySum(found)
	switch {
	case before != nil && !before.unfinished():
		return before.doc, before.err
	case !pdf:
		found.doc, found.err = s.office(ctx, raw)
	case before != nil:
		found.doc, found.err = s.pages(ctx, raw, before.doc)
	default:
		found.doc, found.err = s.pages(ctx, raw, nil)
	}
	if found.lasting() {
		s.keep(found, before)
	}
	return found.doc, found.err
}

// early returns a context whose deadline comes a tenth of the time earlier.
func early(ctx context.Context) (context.Context, context.CancelFunc) {
	deadline, bounded := ctx.Deadline()
	if !bounded {
		return ctx, func() {}
	}
	return context.WithDeadline(ctx, deadline.Add(-time.Until(deadline)/10))
}

// Pictures returns the bytes of pictures of an Office document, by the names of their parts.
func (s *Store) Pictures(ctx context.Context, f io.ReaderAt, size int64, parts []string) ([][]byte, error) {
	return s.Office.OfficePictures(ctx, f, size, parts)
}

// lasting reports whether the result would be the same for another call, or another call goes on
// from it.
func (t *text) lasting() bool {
	if t.err == nil {
		return !t.doc.StoppedEarly() || t.doc.Next > 0
	}
	return errors.As(t.err, new(*media.DamageError)) || errors.Is(t.err, media.ErrLocked) || errors.Is(t.err, media.ErrNotOffice) || errors.Is(t.err, media.ErrOldOffice)
}

// unfinished reports whether another call goes on from the text.
func (t *text) unfinished() bool { return t.err == nil && t.doc.StoppedEarly() }

// office reads what may be an Office document.
func (s *Store) office(ctx context.Context, raw []byte) (*media.Document, error) {
	within := turn(ctx, s.Slowdown*readFor)
	if within <= 0 {
		return nil, context.DeadlineExceeded
	}
	return s.Office.OfficeText(ctx, bytes.NewReader(raw), int64(len(raw)), media.DocumentRequest{Millis: int(within.Milliseconds())})
}

// pages reads the pages of a PDF: those behind the ones that were read before, if before is not
// nil. What was read before an error counts.
func (s *Store) pages(ctx context.Context, raw []byte, before *media.Document) (*media.Document, error) {
	all := media.Document{Next: 1}
	var body strings.Builder
	if before != nil {
		all = *before
		all.Sections, all.Cut = slices.Clip(all.Sections), ""
		body.WriteString(before.Body)
	}
	for all.Next > 0 && all.Cut == "" {
		part, err := s.nextPages(ctx, raw, all.Next)
		switch {
		case err != nil && len(all.Sections) == 0:
			return nil, err
		case err != nil && ctx.Err() == nil && !errors.Is(err, context.DeadlineExceeded):
			all.Cut = media.CutByFailure
			continue
		case err != nil:
			all.Cut = media.CutByTime
			continue
		}
		all.Kind, all.Format, all.Count, all.Next = part.Kind, part.Format, part.Count, part.Next
		all.Sections = append(all.Sections, part.Sections...)
		if body.WriteString(part.Body); part.Next > 0 && body.Len() > media.MaxDocText/2 {
			all.Cut = media.CutBySize
		}
	}
	all.Body = body.String()
	return &all, nil
}

// nextPages reads pages for the time of a turn.
func (s *Store) nextPages(ctx context.Context, raw []byte, from int) (*media.Document, error) {
	within := turn(ctx, s.Slowdown*pdfTurn)
	if within <= 0 {
		return nil, context.DeadlineExceeded
	}
	return s.PDFs.PDFText(ctx, bytes.NewReader(raw), int64(len(raw)), media.DocumentRequest{From: from, Millis: int(within.Milliseconds())})
}

// turn is the time for a part of a document: at most half of what is left, so that its last page
// may take as long again; 0 if too little is left.
func turn(ctx context.Context, most time.Duration) time.Duration {
	deadline, bounded := ctx.Deadline()
	if !bounded {
		return most
	}
	if half := time.Until(deadline) / 2; half >= shortestTurn {
		return min(most, half)
	}
	return 0
}

// byStamp returns a kept text of the file, if the stamp proves that the bytes are the same.
func (s *Store) byStamp(stamp fsys.Stamp) *text {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i, t := range s.kept {
		if t.settled && t.stamp.Same(stamp) && !t.unfinished() {
			return s.use(i)
		}
	}
	return nil
}

// bySum returns a kept text of the same bytes, which has the stamp of found from now on.
func (s *Store) bySum(found *text) *text {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i, t := range s.kept {
		if t.sum == found.sum {
			t.stamp, t.settled = found.stamp, found.settled
			return s.use(i)
		}
	}
	return nil
}

// use makes a kept text the last used one. s.mu is held.
func (s *Store) use(i int) *text {
	t := s.kept[i]
	s.kept = append(append(s.kept[:i:i], s.kept[i+1:]...), t)
	return t
}

// keep keeps a text in place of the one before, if that is not nil, and drops those that were used
// longest ago.
func (s *Store) keep(t, before *text) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if at := slices.Index(s.kept, before); at >= 0 {
		s.kept = slices.Delete(s.kept, at, at+1)
		s.size -= before.memory()
	}
	if s.Uncached || t.memory() > keptBytes {
		return
	}
	s.kept = append(s.kept, t)
	s.size += t.memory()
	for len(s.kept) > keptMost || s.size > keptBytes {
		s.size -= s.kept[0].memory()
		s.kept = slices.Delete(s.kept, 0, 1) // which lets go of it
	}
}

// memory is about what a text takes.
func (t *text) memory() int {
	const each = 200 // of a section or picture
	if t.doc == nil {
		return each
	}
	return each + len(t.doc.Body) + each*(len(t.doc.Sections)+len(t.doc.Pictures))
}
