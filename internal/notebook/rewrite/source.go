package rewrite

import (
	"bytes"
	"strings"

	"github.com/fsmcp/fsmcp/internal/notebook"
	"github.com/fsmcp/fsmcp/internal/notebook/scan"
	"github.com/fsmcp/fsmcp/internal/span"
)

// setSource gives the cell at index i a new source in the form of the old one.
func setSource(nb *notebook.Notebook, i int, source string) []span.Splice {
	old := nb.Fields(i).Source
	switch {
	case !old.OK():
		return []span.Splice{addMember(nb, i, nb.Cell(i).Type, "source", newSource(nb, i, source))}
	case nb.Cell(i).SourceText() == source:
		return nil
	case old.Kind() == '"':
		return []span.Splice{put(old, string(escapes(nb, old, source).AppendQuoted(nil, source)))}
	}
	return []span.Splice{setLines(nb, i, source)}
}

// newSource returns a source for a new cell near index i: a list of lines or a string, as
// most cells of the file have.
func newSource(nb *notebook.Notebook, i int, source string) string {
	e := escapes(nb, scan.Value{}, source)
	lists := 0 // more than strings
	for cell := range nb.Len() {
		switch nb.Fields(cell).Source.Kind() {
		case '[':
			lists++
		case '"':
			lists--
		}
	}
	if lists < 0 {
		return string(e.AppendQuoted(nil, source))
	}
	return list(source, listLayout(nb, i), e)
}

// escapes returns the escapes of the old source, or else of the file. A text of plain ASCII
// needs none.
func escapes(nb *notebook.Notebook, old scan.Value, text string) scan.Escapes {
	if span.IsASCII(text) && strings.IndexFunc(text, isControl) < 0 {
		return scan.Escapes{}
	}
	return scan.EscapesOf(old.Raw(), bytes.TrimPrefix(nb.Raw, []byte("\ufeff")))
}

func isControl(r rune) bool { return r < ' ' && r != '\n' && r != '\t' && r != '\r' || r == 0x7f }

// list returns source as a list of lines.
func list(source string, l layout, e scan.Escapes) string {
	if source == "" {
		return "[]"
	}
	return "[" + l.open + lines(source, l.sep, e) + l.close + "]"
}

// lines returns the lines of source as strings, with sep between them.
func lines(source, sep string, e scan.Escapes) string {
	var dst []byte
	for line := range strings.Lines(source) {
		if dst != nil {
			dst = append(dst, sep...)
		}
		dst = e.AppendQuoted(dst, line)
	}
	return string(dst)
}

// maxKeep bounds the lines of a list that an edit compares. A longer list is replaced whole.
const maxKeep = 1 << 18

// setLines changes the list of lines of the cell at index i, from the first line that differs
// to the last.
func setLines(nb *notebook.Notebook, i int, source string) span.Splice {
	old := nb.Fields(i).Source
	e, l := escapes(nb, old, source), listLayout(nb, i)
	items := itemsOf(old)
	if len(items) == 0 || len(items) > maxKeep || source == "" {
		return put(old, list(source, l, e))
	}
	first, last, source := differing(nb, items, source)
	s := span.Splice{New: []byte(lines(source, l.sep, e))}
	switch {
	case first < last && source != "":
		s.Start, s.End = items[first].Start, items[last-1].End
	case first > 0: // with the separator before
		s.Start, s.End = items[first-1].End, items[last-1].End
		if source != "" {
			s.New = append([]byte(l.sep), s.New...)
		}
	default: // with the separator behind
		s.Start, s.End = items[0].Start, items[last].Start
		if source != "" {
			s.New = append(s.New, l.sep...)
		}
	}
	return s
}

// differing returns the range of the items that source replaces, and the part of source that
// replaces them. A line counts as the same only if an item ends it in both.
func differing(nb *notebook.Notebook, items []span.Span, source string) (first, last int, rest string) {
	text := func(item int) string {
		s := items[item]
		return string(scan.Between(nb.Raw, int(s.Start), int(s.End)).Bytes())
	}
	for ; first < len(items); first++ {
		line := text(first)
		if !strings.HasPrefix(source, line) || !strings.HasSuffix(line, "\n") {
			break
		}
		source = source[len(line):]
	}
	for last = len(items); first < last; last-- {
		line := text(last - 1)
		rest, ok := strings.CutSuffix(source, line)
		if !ok || line == "" || rest != "" && !strings.HasSuffix(rest, "\n") {
			break
		}
		source = rest
	}
	return first, last, source
}

// itemsOf returns the places of the elements of a list, and of a longer list the first
// maxKeep+1.
func itemsOf(list scan.Value) []span.Span {
	quotes := bytes.Count(list.Raw(), []byte{'"'}) // at least two for each
	items := make([]span.Span, 0, min(quotes/2, maxKeep+1))
	for item := range list.Elements() {
		if len(items) > maxKeep {
			break
		}
		items = append(items, item.Span())
	}
	return items
}

func isEmptyList(v scan.Value) bool {
	for range v.Elements() {
		return false
	}
	return v.Kind() == '['
}
