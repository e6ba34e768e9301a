package wire

import (
	"bytes"
	"errors"
	"io"
)

// ErrTooLong says that a line was longer than the limit. The reader is at its end.
var ErrTooLong = errors.New("line too long")

const (
	MaxLine   = 64 << 20
	readSize  = 64 << 10
	headSize  = 1 << 10
	tailSize  = 256
	byteOrder = "\xef\xbb\xbf"
)

// Lines splits a stream into lines of bounded length. The last line needs no newline. It
// never holds more than one line and one read.
type Lines struct {
	r     io.Reader
	Limit int
	buf   []byte // buf[from:] is not yet handed out
	from  int
	seen  int // buf[from:seen] holds no newline
	begun bool
	err   error // the reader's error at its end

	// Lost is the id of the line that was too long, if it was found.
	Lost []byte
}

// NewLines splits a stream of messages.
func NewLines(r io.Reader) Lines { return Lines{r: r, Limit: MaxLine} }

// Next returns the next line that is not blank, without its newline. The slice
// belongs to the caller. It returns io.EOF, or the reader's error, at the end.
func (l *Lines) Next() ([]byte, error) {
	for {
		line, err := l.line()
		if err != nil {
			return nil, err
		}
		if line = bytes.TrimSpace(line); len(line) > 0 {
			return line, nil
		}
	}
}

func (l *Lines) line() ([]byte, error) {
	for {
		if n := bytes.IndexByte(l.buf[l.seen:], '\n'); n >= 0 {
			if l.seen+n-l.from > l.Limit {
				return nil, l.discard()
			}
			return l.cut(l.seen+n, 1), nil
		}
		l.seen = len(l.buf)
		if len(l.buf)-l.from > l.Limit {
			return nil, l.discard()
		}
		if l.err != nil {
			if l.from == len(l.buf) {
				return nil, l.err
			}
			return l.cut(len(l.buf), 0), nil
		}
		l.fill()
	}
}

// Buffered reports whether the next line is in the buffer already.
func (l *Lines) Buffered() bool {
	return bytes.IndexByte(l.buf[l.seen:], '\n') >= 0
}

// cut returns buf[from:end] and skips skip bytes after it. A long line takes the buffer
// with it and is not copied.
func (l *Lines) cut(end, skip int) []byte {
	line := l.buf[l.from:end]
	rest := l.buf[end+skip:]
	if len(line) > readSize/2 {
		l.buf = append(make([]byte, 0, max(readSize, 2*len(rest))), rest...)
		l.from, l.seen = 0, 0
		return line[:len(line):len(line)]
	}
	l.from, l.seen = end+skip, end+skip
	return bytes.Clone(line)
}

// fill reads once, after the buffered bytes. The buffer doubles, so that a long line is
// moved only a few times.
func (l *Lines) fill() {
	if l.from == len(l.buf) {
		l.buf, l.from, l.seen = l.buf[:0], 0, 0
	}
	if cap(l.buf)-len(l.buf) < readSize/2 {
		held := l.buf[l.from:]
		room := max(readSize, 2*len(held)+readSize/2)
		l.seen -= l.from
		l.buf, l.from = append(make([]byte, 0, room), held...), 0
	}
	n, err := l.r.Read(l.buf[len(l.buf):cap(l.buf)])
	l.buf = l.buf[:len(l.buf)+n]
	l.err = err
	if !l.begun && len(l.buf) >= len(byteOrder) {
		l.begun = true
		if bytes.HasPrefix(l.buf, []byte(byteOrder)) {
			l.from, l.seen = len(byteOrder), len(byteOrder)
		}
	}
}

// discard skips the line that begins at from and is longer than the limit, and keeps the
// parts of it that lostID needs.
func (l *Lines) discard() error {
	part, rest, ended := bytes.Cut(l.buf[l.from:], []byte("\n"))
	head, tail := headOf(part), tailOf(part)
	l.buf, l.from, l.seen = append(make([]byte, 0, max(readSize, 2*len(rest))), rest...), 0, 0
	for !ended && l.err == nil {
		l.fill()
		part, rest, ended = bytes.Cut(l.buf, []byte("\n"))
		tail = tailOf(append(tail, tailOf(part)...))
		l.buf = append(l.buf[:0], rest...)
	}
	l.Lost = lostID(head, tail)
	return ErrTooLong
}

func headOf(line []byte) []byte { return bytes.Clone(line[:min(len(line), headSize)]) }

func tailOf(line []byte) []byte { return bytes.Clone(line[max(0, len(line)-tailSize):]) }
