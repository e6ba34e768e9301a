package lsp

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"
)

// file is a file that a server is told of, or has reported problems of.
type file struct {
	path string
	used int // when it was changed last, in changes

	open      bool
	text      string // as the server knows it, if it is open
	version   int
	published int // the last version that the server has reported on

	// before is the text before a change if the server does not know it, and next the text
	// after it; nil if there is nothing to send.
	before, next *string

	// base has the problems that are not new: they were there before a change, or an answer
	// has named them. Those that an answer has named and the server no longer reports stay
	// in it, at line noLine, until an answer says so.
	base report
	last report // as the server sent it
	// differs says that last may differ from base.
	differs bool
}

// deliver takes a change. A file that was created has no text before it.
func (f *file) deliver(old, now *string, created bool) {
	known := f.next // or will be
	if known == nil && f.open {
		known = &f.text
	}
	if !created && (known == nil || *known != *old) {
		f.before = old
	}
	f.next = now
}

// pending reports whether there is a text to send.
func (f *file) pending() bool { return f.before != nil || f.next != nil }

// isDocument reports whether the server is told of the file.
func (f *file) isDocument() bool { return f.open || f.pending() }

// isForgotten reports whether nothing needs to be kept of the file.
func (f *file) isForgotten() bool {
	return !f.isDocument() && len(f.base.problems)+len(f.last.problems) == 0
}

// close notes that the server does not know the text any longer. It may drop the problems of
// the file, too: no answer says that they are gone.
func (f *file) close() {
	if f.open && f.next != nil && f.before == nil {
		text := f.text
		f.before = &text
	}
	f.open, f.text, f.version, f.published = false, "", 0, 0
	f.base.text, f.last.text = "", ""
	f.base.problems = slices.DeleteFunc(f.base.problems, func(p problem) bool { return p.at.Line == noLine })
	for i := range f.base.problems {
		f.base.problems[i].reported = false
	}
}

// file returns a file. Above the bound of files it returns one that is not kept. The caller
// holds the lock.
func (p *process) file(path string) *file {
	f := p.files[path]
	if f == nil {
		f = &file{path: path}
		if len(p.files) < maxFiles {
			p.files[path] = f
		}
	}
	return f
}

// documents returns the files that the server is told of, in the order of their last change.
func (p *process) documents() []*file {
	all := slices.DeleteFunc(slices.Collect(maps.Values(p.files)), func(f *file) bool { return !f.isDocument() })
	slices.SortFunc(all, func(a, b *file) int {
		return cmp.Or(cmp.Compare(a.used, b.used), cmp.Compare(a.path, b.path))
	})
	return all
}

// pending reports whether there is a text to send.
func (p *process) pending() bool {
	for _, f := range p.files {
		if f.pending() {
			return true
		}
	}
	return false
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
