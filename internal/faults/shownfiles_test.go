//go:build linux

package faults

import (
	"encoding/json"
	"fmt"
	"os"
	"strconv"
	"strings"

	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/unicode"
)

const signs = "abcdefghijklmnopqrstuvwxyz 01234"

// letters is random text of n characters, without a blank at its ends.
func (w *shownWalk) letters(n int) string {
	b := make([]byte, n)
	for i := 0; i < n; {
		for v, k := w.rng.Uint64(), 0; k < 12 && i < n; i, k, v = i+1, k+1, v>>5 {
			b[i] = signs[v&31]
		}
	}
	for _, i := range []int{0, n - 1} {
		if n > 0 && b[i] == ' ' {
			b[i] = 'x'
		}
	}
	return string(b)
}

// line is a random line.
func (w *shownWalk) line(kind string) string {
	n := 20 + w.rng.IntN(100)
	switch k := w.rng.IntN(40); {
	case k < 4 && kind != "65M":
		return []string{"", "}", "\treturn", "  "}[k]
	case k < 8 || kind == "long" && k < 20:
		n = 450 + w.rng.IntN(3000)
	case k == 8 && kind == "long":
		n = 20_000 + w.rng.IntN(40_000)
	}
	var b strings.Builder
	for n > 0 {
		part := min(n, 30+w.rng.IntN(300))
		b.WriteString(w.letters(part))
		if n -= part; n < 40 {
			continue
		}
		switch w.rng.IntN(9) {
		case 0, 1, 2:
			fmt.Fprintf(&b, " needle%d ", w.rng.IntN(8))
		case 3:
			b.WriteString(" same ")
		case 4:
			b.WriteString([]string{"\x1b[31m", "\u202e", "\u200b", "\t", "\u00e9\u00e8", "\"quoted\"", "it's", "\\u0041"}[w.rng.IntN(8)])
		case 5:
			b.WriteString("<system-reminder>" + w.letters(40) + "</system-reminder>")
		case 6:
			b.WriteString([]string{"<cell id=\"x\">", "--- page 1 of 2 ---", "(Cells ", "Output:", "\u201ccurly\u201d"}[w.rng.IntN(5)])
		case 7:
			if kind == "stray" {
				b.WriteString("\xff\xfe\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9")
			} else if kind == "mixed" {
				b.WriteString("\r")
			}
		}
	}
	b.WriteString(w.letters(gram))
	out := b.String()
	if kind == "latin" {
		out = strings.Map(func(r rune) rune {
			if r > 0xff || r < 0x20 && r != '\t' {
				return 'z'
			}
			return r
		}, out)
	}
	return out
}

// body is a random text.
func (w *shownWalk) body(kind string) string {
	var b strings.Builder
	size, most := 0, 3+w.rng.IntN(120)
	switch kind {
	case "300K":
		size, most = 300<<10, 1<<30
	case "1200K":
		size, most = 1200<<10, 1<<30
	case "5M", "9M", "65M":
		n, _ := strconv.Atoi(strings.TrimSuffix(kind, "M"))
		size, most = n<<20, 1<<30
	}
	if kind == "latin" {
		b.WriteString(strings.Repeat("Voil\u00e0 d\u00e9j\u00e0 un \u00e9t\u00e9, gar\u00e7on. \u00c7a va \u00eatre tr\u00e8s \u00e9l\u00e9gant \u00e0 la fen\u00eatre.\n", 12))
	}
	if kind == "stray" { // too much UTF-8 for another charset
		b.WriteString(strings.Repeat("\u00e9", 200) + "\n")
	}
	for i := 0; i < most && (size == 0 || b.Len() < size); i++ {
		if kind == "65M" && w.rng.IntN(100) > 0 {
			b.WriteString(w.letters(2000))
		} else {
			b.WriteString(w.line(kind))
		}
		switch {
		case kind == "cr":
			b.WriteByte('\r')
		case kind == "crlf" || kind == "mixed" && w.rng.IntN(2) == 0:
			b.WriteString("\r\n")
		default:
			b.WriteByte('\n')
		}
	}
	if w.rng.IntN(4) == 0 {
		b.WriteString(w.letters(40)) // no line ending at the end
	}
	return b.String()
}

func (w *shownWalk) newFile(i int, kind string) *shownFile {
	name := fmt.Sprintf("%s%d.txt", kind, i)
	f := &shownFile{kind: kind, hooked: kind == "hooked"}
	switch kind {
	case "notebook":
		name = fmt.Sprintf("n%d.ipynb", i)
	case "utf16le":
		f.enc = unicode.UTF16(unicode.LittleEndian, unicode.UseBOM)
	case "utf16be":
		f.enc = unicode.UTF16(unicode.BigEndian, unicode.UseBOM)
	case "latin":
		f.enc = charmap.Windows1252
	}
	f.path = w.p.file(name)
	w.put(f, w.content(f))
	return f
}

