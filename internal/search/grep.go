package search

import (
	"bytes"
	"context"
	"strings"
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
	began := time.Now()
	var run *run
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
	out := &Grepped{Outcome: run.end()}
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
	ascii   bool // the pattern's literal is ASCII, so that it looks the same in most charsets
	found   collector
}

func newGrepper(q GrepQuery) (*grepper, error) {
	p, err := match.Compile(q.Pattern, match.Options{Fold: q.Fold, Multiline: q.Multiline})
	if err != nil {
		return nil, err
	}
	g := &grepper{query: q, pattern: p, found: collector{window: q.Window}}
	if g.filter, err = filter.New(q.Globs, q.Type); err != nil {
		return nil, err
	}
	literal := p.Literal()
	g.ascii = literal != nil && !strings.ContainsFunc(string(literal), func(r rune) bool { return r >= utf8.RuneSelf })
	return g, nil
}

func (g *grepper) enters(rel string) bool          { return g.filter.Enters(rel) }
func (g *grepper) wants(rel string, dir bool) bool { return !dir && g.filter.Wants(rel) }
func (g *grepper) folder(*entry)                   {}

func (g *grepper) file(w *worker, e *entry) {
	began := time.Now()
	f, err := e.dir.Open(e.name)
	if err != nil {
		w.run.unreadable(e.root, e.rel, false, err)
		return
	}
	defer f.Close()
	if !e.root.walk.AllowedFile(e.rel, f.Opened(), began) {
		return
	}
	if r := g.search(w, f); r != nil {
		r.root, r.rel = e.root, e.rel
		r.size = len(e.rel) + 8
		g.found.add(r)
	}
}

// search looks for matches in an open file, nil where there is none.
func (g *grepper) search(w *worker, f *fsys.File) *result {
	if w.own == nil {
		w.own = &matcher{Matcher: g.pattern.Matcher(), g: g, run: w.run}
		w.own.Stop = w.run.stopped.Load
	}
	count, binary, err := w.own.count(f, w.room)
	w.run.counts.files.Add(1)
	if err != nil || count == 0 {
		return nil
	}
	w.run.counts.matches.Add(int64(count))
	return &result{mtime: f.Opened().Mtime, units: count, binary: binary}
}

// matcher searches one file after the other.
type matcher struct {
	*match.Matcher
	g   *grepper
	run *run
}

// maxBinary bounds the bytes of a binary file that are searched.
const maxBinary = 8 << 20

// count returns the number of matching lines of a file, or 1 where that is enough. binary
// says that it is no text.
func (m *matcher) count(f *fsys.File, r *room) (count int, binary bool, err error) {
	buf := r.window()
	size, n := f.Opened().Size, 0
	for n < len(buf) {
		got, err := f.Read(buf[n:], int64(n))
		if err != nil {
			return 0, false, err
		}
		n += got
		if got == 0 || int64(n) == size && n < len(buf) {
			m.run.counts.bytes.Add(int64(n))
			count, binary = m.countIn(buf[:n])
			return count, binary, nil
		}
	}
	w, err := newWindow(f, r, buf, buf, false)
	if err != nil {
		return m.countBinary(f, r)
	}
	if m.g.query.Multiline {
		w.buf = r.largeWindow()
		return m.countBlocks(w)
	}
	return m.countStream(w, r)
}

// countIn counts in a file that is held in memory.
func (m *matcher) countIn(raw []byte) (count int, binary bool) {
	if m.g.ascii && !text.IsWide(raw) && !bytes.Contains(raw, m.g.pattern.Literal()) {
		return 0, false // in every other charset, too
	}
	body, err := decoded(raw)
	if err != nil {
		if m.anywhere(raw) {
			return 1, true
		}
		return 0, true
	}
	return m.countText(body, len(body), true), false
}

