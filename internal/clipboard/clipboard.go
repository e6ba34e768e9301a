package clipboard

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/fsmcp/fsmcp/internal/procgroup"
)

// Clip is a picture, or a text in UTF-8 with line feeds.
type Clip struct {
	Data    []byte
	Picture bool
	// URIs says that the text is a list of URIs, one a line, mostly of copied files (source:
	// RFC 2483, section 5).
	URIs bool
}

// ErrEmpty: the clipboard holds neither a picture, text nor files.
var ErrEmpty = errors.New("the clipboard holds neither a picture nor text")

// ErrTooLong: the program did not end in time.
var ErrTooLong = errors.New("the program that reads the clipboard did not end in time")

// TooLargeError: the clipboard holds more bytes than the limit.
type TooLargeError struct{ Limit int64 }

func (e *TooLargeError) Error() string {
	return fmt.Sprintf("the clipboard holds more than %d bytes", e.Limit)
}

// MissingError: the program that reads the clipboard is not found.
type MissingError struct{ Program Program }

func (e *MissingError) Error() string { return e.Program.Name + " is not found" }

// FailedError: the program failed.
type FailedError struct {
	Program Program
	// Said is the first line of its standard error, else how it ended.
	Said string
}

func (e *FailedError) Error() string { return e.Program.Name + ": " + e.Said }

// The usual bounds of a Reader.
const (
	defaultTimeout = 5 * time.Second
	defaultLimit   = 64 << 20
)

// Reader reads the clipboard. It is safe for concurrent use.
type Reader struct {
	Program Program
	// Look returns the absolute name of a program.
	Look    func(name string) (string, error)
	Timeout time.Duration
	Limit   int64 // of a program's output, in bytes
}

// New returns a Reader with the usual bounds.
func New(p Program, look func(name string) (string, error)) *Reader {
	return &Reader{Program: p, Look: look, Timeout: defaultTimeout, Limit: defaultLimit}
}

// Read returns what the clipboard holds. The error is ErrEmpty, ErrTooLong, one of this
// package's types, or that of ctx.
func (r *Reader) Read(ctx context.Context) (Clip, error) {
	path, err := r.Look(r.Program.Name)
	if err != nil {
		return Clip{}, &MissingError{r.Program}
	}
	timed, cancel := context.WithTimeoutCause(ctx, r.Timeout, ErrTooLong)
	defer cancel()
	return r.Program.read(func(args ...string) ([]byte, error) { return r.run(timed, path, args) })
}

// headBytes bounds what is kept of standard error.
const headBytes = 4 << 10

// outputTimeout bounds the wait for the output of a program that was killed or has ended: a
// process that it left running may hold the pipe.
const outputTimeout = 200 * time.Millisecond

// run runs the program once and returns its output.
func (r *Reader) run(ctx context.Context, path string, args []string) ([]byte, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	out := &procgroup.Head{Limit: int(r.Limit), Full: func() { cancel(&TooLargeError{r.Limit}) }}
	complaints := &procgroup.Head{Limit: headBytes}
	cmd := exec.Command(path, args...)
	cmd.Stdout, cmd.Stderr, cmd.WaitDelay = out, complaints, outputTimeout
	cmd.Dir = filepath.Dir(path) // not the workspace
	group, err := procgroup.Start(cmd)
	if err != nil {
		return nil, &FailedError{r.Program, err.Error()}
	}
	_, err = group.Wait(ctx, 2*outputTimeout)
	switch cause := context.Cause(ctx); {
	case cause != nil:
		return nil, cause
	case err != nil && !errors.Is(err, exec.ErrWaitDelay):
		said, _ := complaints.Bytes()
		return nil, &FailedError{r.Program, firstLine(said, err)}
	}
	read, _ := out.Bytes()
	return read, nil
}

// firstLine returns the first line of standard error, else the text of err.
func firstLine(complaints []byte, err error) string {
	line, _, _ := strings.Cut(strings.TrimSpace(string(complaints)), "\n")
	if line == "" {
		line = err.Error()
	}
	return strings.TrimSpace(line)
}

// text returns the content of a text: with line feeds alone, as every system's programs
// put it on the clipboard in another way.
func text(data []byte) (Clip, error) {
	data = bytes.ReplaceAll(data, []byte("\r\n"), []byte("\n"))
	if len(data) == 0 {
		return Clip{}, ErrEmpty
	}
	return Clip{Data: data}, nil
}
