package search

import (
	"bytes"
	"slices"
	"time"
	"unicode/utf8"

	"github.com/fsmcp/fsmcp/internal/search/match"
	"github.com/fsmcp/fsmcp/internal/span"
	"github.com/fsmcp/fsmcp/internal/state"
	"github.com/fsmcp/fsmcp/internal/text"
)

const (
	matchesInLine = 1000     // that are looked for in a long line
	slowLine      = 64 << 10 // bytes of a line in which a slow pattern is not searched for its places
)

// lineSearch counts the matching lines of a text. If the answer may show lines of the file,
// it keeps them with their context.
type lineSearch struct {
	*fileSearch
	keeps  bool // the next matching line is kept
	number int  // of the line at pos
	last   int  // the number of the last line that was kept
	after  int  // lines of context that are still to come
	known  int  // lines at the start of the next text that are counted: a match before it reached them

	// Of the text at hand.
	body []byte
	pos  int // the lines before it are counted, and kept if they have to be
	free int // where the lines begin that can still be kept as context

	// Of a file that is held in memory.
	began time.Time // before it was read
	raw   []byte
	doc   *text.Doc // nil: it is UTF-8

	place func(line int) string // of a document; nil: the number of a line is its place
}

// begin begins a file.
func (l *lineSearch) begin() {
	if *l = (lineSearch{fileSearch: l.fileSearch, keeps: l.tally.keeps, number: 1}); l.keeps {
		l.began = time.Now()
	}
}

// search searches a text of whole lines from a place on; the lines before it are there for
// context. If the text is not the final one, matches of a multiline pattern that begin behind
// limit are left for later, and the next text begins at limit.
func (l *lineSearch) search(body []byte, from, limit int, final bool) {
	if from == len(body) {
		return // no line, though a multiline pattern such as "^" matches
	}
	l.body, l.pos = body, from
	for ; l.known > 0; l.known-- {
		l.number++
		l.pos = match.Behind(body, l.pos)
	}
	if l.keeps {
		l.free = startOf(body, l.pos, min(l.g.query.Before, l.number-1-l.last), 0)
	}
	if l.g.query.Multiline {
		l.eachTouched(from, limit, final)
	} else {
		l.eachMatching(from)
	}
	if l.run.stopped.Load() {
		return // whether what follows is context is not known
	}
	if l.pos <= limit {
		if l.keeps {
			l.follow(limit)
			l.number += bytes.Count(body[l.pos:limit], []byte("\n"))
		}
		return
	}
	l.known = bytes.Count(body[limit:l.pos], []byte("\n"))
	if body[l.pos-1] != '\n' {
		l.known++
	}
	l.number -= l.known
}

// eachMatching goes through the lines that match.
func (l *lineSearch) eachMatching(from int) {
	for from < len(l.body) {
		start, end, ok := l.Next(l.body, from)
		if !ok {
			return
		}
		if from = match.Behind(l.body, end); !l.matching(start, from) {
			return
		}
	}
}

// eachTouched goes through the lines that matches of a multiline pattern touch.
func (l *lineSearch) eachTouched(from, limit int, final bool) {
	plain, crlf := l.body[from:], []byte("\r\n")
	if limit -= from; bytes.Contains(plain, crlf) {
		limit -= bytes.Count(plain[:limit], crlf)
		plain = bytes.ReplaceAll(plain, crlf, []byte("\n")) // with the same lines
	}
	if final {
		limit = len(plain)
	}
	here, there := 0, from // the same place in plain and in the body
	l.Blocks(plain, limit, func(start, end int) bool {
		for range bytes.Count(plain[here:start], []byte("\n")) {
			there = match.Behind(l.body, there)
		}
		for range 1 + bytes.Count(plain[start:end], []byte("\n")) {
			at := there
			there = match.Behind(l.body, at)
			if at >= l.pos && !l.matching(at, there) {
				return false
			}
		}
		here = match.Behind(plain, end)
		return true
	})
}

// matching counts the matching line from start to next, its line ending included, and keeps it
// with the context before it. It reports whether to go on.
func (l *lineSearch) matching(start, next int) bool {
	l.tally.count.Add(1)
	if l.keeps {
		l.follow(start)
		l.number += bytes.Count(l.body[l.pos:start], []byte("\n"))
		at := startOf(l.body, start, l.g.query.Before, l.free)
		for number := l.number - bytes.Count(l.body[at:start], []byte("\n")); at < start; number++ {
			to := match.Behind(l.body, at)
			l.keepLine(at, to, number, true)
			at = to
		}
		l.keepLine(start, next, l.number, false)
		l.free, l.after = next, l.g.query.After
	}
	l.number++
	l.pos = next
	return !l.over()
}

// follow keeps the lines of context up to a place.
func (l *lineSearch) follow(to int) {
	for ; l.after > 0 && l.pos < to; l.after-- {
		next := match.Behind(l.body, l.pos)
		l.keepLine(l.pos, next, l.number, true)
		l.number++
		l.pos, l.free = next, next
	}
}

// contextFrom returns where the lines before a place begin that may be context of a later
// match, most bytes at most.
func (l *lineSearch) contextFrom(body []byte, at, most int) int {
	if !l.keeps {
		return at
	}
	return startOf(body, at, l.g.query.Before, at-most)
}

