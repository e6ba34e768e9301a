package notebook

import (
	"bytes"
	"strings"
)

// A layout is the white space of an object or an array: what stands behind its
// opening bracket, between two values (comma included), around a colon, and
// before its closing bracket.
type layout struct{ open, sep, colon, close string }

// objectLayout copies the layout of an object that has a member.
func (nb *Notebook) objectLayout(obj extent) (layout, bool) {
	var l layout
	var first, second, last member
	members(nb.raw, obj, func(m member) bool {
		switch {
		case !first.key.ok():
			first = m
		case !second.key.ok():
			second = m
		}
		last = m
		return true
	})
	if !first.key.ok() {
		return l, false
	}
	l.open = nb.between(obj.start+1, first.key.start)
	l.colon = nb.between(first.key.end, first.val.start)
	l.close = nb.between(last.val.end, obj.end-1)
	l.sep = afterComma(l.open, l.colon)
	if second.key.ok() {
		l.sep = nb.between(first.val.end, second.key.start)
	}
	return l, true
}

// arrayLayout copies the layout of an array that has an element.
func (nb *Notebook) arrayLayout(arr extent) (layout, bool) {
	var l layout
	var first, second, last extent
	elements(nb.raw, arr, func(v extent) bool {
		switch {
		case !first.ok():
			first = v
		case !second.ok():
			second = v
		}
		last = v
		return true
	})
	if !first.ok() {
		return l, false
	}
	l.open = nb.between(arr.start+1, first.start)
	l.close = nb.between(last.end, arr.end-1)
	if second.ok() {
		l.sep = nb.between(first.end, second.start)
	} else {
		l.sep = afterComma(l.open, behindComma(nb.topLayout().sep))
	}
	return l, true
}

// afterComma guesses a separator where there is only one value: each on its
// own line if that one is, else with the blank that other has, if any.
func afterComma(open, other string) string {
	if strings.Contains(open, "\n") {
		return "," + open
	}
	if strings.HasSuffix(other, " ") && !strings.Contains(other, "\n") {
		return ", "
	}
	return ","
}

// behindComma is what follows the comma in a separator.
func behindComma(sep string) string { return sep[strings.IndexByte(sep, ',')+1:] }

func (nb *Notebook) between(from, to int) string { return string(nb.raw[from:to]) }

// topLayout is that of the file's outermost object, which has members, or it
// would be no notebook.
func (nb *Notebook) topLayout() layout {
	l, _ := nb.objectLayout(nb.top)
	return l
}

// level is the white space before a value nested that deep, by the indent of
// the outermost object; "" in a file without line breaks.
func (l layout) level(depth int) string {
	at := strings.LastIndexByte(l.open, '\n')
	if at < 0 {
		return ""
	}
	// Of several line breaks one is copied: blank lines are no indent.
	from := at
	if at > 0 && l.open[at-1] == '\r' {
		from--
	}
	return l.open[from:at+1] + strings.Repeat(l.open[at+1:], depth)
}

// cellLayout is how a new cell at index i lays out its members, and its list of
// lines: as the nearest cell does, or as the outermost object would.
func (nb *Notebook) cellLayout(i int) (object, list layout) {
	for _, near := range nb.nearest(i) {
		if l, ok := nb.objectLayout(nb.cellAt(near)); ok {
			return l, nb.listLayout(i, l)
		}
	}
	top := nb.topLayout()
	object = layout{open: top.level(3), colon: top.colon, close: top.level(2)}
	object.sep = afterComma(object.open, behindComma(top.sep))
	return object, nb.listLayout(i, object)
}

// listLayout is how the lines of a source are laid out near the cell at index
// i, whose members are laid out as object says.
func (nb *Notebook) listLayout(i int, object layout) layout {
	for _, near := range nb.nearest(i) {
		source := nb.fieldsOf(near).source
		if !isArray(nb.raw, source) {
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
	l.sep = afterComma(l.open, behindComma(object.sep))
	return l
}

// maxNear bounds how far an edit looks for an example to follow.
const maxNear = 64

// nearest are the indexes of the cells around i, nearest first.
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

// writesLists tells whether new sources are lists of lines: as most of the
// file's cells have it, and lists where there is no cell to go by.
func (nb *Notebook) writesLists() bool {
	lists, strs := 0, 0
	for i := range nb.Len() {
		switch source := nb.fieldsOf(i).source; {
		case isArray(nb.raw, source):
			lists++
		case isString(nb.raw, source):
			strs++
		}
	}
	return lists >= strs
}

// defaultOrder is the order of a cell's keys where no cell shows another: that
// of Jupyter's own writer.
var defaultOrder = [...]string{"cell_type", "execution_count", "id", "metadata", "outputs", "source"}

// keyOrder is the order of a cell's keys near the cell at index i: that of the
// nearest cell of the type, or of the nearest cell at all, with the keys that
// it lacks put where the alphabet has them.
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
		return defaultOrder[:]
	}
	return complete(nb.knownKeys(nb.cellAt(example)))
}

// knownKeys are the keys of a cell that are in defaultOrder, as they come.
func (nb *Notebook) knownKeys(cell extent) []string {
	var keys []string
	members(nb.raw, cell, func(m member) bool {
		key := string(keyOf(nb.raw, m.key))
		for _, known := range defaultOrder {
			if key == known && index(keys, key) < 0 {
				keys = append(keys, key)
			}
		}
		return true
	})
	return keys
}

// complete adds the keys that are missing, each before the first one that is
// greater.
func complete(keys []string) []string {
	for _, key := range defaultOrder {
		if index(keys, key) >= 0 {
			continue
		}
		at := 0
		for at < len(keys) && keys[at] < key {
			at++
		}
		keys = append(keys[:at], append([]string{key}, keys[at:]...)...)
	}
	return keys
}

func index(keys []string, key string) int {
	for i, k := range keys {
		if k == key {
			return i
		}
	}
	return -1
}

// alphabet is how a source writes what lies beyond ASCII: as it did so far, or
// as the file does elsewhere. Only a text that needs it is worth the search.
func (nb *Notebook) alphabet(near extent, text string) alphabet {
	if !hasHigh([]byte(text)) && strings.IndexFunc(text, isControl) < 0 {
		return alphabet{}
	}
	return alphabetOf(nb.raw[near.start:near.end], bytes.TrimPrefix(nb.raw, []byte(bom)))
}

func isControl(r rune) bool { return r < ' ' && r != '\n' && r != '\t' && r != '\r' || r == 0x7f }
