package notebook

import (
	"strconv"
	"strings"
)

const indexPrefix = "cell-"

// maxNames bounds the names in a CellError.
const maxNames = 20

// name is what a cell is called in what is shown.
func (nb *Notebook) name(i int, f fields) string {
	return nb.attribute(f.id, indexName(i))
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
	bearers := nb.bearers(name)
	switch len(bearers) {
	case 1:
		return bearers[0], nil
	case 0:
		return nb.findIndex(name)
	}
	e := &CellError{Miss: Twice, Name: name, Count: len(bearers)}
	for _, i := range bearers[:min(len(bearers), maxNames)] {
		e.Names = append(e.Names, indexName(i))
	}
	return -1, e
}

// bearers are the cells whose id is name.
func (nb *Notebook) bearers(name string) []int {
	var found []int
	if name == "" {
		return nil
	}
	for i := range nb.cells {
		if nb.bears(i, name) {
			found = append(found, i)
		}
	}
	return found
}

func (nb *Notebook) bears(i int, id string) bool {
	v := nb.fields(nb.cells[i]).id
	// An id is as long as its spelling at most, so most need no decoding.
	return isString(nb.raw, v) && v.end-v.start-2 >= len(id) && nb.str(v) == id
}

func (nb *Notebook) findIndex(name string) (int, error) {
	i, ok := indexOf(name)
	if ok && i < len(nb.cells) {
		return i, nil
	}
	e := &CellError{Miss: NoSuchID, Name: name, Count: len(nb.cells)}
	if ok {
		e.Miss = NoSuchIndex
	}
	for i := range min(len(nb.cells), maxNames) {
		e.Names = append(e.Names, nb.name(i, nb.fields(nb.cells[i])))
	}
	return -1, e
}
