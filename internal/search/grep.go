package search

import (
	"bytes"
	"context"
	"time"
	"unicode/utf8"

	"github.com/fsmcp/fsmcp/internal/fsys"
	"github.com/fsmcp/fsmcp/internal/search/filter"
	"github.com/fsmcp/fsmcp/internal/search/match"
	"github.com/fsmcp/fsmcp/internal/text"
)

// Grep returns the lines or files below the scope that match the pattern. The error is a
// *PatternError, *GlobError, *TypeError, ErrNeverSearched, ErrNoFolder, that of ctx or of
// opening a start.
//
// It searches all files first, and keeps of each no more than its name and its number of
// lines. Then it reads those again that the window shows.
func (s *Searcher) Grep(ctx context.Context, scope Scope, q GrepQuery) (*Grepped, error) {
	g, err := newGrepper(q)
	if err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	began, run := time.Now(), (*run)(nil)
	g.matchAgain = s.matchAgain
	if len(scope.Starts) == 1 && scope.Starts[0].Kind == fsys.Regular {
		run, err = s.one(ctx, &scope, g)
	} else {
		var roots []*root
		if roots, err = s.roots(&scope); err != nil {
			return nil, err
		}
		defer closeRoots(roots)
		run, err = s.walk(ctx, &scope, g, roots)
	}
	if err != nil {
		return nil, err
	}
	g.settleOpen()
	out := &Grepped{Outcome: run.end()}
	g.outcome(&out.Outcome)
	out.TotalFiles, out.TotalMatches = g.found.counts()
	if q.Mode != Content {
		s.names(out, g)
		return out, nil
	}
	return s.lines(ctx, out, g, left(scope.Within, began))
}

// left is the rest of a search's time, and at least a second: what was found is shown.
func left(within time.Duration, began time.Time) time.Duration {
	if within <= 0 {
		return 0
	}
	return max(within-time.Since(began), time.Second)
}

// grepper is the visitor of a Grep.
type grepper struct {
	query   GrepQuery
	pattern *match.Pattern
	filter  filter.Filter
	literal []byte // each matching file holds it, whatever its charset but UTF-16 and its line endings are; nil: none is known
	found   collector
	searching
	matchAgain bool // lines that were found are matched again to be shown
}

func newGrepper(q GrepQuery) (*grepper, error) {
	p, err := match.Compile(q.Pattern, match.Options{Fold: q.Fold, Multiline: q.Multiline})
	if err != nil {
		return nil, err
	}
	g := &grepper{query: q, pattern: p, literal: p.LiteralInFiles(), found: collector{window: q.Window}}
	if g.filter, err = filter.New(q.Globs, q.Type); err != nil {
		return nil, err
	}
	return g, nil
}

// nameOf is as much of a name as the filter looks at.
func (g *grepper) nameOf(e *entry) string {
	if g.filter.Whole() {
		return e.rel()
	}
	return e.name
}

func (g *grepper) enters(e *entry) bool          { return g.filter.Enters(g.nameOf(e)) }
func (g *grepper) wants(e *entry, dir bool) bool { return !dir && g.filter.Wants(g.nameOf(e)) }
func (g *grepper) folder(*entry)                 {}

func (g *grepper) file(w *worker, e *entry) {
	began := time.Now()
	f, err := e.dir.Open(e.name)
	if err != nil {
		w.run.unreadable(e.place.node, e.name, err)
		return
	}
	defer f.Close()
	if !e.root.walk.AllowedFile(f.Opened(), began, e.rel) {
		return
	}
	if err := g.search(w, f, result{root: e.root}, e); err != nil {
		w.run.unreadable(e.node, e.name, err)
	}
}

// search looks for matches in an open file, that of e or of a start. What was found before
// an error counts.
func (g *grepper) search(w *worker, f *fsys.File, of result, e *entry) error {
	if w.own == nil {
		w.own = &matcher{Matcher: g.pattern.Matcher(), g: g, run: w.run, tally: g.newTally()}
		w.own.Stop = w.run.stopped.Load
	}
	m, t := w.own, w.own.tally
	t.begin(of, e, f.Opened())
	err := m.count(f, w.room)
	w.run.counts.files.Add(1)
	w.run.counts.matches.Add(t.count.Load())
	g.end(t, err != nil || !w.run.stopped.Load() || t.searched.Load() >= f.Opened().Size, !m.Reliable())
	return err
}

// matcher searches one file after the other.
type matcher struct {
	*match.Matcher
	g      *grepper
	run    *run
	tally  *tally // of the file at hand
	number int    // of the first line of the text that is searched next
	base   int64  // where that text begins in the file, if the file is plain
	known  int    // lines of that text, from its start, that a match in front of it reached: they are counted
}

