package edit

import "unicode/utf8"

// A change is a segment of a text that its folded form spells differently.
type change struct{ form, formEnd, orig, origEnd int32 }

// A folding rewrites texts so that those which a rule takes for equal become the same.
type folding struct {
	// appendForm appends the folded form of a text, and of each segment that differs where
	// it is in both.
	appendForm func(form []byte, changes []change, s string) ([]byte, []change)
	// isPlain reports quickly that a text is its own form; false: it may be all the same.
	isPlain func(s string) bool
	// A text is at most growth times as long as its form.
	growth int
	// fixed is a part of a text that every equal one has byte for byte.
	fixed func(s string) string
	// isEdge reports whether a match may begin or end at a place of a text.
	isEdge func(s string, i int) bool
}

// windowLen bounds the text that is folded at a time.
const windowLen = 256 << 10

// search adds the places where the folded form of text has that of old to t. It folds the
// text a window at a time, so that its memory does not grow with the text.
func (f folding) search(text, old string, br breaks, t *tally, window int) {
	if f.isPlain(old) && f.isPlain(text) || indexOf(text, f.fixed(old)) < 0 {
		return // two texts that are their own forms were compared by the exact rule
	}
	form, changes := f.appendForm(nil, nil, old)
	m := newMatcher(string(form), br)
	s := foldedSearch{folding: f, text: text, m: m, t: t, oldChanged: len(changes) > 0}
	reach := f.growth*m.longest() + utf8.UTFMax
	size := max(window, 2*reach)
	s.form = make([]byte, 0, min(len(text), size)+reach)
	for from := 0; from < len(text); {
		end := cutFrom(text, from+size)
		next := end
		if end < len(text) {
			next = cutFrom(text, end-reach)
		}
		s.window(from, end, next)
		from = next
	}
}

// foldedSearch is one search, with buffers that go from window to window.
type foldedSearch struct {
	folding
	text       string
	m          *matcher
	t          *tally
	oldChanged bool // old is not its own form
	form       []byte
	changes    []change
}

// window looks for matches in text[from:end] that start before next.
func (s *foldedSearch) window(from, end, next int) {
	s.form, s.changes = s.appendForm(s.form[:0], s.changes[:0], s.text[from:end])
	if len(s.changes) == 0 && !s.oldChanged {
		return // the exact rule has looked here
	}
	starts, ends := origin{changes: s.changes}, origin{changes: s.changes}
	s.m.each(s.form, func(start, stop int) bool {
		start, ok := starts.place(start)
		start += from
		if !ok || !s.isEdge(s.text, start) {
			return true
		}
		if start >= next {
			return false
		}
		stop, ok = ends.place(stop)
		stop += from
		if ok && s.isEdge(s.text, stop) {
			s.t.add(int64(start), int64(stop))
		}
		return true
	})
}

// origin tells where in a window the ascending places of its folded form are.
type origin struct {
	changes []change // not passed yet
	shift   int      // from a place in the form to that in the window
}

// place is false for a place inside a segment that was spelled differently.
func (o *origin) place(form int) (int, bool) {
	for len(o.changes) > 0 && int(o.changes[0].formEnd) <= form {
		o.shift = int(o.changes[0].origEnd - o.changes[0].formEnd)
		o.changes = o.changes[1:]
	}
	return form + o.shift, len(o.changes) == 0 || form <= int(o.changes[0].form)
}
