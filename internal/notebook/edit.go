package notebook

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/fsmcp/fsmcp/internal/notebook/scan"
	"github.com/fsmcp/fsmcp/internal/span"
)

// A Change is one edit of a notebook, not yet applied.
type Change struct {
	// Splices change the file's bytes. There are none if the file already has what the
	// caller asked for.
	Splices []span.Splice
	// Index, Name and Type are those of the cell after the edit, and of a deleted cell
	// before it.
	Index int
	Name  string
	Type  string
	// Cleared names what a code cell lost by the edit: its outputs, its execution count.
	Cleared []string
	// Dropped names the other fields that the edit removes because the new type does not
	// allow them. "metadata.x" is a field of the metadata.
	Dropped []string
}

// Replace gives the cell at index i a new source, and another type unless kind is "". It
// removes the outputs and the execution count of a code cell. In a list of lines only the
// lines that differ change.
func (nb *Notebook) Replace(i int, source, kind string) (Change, error) {
	if err := nb.mayEdit(i, 0, source); err != nil {
		return Change{}, err
	}
	f := nb.fieldsOf(i)
	old := nb.str(f.kind)
	if kind == "" {
		kind = old
	} else if !knownType(kind) {
		return Change{}, ErrType
	}
	c := Change{Index: i, Name: nb.name(i), Type: kind}
	c.Splices = nb.setSource(i, f, source)
	if kind != old {
		nb.retype(&c, f)
	} else if old == Code {
		nb.clear(&c, f)
	}
	if kind != old || old == Code {
		c.Cleared = nb.ran(f)
	}
	c.Splices = tidy(c.Splices)
	return c, nil
}

// Insert adds a cell after the one at index after; -1 makes it the first. In nbformat 4.5 and
// later its id comes from rand.
func (nb *Notebook) Insert(after int, kind, source string, rand io.Reader) (Change, error) {
	if err := nb.mayEdit(after, -1, source); err != nil {
		return Change{}, err
	}
	if !knownType(kind) {
		return Change{}, ErrType
	}
	c := Change{Index: after + 1, Name: indexName(after + 1), Type: kind}
	id := ""
	if nb.major == 4 && nb.minor >= 5 {
		var err error
		if id, err = nb.freshID(rand); err != nil {
			return Change{}, err
		}
		c.Name = id
	}
	c.Splices = []span.Splice{nb.place(after, nb.newCell(after, kind, source, id))}
	return c, nil
}

// Delete removes the cell at index i.
func (nb *Notebook) Delete(i int) (Change, error) {
	if err := nb.mayEdit(i, 0, ""); err != nil {
		return Change{}, err
	}
	f := nb.fieldsOf(i)
	c := Change{Index: i, Name: nb.name(i), Type: nb.str(f.kind)}
	c.Splices = []span.Splice{nb.remove(i)}
	return c, nil
}

// mayEdit returns an error for a format that is shown only, an index below least or past the
// last cell, and a source that is not UTF-8.
func (nb *Notebook) mayEdit(i, least int, source string) error {
	if err := nb.Editable(); err != nil {
		return err
	}
	if i < least || i >= nb.Len() {
		return &CellError{Miss: NoSuchIndex, Name: indexName(i), Count: nb.Len()}
	}
	if !utf8.ValidString(source) {
		return ErrSource
	}
	return nil
}

func knownType(kind string) bool { return kind == Code || kind == Markdown || kind == Raw }

// place inserts a cell after the one at index after, with the separator that the list has
// there or elsewhere.
func (nb *Notebook) place(after int, cell string) span.Splice {
	switch n := nb.Len(); {
	case n == 0:
		open, closing := nb.padding(nb.inner())
		return put(scan.Between(nb.list.Start+1, nb.list.End-1), open+cell+closing)
	case after < 0:
		return putAt(nb.cellAt(0).Start, cell+nb.cellSep(0))
	default:
		return putAt(nb.cellAt(after).End, nb.cellSep(after)+cell)
	}
}

// remove removes a cell with one separator, as place added them.
func (nb *Notebook) remove(i int) span.Splice {
	switch n := nb.Len(); {
	case n == 1:
		open := nb.between(nb.list.Start+1, nb.cellAt(0).Start)
		closing := nb.between(nb.cellAt(0).End, nb.list.End-1)
		return put(scan.Between(nb.list.Start+1, nb.list.End-1), nb.unpadded(open, closing))
	case i == 0:
		return put(scan.Between(nb.cellAt(0).Start, nb.cellAt(1).Start), "")
	default:
		return put(scan.Between(nb.cellAt(i-1).End, nb.cellAt(i).End), "")
	}
}

// inner returns the white space in an empty list of cells.
func (nb *Notebook) inner() string { return nb.between(nb.list.Start+1, nb.list.End-1) }

