package notebook

import (
	"strings"

	"github.com/fsmcp/fsmcp/internal/span"
)

// splitLines splits text after each line feed.
func splitLines(text string) []string {
	if text == "" {
		return nil
	}
	lines := strings.SplitAfter(text, "\n")
	if lines[len(lines)-1] == "" {
		lines = lines[:len(lines)-1]
	}
	return lines
}

// lines appends text to dst as a list of lines.
func (a alphabet) lines(dst []byte, text string, l layout) []byte {
	if text == "" {
		return append(dst, "[]"...)
	}
	dst = append(append(dst, '['), l.open...)
	dst = a.items(dst, splitLines(text), l.sep)
	return append(append(dst, l.close...), ']')
}

// items appends lines to dst with sep between them.
func (a alphabet) items(dst []byte, lines []string, sep string) []byte {
	for i, line := range lines {
		if i > 0 {
			dst = append(dst, sep...)
		}
		dst = a.quote(dst, line)
	}
	return dst
}

// setSource gives a cell a new source in the form of the old one.
func (nb *Notebook) setSource(i int, f fields, source string) []span.Splice {
	if f.source.ok() && nb.text(f.source) == source {
		return nil
	}
	a := nb.alphabet(f.source, source)
	switch {
	case !f.source.ok():
		return []span.Splice{nb.addSource(i, source)}
	case isString(nb.raw, f.source):
		return []span.Splice{put(f.source, string(a.quote(nil, source)))}
	}
	return []span.Splice{nb.setLines(i, f.source, source, a)}
}

// addSource adds a source to a cell that has none.
func (nb *Notebook) addSource(i int, source string) span.Splice {
	_, list := nb.cellLayout(i)
	order := nb.keyOrder(i, nb.str(nb.fieldsOf(i).kind))
	return nb.addMember(nb.cellAt(i), order, "source", nb.newSource(source, list))
}

// maxKeep bounds the lines of a list that an edit compares. A longer list is replaced whole.
const maxKeep = 1 << 18

// setLines changes a list of lines, from the first line that differs to the last.
func (nb *Notebook) setLines(i int, list extent, source string, a alphabet) span.Splice {
	items := nb.items(list)
	if len(items) == 0 || len(items) > maxKeep || source == "" {
		return put(list, string(a.lines(nil, source, nb.layoutOf(i, list))))
	}
	head, source := nb.commonHead(items, source)
	tail, source := nb.commonTail(items[head:], source)
	lines := splitLines(source)
	out := items[head : len(items)-tail]
	sep := nb.layoutOf(i, list).sep
	text := string(a.items(nil, lines, sep))
	switch {
	case len(out) > 0 && len(lines) > 0:
		return put(extent{out[0].start, out[len(out)-1].end}, text)
	case len(lines) > 0 && head > 0:
		return putAt(items[head-1].end, sep+text)
	case len(lines) > 0:
		return putAt(items[0].start, text+sep)
	case head > 0:
		return put(extent{items[head-1].end, out[len(out)-1].end}, "")
	}
	return put(extent{out[0].start, items[len(out)].start}, "")
}

// layoutOf returns a list's own layout, or that of its neighbours if it is empty.
func (nb *Notebook) layoutOf(i int, list extent) layout {
	if l, ok := nb.arrayLayout(list); ok {
		return l
	}
	object, _ := nb.objectLayout(nb.cellAt(i))
	return nb.listLayout(i, object)
}

// items returns the elements of a list, and of a longer list the first maxKeep+1. They
// are counted first: a slice that grows would take many times the size of the shortest elements.
func (nb *Notebook) items(list extent) []extent {
	n := 0
	elements(nb.raw, list, func(extent) bool {
		n++
		return n <= maxKeep
	})
	all := make([]extent, 0, n)
	elements(nb.raw, list, func(v extent) bool {
		all = append(all, v)
		return len(all) < n
	})
	return all
}

// commonHead returns the number of items that source begins with, and the rest of source. An
// item counts only if it ends a line in both.
func (nb *Notebook) commonHead(items []extent, source string) (int, string) {
	for n, item := range items {
		line := nb.str(item)
		if !strings.HasPrefix(source, line) || !strings.HasSuffix(line, "\n") {
			return n, source
		}
		source = source[len(line):]
	}
	return len(items), source
}

// commonTail returns the number of items that source ends with, and the text before them.
func (nb *Notebook) commonTail(items []extent, source string) (int, string) {
	for n := range items {
		line := nb.str(items[len(items)-1-n])
		rest, ok := strings.CutSuffix(source, line)
		if !ok || line == "" || rest != "" && !strings.HasSuffix(rest, "\n") {
			return n, source
		}
		source = rest
	}
	return len(items), source
}
