package notebook

import (
	"strconv"
	"strings"
)

const indexPrefix = "cell-"

// maxNames bounds the names in a CellError.
const maxNames = 20

// Name returns the name of the cell at index i in answers.
func (nb *Notebook) Name(i int) string {
	if id := Attribute(nb.at(nb.cells.at(i).id), ""); id != "" {
		return id
	}
	return IndexName(i)
}

// CallName returns the name by which a call finds the cell at index i: its Name, or cell-N
// if other cells have that name, too. It is "" if other cells have both.
func (nb *Notebook) CallName(i int) string {
	for _, name := range []string{nb.Name(i), IndexName(i)} {
		if nb.leads(name, i) {
			return name
		}
	}
	return ""
}

// leads reports whether Find finds the cell at index i by that name.
func (nb *Notebook) leads(name string, i int) bool {
	first, count := nb.WithID(name)
	if count > 0 {
		return count == 1 && first == i
	}
	at, ok := indexOf(name)
	return ok && at == i
}

// IndexName returns cell-N.
func IndexName(i int) string { return indexPrefix + strconv.Itoa(i) }

// indexOf reads cell-N as IndexName writes it.
func indexOf(name string) (int, bool) {
	digits, ok := strings.CutPrefix(name, indexPrefix)
	if !ok {
		return 0, false
	}
	i, err := strconv.Atoi(digits)
	return i, err == nil && i >= 0 && strconv.Itoa(i) == digits
}

// Find returns the index of the cell with that name: the id of one cell, or cell-N if no
// cell has that as its id. Its error is a *CellError.
func (nb *Notebook) Find(name string) (int, error) {
	first, count := nb.WithID(name)
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

// WithID counts the cells with that id, and returns the index of the first.
func (nb *Notebook) WithID(name string) (first, count int) {
	first = -1
	for i := range nb.Len() {
		if nb.hasID(i, name) {
			if count++; count == 1 {
				first = i
			}
		}
	}
	return first, count
}

func (nb *Notebook) hasID(i int, id string) bool {
	p := nb.cells.at(i).id
	// An id is at most as long as its spelling, so most need no decoding.
	if id == "" || int(p.end-p.start)-2 < len(id) {
		return false
	}
	return string(nb.at(p).Bytes()) == id
}

// placesOf returns the cell-N of the cells that share an id. A cell-N that is the id of
// another cell finds that one, so it is counted as hidden.
func (nb *Notebook) placesOf(id string) (names []string, hidden int) {
	taken := nb.takenPlaces()
	for i := range nb.Len() {
		switch {
		case !nb.hasID(i, id):
		case taken[i]:
			hidden++
		case len(names) < maxNames:
			names = append(names, IndexName(i))
		}
	}
	return names, hidden
}

// takenPlaces returns each N for which cell-N is the id of a cell.
func (nb *Notebook) takenPlaces() map[int]bool {
	taken := map[int]bool{}
	for i := range nb.Len() {
		if at, ok := indexOf(string(nb.at(nb.cells.at(i).id).Bytes())); ok && at < nb.Len() {
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
