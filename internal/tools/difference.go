package tools

import (
	"fmt"
	"math"
	"strings"
	"unicode/utf8"

	"github.com/aymanbagabas/go-udiff"

	"github.com/fsmcp/fsmcp/internal/phrase"
	"github.com/fsmcp/fsmcp/internal/text"
)

// Bounds of a diff.
const (
	diffLines   = 100 // in an answer
	diffColumns = 200
	diffContext = 3
	// diffBytes is the size of texts up to which a diff is worked out at all.
	diffBytes = 4 << 20
)

// difference is a compact unified diff: at most diffLines lines, then counts.
// A wholesale change of line endings is one line.
func difference(old, now string) string {
	if len(old)+len(now) > diffBytes {
		return "(The diff is left out: the text is too large.)"
	}
	endings, lines := unified(old, now)
	if len(lines) == 0 {
		return endings
	}
	body := compact(lines, diffLines, math.MaxInt)
	if endings != "" {
		return endings + "\n" + body
	}
	return body
}

// unified returns the lines of a unified diff, without the headers of files, and
// a sentence on a wholesale change of line endings. Of large texts it only finds
// where the difference begins and ends.
func unified(old, now string) (endings string, lines []string) {
	was, is := ending(old), ending(now)
	if was != is && was != "" && is != "" {
		endings = fmt.Sprintf("Line endings changed from %s to %s.", was, is)
		old, now = toLF(old), toLF(now)
	}
	if old == now {
		return endings, nil
	}
	edits := changedLines(linesIn(old, text.EOL{LF: 1}), linesIn(now, text.EOL{LF: 1}))
	diff, err := udiff.ToUnified("before", "after", old, edits, diffContext)
	if err != nil {
		return endings, nil
	}
	lines = strings.Split(strings.TrimSuffix(diff, "\n"), "\n")
	if len(lines) >= 2 && strings.HasPrefix(lines[0], "--- ") && strings.HasPrefix(lines[1], "+++ ") {
		lines = lines[2:]
	}
	return endings, lines
}

// counted returns how many lines a unified diff adds and removes.
func counted(lines []string) (added, removed int) {
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

// compact shows the first lines of a diff, cut where they are long, and counts
// what is beyond so many lines or characters.
func compact(lines []string, most, chars int) string {
	var kept []string
	for _, line := range lines {
		line = text.Escape(phrase.Cut(strings.TrimSuffix(line, "\r"), diffColumns))
		if chars -= utf8.RuneCountInString(line) + 1; len(kept) == most || chars < 0 {
			break
		}
		kept = append(kept, line)
	}
	out := strings.Join(kept, "\n")
	if rest := lines[len(kept):]; len(rest) > 0 {
		added, removed := counted(rest)
		out += fmt.Sprintf("\n… %d more diff lines (%d added, %d removed)", len(rest), added, removed)
	}
	return out
}
