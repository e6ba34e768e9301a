package app

import (
	"cmp"
	"context"
	"errors"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/rs/zerolog"

	"github.com/fsmcp/fsmcp/internal/commit"
	"github.com/fsmcp/fsmcp/internal/fsys"
	"github.com/fsmcp/fsmcp/internal/hooks"
	"github.com/fsmcp/fsmcp/internal/refusal"
	"github.com/fsmcp/fsmcp/internal/settings"
)

// hookRunner runs the hooks of the current settings.
type hookRunner struct {
	settings *currentSettings
	runner   *hooks.Runner
	logger   zerolog.Logger
}

// hookLists holds the hooks of one snapshot. broken holds hooks before a change that
// cannot be run: they refuse the changes they are for.
type hookLists struct {
	before, after hooks.List
	broken        []settings.Hook
}

func newHookLists(cfg settings.Config) (l hookLists) {
	for _, h := range cfg.Hooks.After {
		l.after = append(l.after, hookOf(h, cfg.Home))
	}
	for _, h := range cfg.Hooks.Before {
		if h.Broken != "" {
			l.broken = append(l.broken, h)
			continue
		}
		l.before = append(l.before, hookOf(h, cfg.Home))
	}
	return l
}

// hookOf converts a hook of the settings. "~/" begins in the home directory.
func hookOf(h settings.Hook, home string) hooks.Hook {
	command := h.Command
	if len(command) > 0 && home != "" && strings.HasPrefix(command[0], "~/") {
		command = append([]string{filepath.Join(home, command[0][2:])}, command[1:]...)
	}
	return hooks.Hook{Glob: h.Glob, Command: command, Folder: filepath.Dir(h.From), Timeout: h.Timeout}
}

// brokenFor returns the first broken hook for a file, and nil if there is none.
func (l hookLists) brokenFor(names []string) *settings.Hook {
	for _, h := range l.broken {
		if (hooks.List{{Glob: h.Glob}}).Concern(names, foldsCase) {
			return &h
		}
	}
	return nil
}

// foldsCase says that names that differ only in case usually mean one file on this system.
const foldsCase = runtime.GOOS == "darwin" || runtime.GOOS == "windows"

// Wanted implements commit.Hooks.
func (h *hookRunner) Wanted(names []string) (before, after bool) {
	lists := h.settings.snapshot.Load().hooks
	return lists.brokenFor(names) != nil || lists.before.Concern(names, foldsCase), lists.after.Concern(names, foldsCase)
}

// Before implements commit.Hooks.
func (h *hookRunner) Before(ctx context.Context, e commit.Edited) (faults []refusal.HookFault, stop *refusal.HookFault, err error) {
	snapshot := h.settings.snapshot.Load()
	if broken := snapshot.hooks.brokenFor(e.Names); broken != nil {
		return nil, &refusal.HookFault{Entry: broken.From, Line: broken.Line, Why: broken.Broken}, nil
	}
	all, stopped, err := h.runner.Before(ctx, snapshot.round(snapshot.hooks.before, hooks.BeforeEdit, e))
	h.log(hooks.BeforeEdit, e, all)
	if err != nil {
		return nil, nil, err
	}
	if stopped != nil {
		f := faultOf(*stopped)
		return nil, &f, nil
	}
	return faultsOf(all), nil, nil
}

// After implements commit.Hooks.
func (h *hookRunner) After(ctx context.Context, e commit.Edited) []refusal.HookFault {
	snapshot := h.settings.snapshot.Load()
	all, err := h.runner.After(ctx, snapshot.round(snapshot.hooks.after, hooks.AfterEdit, e))
	h.log(hooks.AfterEdit, e, all)
	if err != nil {
		h.logger.Warn().Err(err).Msg("hooks were not shown the old text")
	}
	return faultsOf(all)
}

// HookOfFile is a hook that runs when a file is changed.
type HookOfFile struct {
	settings.Hook
	When string // "before" or "after"
	Does string // the command, and why it is not run
}

