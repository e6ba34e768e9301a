package lsp

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"sync"
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
	errUnread = errors.New("it does not read what it is sent")
	errFlood  = errors.New("it sends too much")
	errHeader = errors.New("it sends something else than messages of the protocol")
)

// stream carries messages of JSON-RPC with the headers of the protocol. Writing never
// blocks: messages wait in a bounded queue. It implements jsonrpc2.ObjectStream.
type stream struct {
	in     io.WriteCloser
	closer io.Closer
	out    *bufio.Reader

	queue  chan []byte
	queued atomic.Int64 // bytes in queue
	unread atomic.Bool  // the queue ran over
	closed chan struct{}
	once   sync.Once

	window time.Time
	seen   int   // bytes since window
	err    error // why reading ended; read after that
}

func newStream(p *program) *stream {
	s := &stream{in: p.in, closer: p.out, out: bufio.NewReader(p.out), queue: make(chan []byte, maxMessages), closed: make(chan struct{})}
	go s.write()
	return s
}

// WriteObject implements jsonrpc2.ObjectStream.
func (s *stream) WriteObject(obj any) error {
	body, err := json.Marshal(obj)
	if err != nil {
		return err
	}
	message := append(fmt.Appendf(nil, "Content-Length: %d\r\n\r\n", len(body)), body...)
	if s.queued.Add(int64(len(message))) <= maxQueued {
		select {
		case s.queue <- message:
			return nil
		default:
		}
	}
	s.unread.Store(true)
	go s.Close()
	return errUnread
}

// write writes what is queued until the stream is closed.
func (s *stream) write() {
	for {
		select {
		case message := <-s.queue:
			if _, err := s.in.Write(message); err != nil {
				return // the reader ends, too
			}
			s.queued.Add(int64(-len(message)))
		case <-s.closed:
			return
		}
	}
}

// ReadObject implements jsonrpc2.ObjectStream. It skips messages above the bound.
func (s *stream) ReadObject(v any) error {
	for {
		size, err := s.header()
		if err == nil {
			err = s.count(size)
		}
		if err != nil {
			s.err = err
			return err
		}
		if size > maxMessage {
			if _, err = io.CopyN(io.Discard, s.out, int64(size)); err != nil {
				return err
			}
			continue
		}
		body := make([]byte, size)
		if _, err = io.ReadFull(s.out, body); err != nil {
			return err
		}
		if size > maxInterpreted && !strings.Contains(string(body[:1<<10])+string(body[size-1<<10:]), `"method"`) {
			continue // an answer: it would be decoded into values of any kind
		}
		if err = json.Unmarshal(body, v); err != nil {
			s.err = errHeader
		}
		return err
	}
}

// count notes the bytes of a message. The error is errFlood.
func (s *stream) count(size int) error {
	if now := time.Now(); now.Sub(s.window) > floodWindow {
		s.window, s.seen = now, 0
	}
	if s.seen += size; s.seen > maxPerWindow {
		return errFlood
	}
	return nil
}

// header reads the headers of a message and returns its size.
func (s *stream) header() (size int, err error) {
	size = -1
	for left := maxHeaders; ; {
		line, err := s.out.ReadSlice('\n')
		if left -= len(line); left < 0 || errors.Is(err, bufio.ErrBufferFull) {
			return 0, errHeader
		}
		if err != nil {
			return 0, err
		}
		name, value, ok := strings.Cut(strings.TrimSpace(string(line)), ":")
		switch {
		case ok && strings.EqualFold(strings.TrimSpace(name), "Content-Length"):
			if size, err = strconv.Atoi(strings.TrimSpace(value)); err != nil {
				return 0, errHeader
			}
		case !ok && name == "" && size >= 0:
			return size, nil
		case !ok:
			return 0, errHeader
		}
	}
}

// failure returns why the stream was closed; nil if the server closed it. It is called once
// reading has ended.
func (s *stream) failure() error {
	if s.unread.Load() {
		return errUnread
	}
	return s.err
}

// Close implements jsonrpc2.ObjectStream.
func (s *stream) Close() error {
	s.once.Do(func() {
		close(s.closed)
		_ = s.in.Close()
		_ = s.closer.Close()
	})
	return nil
}
