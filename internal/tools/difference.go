package tools

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/aymanbagabas/go-udiff"

	"github.com/fsmcp/fsmcp/internal/text"
)

// Bounds of the diff in an answer.
const (
	diffLines   = 100
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
	endings := ""
	was, is := ending(old), ending(now)
	if was != is && was != "" && is != "" {
		endings = fmt.Sprintf("Line endings changed from %s to %s.", was, is)
		old, now = toLF(old), toLF(now)
	}
	if old == now {
		return endings
	}
	unified, err := udiff.ToUnified("before", "after", old, udiff.Lines(old, now), diffContext)
	if err != nil {
		return endings
	}
	body := compact(unified)
	if endings != "" {
		return endings + "\n" + body
	}
	return body
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

// compact drops the file headers of a unified diff, cuts long lines, and
// replaces what is beyond diffLines by counts.
func compact(unified string) string {
	lines := strings.Split(strings.TrimSuffix(unified, "\n"), "\n")
	if len(lines) >= 2 && strings.HasPrefix(lines[0], "--- ") && strings.HasPrefix(lines[1], "+++ ") {
		lines = lines[2:]
	}
	kept := lines[:min(len(lines), diffLines)]
	for i, line := range kept {
		kept[i] = text.Escape(cut(strings.TrimSuffix(line, "\r"), diffColumns))
	}
	out := strings.Join(kept, "\n")
	if rest := lines[len(kept):]; len(rest) > 0 {
		added, removed := 0, 0
		for _, line := range rest {
			switch {
			case strings.HasPrefix(line, "+"):
				added++
			case strings.HasPrefix(line, "-"):
				removed++
			}
		}
		out += fmt.Sprintf("\n… %d more diff lines (%d added, %d removed)", len(rest), added, removed)
	}
	return out
}

// cut shortens a line to n characters and marks it.
func cut(line string, n int) string {
	if len(line) <= n || utf8.RuneCountInString(line) <= n {
		return line
	}
	at := 0
	for range n {
		_, size := utf8.DecodeRuneInString(line[at:])
		at += size
	}
	return line[:at] + "…"
}
