package search

import (
	"bytes"
	"sync"
	"unicode/utf8"

	"github.com/fsmcp/fsmcp/internal/fsys"
	"github.com/fsmcp/fsmcp/internal/text"
	"github.com/fsmcp/fsmcp/internal/text/charset"
)

// windowSize bounds the part of a file that a worker holds in memory.
const windowSize = 256 << 10

// largeWindow bounds a window in which lines are kept or matches span lines.
const largeWindow = 2 << 20

// largeBuffers hold a file that is larger than a window, or a large window.
var largeBuffers = sync.Pool{New: func() any { b := make([]byte, inMemory+1); return &b }}

// room is the memory of a slot, for the worker that has the slot.
type room struct {
	last    bool  // of several slots; it yields
	rested  int64 // when its last rest ended, in Unix nanoseconds
	ended   int64 // when the last worker gave it back
	yielded int64 // when it last let other goroutines run
	buf     []byte
	raw     []byte // for what has to be decoded
}

func (r *room) window() []byte {
	if r.buf == nil {
		r.buf = make([]byte, windowSize)
	}
	return r.buf
}

// window moves over the text of a file that is not held in memory.
type window struct {
	file *fsys.File
	off  int64 // in the file, behind what was read
	enc  charset.Encoding
	buf  []byte
	text []byte // the part of buf that is filled
	raw  []byte
	eof  bool
	// returns: carriage returns end the lines. They are made line feeds.
	returns bool
}

// newWindow begins at the start of a file; head are its first bytes, in buf. The error is
// text.ErrBinary.
func newWindow(f *fsys.File, r *room, buf, head []byte) (*window, error) {
	enc, err := text.HeadEncoding(head, false)
	if err != nil {
		return nil, err
	}
	w := &window{file: f, enc: enc, buf: buf, off: int64(len(enc.BOM()))}
	if !enc.IsUTF8() {
		if r.raw == nil {
			r.raw = make([]byte, windowSize/4)
		}
		w.raw = r.raw
	}
	if enc.IsUTF8() || enc.Units().Size() == 1 {
		w.returns = bytes.IndexByte(head, '\n') < 0 && bytes.IndexByte(head, '\r') >= 0
	}
	return w, nil
}

// more fills the window, or comes to the end of the file. It reports false for a file that
// holds a NUL.
func (w *window) more() (isText bool, err error) {
	was := len(w.text)
	for len(w.text) < len(w.buf)-3*utf8.UTFMax && !w.eof && err == nil {
		if w.raw == nil {
			var n int
			n, err = w.file.Read(w.buf[len(w.text):], w.off)
			w.text, w.off, w.eof = w.buf[:len(w.text)+n], w.off+int64(n), n == 0
			continue
		}
		err = w.decode()
	}
	added := w.text[was:]
	if w.returns {
		for i, b := range added {
			if b == '\r' {
				added[i] = '\n'
			}
		}
	}
	return bytes.IndexByte(added, 0) < 0, err
}

// decode adds a piece of text in another charset than UTF-8.
func (w *window) decode() error {
	free := len(w.buf) - len(w.text)
	n, err := w.file.ReadAt(w.raw[:min(len(w.raw), max(free/utf8.UTFMax, 1)+w.enc.Units().Size())], w.off)
	if n == 0 {
		w.eof = true
		return nil
	}
	got, used := w.enc.Set.DecodePrefix(w.raw[:n])
	if used == 0 { // no character: its first byte stands for it
		got, used = w.raw[:1], min(w.enc.Units().Size(), n)
	}
	if len(got) > free { // cannot be: no byte takes more than four
		w.eof = true
		return err
	}
	w.text = append(w.text, got...)
	w.off += int64(used)
	return nil
}

// drop removes the first n bytes of the window's text.
func (w *window) drop(n int) { w.text = w.buf[:copy(w.buf, w.text[n:])] }

// openTail is the number of bytes at the end of a text that may belong to what follows: a
// carriage return, or a character that lacks its last bytes.
func openTail(b []byte) int {
	if len(b) > 0 && b[len(b)-1] == '\r' {
		return 1
	}
	return text.OpenTail(b)
}
