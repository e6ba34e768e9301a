package filter

import (
	"bytes"
	"path"
	"slices"
	"strings"
)

// officeDocuments are the extensions of documents that hold their text in an archive.
var officeDocuments = []string{".docx", ".xlsx", ".pptx", ".odt", ".ods", ".odp", ".doc", ".xls", ".ppt"}

// Archive reports whether a file that begins with these bytes is an archive in which an Office
// document may lie.
func Archive(head []byte) bool {
	return bytes.HasPrefix(head, []byte("PK\x03\x04")) || bytes.HasPrefix(head, []byte("\xD0\xCF\x11\xE0"))
}

// SelectsDocument reports whether a glob or the type names the extension of a document: a glob
// such as * takes it, but does not select it.
func (f *Filter) SelectsDocument(name string) bool {
	return slices.Contains(f.extensions, strings.ToLower(path.Ext(name)))
}

// extensionOf returns the extension that a glob of names ends in, in lower case.
func extensionOf(glob string) string {
	if ext := strings.ToLower(path.Ext(glob)); !strings.ContainsAny(ext, "*?[]\\") {
		return ext
	}
	return ""
}

// Document reports whether a file, by its name and its first bytes, is a PDF or an Office
// document: its bytes are not its text.
func Document(name string, head []byte) (pdf, office bool) {
	if bytes.HasPrefix(head, []byte("%PDF-")) {
		return true, false
	}
	return false, Archive(head) && slices.Contains(officeDocuments, strings.ToLower(path.Ext(name)))
}
