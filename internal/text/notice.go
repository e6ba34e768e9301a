package text

import (
	"strconv"
	"strings"
)

// noticeLines is how many line numbers the notice names of each kind.
const noticeLines = 5

// finding is what the notice says of one kind of oddity.
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

// notice words the oddities of the lines of s, the first of which bears the
// number first and which end at ends (offsets in s); "" where there are none.
func notice(s string, ends []int64, first int, strays, crLines bool) string {
	b := bytesOf(s)
	at, kind, width := nextOdd(b, 0, strays, crLines)
	if kind == plain {
		return ""
	}
	var found [stray + 1]finding
	var escapes, returns int
	line := 0
	for kind != plain {
		for line < len(ends)-1 && int64(at) >= ends[line] {
			line++
		}
		found[kind].note(first + line)
		switch b[at] {
		case 0x1B:
			escapes++
		case '\r':
			returns++
		}
		at, kind, width = nextOdd(b, at+width, strays, crLines)
	}
	return wordNotice(&found, escapes, returns)
}

func wordNotice(found *[stray + 1]finding, escapes, returns int) string {
	parts := make([]string, 0, 4)
	say := func(kind oddity, what string) {
		if f := found[kind]; f.count > 0 {
			parts = append(parts, what+": "+strconv.Itoa(f.count)+" ("+wordLines(f)+")")
		}
	}
	say(control, "control characters"+wordControls(escapes, returns))
	say(bidi, "bidirectional overrides")
	say(tag, "invisible Unicode tag characters")
	say(stray, `bytes that are no character, shown as \xNN`)
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

func wordLines(f finding) string {
	word := "line "
	if len(f.lines) > 1 || f.more {
		word = "lines "
	}
	for i, n := range f.lines {
		if i > 0 {
			word += ", "
		}
		word += strconv.Itoa(n)
	}
	if f.more {
		word += ", ..."
	}
	return word
}
