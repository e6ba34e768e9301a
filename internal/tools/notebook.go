package tools

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"sort"
	"strings"

	"github.com/fsmcp/fsmcp/internal/fsys"
	"github.com/fsmcp/fsmcp/internal/gate"
	"github.com/fsmcp/fsmcp/internal/media"
	"github.com/fsmcp/fsmcp/internal/notebook"
	"github.com/fsmcp/fsmcp/internal/notebook/render"
	"github.com/fsmcp/fsmcp/internal/phrase"
	"github.com/fsmcp/fsmcp/internal/refusal"
	"github.com/fsmcp/fsmcp/internal/reminders"
	"github.com/fsmcp/fsmcp/internal/span"
	"github.com/fsmcp/fsmcp/internal/state"
	"github.com/fsmcp/fsmcp/internal/text"
	"github.com/fsmcp/fsmcp/internal/toolcall"
)

// Bounds of the pictures of one answer, in base64. A PDF has the same.
const (
	maxPictures  = 7
	pictureChars = 2_621_440
)

// notebook answers Read of a notebook. A broken one is an error that says
// where; its raw text is paged by offset and limit like any other.
func (r *reading) notebook(ctx context.Context, f *fsys.File, stamp fsys.Stamp) toolcall.Outcome {
	r.ignore("a notebook", "region", "pages")
	if stamp.Size > state.InMemory {
		return toolcall.Failed(refusal.New(refusal.TooLargeNotebook, r.target.Name(), phrase.Above(stamp.Size, state.InMemory), "shown"))
	}
	leave, err := r.tool.Loader.Admit(ctx, stamp.Size)
	if err != nil {
		return toolcall.Failed(err)
	}
	defer leave()
	c, nb, err := r.tool.Loader.Parse(r.call.Session, r.target, f)
	if broken := (*notebook.ParseError)(nil); errors.As(err, &broken) {
		if !r.want.plain && r.want.cell == "" {
			return r.memoryText(c)
		}
		return toolcall.Failed(refusal.New(refusal.BrokenNotebook, r.target.Name(), broken.What, broken.Offset))
	}
	if err != nil {
		return toolcall.Failed(err)
	}
	var sum state.Sum // of all of the notebook, if the record's text does not prove it
	if len(c.Raw) > state.KeepText {
		sum = c.Sum()
	}
	if (c.HasText() || sum != state.Sum{}) && r.repeated(sum) {
		return r.unchanged()
	}
	rec := c.Compare(nil).Record
	v := viewing{read: r, loaded: c, nb: nb, rec: rec, sum: sum}
	switch {
	case r.want.cell != "":
		return v.cell(ctx)
	case r.want.column > 0:
		return toolcall.Failed(refusal.New(refusal.ColumnWithoutCell))
	}
	return v.cells(ctx)
}

// viewing is the answer to a Read of a notebook in the making.
type viewing struct {
	read   *reading
	loaded *state.KnownFile
	nb     *notebook.Notebook
	rec    state.Record
	sum    state.Sum // of the notebook; zero if the record's text proves it
}

// cells shows cells in order; offset and limit count them. What is beyond the
// limits is refused; what merely exceeds the client's own stops at a whole cell.
func (v *viewing) cells(ctx context.Context) toolcall.Outcome {
	v.read.want.first = v.read.want.from(v.nb.Len())
	o := render.Options{First: v.read.want.first - 1, MaxText: v.read.budget.Room()}
	if !v.read.want.plain {
		o.Limit = v.read.want.limit
	}
	if o.First >= v.nb.Len() && v.nb.Len() > 0 {
		return v.read.noteOnly(fmt.Sprintf("<system-reminder>Warning: the file exists but is shorter than the provided offset (%d). The notebook has %d cells.</system-reminder>", v.read.want.first, v.nb.Len()))
	}
	view := render.Cells(v.nb, o)
	count := v.count(view.Parts)
	if int64(view.Size) > v.read.tool.mostBytes(v.read.want.large) || count > v.read.budget.Most {
		if v.read.tool.refuses() {
			return toolcall.Failed(v.tooMany(view.Size, count))
		}
		v.read.overlong = true
	}
	if v.read.overlong || count > v.read.budget.Bound() || !v.within(view.Parts) {
		if o.Limit = v.fitting(); o.Limit == 0 {
			return v.beginning(ctx, o.First)
		}
		view = render.Cells(v.nb, o)
	}
	if view.Next == o.First && view.Next < v.nb.Len() {
		return v.beginning(ctx, view.Next)
	}
	v.rec = v.loaded.WithShown(v.rec, view.Shown)
	onward := ""
	if view.Next < v.nb.Len() {
		limit := v.nb.Len() - view.Next
		if v.read.want.bounded {
			limit = min(limit, v.read.want.limit-(view.Next-o.First))
		}
		switch p := (part{first: v.read.want.first, last: view.Next, total: v.nb.Len(), more: true}); {
		case v.read.overlong:
			onward = v.read.partial("cells", p)
		case limit > 0:
			onward = fmt.Sprintf("(Cells %d-%d of %d are shown. Next: Read offset=%d, limit=%d.)", p.first, p.last, p.total, view.Next+1, limit)
		default:
			onward = fmt.Sprintf("(Cells %d-%d of %d are shown.)", p.first, p.last, p.total)
		}
	}
	return v.answer(ctx, view.Parts, view.Notice, onward)
}

