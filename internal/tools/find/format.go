package find

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/fsmcp/fsmcp/internal/fsys"
	"github.com/fsmcp/fsmcp/internal/phrase"
	"github.com/fsmcp/fsmcp/internal/search"
	"github.com/fsmcp/fsmcp/internal/state"
	"github.com/fsmcp/fsmcp/internal/text"
	"github.com/fsmcp/fsmcp/internal/toolcall"
)

// piece is one result: a name, or a line with the separator before it. The window of a
// search counts pieces. What an answer shows and what it records are its pieces.
type piece struct {
	text  string
	file  int               // the index of its file
	place string            // of the line: its number, or what stands for it in a document
	parts []search.LinePart // of the line, as they are in the file
	exact []state.Part      // the bytes of the file that text holds as they are
}

// lineStyle says how lines are written.
type lineStyle struct {
	naming  naming
	alone   bool // only one file is searched: no names, if there are numbers
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
			p := s.line(f.Path, l)
			if s.groups && len(all) > 0 && (k == 0 || l.Gap) {
				p.text = "--\n" + p.text
			}
			p.file = i
			all = append(all, p)
		}
	}
	return all
}

// line writes one line; of a long one a row for each of its parts, with the column. Each row
// begins with a name or a number, so that no text can begin one: it could pass for fsmcp's
// own words.
func (s lineStyle) line(path string, l search.FoundLine) piece {
	head, mark := "", ":"
	if l.Context {
		mark = "-"
	}
	if !s.alone || !s.numbers {
		head = s.naming.name(path) + mark
	}
	if s.numbers {
		head += placeOf(l) + mark
	}
	p := piece{place: placeOf(l), parts: l.Parts}
	if l.Whole {
		p.text, p.exact = head, l.Exact
		for _, part := range l.Parts {
			p.text += text.Escape(string(part.Text))
		}
		return p
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
	p.text = strings.Join(rows, "\n")
	return p
}

// placeOf is the place of a line as results name it. That of a document comes from its own names.
func placeOf(l search.FoundLine) string {
	if l.Place != "" {
		return phrase.Untagged(fsys.Printable(l.Place))
	}
	return strconv.Itoa(l.Number)
}

// counted writes a number with its noun.
func counted(n int, one, many string) string {
	return phrase.Thousands(n) + " " + phrase.Plural(n, one, many)
}

// noticeName bounds the bytes of a name in the notice.
const noticeName = 60

// notice counts what a reader cannot see in the lines of an answer, as Read does.
func (s lineStyle) notice(files []search.FileMatches, kept []piece) string {
	var odd text.Oddities
	place := func(i int) string {
		name := s.naming.name(files[kept[i].file].Path)
		if len(name) > noticeName {
			name = "…" + phrase.Tail(name, noticeName)
		}
		return name + ":" + kept[i].place
	}
	one, many := "", ""
	if s.alone {
		one, many, place = "line ", "lines ", func(i int) string { return kept[i].place }
	}
	for i, p := range kept {
		for _, part := range p.parts {
			odd.Add(part.Text, i)
		}
	}
	return odd.Notice(one, many, place)
}

// ending words what stands below the first results, kept of them; cut says that only the
// beginning of the first one is shown.
type ending func(kept int, cut bool) []string

// fitted returns as many of the first pieces as the client passes on to its model, joined,
// with what ends an answer of them. Of a first piece that is too long alone it returns the
// beginning, and kept is 0.
func fitted(all []piece, b toolcall.Budget, end ending) (body string, kept int, below []string) {
	for reserve := min(closingBytes, b.Room()/3); ; {
		body, kept = fittedIn(all, b, b.Room()-reserve)
		below = end(kept, kept == 0 && len(all) > 0)
		size := len(strings.Join(below, "\n")) + 1
		if size <= reserve || body == "" {
			return body, kept, below
		}
		reserve = max(size, reserve+reserve/8)
	}
}

// fittedIn is fitted for a number of bytes, without what ends the answer.
func fittedIn(all []piece, b toolcall.Budget, room int) (body string, kept int) {
	rows := b.Lines()
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

// list names the first names of a list, and counts the others.
func (n naming) list(names []string, more int, one, many string) string {
	written := make([]string, len(names))
	for i, name := range names {
		written[i] = n.inSentence(name)
	}
	return firstOf(written, more, one, many)
}

// firstOf joins the first of some phrases, and counts the others.
func firstOf(written []string, more int, one, many string) string {
	var b strings.Builder
	for i, words := range written {
		if i == namedAtMost || b.Len()+len(words) > namesBytes {
			more += len(written) - i
			break
		}
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(words)
	}
	if more > 0 {
		if b.Len() > 0 {
			b.WriteString(" and ")
		}
		b.WriteString(counted(more, "more "+one, "more "+many))
	}
	return b.String()
}
