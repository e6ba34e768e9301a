package commit

import (
	"context"
	"fmt"
	"strings"

	"github.com/fsmcp/fsmcp/internal/fsys"
	"github.com/fsmcp/fsmcp/internal/phrase"
	"github.com/fsmcp/fsmcp/internal/refusal"
	"github.com/fsmcp/fsmcp/internal/toolcall"
)

// Hooks run the user's own commands around changes. They are called within the
// turn of the file, but outside of its locks.
type Hooks interface {
	// Wanted tells whether any concern a file by its names, before and after it is
	// changed. Where there are no commands at all it costs nothing.
	Wanted(names []string) (before, after bool)
	// Before runs those before a change. faults are of commands that failed without
	// a say in it; with stop the change must not be made. An error is that of ctx.
	Before(ctx context.Context, e Edited) (faults []HookFault, stop *HookFault, err error)
	// After runs those after a change.
	After(ctx context.Context, e Edited) (faults []HookFault)
}

// Edited is a change as hooks are told of it.
type Edited struct {
	Names         []string // of the file; the last one is resolved
	Tool, Session string
	Call          string // the client's id of it
	// Old are the bytes that were replaced, nil where they are not kept.
	Old []byte
}

// HookFault is a command that did not end as it should.
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

// hooking collects the outcome of the hooks of one call.
type hooking struct {
	passed string // the resolved name of the file whose hooks let the change through
	faults []HookFault
}

// stopped refuses a change that a hook stopped.
func stopped(s *toolcall.Target, f *HookFault) error {
	return refusal.Hook{Name: f.name(), Why: f.Why, Said: f.said(saidBytes), Refused: f.Refused, NotRun: f.NotRun, Entry: f.Entry, Line: f.Line}.Refusal(s.Name())
}

// Bounds of what an answer repeats of a hook's words, in bytes.
const (
	saidBytes = 4 << 10 // of the one that stopped a change
	FaultRoom = 4 << 10 // of all that failed
	saidLines = 60
)

// faultNotes tells of hooks that failed.
func faultNotes(faults []HookFault) string {
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
func (f HookFault) name() string {
	const most = 80
	return phrase.Quote(phrase.Cut(strings.Join(f.Command, " "), most))
}

// said returns the command's output, made safe to show, of about so many bytes.
func (f HookFault) said(room int) string {
	lines := strings.Split(strings.TrimSpace(f.Said), "\n")
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
