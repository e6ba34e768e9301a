// Package compare compares two notebooks cell by cell, as people see them: sources, the text of
// outputs, and their pictures.
//
// It finds which cells belong together, and does not compare their lines. It reads no disk and
// decodes no picture.
package compare

import (
	"bytes"
	"slices"
	"strings"

	"github.com/fsmcp/fsmcp/internal/linediff"
	"github.com/fsmcp/fsmcp/internal/notebook"
	"github.com/fsmcp/fsmcp/internal/notebook/render"
)

// Cell is a cell in both notebooks, or in one of them.
type Cell struct {
	Before, After *Side // nil: there is no such cell
}

// Side is a cell of one notebook. Its texts end with a line end, unless they are empty.
type Side struct {
	Name, Type      string
	Source, Outputs string
	Pictures        [][]byte
}

// Same reports whether both notebooks show the same in a cell.
func (c Cell) Same() bool {
	return c.Before != nil && c.After != nil && c.Before.Type == c.After.Type && c.Before.Source == c.After.Source &&
		c.Before.Outputs == c.After.Outputs && slices.EqualFunc(c.Before.Pictures, c.After.Pictures, bytes.Equal)
}

// Notebooks pairs the cells of two notebooks, in order: by their ids, or, before nbformat 4.5, by
// type and source. nil stands for no notebook.
func Notebooks(before, after *notebook.Notebook) (cells []Cell) {
	old, now := sides(before), sides(after)
	byID := hasIDs(before) && hasIDs(after)
	n := linediff.Number(keys(old, byID), keys(now, byID))
	i, j := 0, 0
	for _, k := range append(linediff.Compare(n[0], n[1], len(old)+len(now)), linediff.Hunk{A0: len(old), A1: len(old), B0: len(now), B1: len(now)}) {
		for ; i < k.A0; i, j = i+1, j+1 {
			cells = append(cells, Cell{&old[i], &now[j]})
		}
		// With ids they are other cells. Without, one that changed stands in its old place.
		for ; i < k.A1 && j < k.B1 && !byID; i, j = i+1, j+1 {
			cells = append(cells, Cell{&old[i], &now[j]})
		}
		for ; i < k.A1; i++ {
			cells = append(cells, Cell{Before: &old[i]})
		}
		for ; j < k.B1; j++ {
			cells = append(cells, Cell{After: &now[j]})
		}
	}
	return cells
}

// hasIDs reports whether the cells of a notebook have ids (source: nbformat 4.5).
func hasIDs(nb *notebook.Notebook) bool { return nb == nil || nb.Major == 4 && nb.Minor >= 5 }

func keys(sides []Side, byID bool) (keys []string) {
	for _, s := range sides {
		if byID {
			keys = append(keys, s.Name)
		} else {
			keys = append(keys, s.Type+"\n"+s.Source)
		}
	}
	return keys
}

func sides(nb *notebook.Notebook) (all []Side) {
	if nb == nil {
		return nil
	}
	for _, c := range nb.Cells() {
		s := Side{Name: c.Name, Type: c.Type, Source: ended(c.SourceText())}
		shown := render.Cell(nb, c.Index, render.CellOptions{})
		text := ""
		for _, part := range shown.Parts {
			if part.Picture == nil {
				text += part.Text
			} else {
				s.Pictures = append(s.Pictures, part.Picture.Bytes())
			}
		}
		s.Outputs = ended(outputs(text, max(shown.SourceLines-1, 0)))
		all = append(all, s)
	}
	return all
}

// outputs returns what follows the source in the text of a cell. The source ends in the line with
// that index, or its frame in the next one; what imitates the frame has a backslash.
func outputs(text string, last int) string {
	lines := strings.SplitAfter(text, "\n")
	for i := last; i < len(lines); i++ {
		if strings.Contains(strings.ReplaceAll(lines[i], `\</cell id=`, ""), "</cell id=") {
			return strings.TrimPrefix(strings.Join(lines[i+1:], ""), "Output:\n")
		}
	}
	return ""
}

// ended ends the last line of a text.
func ended(s string) string {
	if s != "" && !strings.HasSuffix(s, "\n") {
		s += "\n"
	}
	return s
}