// content is a random content for a file.
func (w *shownWalk) content(f *shownFile) string {
	if f.kind == "notebook" {
		return w.newNotebook()
	}
	return w.body(f.kind)
}

// put writes a file as another program does.
func (w *shownWalk) put(f *shownFile, text string) {
	raw := []byte(text)
	switch {
	case f.enc != nil:
		out, err := f.enc.NewEncoder().Bytes(raw)
		must(w.t, err)
		raw = out
	case f.kind == "bom":
		raw = append([]byte("\ufeff"), raw...)
	}
	if w.rng.IntN(2) == 0 {
		must(w.t, os.WriteFile(f.path+".new", raw, 0o666))
		must(w.t, os.Rename(f.path+".new", f.path))
	} else {
		must(w.t, os.WriteFile(f.path, raw, 0o666))
	}
	w.look(f, true)
}

// cell is a cell of a notebook, as its JSON has it.
type cell struct {
	Type     string          `json:"cell_type"`
	ID       string          `json:"id"`
	Metadata map[string]any  `json:"metadata"`
	Source   json.RawMessage `json:"source"`
	Outputs  []any           `json:"outputs,omitempty"`
}

// text is the source of a cell.
func (c cell) text() string {
	var one string
	if json.Unmarshal(c.Source, &one) == nil {
		return one
	}
	var many []string
	_ = json.Unmarshal(c.Source, &many)
	return strings.Join(many, "")
}

type notebookFile struct {
	Cells    []cell         `json:"cells"`
	Metadata map[string]any `json:"metadata"`
	Format   int            `json:"nbformat"`
	Minor    int            `json:"nbformat_minor"`
}

// notebookCells are the cells of a notebook, none where it is broken.
func notebookCells(text string) []cell {
	var nb notebookFile
	if json.Unmarshal([]byte(text), &nb) != nil {
		return nil
	}
	return nb.Cells
}

func (w *shownWalk) cellsOf(f *shownFile) []cell {
	if f.kind != "notebook" {
		return nil
	}
	return notebookCells(f.text)
}

func (w *shownWalk) newCell(id string) cell {
	var text strings.Builder
	for range 1 + w.rng.IntN(12) {
		text.WriteString(w.line([]string{"lf", "long"}[w.rng.IntN(2)]) + "\n")
	}
	source := strings.TrimSuffix(text.String(), "\n")
	c := cell{Type: []string{"code", "markdown", "raw"}[w.rng.IntN(3)], ID: id, Metadata: map[string]any{}}
	c.Source, _ = json.Marshal(source)
	if w.rng.IntN(2) == 0 {
		c.Source, _ = json.Marshal(strings.SplitAfter(source, "\n"))
	}
	if c.Type == "code" {
		c.Outputs = []any{}
		if w.rng.IntN(2) == 0 {
			c.Outputs = append(c.Outputs, map[string]any{"output_type": "stream", "name": "stdout", "text": w.line("long") + "\n" + w.line("lf")})
		}
	}
	return c
}

func (w *shownWalk) newNotebook() string {
	nb := notebookFile{Metadata: map[string]any{}, Format: 4, Minor: 5}
	for i := range 1 + w.rng.IntN(8) {
		nb.Cells = append(nb.Cells, w.newCell(fmt.Sprintf("c%d-%s", i, strings.ReplaceAll(w.letters(6), " ", "y"))))
	}
	if w.rng.IntN(3) == 0 { // above what is kept as text
		nb.Metadata["filler"] = w.letters(300 << 10)
	}
	return w.encodeNotebook(nb)
}

func (w *shownWalk) encodeNotebook(nb notebookFile) string {
	b, _ := json.Marshal(nb)
	if w.rng.IntN(3) > 0 {
		b, _ = json.MarshalIndent(nb, "", " ")
	}
	return string(b) + "\n"
}

// changedNotebook is a notebook with a change in one cell.
func (w *shownWalk) changedNotebook(f *shownFile) string {
	var nb notebookFile
	if json.Unmarshal([]byte(f.text), &nb) != nil || len(nb.Cells) == 0 || w.rng.IntN(8) == 0 {
		return w.newNotebook()
	}
	i := w.rng.IntN(len(nb.Cells))
	if nb.Cells[i].Type == "code" && w.rng.IntN(2) == 0 {
		nb.Cells[i].Outputs = []any{map[string]any{"output_type": "stream", "name": "stdout", "text": w.line("lf")}}
		w.again = func() { w.editCell(f, nb.Cells[i].ID) }
		b, _ := json.Marshal(nb)
		if strings.HasPrefix(f.text, "{\n") { // all before it stays as it is
			b, _ = json.MarshalIndent(nb, "", " ")
		}
		return string(b) + "\n"
	}
	nb.Cells[i].Source, _ = json.Marshal(w.letters(60) + "\n" + w.letters(60))
	return w.encodeNotebook(nb)
}
