package main

import (
	"fmt"
	"io"
	"os"
	"time"

	"github.com/rs/zerolog"
)

// openLog logs at info level to a file, or warnings to standard error, where
// nobody may be reading: there, lines that find no room are dropped.
func openLog(file string, stderr io.Writer) (log zerolog.Logger, closeLog func(), err error) {
	if file == "" {
		w := newLossy(stderr)
		return zerolog.New(w).Level(zerolog.WarnLevel).With().Timestamp().Logger(), w.close, nil
	}
	f, err := os.OpenFile(file, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return log, nil, fmt.Errorf("the log cannot be written: %w", err)
	}
	return zerolog.New(f).Level(zerolog.InfoLevel).With().Timestamp().Logger(), func() { f.Close() }, nil
}

// lossy hands lines to a writer that may block for ever, without ever blocking.
// It may be written to after it was closed: a call that hangs can outlive the
// session.
type lossy struct {
	lines chan []byte
	end   chan struct{} // closed by close
	done  chan struct{} // closed when all that was there is written
}

func newLossy(w io.Writer) *lossy {
	l := &lossy{lines: make(chan []byte, 64), end: make(chan struct{}), done: make(chan struct{})}
	go l.run(w)
	return l
}

// run writes line by line. A closed stream is no error: there is nobody to tell.
func (l *lossy) run(w io.Writer) {
	defer close(l.done)
	for {
		select {
		case line := <-l.lines:
			w.Write(line)
		case <-l.end:
			for len(l.lines) > 0 {
				w.Write(<-l.lines)
			}
			return
		}
	}
}

func (l *lossy) Write(line []byte) (int, error) {
	select {
	case l.lines <- append([]byte(nil), line...):
	default:
	}
	return len(line), nil
}

// close gives the last lines a moment.
func (l *lossy) close() {
	close(l.end)
	select {
	case <-l.done:
	case <-time.After(100 * time.Millisecond):
	}
}
