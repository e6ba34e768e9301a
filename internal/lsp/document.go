package lsp

import (
	"os"
	"time"
)

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

	// size and modified are those of the file when the text was sent.
	size     int64
	modified time.Time
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
	d.next = &c.now
}

// lost notes that the server does not know the document any longer.
func (d *document) lost() {
	if d.open && d.next != nil && d.base == nil {
		base := d.text
		d.base = &base
	}
	d.open, d.text, d.version, d.published = false, "", 0, 0
}

// stamp notes the file's state on the disk.
func (d *document) stamp() {
	if info, err := os.Stat(d.path); err == nil {
		d.size, d.modified = info.Size(), info.ModTime()
	}
}

// differs reports whether the file may have changed since stamp; gone, that it is missing.
func (d *document) differs() (differs, gone bool) {
	info, err := os.Stat(d.path)
	if err != nil {
		return true, os.IsNotExist(err)
	}
	return info.Size() != d.size || !info.ModTime().Equal(d.modified), false
}
