package office

import (
	"strconv"
	"strings"

	"github.com/fsmcp/fsmcp/internal/media"
)

const maxLevel = 8 // of a list, from 0

// listLevel has the form of the numbers of a level of a list.
type listLevel struct {
	format string // decimal, bullet, ...
	text   string // with %1 for the number of the first level
	start  int
}

// numbering numbers the items of lists.
type numbering struct {
	levels map[string]*[maxLevel + 1]listLevel // of an abstract list
	lists  map[string]string                   // the abstract list of a list
	counts map[string]*[maxLevel + 1]int
}

// readNumbering reads the lists of a text document.
func (r *wordReader) readNumbering(part string) error {
	r.lists = numbering{map[string]*[maxLevel + 1]listLevel{}, map[string]string{}, map[string]*[maxLevel + 1]int{}}
	if part == "" {
		return nil
	}
	s := r.scan(part)
	s.root()
	s.each(func(name string) {
		switch {
		case len(r.lists.levels)+len(r.lists.lists) > media.MaxEntries:
		case name == "abstractNum":
			levels := new([maxLevel + 1]listLevel)
			r.lists.levels[s.attr("abstractNumId")] = levels
			s.each(func(name string) {
				if at := s.number("ilvl", -1); name == "lvl" && at >= 0 && at <= maxLevel {
					levels[at] = readLevel(s)
				}
			})
		case name == "num":
			id := s.attr("numId")
			s.each(func(name string) {
				if name == "abstractNumId" {
					r.lists.lists[id] = s.attr("val")
				}
			})
		}
	})
	return s.end()
}

func readLevel(s *scanner) listLevel {
	l := listLevel{start: 1}
	s.each(func(name string) {
		switch name {
		case "numFmt":
			l.format = s.attr("val")
		case "lvlText":
			l.text = short(s.attr("val"))
		case "start":
			l.start = s.number("val", 1)
		}
	})
	return l
}

// item counts an item and returns what stands before its text. A heading has no bullet.
func (n *numbering) item(at listPlace, heading bool) string {
	if at.id == "" || at.id == "0" {
		return ""
	}
	abstract := n.lists[at.id]
	levels, counts := n.levels[abstract], n.counts[abstract]
	if levels == nil {
		if heading {
			return ""
		}
		return strings.Repeat("  ", at.level) + "- "
	}
	if counts == nil {
		counts = new([maxLevel + 1]int)
		n.counts[abstract] = counts
		for i, l := range levels {
			counts[i] = l.start - 1
		}
	}
	counts[at.level]++
	for i := at.level + 1; i <= maxLevel; i++ {
		counts[i] = levels[i].start - 1
	}
	indent := strings.Repeat("  ", at.level)
	l := levels[at.level]
	switch {
	case heading && (l.format == "bullet" || l.format == "none" || l.text == ""):
		return ""
	case l.format == "bullet":
		return indent + "- "
	case l.format == "none":
		return indent
	}
	number := l.text
	for i := range at.level + 1 {
		number = strings.ReplaceAll(number, "%"+strconv.Itoa(i+1), numeral(max(counts[i], levels[i].start), levels[i].format))
	}
	if heading {
		return number + " "
	}
	return indent + number + " "
}

// numeral writes a number of a list.
func numeral(n int, format string) string {
	switch format {
	case "lowerLetter", "a":
		return strings.ToLower(letters(n))
	case "upperLetter", "A":
		return letters(n)
	case "lowerRoman", "i":
		return strings.ToLower(roman(n))
	case "upperRoman", "I":
		return roman(n)
	}
	return strconv.Itoa(n)
}

// letters writes 27 as AA, as lists do.
func letters(n int) string {
	if n < 1 || n > 26*20 {
		return strconv.Itoa(n)
	}
	return strings.Repeat(string(rune('A'+(n-1)%26)), (n-1)/26+1)
}

func roman(n int) string {
	if n < 1 || n > 3999 {
		return strconv.Itoa(n)
	}
	var b strings.Builder
	for i, value := range []int{1000, 900, 500, 400, 100, 90, 50, 40, 10, 9, 5, 4, 1} {
		for ; n >= value; n -= value {
			b.WriteString([]string{"M", "CM", "D", "CD", "C", "XC", "L", "XL", "X", "IX", "V", "IV", "I"}[i])
		}
	}
	return b.String()
}
