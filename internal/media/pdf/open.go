package pdf

import (
	"bytes"
	"errors"
	"time"

	"github.com/klippa-app/go-pdfium"
	pdfiumerrors "github.com/klippa-app/go-pdfium/errors"
	"github.com/klippa-app/go-pdfium/requests"

	"github.com/fsmcp/fsmcp/internal/media"
)

// openFor bounds a document's wait for PDFium, which serves two at a time.
const openFor = 5 * time.Second

// maxKept bounds the size of a document that stays open.
const maxKept = 8 << 20

// open opens a document in a PDFium that has opened no other, so that no document can
// affect the next. The last document is still open: a caller that reads pages mostly
// continues with the next ones. One such page takes 17 ms in place of 21, ten of plain
// text take 113 ms in place of 131.
func (r *Reader) open(data []byte) (*document, error) {
	if k := r.kept; k != nil && bytes.Equal(k.data, data) {
		return k, nil
	}
	r.closeKept()
	return openIn(r.pool, data)
}

// close keeps a sound document open, and closes any other.
func (r *Reader) close(d *document, sound bool) {
	r.kept = d
	if !sound || len(d.data) > maxKept {
		r.closeKept()
		return
	}
	d.closePage()
	if d.second != nil {
		d.second.closePage()
	}
}

// closeKept closes the document that was kept open.
func (r *Reader) closeKept() {
	if r.kept != nil {
		r.kept.close()
		r.kept = nil
	}
}

// openIn opens a document in a fresh PDFium.
func openIn(pool pdfium.Pool, data []byte) (*document, error) {
	in, err := pool.GetInstance(openFor)
	if err != nil {
		return nil, err
	}
	doc, err := in.OpenDocument(&requests.OpenDocument{File: &data})
	switch {
	case err == nil:
		return &document{handle: handle{in, doc.Document}, pool: pool, data: data}, nil
	case errors.Is(err, pdfiumerrors.ErrPassword), errors.Is(err, pdfiumerrors.ErrSecurity):
		err = media.ErrLocked
	default:
		err = damaged("it cannot be opened as a PDF")
	}
	in.Close()
	return nil, err
}

func (d *document) close() {
	if d.second != nil {
		d.second.close()
	}
	d.in.Close()
}
