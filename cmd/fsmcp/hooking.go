package main

import (
	"context"
	"runtime"
	"strings"

	"github.com/rs/zerolog"

	"github.com/fsmcp/fsmcp/internal/config"
	"github.com/fsmcp/fsmcp/internal/fsys"
	"github.com/fsmcp/fsmcp/internal/hooks"
	"github.com/fsmcp/fsmcp/internal/tools"
)

// hooking runs the hooks that the settings name as they are now.
type hooking struct {
	rules  *rulebook
	runner *hooks.Runner
	log    zerolog.Logger
}

// hookBook are the hooks of one edition. Of those before a change broken has the
// ones that cannot be run: they stop what they are for.
type hookBook struct {
	before, after hooks.List
	broken        []config.Hook
}

func newHookBook(cfg config.Hooks) hookBook {
	book := hookBook{after: hookList(cfg.After)}
	for _, h := range cfg.Before {
		if h.Broken != "" {
			book.broken = append(book.broken, h)
			continue
		}
		book.before = append(book.before, hookOf(h))
	}
	return book
}

func hookList(all []config.Hook) (out hooks.List) {
	for _, h := range all {
		out = append(out, hookOf(h))
	}
	return out
}

func hookOf(h config.Hook) hooks.Hook {
	return hooks.Hook{Glob: h.Glob, Command: h.Command, Timeout: h.Timeout}
}

// brokenFor is the first broken hook that is for a file; nil where there is none.
func (b hookBook) brokenFor(names []string) *config.Hook {
	for _, h := range b.broken {
		if (hooks.List{hookOf(h)}).Concern(names, foldsCase) {
			return &h
		}
	}
	return nil
}

// foldsCase: names that differ in case alone mean one file here, mostly.
const foldsCase = runtime.GOOS == "darwin" || runtime.GOOS == "windows"

// Wanted implements tools.Hooks.
func (h *hooking) Wanted(names []string) (before, after bool) {
	book := h.rules.now.Load().hooks
	return book.brokenFor(names) != nil || book.before.Concern(names, foldsCase), book.after.Concern(names, foldsCase)
}

// Before implements tools.Hooks.
func (h *hooking) Before(ctx context.Context, e tools.Edited) (faults []tools.HookFault, stop *tools.HookFault, err error) {
	edition := h.rules.now.Load()
	if broken := edition.hooks.brokenFor(e.Names); broken != nil {
		return nil, &tools.HookFault{Entry: broken.From, Line: broken.Line, Why: broken.Broken}, nil
	}
	all, stopped, err := h.runner.Before(ctx, edition.round(edition.hooks.before, hooks.BeforeEdit, e))
	h.tell(hooks.BeforeEdit, e, all)
	if err != nil {
		return nil, nil, err
	}
	if stopped != nil {
		f := faultOf(*stopped)
		return nil, &f, nil
	}
	return faultsOf(all), nil, nil
}

// After implements tools.Hooks.
func (h *hooking) After(ctx context.Context, e tools.Edited) []tools.HookFault {
	edition := h.rules.now.Load()
	all, err := h.runner.After(ctx, edition.round(edition.hooks.after, hooks.AfterEdit, e))
	h.tell(hooks.AfterEdit, e, all)
	if err != nil {
		h.log.Warn().Err(err).Msg("hooks were not shown the old text")
	}
	return faultsOf(all)
}

// round is one change with the commands that run for it.
func (e *edition) round(list hooks.List, when hooks.Moment, edited tools.Edited) hooks.Round {
	return hooks.Round{
		Hooks: list.For(edited.Names, foldsCase),
		Event: hooks.Event{Event: when, Tool: edited.Tool, Path: edited.Names[len(edited.Names)-1], Session: edited.Session},
		Dir:   e.workDir(edited.Names),
		Old:   edited.Old,
	}
}

// workDir is the workspace directory that holds the file, else the first one.
func (e *edition) workDir(names []string) string {
	for _, dir := range fsys.NewResolver(e.config.Workspace).RootNames() {
		for _, root := range dir {
			for _, name := range names {
				if strings.HasPrefix(name, strings.TrimSuffix(root, "/")+"/") {
					return dir[0]
				}
			}
		}
	}
	switch {
	case e.lexer.Base != "":
		return e.lexer.Base
	case e.config.Home != "":
		return e.config.Home
	}
	return "/"
}

// tell writes what ran to the log, but nothing that it wrote: that may be text of
// files.
func (h *hooking) tell(when hooks.Moment, e tools.Edited, all []hooks.Report) {
	for _, r := range all {
		h.log.Info().Str("event", string(when)).Str("path", e.Names[len(e.Names)-1]).Str("session", e.Session).Str("program", r.Hook.Command[0]).
			Dur("duration", r.Took).Str("outcome", outcome(r)).Msg("hook")
	}
}

func outcome(r hooks.Report) string {
	if r.Ending == hooks.Passed {
		return "ok"
	}
	return r.Why
}

// faultsOf are the runs that have to be told of.
func faultsOf(all []hooks.Report) (out []tools.HookFault) {
	for _, r := range all {
		if r.Ending != hooks.Passed {
			out = append(out, faultOf(r))
		}
	}
	return out
}

func faultOf(r hooks.Report) tools.HookFault {
	return tools.HookFault{Command: r.Hook.Command, Why: r.Why, Refused: r.Ending == hooks.Refused, Said: r.Said}
}
