package worker

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// A frame is one byte for its kind, four bytes of length, and as many bytes.
const (
	frameJob      = 'j' // header as JSON
	frameData     = 'd' // a piece of the body, or of a reply's blobs
	frameEnd      = 'e' // of the body
	frameProgress = 'p' // progress as JSON
	frameReply    = 'r' // outcome as JSON; the blobs follow
)

// Sizes of frames and of all that a reply may hold.
const (
	maxFrame = 1 << 20
	maxBlobs = 64 << 20
	chunk    = 256 << 10
)

// errFrame says that a stream holds something else than frames.
var errFrame = errors.New("worker: the stream is out of step")

// header announces a job.
type header struct {
	Op     string          `json:"op"`
	Params json.RawMessage `json:"params,omitempty"`
	Size   int64           `json:"size"`
}

// outcome announces a job's reply.
type outcome struct {
	Failure *Failure        `json:"failure,omitempty"`
	Result  json.RawMessage `json:"result,omitempty"`
	Blobs   []int           `json:"blobs,omitempty"`
}

// progress reports how far a job is.
type progress struct {
	Done  int64  `json:"done"`
	Total int64  `json:"total"`
	What  string `json:"what"`
}

// Failure is a job's own error: a code, and a text.
type Failure struct {
	Code   string          `json:"code"`
	Text   string          `json:"text"`
	Detail json.RawMessage `json:"detail,omitempty"`
}

func (f *Failure) Error() string { return f.Code + ": " + f.Text }

func writeFrame(w io.Writer, kind byte, b []byte) error {
	var head [5]byte
	head[0] = kind
	binary.BigEndian.PutUint32(head[1:], uint32(len(b)))
	if _, err := w.Write(head[:]); err != nil || len(b) == 0 {
		return err
	}
	_, err := w.Write(b)
	return err
}

func writeJSON(w io.Writer, kind byte, v any) error {
	b, err := json.Marshal(v)
	if err != nil {
		return err
	}
	if len(b) > maxFrame {
		return fmt.Errorf("worker: %d bytes are too many for a frame", len(b))
	}
	return writeFrame(w, kind, b)
}

// readFrame reads a frame; room is used where it is large enough.
func readFrame(r io.Reader, room []byte) (kind byte, b []byte, err error) {
	var head [5]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return 0, nil, err
	}
	n := binary.BigEndian.Uint32(head[1:])
	if n > maxFrame {
		return 0, nil, errFrame
	}
	if int(n) > cap(room) {
		room = make([]byte, n)
	}
	b = room[:n]
	if _, err := io.ReadFull(r, b); err != nil {
		return 0, nil, err
	}
	return head[0], b, nil
}
