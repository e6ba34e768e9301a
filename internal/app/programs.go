package app

import (
	"cmp"
	"context"
	"errors"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/rs/zerolog"

	"github.com/fsmcp/fsmcp/internal/access"
	"github.com/fsmcp/fsmcp/internal/commit"
	"github.com/fsmcp/fsmcp/internal/fsys"
	"github.com/fsmcp/fsmcp/internal/hooks"
	"github.com/fsmcp/fsmcp/internal/lsp"
	"github.com/fsmcp/fsmcp/internal/settings"
)

// hookRunner runs the hooks of the current settings.
type hookRunner struct {
	settings *currentSettings
	runner   *hooks.Runner
	logger   zerolog.Logger
}

// hooksOf returns the hooks of a list as they run: "~/" begins in the home directory.
func hooksOf(list hooks.List, home string) hooks.List {
	list = slices.Clone(list)
	for i := range list {
		list[i].Command = expandHome(list[i].Command, home)
	}
	return list
}

// expandHome expands "~/" at the beginning of a program's name.
func expandHome(command []string, home string) []string {
	if len(command) > 0 && home != "" && strings.HasPrefix(command[0], "~/") {
		return append([]string{filepath.Join(home, command[0][2:])}, command[1:]...)
	}
	return command
}

// foldsCase says that names that differ only in case usually mean one file on this system.
const foldsCase = runtime.GOOS == "darwin" || runtime.GOOS == "windows"

// Wanted implements commit.Hooks.
func (h *hookRunner) Wanted(names []string) (before, after bool) {
	e := h.settings.snapshot.Load()
	return e.before.Concern(names, foldsCase), e.after.Concern(names, foldsCase)
}

// Before implements commit.Hooks.
func (h *hookRunner) Before(ctx context.Context, e commit.Edited) (faults []hooks.Report, stop *hooks.Report, err error) {
	snapshot := h.settings.snapshot.Load()
	all, stop, err := h.runner.Before(ctx, snapshot.round(snapshot.before, hooks.BeforeEdit, e))
	h.log(hooks.BeforeEdit, e, all)
	return failed(all), stop, err
}

// After implements commit.Hooks.
func (h *hookRunner) After(ctx context.Context, e commit.Edited) []hooks.Report {
	snapshot := h.settings.snapshot.Load()
	all, err := h.runner.After(ctx, snapshot.round(snapshot.after, hooks.AfterEdit, e))
	h.log(hooks.AfterEdit, e, all)
	if err != nil {
		h.logger.Warn().Err(err).Msg("hooks were not shown the old text")
	}
	return failed(all)
}

// failed returns the runs that must be reported.
func failed(all []hooks.Report) []hooks.Report {
	return slices.DeleteFunc(all, func(r hooks.Report) bool { return r.Ending == hooks.Passed })
}

// HookOfFile is a hook that runs when a file is changed.
type HookOfFile struct {
	hooks.Hook
	When string // "before" or "after"
	Does string // the command, and why it is not run
}

// HooksOf returns the hooks that run when a file with these names is changed.
func (a *App) HooksOf(names []string) (all []HookOfFile) {
	e := a.settings.snapshot.Load()
	for i, list := range []hooks.List{e.config.Hooks.Before, e.config.Hooks.After} {
		for _, h := range list.For(names, foldsCase) {
			does := strings.Join(h.Command, " ")
			if h.Broken != "" {
				does = "cannot be run, and refuses it: " + h.Broken
			} else if _, err := a.Hooks.Check(hooksOf(hooks.List{h}, e.config.Home)[0], e.workDir(names), e.agentWritable()); errors.As(err, new(*hooks.BarredError)) {
				does += " " + err.Error()
			}
			all = append(all, HookOfFile{Hook: h, When: [...]string{"before", "after"}[i], Does: does})
		}
	}
	return all
}

// round returns the hooks that run at a moment of one change, with what they are told of it.
func (e *snapshot) round(list hooks.List, when hooks.Moment, edited commit.Edited) hooks.Round {
	return hooks.Round{
		Hooks: list.For(edited.Names, foldsCase),
		Event: hooks.HookInput{
			Event: when, Tool: edited.Tool, Path: edited.Names[len(edited.Names)-1], Session: edited.Session, Call: edited.Call,
			Operation: cmp.Or(edited.Operation, "edit"), To: edited.To,
		},
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
			if slices.ContainsFunc(names, func(name string) bool { return isWithin(name, root) }) {
				return dir[0]
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

// languageServer returns a function that finds a language server's program as that of a
// hook: never one that an agent could have written. The program's PATH leads to none, too.
func (b *currentSettings) languageServer(runner *hooks.Runner) func(lsp.LanguageServer) (program string, env []string, err error) {
	return func(s lsp.LanguageServer) (string, []string, error) {
		e := b.snapshot.Load()
		barred, dir := e.agentWritable(), e.workDir(nil)
		h := hooks.Hook{Command: expandHome(s.Command, e.config.Home), From: e.config.LSP.From}
		program, err := runner.Check(h, dir, barred)
		return program, runner.Environment(dir, barred), err
	}
}

// newLanguageClient returns the client of the language servers that may be started. It is told
// of no file that a Read would ask about.
func (b *currentSettings) newLanguageClient(files *access.Checker, runner *hooks.Runner) *lsp.Client {
	return lsp.New(lsp.Options{
		Servers:  func() []lsp.LanguageServer { return b.snapshot.Load().lspServers },
		Folders:  b.workspaceDirs,
		Readable: files.Readable,
		Read:     files.ReadFile,
		Find:     b.languageServer(runner),
		Ended: func(server, root, why string) {
			b.log.Info().Str("server", server).Str("root", root).Str("why", why).Msg("language server ended")
		},
	})
}

// FindLanguageServer returns a function that finds a language server's program, as a session
// with these settings does.
func FindLanguageServer(cfg settings.Config) func(lsp.LanguageServer) (program string, env []string, err error) {
	return newCurrentSettings(cfg, zerolog.Nop()).languageServer(hooks.New(hooks.Options{}))
}