// decoded returns the text of a file that is held in memory, with line feeds for line
// endings where carriage returns end the lines. The error is errBinary.
func decoded(raw []byte) ([]byte, error) {
	body := bytes.TrimPrefix(raw, []byte("\xEF\xBB\xBF"))
	if text.IsWide(raw) || !utf8.Valid(body) {
		d, err := text.Decode(raw)
		if err != nil {
			return nil, errBinary
		}
		body = []byte(d.Text)
	} else if bytes.IndexByte(raw, 0) >= 0 {
		return nil, errBinary
	}
	if bytes.IndexByte(body, '\n') < 0 && bytes.IndexByte(body, '\r') >= 0 {
		body = bytes.ReplaceAll(body, []byte("\r"), []byte("\n"))
	}
	return body, nil
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
func (m *matcher) countText(body []byte, limit int, last bool) (count int) {
	if len(body) == 0 {
		return 0 // no line, though a multiline pattern such as "^" matches
	}
	if m.g.query.Multiline {
		if bytes.Contains(body, []byte("\r\n")) {
			limit -= bytes.Count(body[:limit], []byte("\r\n"))
			body = bytes.ReplaceAll(body, []byte("\r\n"), []byte("\n"))
		}
		if last {
			limit = len(body)
		}
		m.Blocks(body, limit, func(start, end int) bool {
			count += 1 + bytes.Count(body[start:end], []byte("\n"))
			return m.g.query.Mode != FilesOnly
		})
		if m.g.query.Mode == FilesOnly {
			return min(count, 1)
		}
		return count
	}
	for at := 0; at < len(body); {
		_, end, ok := m.Next(body, at)
		if !ok {
			break
		}
		if count++; m.g.query.Mode == FilesOnly || count%1000 == 0 && m.run.stopped.Load() {
			break
		}
		at = behind(body, end)
	}
	return count
}

// behind is the start of the line behind the one that ends, without its line ending, at
// end.
func behind(body []byte, end int) int {
	if i := bytes.IndexByte(body[end:], '\n'); i >= 0 {
		return end + i + 1
	}
	return len(body)
}

// countStream counts in a file that is not held in memory. A line that is longer than the
// window goes through the pattern in pieces.
func (m *matcher) countStream(w *window, r *room) (count int, binary bool, err error) {
	var long *match.Stream
	for !m.run.stopped.Load() {
		before := w.off
		isText, err := w.more()
		if err != nil {
			return count, false, err
		}
		if !isText {
			if count > 0 {
				return 1, true, nil
			}
			return m.countBinary(w.file, r)
		}
		m.run.counts.bytes.Add(w.off - before)
		from, cut := 0, bytes.LastIndexByte(w.text, '\n')+1
		if w.eof {
			cut = len(w.text)
		}
		if long != nil && cut > 0 {
			if from = behind(w.text, 0); m.endLong(long, w.text[:from]) {
				count++
			}
			long = nil
		}
		if cut > 0 {
			count += m.countText(w.text[from:cut], 0, true)
		} else {
			if long == nil {
				s := m.Stream()
				long = &s
			}
			cut = len(w.text) - openTail(w.text)
			long.Feed(w.text[:cut])
		}
		if w.eof || count > 0 && m.g.query.Mode == FilesOnly {
			break
		}
		w.drop(cut)
		m.run.yieldCPU(r)
	}
	if long != nil && w.eof && long.End() {
		count++
	}
	if m.g.query.Mode == FilesOnly {
		count = min(count, 1)
	}
	return count, false, nil
}

// endLong ends a long line with its last piece, line ending included.
func (m *matcher) endLong(s *match.Stream, piece []byte) bool {
	if body, ok := bytes.CutSuffix(piece, []byte("\n")); ok {
		piece = bytes.TrimSuffix(body, []byte("\r"))
	}
	return s.Feed(piece) || s.End()
}

// countBinary searches the beginning of a file that is no text.
func (m *matcher) countBinary(f *fsys.File, r *room) (count int, binary bool, err error) {
	buf, kept := r.window(), 0
	for off := int64(0); off < maxBinary && !m.run.stopped.Load(); {
		n, err := f.Read(buf[kept:], off)
		if err != nil || n == 0 {
			return 0, true, err
		}
		off += int64(n)
		m.run.counts.bytes.Add(int64(n))
		piece := buf[:kept+n]
		if m.anywhere(piece) {
			return 1, true, nil
		}
		kept = copy(buf, piece[max(0, len(piece)-4096):])
		m.run.yieldCPU(r)
	}
	return 0, true, nil
}

// countBlocks is countStream for a multiline pattern.
func (m *matcher) countBlocks(w *window) (count int, binary bool, err error) {
	for !m.run.stopped.Load() {
		isText, err := w.more()
		if err != nil || !isText {
			return count, !isText, err
		}
		limit := len(w.text)
		if !w.eof {
			limit -= overlap
			if feed := bytes.LastIndexByte(w.text[:limit], '\n'); feed >= 0 {
				limit = feed + 1
			}
		}
		count += m.countText(w.text, limit, w.eof)
		if w.eof || count > 0 && m.g.query.Mode == FilesOnly {
			break
		}
		w.drop(limit)
	}
	return count, false, nil
}
