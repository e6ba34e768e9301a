package search

import (
	"bytes"
	"context"
	"iter"
	"slices"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/fsmcp/fsmcp/internal/fsys"
	"github.com/fsmcp/fsmcp/internal/search/excerpt"
	"github.com/fsmcp/fsmcp/internal/search/match"
	"github.com/fsmcp/fsmcp/internal/span"
	"github.com/fsmcp/fsmcp/internal/state"
	"github.com/fsmcp/fsmcp/internal/text"
)

// Bounds of the lines of an answer.
const (
	inMemory    = 4 << 20 // bytes of a file up to which it is held in memory
	lineBytes   = 16      // what a line takes of MaxBytes beside its text
	spansInLine = 1000
	slowLine    = 64 << 10 // bytes of a line in which a slow pattern is not searched for its places
)

// names adds the files that the window shows, without their lines.
func (s *Searcher) names(out *Grepped, g *grepper) {
	w := g.query.Window
	for _, r := range w.shown(g.found.sorted()) {
		out.Files = append(out.Files, FileMatches{Path: r.path(), ModTime: r.modTime(), Count: r.count, Binary: r.binary})
	}
	out.More = out.TotalFiles > w.Skip+len(out.Files)
}

// lines adds the files and lines that the window shows. A pattern that is slow on a long
// line is not waited for: what comes too late is left out, and out is then not complete.
func (s *Searcher) lines(ctx context.Context, out *Grepped, g *grepper, within time.Duration) (*Grepped, error) {
	limited, end := bounded(ctx, within)
	defer end()
	r, back := s.roomToShow(limited, out.Complete)
	results := g.found.sorted()
	for _, found := range results {
		if err := found.use(); err != nil {
			back()
			return nil, err
		}
	}
	sh := &shower{g: g, m: &matcher{Matcher: g.pattern.Matcher(), g: g}, ctx: limited, skip: g.query.Window.Skip, left: g.query.Window.maxBytes()}
	sh.m.Stop = func() bool { return limited.Err() != nil }
	done := make(chan struct{})
	go func() {
		defer close(done)
		sh.all(results, r)
		for _, found := range results {
			found.leave()
		}
		back()
	}()
	select {
	case <-done:
	case <-limited.Done():
		select {
		case <-done:
		case <-time.After(grace):
		}
	}
	files, more, ended := sh.soFar()
	out.Files, out.More = files, more || len(results) < out.TotalFiles
	out.Complete = out.Complete && ended
	return out, ctx.Err()
}

// waitToShow bounds the wait for a slot after a search that took all its time: its own
// pattern may hold the slots, and cannot be stopped soon.
const waitToShow = 200 * time.Millisecond

// roomToShow returns memory in which found lines are read, and a function that gives it back.
func (s *Searcher) roomToShow(ctx context.Context, complete bool) (r *room, back func()) {
	if !complete {
		limited, end := context.WithTimeout(ctx, waitToShow)
		defer end()
		ctx = limited
	}
	select {
	case r = <-s.slots:
		r.begin()
		return r, func() { s.release(r) }
	case <-ctx.Done():
		return &room{}, func() {}
	}
}

// use keeps what a result needs to be opened again, beyond the end of the call; leave gives
// it back.
func (r *result) use() (err error) {
	if r.root != nil {
		r.root.dir.use()
		return nil
	}
	r.again, err = r.start.Open() // the caller may close it before a late worker opens it
	return err
}

func (r *result) leave() {
	if r.root != nil {
		r.root.dir.leave()
	}
}

