package reminders

import (
	"fmt"
	"strings"

	"github.com/fsmcp/fsmcp/internal/changes"
	"github.com/fsmcp/fsmcp/internal/fsys"
	"github.com/fsmcp/fsmcp/internal/phrase"
)

// Bounds of one answer's reminders.
const (
	remindFiles = 3
	remindNames = 20
)

// reminder is one file that changed outside.
type reminder struct {
	path string
	why  string
	diff string // "" if only the name is reported
	// now is the state that is reported; proof is a settled stamp of it, if there is one;
	// stamp is a picture's.
	now          reportedState
	proof, stamp fsys.Stamp
}

// name returns the file's name as an answer shows it.
func (m reminder) name() string { return fsys.InSentence(m.path) }

// reportText puts reminders into one text that fits into so many bytes. If the lines of a file
// do not fit, only its name is reported, and the lines count as not reported. ok is false if
// even the names do not fit.
func reportText(all []reminder, room int) (string, bool) {
	first, rest := all[:min(len(all), remindFiles)], all[min(len(all), remindFiles):]
	last := othersChanged(rest)
	used := len(last)
	for _, m := range first {
		used += len(m.text(false)) + 1
	}
	if used > room {
		return "", false
	}
	var parts []string
	for i, m := range first {
		if more := len(m.text(true)) - len(m.text(false)); m.diff != "" && used+more <= room {
			used += more
			parts = append(parts, m.text(true))
			continue
		}
		all[i].now.text, all[i].now.whole = nil, false
		parts = append(parts, m.text(false))
	}
	if last != "" {
		parts = append(parts, last)
	}
	return strings.Join(parts, "\n"), true
}

func (m reminder) text(lines bool) string {
	if !lines {
		return fmt.Sprintf("<system-reminder>The file %s %s.</system-reminder>", m.name(), m.why)
	}
	return fmt.Sprintf("<system-reminder>The file %s %s. These lines changed since you last saw it %s.</system-reminder>\n%s",
		m.name(), m.why, changes.Form, m.diff)
}

// othersChanged returns the one line that counts and names the remaining files.
func othersChanged(rest []reminder) string {
	var names []string
	for _, m := range rest[:min(len(rest), remindNames)] {
		names = append(names, m.name())
	}
	list := strings.Join(names, ", ")
	switch {
	case len(rest) == 0:
		return ""
	case len(rest) > remindNames:
		list += ", …"
	}
	files := phrase.Plural(len(rest), "file that you have read was", "files that you have read were")
	return fmt.Sprintf("<system-reminder>%d more %s changed, moved or deleted outside of this conversation: %s.</system-reminder>", len(rest), files, list)
}
