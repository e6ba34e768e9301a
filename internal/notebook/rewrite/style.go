package rewrite

import (
	"slices"
	"strings"

	"github.com/fsmcp/fsmcp/internal/notebook"
	"github.com/fsmcp/fsmcp/internal/notebook/scan"
	"github.com/fsmcp/fsmcp/internal/span"
)

// A layout is the white space of an object or an array: after its opening bracket, between
// two values (with the comma), around a colon, and before its closing bracket.
type layout struct{ open, sep, colon, close string }

// layoutOf returns the layout of an object or an array, and false if it is empty. The colon
// is that of the outermost object, too, if an array has none.
func layoutOf(nb *notebook.Notebook, v scan.Value) (l layout, ok bool) {
	end := 0 // of the value before
	add := func(start, stop int) {
		switch {
		case end == 0:
			l.open = string(nb.Raw[v.Start()+1 : start])
		case l.sep == "":
			l.sep = string(nb.Raw[end:start])
		}
		end = stop
	}
	for key, val := range v.Members() {
		if end == 0 {
			l.colon = string(nb.Raw[key.End():val.Start()])
		}
		add(key.Start(), val.End())
	}
	for e := range v.Elements() {
		add(e.Start(), e.End())
	}
	if end == 0 {
		return l, false
	}
	l.close = string(nb.Raw[end : v.End()-1])
	if l.colon == "" {
		l.colon = topLayout(nb).colon
	}
	if l.sep == "" {
		l.sep = separator(l.open, l.colon)
	}
	return l, true
}

// separator returns what separates values if there is no example: with a line break if one
// comes before the first value, else with a blank if one comes after a colon.
func separator(open, colon string) string {
	switch {
	case strings.Contains(open, "\n"):
		return "," + open
	case strings.HasSuffix(colon, " "):
		return ", "
	}
	return ","
}

// topLayout returns the first white space and the first colon of the outermost object.
func topLayout(nb *notebook.Notebook) (l layout) {
	top := nb.Top
	for key, val := range top.Members() {
		return layout{open: string(nb.Raw[top.Start()+1 : key.Start()]), colon: string(nb.Raw[key.End():val.Start()])}
	}
	return l
}

// level returns the white space before a value nested that deep, by the indent of the
// outermost object, and "" in a file without line breaks.
func (l layout) level(depth int) string {
	at := strings.LastIndexByte(l.open, '\n')
	if at < 0 {
		return ""
	}
	// Only one of several line breaks is copied: blank lines are not indent.
	from := at
	if at > 0 && l.open[at-1] == '\r' {
		from--
	}
	return l.open[from:at+1] + strings.Repeat(l.open[at+1:], depth)
}

// cellLayout returns the layout of the cell at index i, or of a first cell.
func cellLayout(nb *notebook.Notebook, i int) layout {
	if nb.Len() > 0 {
		l, _ := layoutOf(nb, nb.Fields(i).Whole)
		return l
	}
	top := topLayout(nb)
	l := layout{open: top.level(3), colon: top.colon, close: top.level(2)}
	l.sep = separator(l.open, l.colon)
	return l
}

// listLayout returns the layout of the nearest list of lines to the cell at index i, or else
// one by the layout of the cell.
func listLayout(nb *notebook.Notebook, i int) layout {
	for near := range nearest(nb, i) {
		if source := nb.Fields(near).Source; source.Kind() == '[' {
			if l, ok := layoutOf(nb, source); ok {
				return l
			}
		}
	}
	cell := cellLayout(nb, i)
	l := layout{open: cell.open, close: cell.open}
	if strings.Contains(cell.open, "\n") {
		l.open += strings.TrimPrefix(cell.open, cell.close)
	}
	l.sep = separator(l.open, cell.colon)
	return l
}

// maxNear bounds the distance of the cells that an edit takes as an example.
const maxNear = 64

// nearest iterates over the indexes of the cells around i, nearest first.
func nearest(nb *notebook.Notebook, i int) func(yield func(int) bool) {
	return func(yield func(int) bool) {
		for d := range 2*maxNear + 1 {
			at := i + (d+1)/2
			if d%2 == 1 {
				at = i - (d+1)/2
			}
			if at >= 0 && at < nb.Len() && !yield(at) {
				return
			}
		}
	}
}

// defaultOrder is the order of a cell's keys in a file without cells, as Jupyter writes them.
var defaultOrder = []string{"cell_type", "execution_count", "id", "metadata", "outputs", "source"}

