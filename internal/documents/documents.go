// Package documents gives the text of PDFs and Office documents, which decoder processes read,
// and keeps it for the next call.
//
// It promises that a kept text is that of the bytes that the file has now: it is found by the
// file's stamp, if that proves the bytes, and else by their hash. Kept texts take at most 16 MB,
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
	keptBytes = 16 << 20 // of texts
	keptMost  = 256      // texts
	pdfTurn   = 2 * time.Second
	readFor   = 6 * time.Second // less than a worker's deadline
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

// Text returns the text of an open file: of a PDF, or of what may be an Office document. The
// result is shared and must not be changed. The errors are ErrTooLarge, those of media and of the
// decoders, the context's and the file's.
func (s *Store) Text(ctx context.Context, f *fsys.File, pdf bool) (*media.Document, error) {
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
	if t := s.bySum(found); t != nil {
		return t.doc, t.err
	}
	if found.doc, found.err = s.read(ctx, raw, pdf); found.lasting() {
		s.keep(found)
	}
	return found.doc, found.err
}

// Pictures returns the bytes of pictures of an Office document, by the names of their parts.
func (s *Store) Pictures(ctx context.Context, f io.ReaderAt, size int64, parts []string) ([][]byte, error) {
	return s.Office.OfficePictures(ctx, f, size, parts)
}

// lasting reports whether the result would be the same for another call.
func (t *text) lasting() bool {
	if t.err == nil {
		return t.doc.Cut != cutByTime
	}
	var damage *media.DamageError
	return errors.As(t.err, &damage) || errors.Is(t.err, media.ErrLocked) || errors.Is(t.err, media.ErrNotOffice) || errors.Is(t.err, media.ErrOldOffice)
}

// read reads a document.
func (s *Store) read(ctx context.Context, raw []byte, pdf bool) (*media.Document, error) {
	file, size := bytes.NewReader(raw), int64(len(raw))
	if !pdf {
		doc, err := s.Office.OfficeText(ctx, file, size, media.DocumentRequest{Millis: int((s.Slowdown * readFor).Milliseconds())})
		return doc, err
	}
	var all *media.Document
	var body strings.Builder
	for from := 1; from > 0; {
		part, err := s.PDFs.PDFText(ctx, file, size, media.DocumentRequest{From: from, Millis: int((s.Slowdown * pdfTurn).Milliseconds())})
		switch {
		case err != nil && all != nil && ctx.Err() != nil: // what was read counts
			all.Cut = cutByTime
			all.Next = from
			all.Body = body.String()
			return all, nil
		case err != nil:
			return nil, err
		case all == nil:
			all = part
		default:
			all.Sections = append(all.Sections, part.Sections...)
		}
		if body.WriteString(part.Body); part.Next > 0 && body.Len() > media.MaxDocText/2 {
			all.Cut, all.Next = "it has more text than is read", part.Next
			break
		}
		from, all.Next = part.Next, part.Next
	}
	all.Body = body.String()
	return all, nil
}

// cutByTime is the reason of a text whose end is missing because the time ran out. It is that of
// package office, too.
const cutByTime = "there was no time to read more"

// byStamp returns a kept text of the file, if the stamp proves that the bytes are the same.
func (s *Store) byStamp(stamp fsys.Stamp) *text {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i, t := range s.kept {
		if t.settled && t.stamp.Same(stamp) {
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

// keep keeps a text, and drops those that were used longest ago.
func (s *Store) keep(t *text) {
	if s.Uncached || t.memory() > keptBytes {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.kept = append(s.kept, t)
	s.size += t.memory()
	for len(s.kept) > keptMost || s.size > keptBytes {
		s.size -= s.kept[0].memory()
		s.kept = s.kept[1:]
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
