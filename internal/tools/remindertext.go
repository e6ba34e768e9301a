package tools

import (
	"encoding/base64"
	"fmt"
	"math"
	"strings"

	"github.com/fsmcp/fsmcp/internal/fsys"
	"github.com/fsmcp/fsmcp/internal/refusal"
)

// Bounds of one answer's reminders.
const (
	remindFiles = 3
	remindNames = 20
)

// reminder is one file to be told of.
type reminder struct {
	path string
	why  string
	diff string // "" where only the name is told
	// now is the state that is told; proof is a settled stamp of it, if there is one;
	// stamp is a picture's.
	now          reminded
	proof, stamp fsys.Stamp
}

// name is the file's as it is told.
func (m reminder) name() string { return fsys.InSentence(m.path) }

// words puts reminders into one text that fits into so many bytes. Where the lines
// of a file find no room, its name is told alone, and they count as not told; ok is
// false where not even the names do.
func words(all []reminder, room int) (string, bool) {
	first, rest := all[:min(len(all), remindFiles)], all[min(len(all), remindFiles):]
	last := othersChanged(rest)
	used := len(last)
	for _, m := range first {
		used += len(m.words(false)) + 1
	}
	if used > room {
		return "", false
	}
	var parts []string
	for i, m := range first {
		if more := len(m.words(true)) - len(m.words(false)); m.diff != "" && used+more <= room {
			used += more
			parts = append(parts, m.words(true))
			continue
		}
		all[i].now.text, all[i].now.whole = nil, false
		parts = append(parts, m.words(false))
	}
	if last != "" {
		parts = append(parts, last)
	}
	return strings.Join(parts, "\n"), true
}

func (m reminder) words(lines bool) string {
	if !lines {
		return fmt.Sprintf("<system-reminder>The file %s %s.</system-reminder>", m.name(), m.why)
	}
	return fmt.Sprintf("<system-reminder>The file %s %s. These lines changed since you last saw it %s.</system-reminder>\n%s",
		m.name(), m.why, refusal.DiffForm, m.diff)
}

// othersChanged is the one line that counts and names files.
func othersChanged(rest []reminder) string {
	var names []string
	for _, m := range rest[:min(len(rest), remindNames)] {
		names = append(names, m.name())
	}
	list := strings.Join(names, ", ")
	switch {
	case len(rest) == 0:
		return ""
	case len(rest) == 1:
		return "<system-reminder>1 more file that you have read was changed, moved or deleted outside of fsmcp: " + list + ".</system-reminder>"
	case len(rest) > remindNames:
		list += ", …"
	}
	return fmt.Sprintf("<system-reminder>%d more files that you have read were changed, moved or deleted outside of fsmcp: %s.</system-reminder>", len(rest), list)
}

// bytesPerToken is a number of bytes of a diff that surely are no more than a token.
const bytesPerToken = 2

// room returns the number of bytes of text for which an answer still has room.
func (c ClientLimits) room(r *Result) int {
	room := math.MaxInt
	text, data := 0, 0
	for _, b := range r.Blocks {
		text += len(b.Text)
		data += base64.StdEncoding.EncodedLen(len(b.Data))
	}
	if c.Chars > 0 {
		room = min(room, c.Chars-text)
	}
	if c.Tokens > 0 {
		room = min(room, c.Tokens*bytesPerToken-text)
	}
	if c.Answer > 0 {
		room = min(room, c.Answer-text-data-answerRest)
	}
	return room
}

// isNotebookName tells a notebook, which is shown as its cells and not its lines.
func isNotebookName(path string) bool { return strings.HasSuffix(strings.ToLower(path), ".ipynb") }