// HooksOf returns the hooks that run when a file with these names is changed.
func (a *App) HooksOf(names []string) (all []HookOfFile) {
	e := a.settings.snapshot.Load()
	for i, list := range [][]settings.Hook{e.config.Hooks.Before, e.config.Hooks.After} {
		for _, h := range list {
			runs := hookOf(h, e.config.Home)
			if !(hooks.List{runs}).Concern(names, foldsCase) {
				continue
			}
			does := strings.Join(h.Command, " ")
			if h.Broken != "" {
				does = "cannot be run, and refuses it: " + h.Broken
			} else if _, err := a.hooks.Check(runs, e.workDir(names), e.agentWritable()); errors.As(err, new(*hooks.BarredError)) {
				does += " " + err.Error()
			}
			all = append(all, HookOfFile{Hook: h, When: [...]string{"before", "after"}[i], Does: does})
		}
	}
	return all
}

// round returns one change with the commands that run for it.
func (e *snapshot) round(list hooks.List, when hooks.Moment, edited commit.Edited) hooks.Round {
	return hooks.Round{
		Hooks:  list.For(edited.Names, foldsCase),
		Event:  hooks.Event{Event: when, Tool: edited.Tool, Path: edited.Names[len(edited.Names)-1], Session: edited.Session, Call: edited.Call},
		Dir:    e.workDir(edited.Names),
		Barred: e.agentWritable(),
		Old:    edited.Old,
	}
}

// agentWritable returns a function that reports whether an agent could rewrite a file: one
// of its names is in a workspace directory. It returns nil if the project is trusted.
func (e *snapshot) agentWritable() func(name string) bool {
	if e.config.TrustProject {
		return nil
	}
	roots := e.folders()
	return func(name string) bool {
		return workspaceDirOf(roots, currentNames(name)) != ""
	}
}

// programs returns a function that finds a program in PATH as for a hook: never one that an
// agent could have written.
func (b *currentSettings) programs(runner *hooks.Runner) func(name string) (string, error) {
	return func(name string) (string, error) {
		e := b.snapshot.Load()
		return runner.Check(hooks.Hook{Command: []string{name}}, e.workDir(nil), e.agentWritable())
	}
}

// workDir returns the workspace directory that holds the file, else the first one.
func (e *snapshot) workDir(names []string) string {
	return cmp.Or(workspaceDirOf(e.folders(), names), e.lexer.Base, e.config.Home, "/")
}

// folders returns all names of each workspace directory.
func (e *snapshot) folders() (out [][]string) {
	for _, dir := range e.config.Workspace {
		out = append(out, e.config.Folder(dir))
	}
	return out
}

// workspaceDirOf returns the first workspace directory that contains one of a file's
// names; "" if there is none. Each root is given with all of its names.
func workspaceDirOf(roots [][]string, names []string) string {
	for _, dir := range roots {
		for _, root := range dir {
			for _, name := range names {
				if isWithin(name, root) {
					return dir[0]
				}
			}
		}
	}
	return ""
}

func isWithin(name, dir string) bool {
	if foldsCase {
		name, dir = strings.ToLower(name), strings.ToLower(dir)
	}
	return fsys.Within(dir, name)
}

// log writes to the log what ran, but not its output: that may contain text of files.
func (h *hookRunner) log(when hooks.Moment, e commit.Edited, all []hooks.Report) {
	for _, r := range all {
		h.logger.Info().Str("event", string(when)).Str("path", e.Names[len(e.Names)-1]).Str("session", e.Session).Str("call", e.Call).Str("program", r.Hook.Command[0]).
			Dur("duration", r.Took).Str("outcome", outcome(r)).Msg("hook")
	}
}

func outcome(r hooks.Report) string {
	if r.Ending == hooks.Passed {
		return "ok"
	}
	return r.Why
}

// faultsOf returns the runs that must be reported.
func faultsOf(all []hooks.Report) (out []refusal.HookFault) {
	for _, r := range all {
		if r.Ending != hooks.Passed {
			out = append(out, faultOf(r))
		}
	}
	return out
}

func faultOf(r hooks.Report) refusal.HookFault {
	return refusal.HookFault{Command: r.Hook.Command, Why: r.Why, Refused: r.Ending == hooks.Refused, NotRun: r.Ending == hooks.NotRun, Said: r.Said}
}