// padding returns the white space around the first cell of a list that had only inner, and
// unpadded returns inner again, so that a delete restores the list. "[]" gets the indent of
// the file. Other white space is put on both sides of the cell, with one more step of the
// indent if it consists of such steps.
func (nb *Notebook) padding(inner string) (open, closing string) {
	open, closing = nb.listSpace()
	if inner == "" {
		return open, closing
	}
	if open == closing && repeats(inner, open) {
		inner += open
	}
	return inner, inner
}

// unpadded is the inverse of padding.
func (nb *Notebook) unpadded(open, closing string) (inner string) {
	a, b := nb.listSpace()
	switch {
	case a == b && open == closing && repeats(open, a):
		return open[len(a):]
	case open == a && closing == b, open != closing:
		return ""
	}
	return open
}

// listSpace returns the white space before the first cell and after the last one, by the
// indent of the outermost object.
func (nb *Notebook) listSpace() (open, closing string) {
	top := nb.topLayout()
	return top.level(2), top.level(1)
}

// repeats reports whether s is unit, once or several times.
func repeats(s, unit string) bool {
	return unit != "" && s != "" && strings.ReplaceAll(s, unit, "") == ""
}

// cellSep returns the separator of the cell at index i and the next.
func (nb *Notebook) cellSep(i int) string {
	if nb.Len() == 1 {
		open := nb.between(nb.list.Start+1, nb.cellAt(0).Start)
		return afterComma(open, afterTheComma(nb.topLayout().sep))
	}
	i = min(i, nb.Len()-2)
	return nb.between(nb.cellAt(i).End, nb.cellAt(i+1).Start)
}

// newCell returns a cell in the file's style. An id of "" means none.
func (nb *Notebook) newCell(after int, kind, source, id string) string {
	near := max(after, 0)
	object, list := nb.cellLayout(near)
	values := map[string]string{
		"cell_type": quoted(kind),
		"metadata":  "{}",
		"source":    nb.newSource(source, list),
	}
	if kind == Code {
		values["execution_count"], values["outputs"] = "null", "[]"
	}
	if id != "" {
		values["id"] = quoted(id)
	}
	cell := "{" + object.open
	sep := ""
	for _, key := range nb.keyOrder(near, kind) {
		if value, ok := values[key]; ok {
			cell += sep + quoted(key) + object.colon + value
			sep = object.sep
		}
	}
	return cell + object.close + "}"
}

func (nb *Notebook) newSource(source string, list layout) string {
	a := nb.alphabet(scan.Extent{}, source)
	if !nb.writesLists() {
		return string(a.Quote(nil, source))
	}
	return string(list.lines(nil, source, a))
}

func quoted(s string) string { return string(scan.Alphabet{}.Quote(nil, s)) }

// freshID returns an id that no cell has: eight hexadecimal digits, as Jupyter's own, with
// a number after them if rand returns the digits of another cell.
func (nb *Notebook) freshID(rand io.Reader) (string, error) {
	var random [4]byte
	if _, err := io.ReadFull(rand, random[:]); err != nil {
		return "", fmt.Errorf("new cell id: %w", err)
	}
	id := fmt.Sprintf("%x", random)
	for n := 2; ; n++ {
		if _, count := nb.withID(id); count == 0 {
			return id, nil
		}
		id = fmt.Sprintf("%x-%d", random, n)
	}
}

// clear removes the outputs and the execution count of a code cell.
func (nb *Notebook) clear(c *Change, f fields) {
	if f.outputs.OK() && !nb.isEmptyArray(f.outputs) {
		c.Splices = append(c.Splices, put(f.outputs, "[]"))
	}
	if f.count.OK() && !scan.IsNull(nb.raw, f.count) {
		c.Splices = append(c.Splices, put(f.count, "null"))
	}
}

func (nb *Notebook) isEmptyArray(v scan.Extent) bool {
	return scan.IsArray(nb.raw, v) && nb.raw[scan.SkipSpace(nb.raw, v.Start+1)] == ']'
}

// unwanted returns the fields that a cell of the type must not have.
func unwanted(kind string) []string {
	switch kind {
	case Code:
		return []string{"attachments", "expressions"}
	case Raw:
		return []string{"outputs", "execution_count", "expressions"}
	}
	return []string{"outputs", "execution_count"}
}

// retype gives the cell the type c.Type.
func (nb *Notebook) retype(c *Change, f fields) {
	cell := nb.cellAt(c.Index)
	c.Splices = append(c.Splices, put(f.kind, quoted(c.Type)))
	drop := unwanted(c.Type)
	gone := nb.drop(c, cell, func(key string, _ scan.Extent) bool { return slices.Contains(drop, key) })
	for _, key := range gone {
		if key != "outputs" && key != "execution_count" {
			c.Dropped = append(c.Dropped, key)
		}
	}
	for _, key := range nb.fitMetadata(c, cell) {
		c.Dropped = append(c.Dropped, "metadata."+key)
	}
	if c.Type == Code {
		nb.clear(c, f)
		nb.addMissing(c, f)
	}
}