// passed moves on behind a part of the text.
func (m *matcher) passed(body []byte) {
	if m.tally.notes() {
		m.number += bytes.Count(body, []byte("\n"))
	}
}

// maxBinary bounds the bytes of a binary file that are searched.
const maxBinary = 8 << 20

// count counts the matching lines of a file, up to 1 where that is enough.
func (m *matcher) count(f *fsys.File, r *room) error {
	buf := r.window()
	size, n := f.Opened().Size, 0
	for n < len(buf) {
		got, err := f.Read(buf[n:], int64(n))
		if err != nil {
			return err
		}
		if n == 0 {
			m.g.document(m.tally, buf[:got])
		}
		n += got
		if got == 0 || int64(n) == size && n < len(buf) {
			m.run.counts.bytes.Add(int64(n))
			if m.countIn(buf[:n]); !m.run.stopped.Load() {
				m.tally.searched.Store(int64(n))
			}
			return nil
		}
	}
	w, err := newWindow(f, r, buf, buf)
	if err != nil {
		return m.countBinary(f, r)
	}
	m.tally.plain.Store(w.raw == nil && !w.returns)
	m.number, m.base, m.known = 1, 0, 0
	if w.whole = size <= inMemory; m.g.query.Multiline {
		w.buf = r.largeWindow()
		err = m.countBlocks(w, r)
	} else {
		err = m.countStream(w, r)
	}
	if err != errUnlike {
		return err
	}
	raw, _, err := f.ReadAll(inMemory)
	if err == nil {
		m.tally.begin(m.tally.of, m.tally.entry, m.tally.stamp)
		m.countIn(raw)
	}
	return err
}

// countIn counts in a file that is held in memory.
func (m *matcher) countIn(raw []byte) {
	m.number, m.base, m.known = 1, 0, 0
	if m.g.literal != nil && !bytes.Contains(raw, m.g.literal) && !text.IsWide(raw) && bytes.IndexByte(raw, 0) < 0 {
		return
	}
	body, plain, err := decoded(raw)
	switch {
	case err == nil:
		m.tally.plain.Store(plain)
		m.countText(body, len(body), true)
	case m.anywhere(raw):
		m.tally.binary.Store(true)
	}
}

// decoded returns the text of a file that is held in memory, with line feeds for line
// endings where carriage returns end the lines. plain says that it is in UTF-8 with line
// feeds. The error is text.ErrBinary.
func decoded(raw []byte) (body []byte, plain bool, err error) {
	body, plain = bytes.TrimPrefix(raw, []byte("\xEF\xBB\xBF")), true
	if text.IsWide(raw) || !utf8.Valid(body) || bytes.IndexByte(raw, 0) >= 0 {
		d, err := text.Decode(raw)
		if err != nil {
			return nil, false, err
		}
		body, plain = []byte(d.Text), d.Enc.IsUTF8()
	}
	if bytes.IndexByte(body, '\n') < 0 && bytes.IndexByte(body, '\r') >= 0 {
		body, plain = bytes.ReplaceAll(body, []byte("\r"), []byte("\n")), false
	}
	return body, plain, nil
}

// anywhere reports whether bytes that are no text match, line by line.
func (m *matcher) anywhere(raw []byte) bool {
	if m.g.query.Multiline {
		return m.Text(raw)
	}
	_, _, ok := m.Next(raw, 0)
	return ok
}

// countText counts in a text of whole lines. last says that nothing follows; else matches
// of a multiline pattern that begin behind limit are left for later.
func (m *matcher) countText(body []byte, limit int, last bool) {
	if len(body) == 0 {
		return // no line, though a multiline pattern such as "^" matches
	}
	number, counted := m.number, 0
	note := func(start int, at int64) {
		if m.tally.notes() {
			number += bytes.Count(body[counted:start], []byte("\n"))
			counted = start
		}
		m.tally.add(hit{number: number, at: at})
	}
	if m.g.query.Multiline {
		if bytes.Contains(body, []byte("\r\n")) {
			limit -= bytes.Count(body[:limit], []byte("\r\n"))
			body = bytes.ReplaceAll(body, []byte("\r\n"), []byte("\n"))
		}
		if last {
			limit = len(body)
		}
		done := -1 // where the last line ends that is counted
		for range m.known {
			done = match.LineEnd(body, done+1)
		}
		m.Blocks(body, limit, func(start, end int) bool {
			for at := max(start, done+1); at <= end; at = done + 1 {
				note(at, -1)
				if done = match.LineEnd(body, at); m.g.query.Mode == FilesOnly {
					return false
				}
			}
			return true
		})
		if m.known = 0; done >= limit && !last {
			m.known = bytes.Count(body[limit:done], []byte("\n")) + 1
		}
		return
	}
	for at, n := 0, 1; at < len(body); n++ {
		start, end, ok := m.Next(body, at)
		if !ok {
			return
		}
		if m.tally.notes() {
			note(start, m.base+int64(start))
		} else {
			m.tally.count.Add(1)
		}
		if m.g.query.Mode == FilesOnly || n%1000 == 0 && m.run.stopped.Load() {
			return
		}
		at = match.Behind(body, end)
	}
}

