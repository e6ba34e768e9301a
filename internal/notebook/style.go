package notebook

import (
	"bytes"
	"slices"
	"strings"

	"github.com/fsmcp/fsmcp/internal/notebook/scan"
)

// A layout is the white space of an object or an array: after its opening bracket, between
// two values (with the comma), around a colon, and before its closing bracket.
type layout struct{ open, sep, colon, close string }

// objectLayout returns the layout of an object, and false if it is empty.
func (nb *Notebook) objectLayout(obj scan.Extent) (layout, bool) {
	var e examples
	colon := ""
	scan.Members(nb.raw, obj, func(m scan.Member) bool {
		if !e.first.OK() {
			colon = nb.between(m.Key.End, m.Val.Start)
		}
		e.add(scan.Between(m.Key.Start, m.Val.End))
		return true
	})
	l, ok := nb.layoutBy(obj, e, colon)
	l.colon = colon
	return l, ok
}

// arrayLayout returns the layout of an array, and false if it is empty.
func (nb *Notebook) arrayLayout(arr scan.Extent) (layout, bool) {
	var e examples
	scan.Elements(nb.raw, arr, func(v scan.Extent) bool {
		e.add(v)
		return true
	})
	other := ""
	if !e.second.OK() { // only then: it walks the whole file
		other = afterTheComma(nb.topLayout().sep)
	}
	return nb.layoutBy(arr, e, other)
}

// examples are the members or elements between which the white space is looked at.
type examples struct{ first, second, last scan.Extent }

func (e *examples) add(v scan.Extent) {
	switch {
	case !e.first.OK():
		e.first = v
	case !e.second.OK():
		e.second = v
	}
	e.last = v
}

// layoutBy returns the layout of an object or an array but for its colons, and false if it
// is empty. A single value takes its separator after other.
func (nb *Notebook) layoutBy(v scan.Extent, e examples, other string) (l layout, ok bool) {
	if !e.first.OK() {
		return l, false
	}
	l.open = nb.between(v.Start+1, e.first.Start)
	l.close = nb.between(e.last.End, v.End-1)
	l.sep = afterComma(l.open, other)
	if e.second.OK() {
		l.sep = nb.between(e.first.End, e.second.Start)
	}
	return l, true
}

// afterComma returns the separator to use after a single value: with a line break if one
// comes before the value, else with the blank of other, if any.
func afterComma(open, other string) string {
	if strings.Contains(open, "\n") {
		return "," + open
	}
	if strings.HasSuffix(other, " ") && !strings.Contains(other, "\n") {
		return ", "
	}
	return ","
}

// afterTheComma returns the white space after the comma of a separator.
func afterTheComma(sep string) string { return sep[strings.IndexByte(sep, ',')+1:] }

func (nb *Notebook) between(from, to int) string { return string(nb.raw[from:to]) }

// topLayout returns the layout of the outermost object. A notebook's has members.
func (nb *Notebook) topLayout() layout {
	l, _ := nb.objectLayout(nb.top)
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

// cellLayout returns the layouts of a new cell at index i and of its list of lines: those of
// the nearest cell, or else by the outermost object.
func (nb *Notebook) cellLayout(i int) (object, list layout) {
	for _, near := range nb.nearest(i) {
		if l, ok := nb.objectLayout(nb.cellAt(near)); ok {
			return l, nb.listLayout(i, l)
		}
	}
	top := nb.topLayout()
	object = layout{open: top.level(3), colon: top.colon, close: top.level(2)}
	object.sep = afterComma(object.open, afterTheComma(top.sep))
	return object, nb.listLayout(i, object)
}

// listLayout returns the layout of the nearest list of lines to the cell at index i, or else
// one by the layout of the cell.
func (nb *Notebook) listLayout(i int, object layout) layout {
	for _, near := range nb.nearest(i) {
		source := nb.fieldsOf(near).source
		if !scan.IsArray(nb.raw, source) {
			continue
		}
		if l, ok := nb.arrayLayout(source); ok {
			return l
		}
	}
	l := layout{open: object.open, close: object.open}
	if strings.Contains(object.open, "\n") {
		l.open += strings.TrimPrefix(object.open, object.close)
	}
	l.sep = afterComma(l.open, afterTheComma(object.sep))
	return l
}

// maxNear bounds the distance of the cells that an edit takes as an example.
const maxNear = 64

// nearest returns the indexes of the cells around i, nearest first.
func (nb *Notebook) nearest(i int) []int {
	var near []int
	for d := 0; d <= maxNear; d++ {
		if below := i - d; below >= 0 && below < nb.Len() {
			near = append(near, below)
		}
		if above := i + d; d > 0 && above >= 0 && above < nb.Len() {
			near = append(near, above)
		}
	}
	return near
}

// writesLists reports whether new sources are lists of lines, as in most cells of the file.
// Without cells they are.
func (nb *Notebook) writesLists() bool {
	lists, strs := 0, 0
	for i := range nb.Len() {
		switch source := nb.fieldsOf(i).source; {
		case scan.IsArray(nb.raw, source):
			lists++
		case scan.IsString(nb.raw, source):
			strs++
		}
	}
	return lists >= strs
}

// defaultOrder is the order of a cell's keys in a file without cells, as Jupyter writes them.
var defaultOrder = []string{"cell_type", "execution_count", "id", "metadata", "outputs", "source"}

// keyOrder returns the order of keys for a cell near index i: that of the nearest cell of
// the type, or else of the nearest cell. Keys that it lacks are added in alphabetical order.
func (nb *Notebook) keyOrder(i int, kind string) []string {
	example := -1
	for _, near := range nb.nearest(i) {
		if nb.str(nb.fieldsOf(near).kind) == kind {
			example = near
			break
		}
		if example < 0 {
			example = near
		}
	}
	if example < 0 {
		return defaultOrder
	}
	return complete(nb.knownKeys(nb.cellAt(example)))
}

// knownKeys returns the keys of a cell that are in defaultOrder, in the cell's order.
func (nb *Notebook) knownKeys(cell scan.Extent) []string {
	var keys []string
	scan.Members(nb.raw, cell, func(m scan.Member) bool {
		key := string(scan.KeyOf(nb.raw, m.Key))
		if slices.Contains(defaultOrder, key) && !slices.Contains(keys, key) {
			keys = append(keys, key)
		}
		return true
	})
	return keys
}

// complete adds the missing keys, each before the first greater one.
func complete(keys []string) []string {
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

// alphabet returns the alphabet of the old source, or else of the file. A text of plain
// ASCII needs none.
func (nb *Notebook) alphabet(near scan.Extent, text string) scan.Alphabet {
	if !scan.HasHigh([]byte(text)) && strings.IndexFunc(text, isControl) < 0 {
		return scan.Alphabet{}
	}
	return scan.AlphabetOf(nb.raw[near.Start:near.End], bytes.TrimPrefix(nb.raw, []byte(bom)))
}

func isControl(r rune) bool { return r < ' ' && r != '\n' && r != '\t' && r != '\r' || r == 0x7f }
