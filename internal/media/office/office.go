package office

import (
	"bytes"
	"errors"
	"strings"
	"time"

	"github.com/fsmcp/fsmcp/internal/media"
)

// Reader reads Office documents.
type Reader struct{}

// Read returns the text of a document. The error is media.ErrNotOffice, media.ErrOldOffice,
// media.ErrLocked or a *media.DamageError.
func (Reader) Read(data []byte, q media.DocumentRequest) (*media.Document, error) {
	a, err := open(data)
	if err != nil {
		return nil, failure(err)
	}
	if q.Millis > 0 {
		a.until = time.Now().Add(time.Duration(q.Millis) * time.Millisecond)
	}
	w := &writer{archive: a, edges: make(map[string]bool)}
	err = w.read()
	switch {
	case errors.Is(err, errFull), errors.Is(err, errLate):
		w.doc.Cut = err.Error()
	case err != nil:
		return nil, failure(err)
	}
	return w.finish(), nil
}

// Pictures returns the bytes of parts of a document, nil for one that is not there or too large.
func (Reader) Pictures(data []byte, parts []string) ([][]byte, error) {
	a, err := open(data)
	if err != nil {
		return nil, failure(err)
	}
	const most = 48 << 20 // together
	all, size := make([][]byte, len(parts)), 0
	for i, name := range parts {
		b, err := a.bytes(name, media.MaxDocPicture+1)
		if err == nil && len(b) <= media.MaxDocPicture && size+len(b) <= most {
			all[i] = b
			size += len(b)
		}
	}
	return all, nil
}

// failure returns the error of a document as its caller sees it.
func failure(err error) error {
	for _, known := range []error{media.ErrLocked, media.ErrNotOffice, media.ErrOldOffice} {
		if errors.Is(err, known) {
			return known
		}
	}
	return &media.DamageError{Kind: media.None, What: err.Error()}
}

// open opens the archive of a document.
func open(data []byte) (*archive, error) {
	if bytes.HasPrefix(data, []byte("\xD0\xCF\x11\xE0")) {
		switch {
		case bytes.Contains(data, wide("EncryptedPackage")):
			return nil, media.ErrLocked
		case bytes.Contains(data, wide("WordDocument")), bytes.Contains(data, wide("Workbook")), bytes.Contains(data, wide("PowerPoint Document")):
			return nil, media.ErrOldOffice
		}
		return nil, media.ErrNotOffice
	}
	return openArchive(data)
}

// wide returns a name as the older container holds it, in UTF-16.
func wide(name string) []byte {
	var b []byte
	for _, c := range []byte(name) {
		b = append(b, c, 0)
	}
	return b
}

// read reads a document by its kind.
func (w *writer) read() error {
	if w.has("mimetype") && w.has("content.xml") {
		return w.openDocument()
	}
	roots, err := w.relations("")
	if err != nil {
		return err
	}
	main := related(roots, "officeDocument")
	if main == "" || !w.has(main) {
		return media.ErrNotOffice
	}
	s := w.scan(main)
	switch s.root() {
	case "document":
		w.begins(media.TextDocument, "docx")
		return w.word(s, main)
	case "workbook":
		w.begins(media.Spreadsheet, "xlsx")
		return w.workbook(s, main)
	case "presentation":
		w.begins(media.Presentation, "pptx")
		return w.presentation(s, main)
	}
	if s.err != nil {
		return s.end()
	}
	return media.ErrNotOffice
}

// openDocument reads a document in the OpenDocument format.
func (w *writer) openDocument() error {
	kind, err := w.bytes("mimetype", 200)
	if err != nil {
		return err
	}
	manifest, err := w.bytes("META-INF/manifest.xml", 4<<20)
	if err != nil {
		return err
	}
	if bytes.Contains(manifest, []byte("encryption-data")) {
		return media.ErrLocked
	}
	name, known := strings.CutPrefix(strings.TrimSpace(string(kind)), "application/vnd.oasis.opendocument.")
	if !known {
		return media.ErrNotOffice
	}
	switch strings.TrimSuffix(strings.TrimSuffix(name, "-template"), "-master") {
	case "text":
		w.begins(media.TextDocument, "odt")
		return w.odText()
	case "spreadsheet":
		w.begins(media.Spreadsheet, "ods")
		return w.odSheets()
	case "presentation":
		w.begins(media.Presentation, "odp")
		return w.odSlides()
	}
	return media.ErrNotOffice
}