// enough reports whether a file need not be searched further.
func (m *matcher) enough() bool { return m.g.query.Mode == FilesOnly && m.tally.count.Load() > 0 }

// countStream counts in a file that is not held in memory. A line that is longer than the
// window goes through the pattern in pieces.
func (m *matcher) countStream(w *window, r *room) error {
	var long *match.Stream
	var line hit // the long line
	t, found := m.tally, false
	for !m.run.stopped.Load() && !m.enough() {
		before := w.off
		isText, err := w.more()
		if err != nil {
			return err
		}
		if !isText {
			if t.count.Load() == 0 {
				return m.countBinary(w.file, r)
			}
			t.binary.Store(true)
			return nil
		}
		m.run.counts.bytes.Add(w.off - before)
		m.base = w.off - int64(len(w.text))
		from, cut := 0, bytes.LastIndexByte(w.text, '\n')+1
		if w.eof {
			cut = len(w.text)
		}
		if long != nil && cut > 0 {
			if from = match.Behind(w.text, 0); !found && m.endLong(long, w.text[:from]) {
				t.add(line)
			}
			long = nil
			m.passed(w.text[:from])
			m.base += int64(from)
		}
		if cut > 0 {
			m.countText(w.text[from:cut], 0, true)
			m.passed(w.text[from:cut])
		} else if len(w.text) > 0 {
			if long == nil {
				s := m.Stream()
				long, line, found = &s, hit{number: m.number, at: m.base}, false
			}
			if cut = len(w.text) - openTail(w.text); !found && long.Feed(w.text[:cut]) {
				found = true // whatever follows in the line
				t.add(line)
			}
		}
		if m.run.stopped.Load() {
			return nil
		}
		if t.searched.Store(w.off - int64(len(w.text)-cut)); w.eof {
			break
		}
		w.drop(cut)
		m.run.yieldCPU(r)
	}
	if long != nil && w.eof && !found && long.End() {
		t.add(line)
	}
	return nil
}

// endLong ends a long line with its last piece, line ending included.
func (m *matcher) endLong(s *match.Stream, piece []byte) bool {
	if body, ok := bytes.CutSuffix(piece, []byte("\n")); ok {
		piece = bytes.TrimSuffix(body, []byte("\r"))
	}
	return s.Feed(piece) || s.End()
}

// countBinary searches the beginning of a file that is no text.
func (m *matcher) countBinary(f *fsys.File, r *room) error {
	buf, kept := r.window(), 0
	for off := int64(0); off < maxBinary && !m.run.stopped.Load(); {
		n, err := f.Read(buf[kept:], off)
		if err != nil || n == 0 {
			return err
		}
		off += int64(n)
		m.run.counts.bytes.Add(int64(n))
		piece := buf[:kept+n]
		if m.anywhere(piece) {
			m.tally.binary.Store(true)
			return nil
		}
		m.tally.searched.Store(off)
		kept = copy(buf, piece[max(0, len(piece)-4096):])
		m.run.yieldCPU(r)
	}
	return nil
}

// countBlocks is countStream for a multiline pattern.
func (m *matcher) countBlocks(w *window, r *room) error {
	t := m.tally
	for !m.run.stopped.Load() && !m.enough() {
		isText, err := w.more()
		if err != nil {
			return err
		}
		if !isText {
			if t.count.Load() == 0 {
				return m.countBinary(w.file, r)
			}
			t.binary.Store(true)
			return nil
		}
		limit := len(w.text)
		if !w.eof {
			limit -= overlap
			if feed := bytes.LastIndexByte(w.text[:limit], '\n'); feed >= 0 {
				limit = feed + 1
			}
		}
		m.countText(w.text, limit, w.eof)
		m.passed(w.text[:limit])
		if m.run.stopped.Load() {
			return nil
		}
		if t.searched.Store(w.off - int64(len(w.text)-limit)); w.eof {
			break
		}
		w.drop(limit)
	}
	return nil
}