// startOf is the start of the line n lines before the one that begins at start, or of a later
// one: none that begins before bound.
func startOf(body []byte, start, n, bound int) int {
	for ; n > 0 && start > 0; n-- {
		at := bytes.LastIndexByte(body[:start-1], '\n') + 1
		if at < bound {
			break
		}
		start = at
	}
	return start
}

// keepLine keeps the line body[start:end], line ending included.
func (l *lineSearch) keepLine(start, end, number int, context bool) {
	if !l.keeps {
		return
	}
	text := l.body[start:end]
	if rest, ok := bytes.CutSuffix(text, []byte("\n")); ok {
		text = bytes.TrimSuffix(rest, []byte("\r"))
	}
	line := FoundLine{Number: number, Context: context, Whole: isShort(text)}
	if l.place != nil {
		line.Place = l.place(number)
	}
	if line.Whole {
		line.Parts, line.Exact = []LinePart{{Column: 1, Text: slices.Clone(text)}}, l.exact(start, end)
	} else {
		var ranges [][]int
		if !context && (len(text) < slowLine || l.Reliable()) {
			ranges = l.g.pattern.Ranges(text, matchesInLine)
		}
		if len(ranges) == 0 {
			ranges = [][]int{{0, 0}}
		}
		line.Parts, line.MoreMatches = partsAround(text, ranges)
	}
	l.keep(line)
}

// keep keeps a line, and reports whether the answer may show it.
func (l *lineSearch) keep(line FoundLine) (kept bool) {
	line.Gap = l.last != line.Number-1
	l.last = line.Number
	kept, l.keeps = l.tally.keep(line)
	return kept
}

// exact returns the places in the file of body[start:end], without bytes that are no
// character: those are not shown as they are.
func (l *lineSearch) exact(start, end int) (exact []state.Part) {
	if l.raw == nil {
		return nil
	}
	if utf8.Valid(l.body[start:end]) {
		return l.parts(start, end)
	}
	for at := start; at < end; at++ {
		n := span.FirstStray(string(l.body[at:end]))
		if n > 0 {
			exact = append(exact, l.parts(at, at+n)...)
		}
		at += n
	}
	return exact
}

// parts returns the place in the file of body[start:end], with hashes.
func (l *lineSearch) parts(start, end int) []state.Part {
	from, to := l.offset(start), l.offset(end)
	if start == 0 {
		from = 0 // with the byte order mark
	}
	return state.PartsOf(l.raw[from:to], from)
}

// offset is the place in the file of a place in the body.
func (l *lineSearch) offset(at int) int64 {
	if l.doc != nil {
		return l.doc.RawOffset(at)
	}
	return int64(at + l.mark())
}

// mark is the length of the byte order mark of a file in UTF-8.
func (l *lineSearch) mark() int {
	return len(l.raw) - len(bytes.TrimPrefix(l.raw, []byte("\xEF\xBB\xBF")))
}

// longLine is a line that is longer than a window, and comes in pieces. A match that lies in
// no piece, as over the end of one, has no part.
type longLine struct {
	*lineSearch
	stream        match.Stream
	line          FoundLine
	column        int // of the next piece
	matches, kept bool
}

func (l *lineSearch) newLongLine() *longLine {
	return &longLine{lineSearch: l, stream: l.Stream(), line: FoundLine{Number: l.number}, column: 1}
}

// add adds the next piece from the start of a text, of len bytes. ended says that the line
// ends there.
func (l *longLine) add(body []byte, eof bool) (n int, ended bool) {
	piece, feed := body, bytes.IndexByte(body, '\n')
	switch n = len(body); {
	case feed >= 0:
		piece, n = bytes.TrimSuffix(body[:feed], []byte("\r")), feed+1
	case !eof:
		n -= openTail(body)
		piece = body[:n]
	}
	ended = feed >= 0 || eof
	before := l.matches
	if !before && (l.stream.Feed(piece) || ended && l.stream.End()) {
		l.matches = true
		l.tally.count.Add(1)
	}
	if l.keeps || l.kept {
		if l.Reliable() {
			l.addParts(piece, ended)
		}
		switch {
		case l.kept:
			l.tally.replaceLast(l.line)
		case l.matches && !before:
			l.kept = l.keep(l.line)
		case ended && !l.matches && l.after > 0 && !l.run.stopped.Load():
			l.keep(FoundLine{Number: l.number, Context: true})
		}
	}
	l.column += utf8.RuneCount(piece)
	if ended {
		l.number++
		if l.after = max(l.after-1, 0); l.matches {
			l.after = l.g.query.After
		}
	}
	return n, ended
}

// addParts adds the parts of a piece around its matches. The start and the end of a piece are
// not those of the line.
func (l *longLine) addParts(piece []byte, ended bool) {
	ranges := slices.DeleteFunc(l.g.pattern.Ranges(piece, matchesInLine), func(r []int) bool {
		return r[0] == 0 && l.column > 1 || r[1] == len(piece) && !ended
	})
	if len(ranges) == 0 {
		return
	}
	parts, more := partsAround(piece, ranges)
	room := min(maxParts-len(l.line.Parts), len(parts))
	for _, p := range parts[:room] {
		p.Column += l.column - 1
		l.line.Parts = append(l.line.Parts, p)
	}
	l.line.MoreMatches += more + len(parts) - room
}
