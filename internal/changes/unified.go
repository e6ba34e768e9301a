package changes

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/fsmcp/fsmcp/internal/phrase"
	"github.com/fsmcp/fsmcp/internal/text"
)

// Bounds of a unified diff.
const (
	unifiedLines   = 100 // in an answer
	unifiedColumns = 200
	unifiedContext = 3
)

// Unified is a unified diff of two texts without the headers of files.
type Unified struct {
	// Endings says that all line endings changed; "" if they did not.
	Endings string

	lines []string
}

// UnifiedOf compares two texts. Of texts above 4 MiB together it finds only where the
// difference begins and ends.
func UnifiedOf(old, now string) (u Unified) {
	was, is := ending(old), ending(now)
	if was != is && was != "" && is != "" {
		u.Endings = fmt.Sprintf("Line endings changed from %s to %s.", was, is)
		old, now = toLF(old), toLF(now)
	}
	if old == now {
		return u
	}
	u.lines = compareLines(old, now, '\n', comparedBytes).unified()
	return u
}

// Summary is the unified diff that the answer to a change shows: at most 100 lines,
// then counts. Of texts above 4 MiB together it says only that they are too large.
func Summary(old, now string) string {
	if len(old)+len(now) > comparedBytes {
		return "(The diff is left out: the text is too large.)"
	}
	u := UnifiedOf(old, now)
	if u.Empty() {
		return u.Endings
	}
	body := u.First(unifiedLines, math.MaxInt)
	if u.Endings != "" {
		return u.Endings + "\n" + body
	}
	return body
}

// Patch returns the difference of two texts as the program patch takes it, in full, with
// the names of both in front.
func Patch(oldName, newName, old, now string) string {
	lines := compareLines(old, now, '\n', math.MaxInt).unified()
	if len(lines) == 0 {
		return ""
	}
	return fmt.Sprintf("--- %s\n+++ %s\n%s\n", oldName, newName, strings.Join(lines, "\n"))
}

// unified returns the lines of a unified diff.
func (d lineDiff) unified() (out []string) {
	add := func(sign string, lines []string) {
		for _, l := range lines {
			text, whole := strings.CutSuffix(l, "\n")
			if out = append(out, sign+text); !whole {
				out = append(out, `\ No newline at end of file`)
			}
		}
	}
	for rest := d.hunks; len(rest) > 0; {
		n := 1
		for n < len(rest) && rest[n].A0-rest[n-1].A1 <= 2*unifiedContext {
			n++
		}
		near := rest[:n]
		rest = rest[n:]
		first, last := near[0], near[n-1]
		lead, tail := min(unifiedContext, first.A0), min(unifiedContext, len(d.old)-last.A1)
		out = append(out, fmt.Sprintf("@@ -%s +%s @@", lineRange(first.A0-lead, last.A1+tail), lineRange(first.B0-lead, last.B1+tail)))
		at := first.A0 - lead
		for _, h := range near {
			add(" ", d.old[at:h.A0])
			add("-", d.old[h.A0:h.A1])
			add("+", d.now[h.B0:h.B1])
			at = h.A1
		}
		add(" ", d.old[at:last.A1+tail])
	}
	return out
}

// lineRange names lines as patch does: the first one, counted from 1, and their number.
func lineRange(start, end int) string {
	switch {
	case start == end:
		return fmt.Sprintf("%d,0", start)
	case end-start == 1:
		return strconv.Itoa(end)
	}
	return fmt.Sprintf("%d,%d", start+1, end-start)
}

// Empty reports whether the diff has no lines.
func (u Unified) Empty() bool { return len(u.lines) == 0 }

// Counts returns how many lines the diff adds and removes.
func (u Unified) Counts() (added, removed int) { return countSigns(u.lines) }

// WithoutPlaces leaves out the lines that give line numbers.
func (u Unified) WithoutPlaces() Unified {
	u.lines = slices.DeleteFunc(slices.Clone(u.lines), func(line string) bool { return strings.HasPrefix(line, "@@") })
	return u
}

// First returns the first lines of the diff, long ones cut, and counts the
// lines beyond so many lines or characters.
func (u Unified) First(most, chars int) string {
	var kept []string
	for _, line := range u.lines {
		line = text.Escape(phrase.Cut(strings.TrimSuffix(line, "\r"), unifiedColumns))
		if chars -= utf8.RuneCountInString(line) + 1; len(kept) == most || chars < 0 {
			break
		}
		kept = append(kept, line)
	}
	out := strings.Join(kept, "\n")
	if rest := u.lines[len(kept):]; len(rest) > 0 {
		added, removed := countSigns(rest)
		out += fmt.Sprintf("\n… %d more diff lines (%d added, %d removed)", len(rest), added, removed)
	}
	return out
}

func countSigns(lines []string) (added, removed int) {
	for _, line := range lines {
		switch {
		case strings.HasPrefix(line, "+"):
			added++
		case strings.HasPrefix(line, "-"):
			removed++
		}
	}
	return added, removed
}

// ending is the one line ending of a text: "CRLF", "LF", or "" if there is
// none or a mix.
func ending(s string) string {
	crlf, lf := strings.Count(s, "\r\n"), strings.Count(s, "\n")
	switch {
	case lf == 0:
		return ""
	case crlf == lf:
		return "CRLF"
	case crlf == 0:
		return "LF"
	}
	return ""
}

func toLF(s string) string { return strings.ReplaceAll(s, "\r\n", "\n") }
