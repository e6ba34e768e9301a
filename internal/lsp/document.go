package lsp

import "os"

// document is a file that a server is told of.
type document struct {
	path, language string
	used           int // when it was changed last, in changes

	open      bool
	text      string // as the server knows it, if it is open
	version   int
	published int // the last version that the server has reported on

	// base is the text before a change where that is not what the server knows, and next the
	// text after it; nil where there is nothing to send.
	base, next *string
	// leave is the event of a file that the server is not to know any longer; 0: it is.
	leave int

	// seen is the file's state on the disk when it held the last text.
	seen fileTime
}

// deliver takes a change.
func (d *document) deliver(c delivery) {
	switch {
	case d.next != nil && *d.next == c.old: // it follows one that is not sent yet
	case d.next == nil && d.open && d.text == c.old:
	case c.created:
	default:
		d.base = &c.old
	}
	d.next, d.seen = &c.now, c.seen
}

// lost notes that the server does not know the document any longer.
func (d *document) lost() {
	if d.open && d.next != nil && d.base == nil {
		base := d.text
		d.base = &base
	}
	d.open, d.text, d.version, d.published = false, "", 0, 0
}

// lookAt returns the state of a file on the disk, the zero one where there is none; gone says
// that it is missing.
func lookAt(path string) (now fileTime, gone bool) {
	info, err := os.Lstat(path)
	if err != nil {
		return fileTime{}, os.IsNotExist(err)
	}
	return timeOf(info), false
}
