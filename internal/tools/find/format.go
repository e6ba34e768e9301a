package find

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/fsmcp/fsmcp/internal/phrase"
	"github.com/fsmcp/fsmcp/internal/search"
	"github.com/fsmcp/fsmcp/internal/text"
	"github.com/fsmcp/fsmcp/internal/toolcall"
)

// piece is the text of one result: a name, or a line with the separator before it. The
// window of a search counts pieces.
type piece struct {
	text string
	file int // the index of its file
	line int // the index of the line in that file, in content
}

// lineStyle says how lines are written.
type lineStyle struct {
	naming  naming
	alone   bool // only one file is searched: no names
	numbers bool
	groups  bool // lines that do not follow each other are parted
}

// lines writes the lines of all files, as grep does.
func (s lineStyle) lines(files []search.FileMatches) (all []piece) {
	for i, f := range files {
		if f.Binary {
			all = append(all, piece{text: s.naming.name(f.Path) + ": binary file matches", file: i})
			continue
		}
		for k, l := range f.Lines {
			separator := ""
			if s.groups && len(all) > 0 && (k == 0 || l.Gap) {
				separator = "--\n"
			}
			all = append(all, piece{text: separator + s.line(f.Path, l), file: i, line: k})
		}
	}
	return all
}

// line writes one line; of a long one a row for each of its parts, with the column.
func (s lineStyle) line(path string, l search.Line) string {
	head, mark := "", ":"
	if l.Context {
		mark = "-"
	}
	if !s.alone {
		head = s.naming.name(path) + mark
	}
	if s.numbers {
		head += strconv.Itoa(l.Number) + mark
	}
	if l.Whole && len(l.Parts) == 1 {
		return head + text.Escape(string(l.Parts[0].Text))
	}
	if l.Whole {
		return head
	}
	var rows []string
	for _, p := range l.Parts {
		rows = append(rows, fmt.Sprintf("%s[column %d] %s", head, p.Column, text.Escape(string(p.Text))))
	}
	if len(rows) == 0 {
		rows = append(rows, head+"[a long line]")
	}
	if l.MoreMatches > 0 {
		rows = append(rows, fmt.Sprintf("%s[%s more in this line]", head, counted(l.MoreMatches, "match", "matches")))
	}
	return strings.Join(rows, "\n")
}

// counted writes a number with its noun.
func counted(n int, one, many string) string {
	return phrase.Thousands(n) + " " + phrase.Plural(n, one, many)
}

// fitted returns as many of the first pieces as the client passes on to its model, joined;
// of a first piece that is too long alone, its beginning, and kept is 0.
func fitted(all []piece, b toolcall.Budget) (body string, kept int) {
	room, rows := b.Room()-min(closingBytes, b.Room()/3), b.Lines()
	var out []byte
	ends := make([]int, 0, len(all))
	for i, p := range all {
		row := p.text
		if i > 0 {
			row = "\n" + row
		}
		high := strings.Count(p.text, "\n") + 1
		if len(out)+len(row) > room || high > rows {
			break
		}
		out, rows = append(out, row...), rows-high
		ends = append(ends, len(out))
	}
	if kept = len(ends); b.Tokens(out, "") > b.Bound() {
		kept = b.PartsWithin(out, ends, b.Bound())
	}
	if kept > 0 {
		return string(out[:ends[kept-1]]), kept
	}
	if len(all) == 0 {
		return "", 0
	}
	head := all[0].text
	for head = phrase.Head(head, room); head != "" && b.Tokens([]byte(head), "") > b.Bound(); {
		head = phrase.Head(head, len(head)/2)
	}
	return head, 0
}

// Bounds of what ends an answer.
const (
	closingBytes = 2 << 10
	namesBytes   = 600
	namedAtMost  = 5
)

// some lists the first names of a list, and counts the others.
func (n naming) some(names []string, more int, one, many string) string {
	var b strings.Builder
	for i, name := range names {
		written := n.name(name)
		if i == namedAtMost || b.Len()+len(written) > namesBytes {
			more += len(names) - i
			break
		}
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(written)
	}
	if more > 0 {
		if b.Len() > 0 {
			b.WriteString(" and ")
		}
		b.WriteString(counted(more, "more "+one, "more "+many))
	}
	return b.String()
}
