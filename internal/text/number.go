package text

// Number shows part of a file with these line endings as numbered lines.
func (e EOL) Number(part string, firstLine int) []byte {
	w := &window{s: part, eol: '\n', whole: true, strays: true, ascii: true}
	if e.loneCR() {
		w.eol = '\r'
	}
	var p Page
	w.take(&p, firstLine, 0, 0)
	return p.Body
}
