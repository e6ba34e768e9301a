// Package logging opens the log: JSON lines to a file, or warnings to standard error. A
// writer that blocks never blocks the program; what finds no room is dropped.
package logging

import (
	"errors"
	"fmt"
	"io"
	"os"
	"syscall"
	"time"

	"github.com/rs/zerolog"
)

// Open logs at info level to a file, or warnings to standard error. A FIFO and standard
// error may have no reader: lines that find no room there are dropped.
func Open(file string, stderr io.Writer) (log zerolog.Logger, closeLog func(), err error) {
	if file == "" {
		w := newDroppingWriter(stderr)
		return zerolog.New(w).Level(zerolog.WarnLevel).With().Timestamp().Logger(), w.close, nil
	}
	f, err := os.OpenFile(file, os.O_APPEND|os.O_CREATE|os.O_WRONLY|syscall.O_NONBLOCK, 0o600)
	if errors.Is(err, syscall.ENXIO) {
		return log, nil, fmt.Errorf("the log cannot be written: %s is a FIFO or a device that nobody reads", file)
	}
	if err != nil {
		return log, nil, fmt.Errorf("the log cannot be written: %w", err)
	}
	var w io.Writer = f
	closeLog = func() { f.Close() }
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		lines := newDroppingWriter(f) // the reader may stop reading
		w, closeLog = lines, func() { lines.close(); f.Close() }
	}
	return zerolog.New(w).Level(zerolog.InfoLevel).With().Timestamp().Logger(), closeLog, nil
}

// Say writes lines to standard error, if it can take them at once.
func Say(stderr io.Writer, lines []string) {
	w := newDroppingWriter(stderr)
	defer w.close()
	for _, line := range lines {
		fmt.Fprintf(w, "fsmcp: %s\n", line)
	}
}

// droppingWriter passes lines to a writer that may block, and never blocks itself. It
// accepts lines after close: a call that hangs can outlive the session.
type droppingWriter struct {
	lines chan []byte
	end   chan struct{} // closed by close
	done  chan struct{} // closed when the remaining lines are written
}

func newDroppingWriter(w io.Writer) *droppingWriter {
	l := &droppingWriter{lines: make(chan []byte, 64), end: make(chan struct{}), done: make(chan struct{})}
	go l.run(w)
	return l
}

// run writes line by line. It ignores write errors: there is no other place to report
// them.
func (l *droppingWriter) run(w io.Writer) {
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

func (l *droppingWriter) Write(line []byte) (int, error) {
	select {
	case l.lines <- append([]byte(nil), line...):
	default:
	}
	return len(line), nil
}

// close waits up to 100 ms for the last lines.
func (l *droppingWriter) close() {
	close(l.end)
	select {
	case <-l.done:
	case <-time.After(100 * time.Millisecond):
	}
}
