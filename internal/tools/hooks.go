package tools

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/fsmcp/fsmcp/internal/fsys"
	"github.com/fsmcp/fsmcp/internal/phrase"
	"github.com/fsmcp/fsmcp/internal/refusal"
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

// wanted returns the names of a file as hooks know it, and whether any run before and after
// it is changed. None run for a restore.
func (w *committing) wanted(s *target) (names []string, before, after bool) {
	if w.by.hooks == nil || w.call.restoring {
		return nil, false, false
	}
	names = s.allNames()
	before, after = w.by.hooks.Wanted(names)
	return names, before, after
}

// edited is the change as hooks are told of it.
func (w *committing) edited(names []string, old []byte) Edited {
	return Edited{Names: names, Tool: w.op.String(), Session: w.call.Session.id, Call: w.call.ID, Old: old}
}

// beforeHooks runs the hooks before a change, once for a file.
func (w *committing) beforeHooks(ctx context.Context, s *target) error {
	names, before, _ := w.wanted(s)
	if !before || w.hooks.passed == s.Path {
		return nil
	}
	defer w.call.rest()()
	defer w.call.Session.reminders.OwnChanges()()
	faults, stop, err := w.by.hooks.Before(ctx, w.edited(names, nil))
	switch {
	case err != nil:
		return err
	case stop != nil:
		return stopped(s, stop)
	}
	w.hooks.passed, w.hooks.faults = s.Path, append(w.hooks.faults, faults...)
	return nil
}

// afterHooks runs the hooks after a change that was made, looks at the file again, and
// finishes the answer. From here on the call can only succeed. A client that gives it up
// now would leave a formatter in the middle of its work, so that only its deadline ends it.
func (w *committing) afterHooks(ctx context.Context, s *target, m made) {
	if m.change == nil {
		return
	}
	if names, _, after := w.wanted(s); after {
		ctx = context.WithoutCancel(ctx)
		w.hooks.faults = append(w.hooks.faults, w.runAfter(ctx, w.edited(names, m.old))...)
		if note := w.reloadAfterHooks(ctx, s, m); note != "" {
			m.result.Blocks[0].Text += "\n" + note
		}
	}
	if len(w.hooks.faults) > 0 {
		m.result.Blocks[0].Text += "\n" + faultNotes(w.hooks.faults)
	}
}

func (w *committing) runAfter(ctx context.Context, e Edited) []HookFault {
	defer w.call.rest()()
	defer w.call.Session.reminders.OwnChanges()()
	return w.by.hooks.After(ctx, e)
}

// rest has the call's own clock rest until the function it returns is called.
func (c Call) rest() (resume func()) {
	if c.Clock == nil {
		return func() {}
	}
	return c.Clock.Rest()
}

// allNames are all names of a file, the resolved one last.
func (s *target) allNames() []string {
	if s.Names[len(s.Names)-1] == s.Path {
		return s.Names
	}
	return append(s.Names[:len(s.Names):len(s.Names)], s.Path)
}

// knownNames are all names of a file and its hard links that are known, the
// resolved one last.
func (s *target) knownNames() []string {
	return append(slices.Clip(s.links), s.allNames()...)
}

// stopped refuses a change that a hook stopped.
func stopped(s *target, f *HookFault) error {
	return refusal.Hook{Name: f.name(), Why: f.Why, Said: f.said(saidBytes), Refused: f.Refused, NotRun: f.NotRun, Entry: f.Entry, Line: f.Line}.Refusal(s.name())
}

// Bounds of what an answer repeats of a hook's words, in bytes.
const (
	saidBytes = 4 << 10 // of the one that stopped a change
	faultRoom = 4 << 10 // of all that failed
	saidLines = 60
)

// faultNotes tells of hooks that failed.
func faultNotes(faults []HookFault) string {
	var notes []string
	room := faultRoom
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
