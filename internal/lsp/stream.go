package lsp

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/textproto"
	"strconv"
	"strings"
	"sync/atomic"
	"time"
)

// Bounds of what passes between this process and one server.
const (
	maxMessage     = 4 << 20  // bytes; a larger one is skipped
	maxHeaders     = 4 << 10  // bytes of one message's headers
	maxQueued      = 16 << 20 // bytes that wait for the server to read them
	maxMessages    = 1 << 10  // messages that do
	maxPerWindow   = 64 << 20 // bytes that a server may send in floodWindow
	floodWindow    = 10 * time.Second
	maxInterpreted = 2 << 20 // bytes of a message without params, which takes many times its size
)

var (
	errUnread    = errors.New("it does not read what it is sent")
	errFlood     = errors.New("it sends too much")
	errNoMessage = errors.New("it sends something else than messages of the protocol")
)

// stream carries messages of JSON-RPC with the headers of the protocol. Writing never
// blocks: messages wait in a bounded queue. It implements jsonrpc2.ObjectStream.
type stream struct {
	in    io.WriteCloser
	out   io.ReadCloser
	ahead *io.LimitedReader // what may be read of out
	ended bool              // nothing more comes from out
	text  *bufio.Reader     // reads from ahead
	end   context.CancelCauseFunc

	queue  chan []byte
	queued atomic.Int64 // bytes in queue

	window time.Time
	seen   int // bytes since window
}

// newStream returns a stream that calls end once nothing more can be sent or received.
func newStream(p *program, end context.CancelCauseFunc) *stream {
	s := &stream{in: p.in, out: p.out, end: end, queue: make(chan []byte, maxMessages)}
	s.ahead = &io.LimitedReader{R: output{s}}
	s.text = bufio.NewReader(s.ahead)
	return s
}

// output reads a stream's out, and notes its end.
type output struct{ *stream }

func (o output) Read(b []byte) (n int, err error) {
	n, err = o.out.Read(b)
	o.ended = o.ended || err != nil
	return n, err
}

// WriteObject implements jsonrpc2.ObjectStream.
func (s *stream) WriteObject(obj any) error {
	body, err := json.Marshal(obj)
	if err != nil {
		return err
	}
	message := fmt.Appendf(nil, "Content-Length: %d\r\n\r\n%s", len(body), body)
	if s.queued.Add(int64(len(message))) <= maxQueued {
		select {
		case s.queue <- message:
			return nil
		default:
		}
	}
	s.end(errUnread)
	return errUnread
}

// write writes what is queued until the stream is closed.
func (s *stream) write(closed <-chan struct{}) {
	for {
		select {
		case message := <-s.queue:
			if _, err := s.in.Write(message); err != nil {
				return // the reader ends, too
			}
			s.queued.Add(int64(-len(message)))
		case <-closed:
			return
		}
	}
}

// ReadObject implements jsonrpc2.ObjectStream.
func (s *stream) ReadObject(v any) error {
	body, err := s.body()
	if err == nil && json.Unmarshal(body, v) != nil {
		err = errNoMessage
	}
	if err != nil {
		s.end(err)
	}
	return err
}

// body returns the next message. It skips those above the bounds.
func (s *stream) body() ([]byte, error) {
	for {
		size, err := s.header()
		if err != nil {
			return nil, err
		}
		if now := time.Now(); now.Sub(s.window) > floodWindow {
			s.window, s.seen = now, 0
		}
		if s.seen += size; s.seen > maxPerWindow {
			return nil, errFlood
		}
		s.ahead.N = int64(size)
		body := make([]byte, min(size, maxMessage))
		if _, err = io.ReadFull(s.text, body); err == nil {
			_, err = s.text.Discard(size - len(body))
		}
		if err != nil {
			return nil, errGone
		}
		// A large answer would be decoded into values of any kind.
		if size <= maxInterpreted || size <= maxMessage && strings.Contains(string(body[:1<<10])+string(body[size-1<<10:]), `"method"`) {
			return body, nil
		}
	}
}

// header reads the headers of a message and returns its size.
func (s *stream) header() (size int, err error) {
	s.ahead.N = maxHeaders
	if _, err := s.text.Peek(1); err != nil {
		return 0, errGone
	}
	headers, err := textproto.NewReader(s.text).ReadMIMEHeader()
	length, errLength := strconv.ParseUint(headers.Get("Content-Length"), 10, 31)
	switch {
	case err != nil && s.ended: // in the middle of a header
		return 0, errGone
	case err != nil || errLength != nil:
		return 0, errNoMessage
	}
	return int(length), nil
}

// Close implements jsonrpc2.ObjectStream.
func (s *stream) Close() error {
	return errors.Join(s.in.Close(), s.out.Close())
}
