package render

import (
	"fmt"
	"strings"
	"testing"

	"github.com/fsmcp/fsmcp/internal/notebook"
)

const tenLines = `{"cell_type": "code", "id": "c", "source": ["l1\n", "l2\n", "l3"], "outputs": [{"output_type": "stream", "name": "stdout", "text": "o4\no5\n"}, {"output_type": "display_data", "data": {"image/png": "` + pixel + `"}}]}`

// Each picture comes with its line, so that those for which an answer has no room
// can be asked for.
func TestPicturesFollowTheirLines(t *testing.T) {
	var outputs []string
	for range 9 {
		outputs = append(outputs, `{"output_type":"display_data","metadata":{},"data":{"image/png":"`+pixel+`","text/plain":"fig"}}`)
	}
	nb := mustParse(t, wrap(`{"cell_type":"code","id":"c","metadata":{},"execution_count":1,"source":"plot()","outputs":[`+strings.Join(outputs, ",")+`]}`))
	whole := Cell(nb, 0, CellOptions{})
	per := (whole.Total - 1) / 9
	for _, c := range []struct{ first, limit, want int }{{1, 0, 9}, {1, 1, 0}, {2, per, 1}, {2, 3 * per, 3}, {2 + 5*per, 0, 4}, {2 + 8*per, 2, 1}, {whole.Total + 1, 0, 0}} {
		count := 0
		for _, p := range Cell(nb, 0, CellOptions{First: c.first, Limit: c.limit}).Parts {
			if p.Picture != nil {
				count++
			}
		}
		if count != c.want {
			t.Errorf("from line %d, %d lines: %d pictures, not %d", c.first, c.limit, count, c.want)
		}
	}
}

func TestPages(t *testing.T) {
	nb := mustParse(t, wrap(tenLines))
	open, closing := "<cell id=\"c\" type=\"code\" language=\"python\">", "</cell id=\"c\">\n"
	picture := "[picture: image/png, 67 bytes]\n<<image/png 67>>\n"
	tests := []struct {
		options     CellOptions
		want        string
		first, last int
		more        bool
		column      int
	}{
		{CellOptions{}, open + "l1\nl2\nl3" + closing + "Output:\no4\no5\n" + picture, 1, 6, false, 0},
		{CellOptions{First: 1, MaxText: 1000}, open + "l1\nl2\nl3" + closing + "Output:\no4\no5\n" + picture, 1, 6, false, 0},
		{CellOptions{Limit: 2}, open + "\n1\tl1\n2\tl2\n" + closing, 1, 2, true, 0},
		{CellOptions{First: 3, Limit: 2}, open + "\n3\tl3\n" + closing + "Output:\n4\to4\n", 3, 4, true, 0},
		{CellOptions{First: 5}, "[outputs of cell c]\n5\to5\n6\t[picture: image/png, 67 bytes]\n<<image/png 67>>\n", 5, 6, false, 0},
		{CellOptions{First: 7}, "", 7, 6, false, 0},
		{CellOptions{First: 2, Column: 2}, open + "\n2\t2\n" + closing, 2, 2, true, 0},
		{CellOptions{First: 2, Column: 9}, open + "\n2\t\n" + closing, 2, 2, true, 0},
		{CellOptions{Column: 1}, open + "\n1\tl1\n" + closing, 1, 1, true, 0},
		{CellOptions{MaxText: 70}, open + "\n1\tl1\n2\tl2\n" + closing, 1, 2, true, 0},
		{CellOptions{MaxText: 1}, open + "\n1\tl\n" + closing, 1, 1, true, 2},
		{CellOptions{First: 6, Column: 2, MaxText: len(open) + len(closing) + 1 + 12}, "[outputs of cell c]\n6\tpicture: \n", 6, 6, true, 11},
	}
	for _, test := range tests {
		v := Cell(nb, 0, test.options)
		if got := allText(v.Parts); got != test.want {
			t.Errorf("%+v:\n%q\nwant\n%q", test.options, got, test.want)
		}
		if v.First != test.first || v.Last != test.last || v.More != test.more || v.NextColumn != test.column || v.Total != 6 || v.SourceLines != 3 {
			t.Errorf("%+v: %+v", test.options, v)
		}
	}
}

// Pages of any size, one after the other, show every line once, and what they
// say was shown of the source adds up to all of it.
func TestPagesAddUp(t *testing.T) {
	books := map[string]*notebook.Notebook{"pieces": mustParse(t, wrap(`{"cell_type": "raw", "source": ["a", "b\nc\u00e9\ud83d\ude00\n", "", "\\\n", "\ud800 end\n"]}, `+tenLines))}
	for name, raw := range fixtures(t) {
		books[name] = mustParse(t, string(raw))
	}
	for name, nb := range books {
		for i := range nb.Len() {
			for _, o := range []CellOptions{{Limit: 1}, {Limit: 2}, {Limit: 7}, {MaxText: 1}, {MaxText: 90}, {MaxText: 150}, {Limit: 2, MaxText: 120}} {
				if err := addUp(nb, i, o); err != nil {
					t.Errorf("%s cell %d %+v: %v", name, i, o, err)
				}
			}
		}
	}
}

// addUp turns the pages of a cell and compares them with the whole.
func addUp(nb *notebook.Notebook, i int, o CellOptions) error {
	cell := nb.Cell(i)
	whole := cell.SourceText()
	if whole != "" && !strings.HasSuffix(whole, "\n") {
		whole += "\n"
	}
	var out outputs
	out.read(nb, i)
	whole += string(out.text)
	if whole != "" && !strings.HasSuffix(whole, "\n") {
		whole += "\n"
	}
	var got strings.Builder
	shown, pictures := cell.Source.Start, 0
	for {
		v := Cell(nb, i, o)
		if v.Total == 0 {
			return nil
		}
		if o.Limit == 0 && !v.More && o.First <= 1 && o.Column == 0 {
			return nil // there was room for all
		}
		if v.Shown.Start > shown {
			return fmt.Errorf("shown from %d, before up to %d", v.Shown.Start, shown)
		}
		shown = max(shown, v.Shown.End)
		pictures += body(&got, v)
		if v.Last < v.First {
			return fmt.Errorf("no line from %d on", v.First)
		}
		if !v.More {
			break
		}
		o.First, o.Column = v.Last+1, 0
		if v.NextColumn > 0 {
			o.First, o.Column = v.Last, v.NextColumn
		}
	}
	switch {
	case shown != cell.Source.End:
		return fmt.Errorf("shown up to %d of %v", shown, cell.Source)
	case got.String() != whole:
		return fmt.Errorf("%q\nwant\n%q", got.String(), whole)
	case pictures != len(out.pictures):
		return fmt.Errorf("%d pictures", pictures)
	}
	return nil
}

// body adds the lines of a page without numbers and counts its pictures.
func body(to *strings.Builder, v CellView) (pictures int) {
	for _, p := range v.Parts {
		if p.Picture != nil {
			pictures++
			continue
		}
		for _, line := range strings.Split(p.Text, "\n") {
			if number, text, ok := strings.Cut(line, "\t"); ok && strings.Trim(number, "0123456789") == "" {
				to.WriteString(text)
				if v.NextColumn == 0 || number != fmt.Sprint(v.Last) {
					to.WriteByte('\n')
				}
			}
		}
	}
	return pictures
}
