package notebook

import (
	"strings"

	"github.com/fsmcp/fsmcp/internal/notebook/scan"
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
func (l layout) lines(dst []byte, text string, a scan.Alphabet) []byte {
	if text == "" {
		return append(dst, "[]"...)
	}
	dst = append(append(dst, '['), l.open...)
	dst = a.QuoteAll(dst, splitLines(text), l.sep)
	return append(append(dst, l.close...), ']')
}

// setSource gives a cell a new source in the form of the old one.
func (nb *Notebook) setSource(i int, f fields, source string) []span.Splice {
	if f.source.OK() && nb.text(f.source) == source {
		return nil
	}
	a := nb.alphabet(f.source, source)
	switch {
	case !f.source.OK():
		return []span.Splice{nb.addSource(i, source)}
	case scan.IsString(nb.raw, f.source):
		return []span.Splice{put(f.source, string(a.Quote(nil, source)))}
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
func (nb *Notebook) setLines(i int, list scan.Extent, source string, a scan.Alphabet) span.Splice {
	items := nb.items(list)
	if len(items) == 0 || len(items) > maxKeep || source == "" {
		return put(list, string(nb.layoutOf(i, list).lines(nil, source, a)))
	}
	head, source := nb.commonHead(items, source)
	tail, source := nb.commonTail(items[head:], source)
	lines := splitLines(source)
	out := items[head : len(items)-tail]
	sep := nb.layoutOf(i, list).sep
	text := string(a.QuoteAll(nil, lines, sep))
	switch {
	case len(out) > 0 && len(lines) > 0:
		return put(scan.Between(out[0].Start, out[len(out)-1].End), text)
	case len(lines) > 0 && head > 0:
		return putAt(items[head-1].End, sep+text)
	case len(lines) > 0:
		return putAt(items[0].Start, text+sep)
	case head > 0:
		return put(scan.Between(items[head-1].End, out[len(out)-1].End), "")
	}
	return put(scan.Between(out[0].Start, items[len(out)].Start), "")
}

// layoutOf returns a list's own layout, or that of its neighbours if it is empty.
func (nb *Notebook) layoutOf(i int, list scan.Extent) layout {
	if l, ok := nb.arrayLayout(list); ok {
		return l
	}
	object, _ := nb.objectLayout(nb.cellAt(i))
	return nb.listLayout(i, object)
}

// items returns the elements of a list, and of a longer list the first maxKeep+1. They
// are counted first: a slice that grows would take many times the size of the shortest elements.
func (nb *Notebook) items(list scan.Extent) []scan.Extent {
	n := 0
	scan.Elements(nb.raw, list, func(scan.Extent) bool {
		n++
		return n <= maxKeep
	})
	all := make([]scan.Extent, 0, n)
	scan.Elements(nb.raw, list, func(v scan.Extent) bool {
		all = append(all, v)
		return len(all) < n
	})
	return all
}

// commonHead returns the number of items that source begins with, and the rest of source. An
// item counts only if it ends a line in both.
func (nb *Notebook) commonHead(items []scan.Extent, source string) (int, string) {
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
func (nb *Notebook) commonTail(items []scan.Extent, source string) (int, string) {
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