// beginning shows as much of a cell as one answer holds if that is less than
// the cell.
func (v *viewing) beginning(ctx context.Context, i int) toolcall.Outcome {
	rest := ""
	if i+1 < v.nb.Len() {
		rest = fmt.Sprintf("(Cell %d of %d is too long for one answer; offset=%d goes on behind it.)", i+1, v.nb.Len(), i+2)
	}
	return v.lines(ctx, i, v.nb.CallName(i), render.CellOptions{First: 1, Columns: defaultColumns}, rest)
}

// cell shows one cell, its outputs whole; offset and limit count its lines.
func (v *viewing) cell(ctx context.Context) toolcall.Outcome {
	i, err := v.nb.Find(v.read.want.cell)
	if err != nil {
		return toolcall.Failed(refusal.NoSuchCell(v.read.target.Name(), err, false))
	}
	if v.read.want.first < 0 {
		v.read.want.first = v.read.want.from(render.Cell(v.nb, i, render.CellOptions{First: 1, Limit: 1}).Total)
	}
	o := render.CellOptions{First: v.read.want.first, Column: v.read.want.column, Columns: defaultColumns}
	switch {
	case v.read.want.column > 0:
		o.Columns = v.read.want.limit
	case !v.read.want.plain:
		o.Limit = v.read.want.limit
	}
	return v.lines(ctx, i, v.read.want.cell, o, "")
}

// lines shows as many lines of the cell at index i as one answer holds. name is the cell's
// name in calls, or empty if no call can name it. The answer has rest before the call that
// shows more.
func (v *viewing) lines(ctx context.Context, i int, name string, o render.CellOptions, rest string) toolcall.Outcome {
	name = fsys.InSentence(name)
	o.MaxText = v.read.budget.Room()
	if most := v.read.budget.Lines(); most < math.MaxInt && (o.Limit == 0 || o.Limit > most) {
		o.Limit = most
	}
	view := render.Cell(v.nb, i, o)
	switch {
	case view.Total == 0: // there are no lines to count
		view = render.Cell(v.nb, i, render.CellOptions{})
	case view.First > view.Total:
		return v.read.noteOnly(fmt.Sprintf("<system-reminder>Warning: the file exists but is shorter than the provided offset (%d). Cell %s has %d lines.</system-reminder>", view.First, name, view.Total))
	}
	for count := v.count(view.Parts); count > v.read.budget.Bound(); count = v.count(view.Parts) {
		shorter := partsSize(view.Parts) * v.read.budget.Bound() / count * 95 / 100
		if o.MaxText = min(shorter, o.MaxText-1); o.MaxText < 64 {
			break
		}
		view = render.Cell(v.nb, i, o)
	}
	v.rec = v.loaded.WithShown(v.rec, span.Set{}.Add(view.Shown))
	onward := ""
	if view.More && name == "" {
		onward = fmt.Sprintf("(Lines %d-%d of the cell's %d are shown, the last perhaps in part. No cell_id leads to the rest: what names this cell are ids of other cells.)", view.First, view.Last, view.Total)
	} else {
		onward = v.read.want.onward(part{
			first: view.First, last: view.Last, total: view.Total, of: fmt.Sprintf(" of the cell's %d", view.Total),
			nextColumn: view.NextColumn, more: view.More, call: fmt.Sprintf(`cell_id="%s", `, name),
		})
	}
	return v.answer(ctx, view.Parts, view.Notice, rest, onward)
}

// count counts the tokens of the text, pictures apart.
func (v *viewing) count(parts []render.Block) int {
	text := make([]byte, 0, partsSize(parts))
	for _, p := range parts {
		text = append(text, p.Text...)
	}
	return v.read.budget.Tokens(text, "ipynb")
}

// within reports whether the client passes on so many lines.
func (v *viewing) within(parts []render.Block) bool {
	n := 0
	for _, p := range parts {
		n += strings.Count(p.Text, "\n") + 1
	}
	return n <= v.read.budget.Lines()
}

func partsSize(parts []render.Block) int {
	n := 0
	for _, p := range parts {
		n += len(p.Text)
	}
	return n
}

// fitting is the greatest number of cells, from the wanted one on, that one
// answer holds.
func (v *viewing) fitting() int {
	first := v.read.want.first - 1
	room, bound := v.read.bounds()
	room = int(min(int64(room), v.read.tool.mostBytes(v.read.want.large)))
	return sort.Search(v.nb.Len()-first, func(i int) bool {
		view := render.Cells(v.nb, render.Options{First: first, Limit: i + 1, MaxText: room})
		return view.Next <= first+i || v.count(view.Parts) > bound || !v.within(view.Parts)
	})
}

