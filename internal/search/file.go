package search

import (
	"bytes"
	"unicode/utf8"

	"github.com/fsmcp/fsmcp/internal/fsys"
	"github.com/fsmcp/fsmcp/internal/search/match"
	"github.com/fsmcp/fsmcp/internal/state"
	"github.com/fsmcp/fsmcp/internal/text"
)

const (
	inMemory  = 4 << 20 // bytes of a file up to which it is held in memory
	maxBinary = 8 << 20 // bytes of a binary file that are searched
	// overlap counts the bytes at the end of a window of a multiline search that are in the
	// next one, too: a match that is longer may be missed.
	overlap = 512 << 10
)

// fileSearch searches one file after the other, for one worker.
type fileSearch struct {
	*match.Matcher
	g     *grepper
	run   *run
	tally *tally
	lines lineSearch
}

func (g *grepper) newFileSearch(run *run) *fileSearch {
	s := &fileSearch{Matcher: g.pattern.Matcher(), g: g, run: run, tally: g.newTally()}
	s.Stop = run.stopped.Load
	s.lines.fileSearch = s
	return s
}

// over reports whether a file need not be searched further.
func (s *fileSearch) over() bool {
	return s.run.stopped.Load() || s.g.query.Mode == FilesOnly && s.tally.count.Load() > 0
}

// search searches a file.
func (s *fileSearch) search(f *fsys.File, r *room) error {
	s.lines.begin()
	size, n := f.Opened().Size, 0
	buf := r.window()
	if size >= windowSize && (size <= inMemory || s.g.query.Multiline || s.g.query.Mode == Content) {
		large := largeBuffers.Get().(*[]byte)
		defer largeBuffers.Put(large)
		if buf = *large; size > inMemory {
			buf = buf[:largeWindow]
		}
	}
	for n < len(buf) {
		got, err := f.Read(buf[n:], int64(n))
		if err != nil {
			return err
		}
		if n == 0 && s.document(f, buf[:got], r) {
			return nil
		}
		n += got
		if got == 0 || int64(n) == size && n < len(buf) {
			s.searchText(buf[:n], r)
			if !s.run.stopped.Load() {
				s.tally.searched.Store(int64(n))
				s.tally.record(func() state.Record { return s.lines.record(f.Opened()) })
			}
			return nil
		}
	}
	w, err := newWindow(f, r, buf, buf)
	if err != nil {
		return s.searchBinary(f, r)
	}
	return s.searchWindows(w, r)
}

// searchText searches a file that is held in memory.
func (s *fileSearch) searchText(raw []byte, r *room) {
	if s.g.literal != nil && !bytes.Contains(raw, s.g.literal) && !text.IsWide(raw) && bytes.IndexByte(raw, 0) < 0 {
		return
	}
	body, doc, err := decoded(raw)
	if err != nil {
		if s.anywhere(raw) {
			s.tally.binary.Store(true)
		}
		return
	}
	s.lines.raw = raw
	s.searchBody(body, doc, r)
}

// searchBody searches the text of a file. doc is nil for UTF-8.
func (s *fileSearch) searchBody(body []byte, doc *text.Doc, r *room) {
	s.lines.doc = doc
	for from, limit := 0, 0; from < len(body) && !s.over(); from = limit {
		if limit = len(body); !s.g.query.Multiline && limit-from > windowSize {
			limit = match.Behind(body, from+windowSize)
		}
		s.lines.search(body[:limit], from, limit, true)
		if doc == nil && !s.run.stopped.Load() {
			s.tally.searched.Store(int64(limit))
		}
		if limit < len(body) {
			s.run.yieldCPU(r)
		}
	}
}

// decoded returns the text of a file that is held in memory, with line feeds for line
// endings if carriage returns end the lines. doc is nil for UTF-8. The error is
// text.ErrBinary.
func decoded(raw []byte) (body []byte, doc *text.Doc, err error) {
	body = bytes.TrimPrefix(raw, []byte("\xEF\xBB\xBF"))
	if text.IsWide(raw) || !utf8.Valid(body) || bytes.IndexByte(raw, 0) >= 0 {
		if doc, err = text.Decode(raw); err != nil {
			return nil, nil, err
		}
		body = []byte(doc.Text)
	}
	if bytes.IndexByte(body, '\n') < 0 && bytes.IndexByte(body, '\r') >= 0 {
		body = bytes.ReplaceAll(body, []byte("\r"), []byte("\n"))
	}
	return body, doc, nil
}

// anywhere reports whether bytes that are no text match, line by line.
func (s *fileSearch) anywhere(raw []byte) bool {
	if s.g.query.Multiline {
		return s.Text(raw)
	}
	_, _, ok := s.Next(raw, 0)
	return ok
}

// searchWindows searches a file that is not held in memory. Nothing of it is recorded.
func (s *fileSearch) searchWindows(w *window, r *room) error {
	var long *longLine
	from := 0 // the lines before it in the window are there for context
	for !s.over() && !(w.eof && from == len(w.text)) {
		isText, err := w.more()
		if err != nil {
			return err
		}
		if !isText {
			if s.tally.count.Load() == 0 {
				return s.searchBinary(w.file, r)
			}
			s.tally.binary.Store(true)
			return nil
		}
		limit, start := len(w.text), 0 // where the next text and its context begin
		switch feed := bytes.LastIndexByte(w.text[from:], '\n'); {
		case s.g.query.Multiline:
			if !w.eof {
				limit -= overlap
				if feed := bytes.LastIndexByte(w.text[:limit], '\n'); feed >= from {
					limit = feed + 1
				}
			}
			s.lines.search(w.text, from, limit, w.eof)
			start = s.lines.contextFrom(w.text, limit, len(w.buf)/2)
		case long == nil && (feed >= 0 || w.eof):
			if !w.eof {
				limit = from + feed + 1
			}
			s.lines.search(w.text[:limit], from, limit, true)
			start = s.lines.contextFrom(w.text, limit, len(w.buf)/2)
		default:
			if long == nil {
				w.drop(from)
				long = s.lines.newLongLine()
			}
			ended := false
			if limit, ended = long.add(w.text, w.eof); ended {
				long = nil
			}
			start = limit
		}
		if s.run.stopped.Load() {
			return nil
		}
		s.tally.searched.Store(w.off - int64(len(w.text)-limit))
		w.drop(start)
		from = limit - start
		s.run.yieldCPU(r)
	}
	return nil
}

// searchBinary searches the beginning of a file that is no text.
func (s *fileSearch) searchBinary(f *fsys.File, r *room) error {
	buf, kept := r.window(), 0
	for off := int64(0); off < maxBinary && !s.run.stopped.Load(); {
		n, err := f.Read(buf[kept:], off)
		if err != nil || n == 0 {
			return err
		}
		off += int64(n)
		piece := buf[:kept+n]
		if s.anywhere(piece) {
			s.tally.binary.Store(true)
			return nil
		}
		s.tally.searched.Store(off)
		kept = copy(buf, piece[max(0, len(piece)-4096):])
		s.run.yieldCPU(r)
	}
	return nil
}

// record returns the record of a file that is held in memory, with nothing shown yet.
func (l *lineSearch) record(stamp fsys.Stamp) state.Record {
	rec := state.Record{Stamp: stamp, Settled: stamp.Settled(l.began), Enc: text.Encoding{Mark: l.mark() > 0}}
	if l.doc != nil {
		rec.Enc = l.doc.Enc
	}
	return rec
}
