package pdf

import (
	"bytes"
	"compress/zlib"
	"io"
)

// How much is searched of packed objects.
const (
	mostObjects  = 32 << 20 // bytes, unpacked
	leastObjects = 4 << 10  // what a stream of them counts for at least: to begin one takes time
)

// transferred is found out once a document.
func (d *document) transferred() bool {
	if d.passes == nil {
		passes := transferred(d.data)
		d.passes = &passes
	}
	return *d.passes
}

// transferred tells whether a file may have colours pass through functions on
// their way to paper, of which PDFium tells nothing: pictures pass them, too.
func transferred(file []byte) bool {
	if namesTransfer(file) {
		return true
	}
	room := int64(mostObjects)
	for rest := file; ; {
		at := bytes.Index(rest, []byte("/ObjStm"))
		if at < 0 {
			return false
		}
		rest = rest[at:]
		from := bytes.Index(rest[:min(len(rest), mostHead)], []byte("stream"))
		if from < 0 {
			return true // who knows what it holds
		}
		z, err := zlib.NewReader(bytes.NewReader(bytes.TrimLeft(rest[from+len("stream"):], "\r\n")))
		if err != nil {
			return true
		}
		objects, _ := io.ReadAll(io.LimitReader(z, room)) // what can be read of a damaged one is what counts
		if room -= int64(max(len(objects), leastObjects)); room <= 0 || namesTransfer(objects) {
			return true
		}
		rest = rest[from:]
	}
}

// namesTransfer tells whether there is a key of a function of transfer whose value
// is not a name: those say that there is none.
func namesTransfer(objects []byte) bool {
	for rest := objects; ; {
		at := bytes.Index(rest, []byte("/TR"))
		if at < 0 {
			return false
		}
		rest = bytes.TrimPrefix(rest[at+len("/TR"):], []byte("2"))
		value := bytes.TrimLeft(rest, " \t\r\n")
		if len(value) > 0 && (value[0] == '[' || value[0] == '<' || len(value) < len(rest) && value[0] >= '0' && value[0] <= '9') {
			return true
		}
	}
}
