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
	switch {
	case r.Hook.Broken != "":
		return New(hookBroken, file, r.Hook.Line, fsys.InSentence(r.Hook.From), r.Why)
	case r.Ending == hooks.Refused && said == "":
		return New(hookSilent, file, name)
	case r.Ending == hooks.Refused:
		return New(hookRefused, file, name, said)
	case r.Ending == hooks.NotRun:
		return New(hookNotRun, file, name, r.Why)
	case said != "":
		said = " Until then it had said:\n" + said
	}
	return New(hookFailed, file, name, r.Why, said)
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
