package filter

import (
	"bytes"
	"path"
	"slices"
	"strings"
)

// officeDocuments are the extensions of documents that hold their text in an archive.
var officeDocuments = []string{".docx", ".xlsx", ".pptx", ".odt", ".ods", ".odp", ".doc", ".xls", ".ppt"}

// Document reports whether a file, by its name and its first bytes, is a PDF or an Office
// document: its bytes are not its text.
func Document(name string, head []byte) (pdf, office bool) {
	if bytes.HasPrefix(head, []byte("%PDF-")) {
		return true, false
	}
	archive := bytes.HasPrefix(head, []byte("PK\x03\x04")) || bytes.HasPrefix(head, []byte("\xD0\xCF\x11\xE0"))
	return false, archive && slices.Contains(officeDocuments, strings.ToLower(path.Ext(name)))
}
