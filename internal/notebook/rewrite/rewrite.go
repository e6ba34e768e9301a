// Package rewrite edits a cell of a notebook by splices on the file's bytes, so that a diff
// shows that cell alone. Random bytes come from a reader that the caller passes.
//
// It promises:
//   - An edit changes no byte outside its splices. Its result is a notebook, and valid if the
//     old one was.
//   - A new cell looks like its neighbours.
//   - Deleting a cell that was just inserted restores the old bytes.
//   - An edit allocates less than ten times the file, whatever that contains.
package rewrite

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"unicode/utf8"

	"github.com/fsmcp/fsmcp/internal/notebook"
	"github.com/fsmcp/fsmcp/internal/notebook/scan"
	"github.com/fsmcp/fsmcp/internal/span"
)

// An Edit is one edit of a notebook, not yet applied.
type Edit struct {
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
func Replace(nb *notebook.Notebook, i int, source, kind string) (Edit, error) {
	if err := mayEdit(nb, i, 0, source); err != nil {
		return Edit{}, err
	}
	f := nb.Fields(i)
	old := string(f.Type.Bytes())
	if kind != "" && !knownType(kind) {
		return Edit{}, notebook.ErrType
	}
	kind = cmp.Or(kind, old)
	e := Edit{Index: i, Name: nb.Name(i), Type: kind, Splices: setSource(nb, i, source)}
	outputs := f.Outputs.OK() && !isEmptyList(f.Outputs)
	count := f.ExecutionCount.OK() && f.ExecutionCount.Kind() != 'n'
	if outputs && (kind != old || old == notebook.Code) {
		e.Cleared = append(e.Cleared, "outputs")
	}
	if count && (kind != old || old == notebook.Code) {
		e.Cleared = append(e.Cleared, "execution_count")
	}
	if kind == notebook.Code {
		for _, key := range keyOrder(nb, i, kind) {
			switch {
			case key == "outputs" && outputs:
				e.Splices = append(e.Splices, put(f.Outputs, "[]"))
			case key == "outputs" && !f.Outputs.OK() && kind != old:
				e.Splices = append(e.Splices, addMember(nb, i, kind, key, "[]"))
			case key == "execution_count" && count:
				e.Splices = append(e.Splices, put(f.ExecutionCount, "null"))
			case key == "execution_count" && !f.ExecutionCount.OK() && kind != old:
				e.Splices = append(e.Splices, addMember(nb, i, kind, key, "null"))
			}
		}
	}
	if kind != old {
		e.retype(&f)
	}
	e.Splices = tidy(e.Splices)
	return e, nil
}

// Insert adds a cell after the one at index after; -1 makes it the first. In nbformat 4.5 and
// later its id comes from rand.
func Insert(nb *notebook.Notebook, after int, kind, source string, rand io.Reader) (Edit, error) {
	if err := mayEdit(nb, after, -1, source); err != nil {
		return Edit{}, err
	}
	if !knownType(kind) {
		return Edit{}, notebook.ErrType
	}
	e := Edit{Index: after + 1, Name: notebook.IndexName(after + 1), Type: kind}
	id := ""
	if nb.Major == 4 && nb.Minor >= 5 {
		var err error
		if id, err = freshID(nb, rand); err != nil {
			return Edit{}, err
		}
		e.Name = id
	}
	e.Splices = []span.Splice{place(nb, after, newCell(nb, max(after, 0), kind, source, id))}
	return e, nil
}

// Delete removes the cell at index i.
func Delete(nb *notebook.Notebook, i int) (Edit, error) {
	if err := mayEdit(nb, i, 0, ""); err != nil {
		return Edit{}, err
	}
	return Edit{Index: i, Name: nb.Name(i), Type: nb.Cell(i).Type, Splices: []span.Splice{remove(nb, i)}}, nil
}

// mayEdit returns an error for a format that is shown only, an index below least or past the
// last cell, and a source that is not UTF-8.
func mayEdit(nb *notebook.Notebook, i, least int, source string) error {
	if err := nb.Editable(); err != nil {
		return err
	}
	if i < least || i >= nb.Len() {
		return &notebook.CellError{Miss: notebook.NoSuchIndex, Name: notebook.IndexName(i), Count: nb.Len()}
	}
	if !utf8.ValidString(source) {
		return notebook.ErrSource
	}
	return nil
}

func knownType(kind string) bool {
	return kind == notebook.Code || kind == notebook.Markdown || kind == notebook.Raw
}

// freshID returns an id that no cell has: eight hexadecimal digits, as Jupyter's own, with
// a number after them if rand returns the digits of another cell.
func freshID(nb *notebook.Notebook, rand io.Reader) (string, error) {
	var random [4]byte
	if _, err := io.ReadFull(rand, random[:]); err != nil {
		return "", fmt.Errorf("new cell id: %w", err)
	}
	id := fmt.Sprintf("%x", random)
	for n := 2; ; n++ {
		if _, count := nb.WithID(id); count == 0 {
			return id, nil
		}
		id = fmt.Sprintf("%x-%d", random, n)
	}
}

// retype gives the cell the type e.Type, and removes the fields that a cell of that type must
// not have.
func (e *Edit) retype(f *notebook.Fields) {
	unwanted := []string{"outputs", "execution_count"}
	switch e.Type {
	case notebook.Code:
		unwanted = []string{"attachments", "expressions"}
	case notebook.Raw:
		unwanted = append(unwanted, "expressions")
	}
	e.Splices = append(e.Splices, put(f.Type, quoted(e.Type)))
	for _, key := range e.drop(f.Whole, func(key string, _ *scan.Value) bool { return slices.Contains(unwanted, key) }) {
		if key != "outputs" && key != "execution_count" {
			e.Dropped = append(e.Dropped, key)
		}
	}
	for _, key := range e.drop(f.Whole.Lookup("metadata"), e.unfit) {
		e.Dropped = append(e.Dropped, "metadata."+key)
	}
}

// unfit reports whether the format's schema does not allow a field of the metadata for a cell
// of the type e.Type.
func (e *Edit) unfit(key string, v *scan.Value) bool {
	isBool := v.Kind() == 't' || v.Kind() == 'f'
	switch {
	case e.Type == notebook.Code && key == "collapsed":
		return !isBool
	case e.Type == notebook.Code && key == "scrolled":
		return !isBool && string(v.Bytes()) != "auto"
	case e.Type == notebook.Code && key == "execution":
		allowed := v.Kind() == '{'
		for _, val := range v.Members() {
			allowed = allowed && val.Kind() == '"'
		}
		return !allowed
	case e.Type == notebook.Raw && key == "format":
		return v.Kind() != '"'
	}
	return false
}

// drop removes the members of an object for which out returns true, each with one comma,
// and returns their keys.
func (e *Edit) drop(obj scan.Value, out func(key string, val *scan.Value) bool) (dropped []string) {
	before := len(e.Splices)
	head, kept, end := 0, false, 0 // head is the start of dropped members before the first one kept
	for key, val := range obj.Members() {
		name := string(key.Bytes())
		gone := out(name, val)
		switch n := len(e.Splices); {
		case gone && kept && n > before && e.Splices[n-1].End == int64(end):
			e.Splices[n-1].End = int64(val.End())
		case gone && kept:
			e.Splices = append(e.Splices, cut(end, val.End()))
		case gone:
			head = cmp.Or(head, key.Start())
		case head > 0 && !kept:
			e.Splices = append(e.Splices, cut(head, key.Start()))
		}
		if gone && !slices.Contains(dropped, name) {
			dropped = append(dropped, name)
		}
		kept, end = kept || !gone, val.End()
	}
	if head > 0 && !kept {
		e.Splices = append(e.Splices, cut(obj.Start()+1, obj.End()-1))
	}
	return dropped
}

func put(v scan.Value, text string) span.Splice {
	return span.Splice{Start: int64(v.Start()), End: int64(v.End()), New: []byte(text)}
}

func insert(at int, text string) span.Splice {
	return span.Splice{Start: int64(at), End: int64(at), New: []byte(text)}
}

func cut(start, end int) span.Splice { return span.Splice{Start: int64(start), End: int64(end)} }

// tidy sorts splices and joins those that touch. An insertion comes before a removal at the
// same offset.
func tidy(splices []span.Splice) []span.Splice {
	slices.SortStableFunc(splices, func(a, b span.Splice) int {
		return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(a.End, b.End))
	})
	out := splices[:0]
	for _, s := range splices {
		if n := len(out); n > 0 && out[n-1].End == s.Start {
			out[n-1].End = s.End
			out[n-1].New = append(out[n-1].New, s.New...)
			continue
		}
		out = append(out, s)
	}
	return out
}
