package changes

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/aymanbagabas/go-udiff"

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
	// Endings says that all line endings changed; "" where they did not.
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
	edits := changedLines(LinesIn(old, text.EOL{LF: 1}), LinesIn(now, text.EOL{LF: 1}))
	diff, err := udiff.ToUnified("before", "after", old, edits, unifiedContext)
	if err != nil {
		return u
	}
	lines := strings.Split(strings.TrimSuffix(diff, "\n"), "\n")
	if len(lines) >= 2 && strings.HasPrefix(lines[0], "--- ") && strings.HasPrefix(lines[1], "+++ ") {
		lines = lines[2:]
	}
	u.lines = lines
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
	return udiff.Unified(oldName, newName, old, now)
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

// First returns the first lines of the diff, cut where they are long, and counts the
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

// ending is the one line ending of a text: "CRLF", "LF", or "" where there is
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
