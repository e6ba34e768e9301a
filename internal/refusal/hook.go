package refusal

import (
	"fmt"
	"strings"

	"github.com/fsmcp/fsmcp/internal/fsys"
	"github.com/fsmcp/fsmcp/internal/hooks"
	"github.com/fsmcp/fsmcp/internal/phrase"
)

// Bounds of what an answer repeats of a hook's words.
const (
	saidRoom  = 4 << 10 // bytes of the one that stopped a change
	FaultRoom = 4 << 10 // bytes of all that failed
	saidLines = 60
)

// HookRefusal refuses the change of a file that a hook stopped.
func HookRefusal(r hooks.Report, file string) error {
	name, said := hookName(r), hookSaid(r, saidRoom)
	var b strings.Builder
	fmt.Fprintf(&b, "Nothing was changed in %s: ", file)
	switch {
	case r.Hook.Broken != "":
		fmt.Fprintf(&b, "the user has a hook that may refuse this call and cannot be run, in line %d of %s: %s. Tell the user; until that is mended, the same call is refused again.", r.Hook.Line, fsys.InSentence(r.Hook.From), r.Why)
	case r.Ending == hooks.Refused && said == "":
		fmt.Fprintf(&b, "the user's hook %s refused this call and gave no reason. Ask the user before you try it again.", name)
	case r.Ending == hooks.Refused:
		fmt.Fprintf(&b, "the user's hook %s refused this call. Its reason:\n%s\nDo as it says: without that the same call is refused again.", name, said)
	case r.Ending == hooks.NotRun:
		fmt.Fprintf(&b, "the user's hook %s, which might refuse it, %s. Tell the user: until that is mended, the same call is refused again.", name, r.Why)
	default:
		fmt.Fprintf(&b, "the user's hook %s, which may refuse it, %s. Make the same call again, and tell the user if it fails again.", name, r.Why)
		if said != "" {
			fmt.Fprintf(&b, " Until then it had said:\n%s", said)
		}
	}
	return refuse(SlugHook, "%s", b.String())
}

// HookFaults tells of hooks that failed after a change was made.
func HookFaults(faults []hooks.Report) string {
	var notes []string
	room := FaultRoom
	for _, f := range faults {
		note := fmt.Sprintf("(The user's hook %s %s. The change stands.)", hookName(f), f.Why)
		if said := hookSaid(f, room); said != "" {
			note = strings.TrimSuffix(note, ")") + " It said:)\n" + said
			room -= len(said)
		}
		notes = append(notes, note)
	}
	return strings.Join(notes, "\n")
}

// hookName returns the command as an answer shows it.
func hookName(r hooks.Report) string {
	const most = 80
	return phrase.Quote(phrase.Cut(strings.Join(r.Hook.Command, " "), most))
}

// hookSaid returns the command's output, made safe to show, in about room bytes.
func hookSaid(r hooks.Report, room int) string {
	lines := strings.Split(strings.TrimSpace(r.Said), "\n")
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
