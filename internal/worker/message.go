package worker

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// A message is four bytes of length and as many bytes of JSON. The bytes that it announces
// follow: a job's body, or a reply's blobs.

const (
	// maxMessage bounds the JSON of a message, maxBlobs all blobs of a reply.
	maxMessage = 1 << 20
	maxBlobs   = 64 << 20
	// chunk is the size of the pieces in which a body is read and sent.
	chunk = 256 << 10
)

// errMessage says that a stream holds something else than messages.
var errMessage = errors.New("worker: the stream is out of step")

// header announces a job, and its body of so many bytes.
type header struct {
	Op     string          `json:"op"`
	Params json.RawMessage `json:"params,omitempty"`
	Size   int64           `json:"size"`
}

// outcome reports a job's progress, or its reply and the sizes of the reply's blobs.
type outcome struct {
	Progress *progress       `json:"progress,omitempty"`
	Failure  *Failure        `json:"failure,omitempty"`
	Result   json.RawMessage `json:"result,omitempty"`
	Blobs    []int           `json:"blobs,omitempty"`
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

func writeMessage(w io.Writer, v any) error {
	b, err := json.Marshal(v)
	if err != nil {
		return err
	}
	if len(b) > maxMessage {
		return fmt.Errorf("worker: %d bytes are too many for a message", len(b))
	}
	_, err = w.Write(append(binary.BigEndian.AppendUint32(nil, uint32(len(b))), b...))
	return err
}

// readMessage reads a message. The error is io.EOF if the stream ends before it.
func readMessage(r io.Reader, v any) error {
	var size [4]byte
	if _, err := io.ReadFull(r, size[:]); err != nil {
		return err
	}
	n := binary.BigEndian.Uint32(size[:])
	if n > maxMessage {
		return errMessage
	}
	b := make([]byte, n)
	if _, err := io.ReadFull(r, b); err != nil {
		return fmt.Errorf("%w: %w", errMessage, err)
	}
	if json.Unmarshal(b, v) != nil {
		return errMessage
	}
	return nil
}
