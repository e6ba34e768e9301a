package text

import (
	"context"
	"io"
	"time"

	"github.com/fsmcp/fsmcp/internal/span"
)

// tail is the place of a line that was found from the end of a file.
type tail struct {
	lines int   // from the end
	at    int64 // where they begin
	all   bool  // the file has no more lines
}

// Tail returns the number of the line that is n lines from the end of a file; n is 1 for the
// last one. The number is absolute, and at least 1, if counting for at most countFor tells how
// many lines there are, or the file has no more than n. Else it is -n, which Page and
// ColumnPage take: the line was then found from the end backwards, in constant memory.
//
// A file without any line feed whose lines end in carriage returns is read as a whole: before
// that nothing proves that it has no line feed.
func (s *Scan) Tail(ctx context.Context, r io.ReaderAt, n int, countFor time.Duration) (line int, err error) {
	total, err := s.count(ctx, r, countFor)
	if err != nil {
		return 0, err
	}
	if total < 0 {
		_, all, err := s.tailStart(ctx, r, n)
		switch {
		case err != nil:
			return 0, err
		case all:
			return 1, nil
		}
		total = s.total() // the search may have counted all of them
	}
	if total < 0 {
		return -n, nil
	}
	return max(1, total-n+1), nil
}

// tailStart returns where the last n lines begin, and whether they are all there are.
func (s *Scan) tailStart(ctx context.Context, r io.ReaderAt, n int) (at int64, all bool, err error) {
	s.mu.Lock()
	known := s.tail
	s.mu.Unlock()
	if known.lines == n {
		return known.at, known.all, nil
	}
	found, err := s.findTail(ctx, r, n)
	if err != nil {
		return 0, false, err
	}
	s.mu.Lock()
	s.tail = found
	s.mu.Unlock()
	return found.at, found.all, nil
}

// findTail goes through the file from its end backwards.
func (s *Scan) findTail(ctx context.Context, r io.ReaderAt, n int) (tail, error) {
	eol, err := s.tailEOL(ctx, r)
	if err != nil {
		return tail{}, err
	}
	u := s.enc.Units()
	size, head := int64(u.Size()), s.bomLen()
	end := head + (s.size-head)/size*size // a last half of a unit ends no line
	left, last := n, end == s.size
	buf := make([]byte, min(int64(s.chunk)/size*size, end-head))
	for end > head {
		if err := ctx.Err(); err != nil {
			return tail{}, err
		}
		b := buf[:min(int64(len(buf)), end-head)]
		if err := span.ReadFull(r, b, end-int64(len(b))); err != nil {
			return tail{}, err
		}
		if last && u.Has(b, len(b)-int(size), eol) { // the ending of the last line begins none
			left++
		}
		last = false
		c := u.Count(b, eol)
		if c >= left { // the last left-th ending is in b
			at, _ := skipLines(u, b, eol, c-left+1)
			return tail{lines: n, at: end - int64(len(b)) + int64(at)}, nil
		}
		left -= c
		end -= int64(len(b))
	}
	return tail{lines: n, at: head, all: true}, nil
}

// tailEOL returns what ends the lines. The last bytes of the file show it if they have a line
// feed; else the file may have to be read on to its first one.
func (s *Scan) tailEOL(ctx context.Context, r io.ReaderAt) (byte, error) {
	u := s.enc.Units()
	size, head := int64(u.Size()), s.bomLen()
	end := head + (s.size-head)/size*size
	b := make([]byte, min(int64(s.chunk)/size*size, end-head))
	if err := span.ReadFull(r, b, end-int64(len(b))); err != nil {
		return 0, err
	}
	if u.Index(b, '\n', 0) >= 0 {
		return '\n', nil
	}
	return s.decide(ctx, r)
}