// keyOrder returns the order of keys for a cell near index i: that of the nearest cell of
// the type, or else of the nearest cell. Keys that it lacks are added in alphabetical order.
func keyOrder(nb *notebook.Notebook, i int, kind string) (keys []string) {
	example := i
	for near := range nearest(nb, i) {
		if string(nb.Fields(near).Type.Bytes()) == kind {
			example = near
			break
		}
	}
	if nb.Len() > 0 {
		cell := nb.Fields(example).Whole
		for key := range cell.Members() {
			if name := string(key.Bytes()); slices.Contains(defaultOrder, name) && !slices.Contains(keys, name) {
				keys = append(keys, name)
			}
		}
	}
	for _, key := range defaultOrder {
		if slices.Contains(keys, key) {
			continue
		}
		at := slices.IndexFunc(keys, func(k string) bool { return k > key })
		if at < 0 {
			at = len(keys)
		}
		keys = slices.Insert(keys, at, key)
	}
	return keys
}

// place inserts a cell after the one at index after, with the separator that the list has
// there or elsewhere. White space in an empty list is put on both sides of the cell; "[]"
// gets different white space on both sides, so that remove can tell one from the other.
func place(nb *notebook.Notebook, after int, cell string) span.Splice {
	switch {
	case nb.Len() == 0:
		start, end := nb.List.Start()+1, nb.List.End()-1
		open := string(nb.Raw[start:end])
		closing := open
		if open == "" {
			top := topLayout(nb)
			if open, closing = top.level(2), top.level(1); open == closing {
				closing = ""
			}
		}
		return put(scan.Between(nb.Raw, start, end), open+cell+closing)
	case after < 0:
		return insert(nb.Fields(0).Whole.Start(), cell+cellSep(nb, 0))
	}
	whole := nb.Fields(after).Whole
	return insert(whole.End(), cellSep(nb, after)+cell)
}

// cellSep returns the separator of the cell at index i and the next, or of the two before.
func cellSep(nb *notebook.Notebook, i int) string {
	if nb.Len() == 1 {
		l, _ := layoutOf(nb, nb.List)
		return l.sep
	}
	i = min(i, nb.Len()-2)
	cell, next := nb.Fields(i).Whole, nb.Fields(i+1).Whole
	return string(nb.Raw[cell.End():next.Start()])
}

// remove removes a cell with one separator, as place added them.
func remove(nb *notebook.Notebook, i int) span.Splice {
	cell := nb.Fields(i).Whole
	switch {
	case nb.Len() == 1:
		start, end := nb.List.Start()+1, nb.List.End()-1
		if string(nb.Raw[start:cell.Start()]) == string(nb.Raw[cell.End():end]) {
			return cut(cell.Start(), end)
		}
		return cut(start, end)
	case i == 0:
		return cut(cell.Start(), nb.Fields(1).Whole.Start())
	}
	before := nb.Fields(i - 1).Whole
	return cut(before.End(), cell.End())
}

// addMember adds a member to the cell at index i, after those that precede it in the order of
// a cell of the type.
func addMember(nb *notebook.Notebook, i int, kind, key, value string) span.Splice {
	cell, order, l := nb.Fields(i).Whole, keyOrder(nb, i, kind), cellLayout(nb, i)
	text := quoted(key) + l.colon + value
	first, after, best := 0, 0, -1
	for name, val := range cell.Members() {
		if first == 0 {
			first = name.Start()
		}
		if at := slices.Index(order, string(name.Bytes())); at > best && at < slices.Index(order, key) {
			after, best = val.End(), at
		}
	}
	if best < 0 {
		return insert(first, text+l.sep)
	}
	return insert(after, l.sep+text)
}

// newCell returns a cell in the style of the one at index near. An id of "" means none.
func newCell(nb *notebook.Notebook, near int, kind, source, id string) string {
	values := map[string]string{
		"cell_type": quoted(kind),
		"metadata":  "{}",
		"source":    newSource(nb, near, source),
	}
	if kind == notebook.Code {
		values["execution_count"], values["outputs"] = "null", "[]"
	}
	if id != "" {
		values["id"] = quoted(id)
	}
	l := cellLayout(nb, near)
	cell := "{" + l.open
	sep := ""
	for _, key := range keyOrder(nb, near, kind) {
		if value, ok := values[key]; ok {
			cell += sep + quoted(key) + l.colon + value
			sep = l.sep
		}
	}
	return cell + l.close + "}"
}

func quoted(s string) string { return string(scan.Escapes{}.AppendQuoted(nil, s)) }
