package text

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/fsmcp/fsmcp/internal/span"
)

// noticeLines bounds the line numbers that the notice names of each kind.
const noticeLines = 5

// finding is the notice's part about one kind of oddity.
type finding struct {
	count int
	lines []int // the first few, without repeats
	more  bool  // further lines beyond those
}

func (f *finding) note(line int) {
	f.count++
	switch {
	case len(f.lines) > 0 && f.lines[len(f.lines)-1] == line:
	case len(f.lines) < noticeLines:
		f.lines = append(f.lines, line)
	default:
		f.more = true
	}
}

// notice describes the oddities of the lines of s; "" if there are none. first is the
// number of the first line, ends are the offsets of the lines' ends in s.
func notice(s string, ends []int64, first int, strays, crLines bool) string {
	b := span.BytesOf(s)
	at, kind, width := nextOdd(b, 0, strays, crLines)
	if kind == plain {
		return ""
	}
	var odd Oddities
	line := 0
	for kind != plain {
		for line < len(ends)-1 && int64(at) >= ends[line] {
			line++
		}
		odd.note(kind, b[at], first+line)
		at, kind, width = nextOdd(b, at+width, strays, crLines)
	}
	return odd.Notice("line ", "lines ", strconv.Itoa)
}

// Oddities counts the characters that a reader cannot see (control characters,
// bidirectional overrides, those of no width and the like) and escaped text, by the number
// of their place.
type Oddities struct {
	found            [escaped + 1]finding
	escapes, returns int
}

// Add counts those of a text at one place.
func (o *Oddities) Add(b []byte, place int) {
	strays := !utf8.Valid(b)
	at, kind, width := nextOdd(b, 0, strays, false)
	for kind != plain {
		o.note(kind, b[at], place)
		at, kind, width = nextOdd(b, at+width, strays, false)
	}
}

// AddEscaped counts text at one place that has a backslash before it, because it imitates
// what fsmcp writes.
func (o *Oddities) AddEscaped(n, place int) {
	for range n {
		o.found[escaped].note(place)
	}
}

// note counts one, which begins with c.
func (o *Oddities) note(kind oddity, c byte, place int) {
	o.found[kind].note(place)
	switch c {
	case 0x1B:
		o.escapes++
	case '\r':
		o.returns++
	}
}

// Notice says in one line what was counted, "" if nothing was. one and many are
// the words for a place and for several, name returns the name of a place.
func (o *Oddities) Notice(one, many string, name func(place int) string) string {
	parts := make([]string, 0, 6)
	say := func(kind oddity, what string) {
		if f := o.found[kind]; f.count > 0 {
			parts = append(parts, what+": "+strconv.Itoa(f.count)+" ("+f.places(one, many, name)+")")
		}
	}
	say(control, "control characters"+wordControls(o.escapes, o.returns))
	say(bidi, "bidirectional overrides")
	say(tag, "invisible Unicode tag characters")
	say(zeroWidth, "zero-width characters (U+200B, U+2060, U+FEFF)")
	say(stray, `bytes that are no character, shown as \xNN`)
	say(escaped, "text like fsmcp's own, shown with a backslash added before it")
	if len(parts) == 0 {
		return ""
	}
	return "Note: " + strings.Join(parts, "; ") + "."
}

// wordControls names the two control characters that matter most to a reader.
func wordControls(escapes, returns int) string {
	var parts []string
	if escapes > 0 {
		parts = append(parts, strconv.Itoa(escapes)+" ESC")
	}
	if returns > 0 {
		parts = append(parts, strconv.Itoa(returns)+" lone CR")
	}
	if parts == nil {
		return ""
	}
	return " (" + strings.Join(parts, ", ") + ")"
}

// places names the first few places.
func (f *finding) places(one, many string, name func(int) string) string {
	word := one
	if len(f.lines) > 1 || f.more {
		word = many
	}
	names := make([]string, len(f.lines), noticeLines+1)
	for i, n := range f.lines {
		names[i] = name(n)
	}
	if f.more {
		names = append(names, "...")
	}
	return word + strings.Join(names, ", ")
}
