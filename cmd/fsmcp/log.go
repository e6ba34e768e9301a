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
type lossy struct {
	lines chan []byte
	done  chan struct{}
}

func newLossy(w io.Writer) *lossy {
	l := &lossy{lines: make(chan []byte, 64), done: make(chan struct{})}
	go func() {
		defer close(l.done)
		for line := range l.lines {
			if _, err := w.Write(line); err != nil {
				continue // a closed stream: nobody to tell
			}
		}
	}()
	return l
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
	close(l.lines)
	select {
	case <-l.done:
	case <-time.After(100 * time.Millisecond):
	}
}