// ran returns which of the two results of a run a cell has: outputs, execution_count.
func (nb *Notebook) ran(f fields) (results []string) {
	if f.outputs.OK() && !nb.isEmptyArray(f.outputs) {
		results = append(results, "outputs")
	}
	if f.count.OK() && !scan.IsNull(nb.raw, f.count) {
		results = append(results, "execution_count")
	}
	return results
}

// addMissing adds the fields that each code cell must have.
func (nb *Notebook) addMissing(c *Change, f fields) {
	cell := nb.cellAt(c.Index)
	order := nb.keyOrder(c.Index, Code)
	for _, key := range order {
		switch {
		case key == "outputs" && !f.outputs.OK():
			c.Splices = append(c.Splices, nb.addMember(cell, order, key, "[]"))
		case key == "execution_count" && !f.count.OK():
			c.Splices = append(c.Splices, nb.addMember(cell, order, key, "null"))
		}
	}
}

// addMember adds a member to an object that has some, after those that precede it in order.
func (nb *Notebook) addMember(obj scan.Extent, order []string, key, value string) span.Splice {
	l, _ := nb.objectLayout(obj)
	text := quoted(key) + l.colon + value
	place, first, best := 0, 0, -1
	scan.Members(nb.raw, obj, func(m scan.Member) bool {
		if first == 0 {
			first = m.Key.Start
		}
		if at := slices.Index(order, string(scan.KeyOf(nb.raw, m.Key))); at > best && at < slices.Index(order, key) {
			place, best = m.Val.End, at
		}
		return true
	})
	if best < 0 {
		return putAt(first, text+l.sep)
	}
	return putAt(place, l.sep+text)
}

// drop removes the members of an object for which out returns true, each with one comma,
// and returns their keys. Neighbours share a splice.
func (nb *Notebook) drop(c *Change, obj scan.Extent, out func(key string, val scan.Extent) bool) []string {
	var gone []string
	first, kept, end, before := 0, false, 0, len(c.Splices)
	scan.Members(nb.raw, obj, func(m scan.Member) bool {
		if first == 0 {
			first = m.Key.Start
		}
		key := string(scan.KeyOf(nb.raw, m.Key))
		dropped := out(key, m.Val)
		if dropped && !slices.Contains(gone, key) {
			gone = append(gone, key)
		}
		switch n := len(c.Splices); {
		case dropped && kept && n > before && c.Splices[n-1].End == int64(end):
			c.Splices[n-1].End = int64(m.Val.End)
		case dropped && kept:
			c.Splices = append(c.Splices, put(scan.Between(end, m.Val.End), ""))
		case !dropped && !kept:
			// A splice removes the members before the first one that stays, up to its key.
			kept = true
			if len(gone) > 0 {
				c.Splices = append(c.Splices, put(scan.Between(first, m.Key.Start), ""))
			}
		}
		end = m.Val.End
		return true
	})
	if len(gone) > 0 && !kept {
		c.Splices = append(c.Splices, put(scan.Between(obj.Start+1, obj.End-1), ""))
	}
	return gone
}

// fitMetadata removes the fields of the cell's metadata that the format's schema does not
// allow for its new type.
func (nb *Notebook) fitMetadata(c *Change, cell scan.Extent) []string {
	metadata := scan.Lookup(nb.raw, cell, "metadata")
	if !scan.IsObject(nb.raw, metadata) {
		return nil
	}
	return nb.drop(c, metadata, func(key string, v scan.Extent) bool {
		switch {
		case c.Type == Code && key == "collapsed":
			return nb.raw[v.Start] != 't' && nb.raw[v.Start] != 'f'
		case c.Type == Code && key == "scrolled":
			return nb.raw[v.Start] != 't' && nb.raw[v.Start] != 'f' && nb.str(v) != "auto"
		case c.Type == Code && key == "execution":
			return !nb.holdsStrings(v)
		case c.Type == Raw && key == "format":
			return !scan.IsString(nb.raw, v)
		}
		return false
	})
}

// holdsStrings reports whether v is an object of strings only.
func (nb *Notebook) holdsStrings(v scan.Extent) bool {
	if !scan.IsObject(nb.raw, v) {
		return false
	}
	all := true
	scan.Members(nb.raw, v, func(m scan.Member) bool {
		all = scan.IsString(nb.raw, m.Val)
		return all
	})
	return all
}
