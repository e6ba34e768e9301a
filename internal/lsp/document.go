package lsp

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"
)

// document is a file that a server is told of.
type document struct {
	path string
	used int // when it was changed last, in changes

	open      bool
	text      string // as the server knows it, if it is open
	version   int
	published int // the last version that the server has reported on

	// base is the text before a change if the server does not know it, and next the text
	// after it; nil if there is nothing to send.
	base, next *string
}

// deliver takes a change; old is nil for a new file.
func (d *document) deliver(old, now *string) {
	known := d.next // or will be
	if known == nil && d.open {
		known = &d.text
	}
	if old != nil && (known == nil || *known != *old) {
		d.base = old
	}
	d.next = now
}

// pending reports whether there is a text to send.
func (d *document) pending() bool { return d.base != nil || d.next != nil }

// lost notes that the server does not know the document any longer.
func (d *document) lost() {
	if d.open && d.next != nil && d.base == nil {
		base := d.text
		d.base = &base
	}
	d.open, d.text, d.version, d.published = false, "", 0, 0
}

// byUse returns the documents in the order of their last change.
func byUse(documents map[string]*document) []*document {
	return slices.SortedFunc(maps.Values(documents), func(a, b *document) int {
		return cmp.Or(cmp.Compare(a.used, b.used), cmp.Compare(a.path, b.path))
	})
}

// asText returns the bytes as the text of a document; nil for bytes that servers are not told
// of.
func asText(b []byte) *string {
	if len(b) > MaxFile || !utf8.Valid(b) {
		return nil
	}
	text := strings.TrimPrefix(string(b), "\uFEFF")
	return &text
}
