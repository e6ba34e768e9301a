package refusal

import (
	"fmt"
	"strings"

	"github.com/fsmcp/fsmcp/internal/fsys"
	"github.com/fsmcp/fsmcp/internal/phrase"
)

// HookFault is a command of the user that did not end as it should.
type HookFault struct {
	Command []string
	Why     string // the rest of a sentence about it
	Refused bool   // it has stopped the change on purpose
	NotRun  bool   // fsmcp did not, or could not, run it
	Said    string // the beginning of what it wrote
	// Entry is the settings file in which it stands so that it cannot be run, Line
	// where; "" where it was run.
	Entry string
	Line  int
}

// Bounds of what an answer repeats of a hook's words.
const (
	saidRoom  = 4 << 10 // bytes of the one that stopped a change
	FaultRoom = 4 << 10 // bytes of all that failed
	saidLines = 60
)

// Refusal refuses the change of a file that the hook stopped.
func (h HookFault) Refusal(file string) error {
	name, said := h.name(), h.said(saidRoom)
	var b strings.Builder
	fmt.Fprintf(&b, "Nothing was changed in %s: ", file)
	switch {
	case h.Entry != "":
		fmt.Fprintf(&b, "the user has a hook that may refuse this call and cannot be run, in line %d of %s: %s. Tell the user; until that is mended, the same call is refused again.", h.Line, fsys.InSentence(h.Entry), h.Why)
	case h.Refused && said == "":
		fmt.Fprintf(&b, "the user's hook %s refused this call and gave no reason. Ask the user before you try it again.", name)
	case h.Refused:
		fmt.Fprintf(&b, "the user's hook %s refused this call. Its reason:\n%s\nDo as it says: without that the same call is refused again.", name, said)
	case h.NotRun:
		fmt.Fprintf(&b, "the user's hook %s, which might refuse it, %s. Tell the user: until that is mended, the same call is refused again.", name, h.Why)
	default:
		fmt.Fprintf(&b, "the user's hook %s, which may refuse it, %s. Make the same call again, and tell the user if it fails again.", name, h.Why)
		if said != "" {
			fmt.Fprintf(&b, " Until then it had said:\n%s", said)
		}
	}
	return refuse(SlugHook, "%s", b.String())
}

// HookFaults tells of hooks that failed after a change was made.
func HookFaults(faults []HookFault) string {
	var notes []string
	room := FaultRoom
	for _, f := range faults {
		note := fmt.Sprintf("(The user's hook %s %s. The change stands.)", f.name(), f.Why)
		if said := f.said(room); said != "" {
			note = strings.TrimSuffix(note, ")") + " It said:)\n" + said
			room -= len(said)
		}
		notes = append(notes, note)
	}
	return strings.Join(notes, "\n")
}

// name is the command as an answer shows it.
func (h HookFault) name() string {
	const most = 80
	return phrase.Quote(phrase.Cut(strings.Join(h.Command, " "), most))
}

// said returns the command's output, made safe to show, of about so many bytes.
func (h HookFault) said(room int) string {
	lines := strings.Split(strings.TrimSpace(h.Said), "\n")
	more := len(lines) > saidLines
	var b strings.Builder
	for _, line := range lines[:min(len(lines), saidLines)] {
		line = fsys.Printable(strings.ReplaceAll(strings.TrimRight(line, " \r"), "\t", "    "))
		if b.Len()+len(line) > room {
			line, more = phrase.Head(line, room-b.Len()), true
		}
		if b.WriteString(line + "\n"); b.Len() >= room {
			break
		}
	}
	if more {
		b.WriteString("…")
	}
	return phrase.Untagged(strings.TrimSpace(b.String()))
}

// Unanswered refuses a call whose question did not get a yes. why completes "the user
// ...": "declined". path and rule are of the question; path is "" where the question
// is no longer known.
func Unanswered(path, rule, why string) *Refusal {
	const next = "Do not try the same again in another way; ask the user how to go on."
	if path == "" {
		return refuse(SlugDenied, "Nothing was done: consent was needed, and the user %s. %s", why, next)
	}
	return refuse(SlugDenied, "Nothing was done: consent was needed for %s (%s), and the user %s. %s", fsys.InSentence(path), rule, why, next)
}