// all goes through the results until the window is full.
func (s *shower) all(results []*result, r *room) {
	for _, found := range results {
		if s.full || s.ctx.Err() != nil {
			break
		}
		fm := FileMatches{Path: found.path(), ModTime: found.modTime(), Count: found.count, Binary: found.binary}
		if found.binary {
			if found.allowed() && s.room(0) {
				s.finish(fm)
			}
			continue
		}
		f, err := found.open()
		if err != nil {
			continue
		}
		s.hits = found.hits
		s.file(f, r, &fm)
		f.Close()
		if len(fm.Lines) > 0 || fm.Binary {
			s.finish(fm)
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.more, s.ended = s.full, s.ctx.Err() == nil
}

// finish adds a file to those that are ready.
func (s *shower) finish(fm FileMatches) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.files, s.fm = append(s.files, fm), nil
}

// soFar returns the files that are ready, and the lines that are ready of another one.
// These do not count as shown: the hash of the file is not known yet.
func (s *shower) soFar() (files []FileMatches, more, ended bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	files = slices.Clone(s.files)
	if s.fm != nil && len(s.fm.Lines) > 0 {
		files = append(files, FileMatches{Path: s.fm.Path, ModTime: s.fm.ModTime, Count: s.fm.Count, Lines: s.fm.Lines})
	}
	return files, s.more || !s.ended, s.ended
}

// shown returns the results that the window shows, as far as the rules still let a Read of
// them through.
func (w Window) shown(results []*result) (shown []*result) {
	left := w.maxBytes()
	for i, r := range results {
		if i < w.Skip || !r.allowed() {
			continue
		}
		if left -= r.size; w.Most > 0 && len(shown) == w.Most || left < 0 && len(shown) > 0 {
			break
		}
		shown = append(shown, r)
	}
	return shown
}

// shower makes the lines of a Content search.
type shower struct {
	g    *grepper
	m    *matcher
	ctx  context.Context
	skip int // lines in front of the window that are still to come
	done int
	left int // bytes
	full bool

	mu          sync.Mutex
	files       []FileMatches
	more, ended bool
	fm          *FileMatches // the file at hand; nil: none

	// Of the file at hand.
	number int   // of the line at the place where the search goes on
	shown  int   // the number of the last line of the answer
	after  int   // lines of context that are still to come
	hits   *hits // its matching lines that are still to come; nil: they are to be found
	raw    func(start, end int) []state.Part
}

// room reports whether a line of so many bytes has its place in the window, and takes it.
func (s *shower) room(size int) bool {
	w := s.g.query.Window
	switch {
	case s.skip > 0:
		s.skip--
		return false
	case w.Most > 0 && s.done == w.Most, s.left < size+lineBytes && s.done > 0:
		s.full = true
		return false
	}
	s.done++
	s.left -= size + lineBytes
	return true
}

// file shows one file.
func (s *shower) file(f *fsys.File, r *room, fm *FileMatches) {
	s.mu.Lock()
	s.fm = fm
	s.mu.Unlock()
	s.number, s.shown, s.after, s.raw = 1, 0, 0, nil
	if s.hits != nil && !s.hits.stamp.Same(f.Opened()) {
		s.hits = nil // it was changed meanwhile
	}
	if f.Opened().Size > inMemory {
		s.large(f, r)
		return
	}
	taken := time.Now()
	raw, stamp, err := f.ReadAll(inMemory)
	if err != nil {
		return
	}
	doc, err := text.Decode(raw)
	if err != nil {
		if s.m.anywhere(raw) && s.room(0) {
			fm.Binary = true
		}
		return
	}
	body := []byte(doc.Text)
	returns := bytes.IndexByte(body, '\n') < 0 && bytes.IndexByte(body, '\r') >= 0
	if returns {
		body = bytes.ReplaceAll(body, []byte("\r"), []byte("\n"))
	}
	if returns || !doc.Enc.IsUTF8() {
		s.hits = nil // lines may have been counted in another way
	}
	s.raw = func(start, end int) []state.Part {
		place := span.Span{Start: doc.RawOffset(start), End: int64(len(raw))}
		if start == 0 {
			place.Start = 0 // with the byte order mark
		}
		if end < len(body) {
			place.End = doc.RawOffset(end)
		}
		return state.PartsOf(raw[place.Start:place.End], place.Start)
	}
	s.block(body, 0, true)
	fm.Record = state.Record{Stamp: stamp, Settled: stamp.Settled(taken), Enc: doc.Enc}
	fm.Recorded = true
}

// large shows a file that is not held in memory. Nothing of it counts as shown.
func (s *shower) large(f *fsys.File, r *room) {
	head := r.window()
	n, _ := f.ReadAt(head, 0)
	w, err := newWindow(f, r, r.largeWindow(), head[:n])
	if err != nil {
		return
	}
	if w.raw != nil || w.returns {
		s.hits = nil
	}
	for kept := 0; s.ctx.Err() == nil && !s.full && !s.over(); {
		kept = s.skipTo(w, kept)
		isText, err := w.more()
		if err != nil || !isText {
			return
		}
		cut := bytes.LastIndexByte(w.text, '\n') + 1
		if w.eof {
			cut = len(w.text)
		}
		if cut <= kept { // a line that is longer than the window: its beginning stands for it
			kept = s.longLine(w, kept)
			continue
		}
		s.block(w.text[:cut], kept, w.eof)
		if w.eof {
			return
		}
		from := startOf(w.text, cut, s.g.query.Before, 0)
		w.drop(from)
		kept = cut - from
	}
}

// over reports whether nothing follows in the file that was found in it.
func (s *shower) over() bool {
	return s.hits != nil && s.hits.all && len(s.hits.lines) == 0 && s.after == 0
}

// skipTo moves a window on to the next line that is known to match, with the lines before
// it, if that is far away. Otherwise it leaves the window as it is. kept is where in the
// window the search goes on, before and after.
func (s *shower) skipTo(w *window, kept int) int {
	if s.hits == nil || len(s.hits.lines) == 0 || s.after > 0 {
		return kept
	}
	next := s.hits.lines[0]
	from := next.at - int64(len(w.buf))/2
	if next.at < 0 || from <= w.off {
		return kept
	}
	before := make([]byte, next.at-from)
	if n, err := w.file.ReadAt(before, from); err != nil || n < len(before) {
		return kept
	}
	at := startOf(before, len(before), s.g.query.Before, 0)
	if at == 0 || before[len(before)-1] != '\n' {
		return kept // a line before it is longer, or the file is another one by now
	}
	w.text, w.off = w.buf[:copy(w.buf, before[at:])], next.at
	s.number = next.number
	return len(w.text)
}

// longLine shows a line that is longer than the window, where it matches or is context, by
// parts of it that match, and moves on to the next line. It returns where in the window that
// begins. A match that lies in no piece of the line, as over the end of one, has no part.
func (s *shower) longLine(w *window, from int) int {
	line, column := Line{Number: s.number}, 1
	whole, known, slow := s.m.Stream(), false, false
	if h := s.hits; h != nil {
		h.passTo(s.number)
		known, slow = len(h.lines) > 0 && h.lines[0].number == s.number, h.slow
	}
	if from > 0 {
		w.drop(from)
	}
	for {
		isText, err := w.more()
		if err != nil || !isText {
			return 0
		}
		if s.ctx.Err() != nil {
			if known || len(line.Parts) > 0 { // it matches whatever follows
				s.put(line, nil)
			}
			return 0
		}
		end := bytes.IndexByte(w.text, '\n')
		feed := end >= 0
		last := feed || w.eof
		switch {
		case end >= 0:
		case w.eof:
			end = len(w.text)
		default:
			end = len(w.text) - openTail(w.text)
		}
		piece := w.text[:end]
		if feed {
			piece = bytes.TrimSuffix(piece, []byte("\r"))
		}
		var ranges [][]int
		if !known {
			whole.Feed(piece)
		}
		if !slow {
			ranges = s.g.pattern.Ranges(piece, spansInLine)
		}
		inside := func(r []int) bool { return (r[0] > 0 || column == 1) && (r[1] < len(piece) || last) }
		if slices.ContainsFunc(ranges, inside) {
			ranges = slices.DeleteFunc(ranges, func(r []int) bool { return !inside(r) }) // the end of a piece is none of the line
			parts, more := excerpt.Windows(piece, ranges)
			for _, p := range parts {
				if p.Column += column - 1; len(line.Parts) < excerpt.MaxParts {
					p.Text = slices.Clone(p.Text)
					line.Parts = append(line.Parts, p)
				} else {
					more++
				}
			}
			line.MoreMatches += more
		}
		column += utf8.RuneCount(piece)
		if last {
			w.drop(min(end+1, len(w.text)))
			break
		}
		w.drop(end)
	}
	matches := known || whole.End() || s.g.query.Multiline && len(line.Parts) > 0
	if !matches {
		line.Context, line.Parts, line.MoreMatches = true, nil, 0
	}
	if matches || s.after > 0 {
		s.put(line, nil)
	}
	if s.after = max(s.after-1, 0); matches {
		s.after = s.g.query.After
	}
	s.number++
	return 0
}

// block shows the lines of a text of whole lines that begin at from or later. What lies in
// front is there for context.
func (s *shower) block(body []byte, from int, last bool) {
	next, stop := s.following(body, from)
	defer stop()
	pos, passed := from, from // passed: what lies in front of it is in the answer, or was skipped with it
	if s.after > 0 || s.shown > 0 && s.shown == s.number-1 {
		passed = from
	} else {
		passed = 0
	}
	for !s.full {
		start, end, ok := next(pos)
		if s.ctx.Err() != nil {
			return // whether what follows is context is not known
		}
		if !ok {
			start = len(body)
		}
		for ; s.after > 0 && pos < start && !s.full; s.after-- {
			to := match.Behind(body, pos)
			s.add(body, pos, to, true)
			s.number++
			pos, passed = to, to
		}
		if !ok || s.full {
			s.number += bytes.Count(body[pos:], []byte("\n"))
			return
		}
		s.number += bytes.Count(body[pos:start], []byte("\n"))
		at := startOf(body, start, s.g.query.Before, passed)
		number := s.number
		for s.number -= bytes.Count(body[at:start], []byte("\n")); at < start && !s.full; s.number++ {
			to := match.Behind(body, at)
			s.add(body, at, to, true)
			at = to
		}
		s.number = number
		if s.full {
			return
		}
		to := match.Behind(body, end)
		s.add(body, start, to, false)
		s.number++
		pos, passed, s.after = to, to, s.g.query.After
		if pos >= len(body) {
			return
		}
	}
}

// startOf is the start of the line that stands n lines in front of the one at start, but
// not in front of bound.
func startOf(body []byte, start, n, bound int) int {
	for ; n > 0 && start > bound; n-- {
		start = max(bound, bytes.LastIndexByte(body[:start-1], '\n')+1)
	}
	return start
}

// following returns a function that finds the next matching line from a place on, which is in
// line s.number, and one that ends the search. Lines that are known to match are not matched
// again.
func (s *shower) following(body []byte, from int) (next func(pos int) (start, end int, ok bool), stop func()) {
	if s.hits == nil {
		return s.matches(body, from)
	}
	var rest func(pos int) (start, end int, ok bool)
	end := func() {}
	return func(pos int) (int, int, bool) {
		s.hits.passTo(s.number)
		switch {
		case len(s.hits.lines) == 0 && s.hits.all:
			return 0, 0, false
		case len(s.hits.lines) == 0:
			if rest == nil {
				rest, end = s.matches(body, pos)
			}
			return rest(pos)
		}
		for n := s.hits.lines[0].number - s.number; n > 0 && pos < len(body); n-- {
			pos = match.Behind(body, pos)
		}
		if pos >= len(body) {
			return 0, 0, false
		}
		line := bytes.TrimSuffix(body[pos:match.Behind(body, pos)], []byte("\n"))
		return pos, pos + len(line), true
	}, func() { end() }
}

// matches returns a function that finds the next matching line from a place on, and one that
// ends the search.
func (s *shower) matches(body []byte, from int) (next func(pos int) (start, end int, ok bool), stop func()) {
	if !s.g.query.Multiline {
		return func(pos int) (int, int, bool) {
			if pos >= len(body) {
				return 0, 0, false
			}
			return s.m.Next(body, pos)
		}, func() {}
	}
	nextBlock, stop := iter.Pull2(func(yield func(start, end int) bool) { s.blocks(body, from, yield) })
	first, last, more := nextBlock()
	return func(pos int) (start, end int, ok bool) {
		for more && pos > last { // where its last line begins
			first, last, more = nextBlock()
		}
		if !more || pos >= len(body) {
			return 0, 0, false
		}
		start = max(pos, first)
		if feed := bytes.IndexByte(body[start:], '\n'); feed >= 0 {
			return start, start + feed, true
		}
		return start, len(body), true
	}, stop
}

// blocks calls f for the blocks of a multiline pattern in a text from a place on, each
// by the places where its first line and its last one begin.
func (s *shower) blocks(body []byte, from int, f func(first, last int) bool) {
	// The lines of the body without its carriage returns are those of the body.
	plain := bytes.ReplaceAll(body[from:], []byte("\r\n"), []byte("\n"))
	here, there := 0, from
	move := func(to int) int {
		for n := bytes.Count(plain[here:to], []byte("\n")); n > 0; n-- {
			there = match.Behind(body, there)
		}
		here = to
		return there
	}
	s.m.Blocks(plain, len(plain), func(start, end int) bool { return f(move(start), move(end)) })
}

// add adds the line body[start:end], line ending included, to the answer.
func (s *shower) add(body []byte, start, end int, context bool) {
	line := body[start:end]
	if rest, ok := bytes.CutSuffix(line, []byte("\n")); ok {
		line = bytes.TrimSuffix(rest, []byte("\r"))
	}
	l := Line{Number: s.number, Context: context}
	var ranges [][]int
	slow := s.hits != nil && s.hits.slow || !s.m.Reliable()
	if !context && (len(line) < slowLine || !slow) {
		ranges = s.g.pattern.Ranges(line, spansInLine)
	}
	if l.Whole = excerpt.IsShort(line); l.Whole {
		part := Part{Column: 1, Text: line}
		for _, r := range ranges {
			part.Matches = append(part.Matches, span.Span{Start: int64(r[0]), End: int64(r[1])})
		}
		l.Parts = []Part{part}
	} else {
		if len(ranges) == 0 {
			ranges = [][]int{{0, 0}}
		}
		l.Parts, l.MoreMatches = excerpt.Windows(line, ranges)
	}
	s.put(l, func() []state.Part { return s.exact(body, start, end) })
}

// exact returns the places in the file of body[start:end], without bytes that are no
// character: those are not shown as they are.
func (s *shower) exact(body []byte, start, end int) (exact []state.Part) {
	if s.raw == nil {
		return nil
	}
	for at := start; at < end; at++ {
		n := span.FirstStray(string(body[at:end]))
		if n > 0 {
			exact = append(exact, s.raw(at, at+n)...)
		}
		at += n
	}
	return exact
}

// put adds a line to the answer where it has its place there. It counts as shown, too, if it
// stands in front of the window. exact returns the bytes of the line if it is whole.
func (s *shower) put(l Line, exact func() []state.Part) {
	size := 0
	for _, p := range l.Parts {
		size += len(p.Text)
	}
	skipped := s.skip > 0
	if s.room(size) {
		for i := range l.Parts {
			l.Parts[i].Text = slices.Clone(l.Parts[i].Text)
		}
		if l.Gap = len(s.fm.Lines) > 0 && s.shown != l.Number-1; l.Whole {
			l.Exact = exact()
		}
		s.mu.Lock()
		s.fm.Lines = append(s.fm.Lines, l)
		s.mu.Unlock()
	} else if !skipped {
		return
	}
	s.shown = l.Number
}
