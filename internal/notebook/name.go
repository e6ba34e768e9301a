package notebook

import (
	"strconv"
	"strings"
)

const indexPrefix = "cell-"

// maxNames bounds the names in a CellError.
const maxNames = 20

// name is what the cell at index i is called in what is shown.
func (nb *Notebook) name(i int) string {
	if id := nb.attribute(nb.fieldsOf(i).id, ""); id != "" {
		return id
	}
	return indexName(i)
}

// CallName is the name by which a call finds the cell at index i: its Name, or
// cell-N where others bear that too. It is "" where other cells bear both.
func (nb *Notebook) CallName(i int) string {
	for _, name := range []string{nb.name(i), indexName(i)} {
		if nb.leads(name, i) {
			return name
		}
	}
	return ""
}

// leads tells whether Find finds the cell at index i by that name.
func (nb *Notebook) leads(name string, i int) bool {
	first, count := nb.bearers(name)
	if count > 0 {
		return count == 1 && first == i
	}
	at, ok := indexOf(name)
	return ok && at == i
}

func indexName(i int) string { return indexPrefix + strconv.Itoa(i) }

// indexOf reads cell-N as it is written by indexName.
func indexOf(name string) (int, bool) {
	digits, ok := strings.CutPrefix(name, indexPrefix)
	if !ok {
		return 0, false
	}
	i, err := strconv.Atoi(digits)
	return i, err == nil && i >= 0 && strconv.Itoa(i) == digits
}

// Find is the index of the cell with that name: the id of one cell, or cell-N
// where no cell bears that as its id. Its error is a *CellError.
func (nb *Notebook) Find(name string) (int, error) {
	first, count := nb.bearers(name)
	switch count {
	case 1:
		return first, nil
	case 0:
		return nb.findIndex(name)
	}
	e := &CellError{Miss: Twice, Name: name, Count: count}
	e.Names, e.Hidden = nb.placesOf(name)
	return -1, e
}

// bearers counts the cells whose id is name, and tells the first.
func (nb *Notebook) bearers(name string) (first, count int) {
	first = -1
	for i := range nb.Len() {
		if nb.bears(i, name) {
			if count++; count == 1 {
				first = i
			}
		}
	}
	return first, count
}

func (nb *Notebook) bears(i int, id string) bool {
	v := nb.cells.entry(i).id.long()
	// An id is as long as its spelling at most, so most need no decoding.
	return id != "" && isString(nb.raw, v) && v.end-v.start-2 >= len(id) && string(keyOf(nb.raw, v)) == id
}

// placesOf are the cell-N of the cells that share an id. Those that another cell
// bears as its id lead to that one; they are counted instead.
func (nb *Notebook) placesOf(id string) (names []string, hidden int) {
	taken := nb.takenPlaces()
	for i := range nb.Len() {
		switch {
		case !nb.bears(i, id):
		case taken[i]:
			hidden++
		case len(names) < maxNames:
			names = append(names, indexName(i))
		}
	}
	return names, hidden
}

// takenPlaces are the N for which a cell bears cell-N as its id.
func (nb *Notebook) takenPlaces() map[int]bool {
	taken := map[int]bool{}
	for i := range nb.Len() {
		if at, ok := indexOf(nb.str(nb.fieldsOf(i).id)); ok && at < nb.Len() {
			taken[at] = true
		}
	}
	return taken
}

func (nb *Notebook) findIndex(name string) (int, error) {
	i, ok := indexOf(name)
	if ok && i < nb.Len() {
		return i, nil
	}
	e := &CellError{Miss: NoSuchID, Name: name, Count: nb.Len()}
	if ok {
		e.Miss = NoSuchIndex
	}
	for i := range min(nb.Len(), maxNames) {
		if name := nb.CallName(i); name != "" {
			e.Names = append(e.Names, name)
		}
	}
	return -1, e
}