// tooMany refuses more than one answer holds, and names a call that fits.
func (v *viewing) tooMany(size, count int) error {
	first := v.read.want.first - 1
	next := ""
	if limit := v.fitting(); limit > 0 {
		next = fmt.Sprintf("Read offset=%d, limit=%d", first+1, limit)
	} else if name := v.nb.CallName(first); name != "" {
		next = refusal.CellCall(name)
	}
	return refusal.LargeView{Size: int64(size), MaxSize: v.read.tool.maxFileBytes, Count: count, MaxCount: v.read.budget.Most, Cells: v.nb.Len(), Call: next}.Refusal()
}

// answer builds the answer: text and, in their place, pictures, then the remarks.
func (v *viewing) answer(ctx context.Context, parts []render.Block, remarks ...string) (out toolcall.Outcome) {
	out.Shown = []toolcall.Shown{{Path: v.read.target.Path, Record: v.rec, View: v.read.want.view(), Sum: v.sum}}
	out.File.Extent = reminders.InPart
	if gate.FirstUnseen(v.nb.Cells(), v.rec) == nil {
		out.File.Extent = reminders.InFull
	}
	out.Facts = toolcall.Facts{Size: new(v.rec.Stamp.Size), Cells: new(v.nb.Len())}
	blocks, left := v.blocks(ctx, parts)
	remarks = append([]string{v.read.target.Note(), left}, remarks...)
	if len(blocks) == 0 {
		out.Head, out.Notes = "(The notebook has no cells.)", remarks
		return out
	}
	out.Media = blocks
	if rest := toolcall.Joined(remarks...); rest != "" { // it stands below the cells
		out.Media = append(out.Media, toolcall.Block{Text: rest})
	}
	return out
}

// blocks turns parts into content blocks. Pictures beyond the budgets are left
// out, and those that cannot be shown; what says so stands in their place, or in
// left.
func (v *viewing) blocks(ctx context.Context, parts []render.Block) (blocks []toolcall.Block, left string) {
	var over []string   // the cells, and count the pictures
	var sentOf []string // the cells of the pictures that are sent, with repetitions
	count := 0
	pictures, chars := 0, partsSize(parts)
	client := v.read.call.Client
	most := max(client.MostPictures(maxPictures), 1) // if there are none, each says so
	budget := pictureChars
	if c := client.Answer; c > 0 {
		budget = c
	}
	for _, p := range parts {
		if p.Picture == nil {
			blocks = append(blocks, toolcall.Block{Text: p.Text})
			continue
		}
		name := fsys.InSentence(cmp.Or(v.nb.CallName(p.Picture.Cell), v.nb.Cell(p.Picture.Cell).Name))
		var picture media.FittedPicture
		var err error
		room := pictures < most
		if room {
			picture, err = v.read.tool.pictures.part(ctx, v.read.call, p.Picture.Bytes())
			room = err != nil || chars+media.Base64Len(len(picture.Data)) <= budget
		}
		switch {
		case !room:
			count++
			if !slices.Contains(over, name) {
				over = append(over, name)
			}
			continue
		case err != nil:
			blocks = append(blocks, toolcall.Block{Text: toolcall.Joined(fmt.Sprintf("(The picture of cell %s is left out: %s.)", name, unshown(err)), text.EscapeFrame(p.Picture.Plain))})
			continue
		}
		sent := ""
		had := media.Sniff(p.Picture.Bytes(), "")
		if as := sentAs(had, picture); as != "" {
			sent = fmt.Sprintf("(The picture of cell %s is a %s%s.)", name, had, as)
		}
		if line := toolcall.Joined(picture.Shown.Line(), sent); line != "" {
			blocks = append(blocks, toolcall.Block{Text: line})
		}
		pictures, chars = pictures+1, chars+media.Base64Len(len(picture.Data))
		blocks = append(blocks, toolcall.Block{Data: picture.Data, MIME: picture.As.MIME()})
		sentOf = append(sentOf, name)
	}
	switch {
	case count == 0:
	case pictures > 0 && v.read.want.cell != "":
		left = fmt.Sprintf("(%d %s of cell %s left out: one answer has no room for more. With cell_id, offset and limit count lines, and pictures come with theirs.)", count, phrase.Plural(count, "picture", "pictures"), strings.Join(over, ", ")+phrase.Plural(count, " is", " are"))
	case pictures == 0:
		left = fmt.Sprintf("(%d %s of %s left out: one answer has no room for more.)", count, phrase.Plural(count, "picture", "pictures"), phrase.Plural(len(over), "cell ", "cells ")+strings.Join(over, ", ")+phrase.Plural(count, " is", " are"))
	default:
		left = fmt.Sprintf("(Pictures left out, because one answer has no room for more: those of %s. Read with cell_id shows them.)", phrase.Plural(len(over), "cell ", "cells ")+strings.Join(over, ", "))
	}
	if client.PicturesLast && pictures > 1 {
		left = strings.TrimSpace(left + fmt.Sprintf("\n(The pictures follow the text of all cells, in this order: those of cells %s.)", strings.Join(sentOf, ", ")))
	}
	return blocks, left
}
