package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"time"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/fsmcp/fsmcp/internal/app"
	"github.com/fsmcp/fsmcp/internal/fsys"
	"github.com/fsmcp/fsmcp/internal/history"
	"github.com/fsmcp/fsmcp/internal/report"
	"github.com/fsmcp/fsmcp/internal/restore"
	"github.com/fsmcp/fsmcp/internal/settings"
	"github.com/fsmcp/fsmcp/internal/settings/disk"
	"github.com/fsmcp/fsmcp/internal/tools"
)

func historyCommand(s process) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "history",
		Short: "Look at changes that were made, and restore what they replaced",
		Long: `Look at the changes that were made through fsmcp, and restore what they
replaced. What each file was before is kept in the state folder, for 30 days and
up to 1 GB unless the settings say otherwise. Names that are mostly secret
(history.exclude) are never kept, and what the rules deny now is neither shown
nor restored. On a terminal show and diff go through PAGER, else less.`,
		Example: `  fsmcp history list src
  fsmcp history diff k3x9m2pq-17
  fsmcp history restore k3x9m2pq-17
  fsmcp history open                 in your browser, without more commands`,
		Args: takes(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	// One set of flags for all of them, since making flags takes time.
	var f settings.Flags
	set := &cobra.Command{}
	addRuleFlags(set, &f)
	addLogFlag(set, &f)
	addDirFlag(set, &f.Dirs)
	restore := historyRestore(s, &f)
	addDurabilityFlag(restore, &f)
	open := historyOpen(s, &f)
	addDurabilityFlag(open, &f)
	cmd.AddCommand(historyList(s, &f), open, historyShow(s, &f), historyDiff(s, &f), restore)
	for _, sub := range cmd.Commands() {
		sub.Flags().AddFlagSet(set.Flags())
	}
	return cmd
}

// historySession holds the parts that a history command needs.
type historySession struct {
	process
	*app.App
	archive *history.Archive
	paging  *atomic.Bool // the pager is running
}

// newHistoryCommand makes a command whose run function gets the open history.
func newHistoryCommand(s process, f *settings.Flags, cmd *cobra.Command, run func(ctx context.Context, h *historySession, args []string) error) *cobra.Command {
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		f, err := s.inFolders(cmd, *f)
		if err != nil {
			return err
		}
		paging := new(atomic.Bool)
		return s.interruptible(cmd.Context(), paging, func() error {
			return withHistory(s, f, func(h *historySession) error {
				h.paging = paging
				return run(cmd.Context(), h, args)
			})
		})
	}
	return cmd
}

// stopWithin bounds the time that a command takes to stop after a signal. What it waits for
// then is a disk or a reader of its output that does not answer.
const stopWithin = 2 * time.Second

// interruptible runs a command, and returns soon after a signal even if the command does
// not: a blocked system call cannot be interrupted. A restore that stops here is finished or
// undone as after a kill. While paging is true, the pager handles the signal.
func (s process) interruptible(ctx context.Context, paging *atomic.Bool, command func() error) error {
	done := make(chan error, 1)
	go func() { done <- command() }()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
	}
	for {
		select {
		case err := <-done:
			return err
		case <-time.After(stopWithin):
			if !paging.Load() {
				return s.failed("interrupted: the disk, or what reads the output, does not answer")
			}
		}
	}
}

// paged writes through the pager.
func (h *historySession) paged(write func(report.Output) error) error {
	out, pager := h.output(), report.Pager(h.system.Getenv("PAGER"), h.system.Getenv("LESS"), h.err)
	h.paging.Store(out.Terminal && pager != nil)
	defer h.paging.Store(false)
	return out.Paged(pager, write)
}

func withHistory(s process, f settings.Flags, run func(h *historySession) error) error {
	if settings.StateDir(s.system) == "" {
		return s.failed("no history is kept, since the home directory is unknown: set HOME or XDG_STATE_HOME")
	}
	return s.withFlags(f, func(a *app.App) error {
		archive, err := a.OpenHistory()
		if err != nil {
			return s.failed("the history cannot be read: %v", err)
		}
		defer archive.Close()
		return run(&historySession{process: s, App: a, archive: archive})
	})
}

// failed prints an error that has nothing to do with usage.
func (s process) failed(format string, a ...any) error {
	fmt.Fprintf(s.err, "fsmcp: %s\n", fmt.Sprintf(format, a...))
	return exitFailed
}

func historyList(s process, f *settings.Flags) *cobra.Command {
	var asJSON, all bool
	cmd := newHistoryCommand(s, f, &cobra.Command{
		Use:   "list [PATH...]",
		Short: "List changes, newest first",
		Long: `List the changes that were made, newest first: those below the working
directory, or those of the files and folders named. --all and --json list every
change if no PATH is given.`,
	}, func(_ context.Context, h *historySession, paths []string) error {
		if len(paths) == 0 && !all && !asJSON {
			if paths = f.Dirs; len(paths) == 0 {
				paths = []string{"."}
			}
			defer h.hintAtOthers(paths)
		}
		return h.list(paths, asJSON)
	})
	cmd.Flags().BoolVar(&all, "all", false, "list the changes of every folder")
	addJSONFlag(cmd, &asJSON, "one object with all changes")
	return cmd
}

func (h *historySession) list(paths []string, asJSON bool) error {
	entries, damages := h.archive.Entries(h.below(paths))
	for _, d := range damages {
		fmt.Fprintf(h.err, "fsmcp: a part of the history is damaged and left out: %v\n", d)
	}
	if h.archive.Earlier() {
		fmt.Fprintln(h.err, "fsmcp: changes that an earlier build of fsmcp kept are not shown")
	}
	if asJSON {
		return h.output().JSON(report.ChangesJSON(entries))
	}
	return h.paged(func(o report.Output) error { return o.Changes(entries) })
}

// hintAtOthers says where to look if all changes were made elsewhere.
func (h *historySession) hintAtOthers(paths []string) {
	if all, _ := h.archive.Entries(nil); len(all) == 0 {
		return
	}
	if here, _ := h.archive.Entries(h.below(paths)); len(here) == 0 {
		fmt.Fprintln(h.err, "fsmcp: no change was made below this folder; --all lists those of other folders")
	}
}

// below returns a function that reports whether a path is one of those named or lies in
// one, also through a link.
func (s process) below(paths []string) func(path string) bool {
	if len(paths) == 0 {
		return nil
	}
	var tops []string
	for _, p := range paths {
		if p = s.system.Absolute(p, s.system.WorkDir); p != "" {
			tops = append(tops, p, disk.Real(p))
		}
	}
	return func(path string) bool {
		return slices.ContainsFunc(tops, func(top string) bool { return fsys.Within(top, path) })
	}
}

// find returns a change that the rules let the user see. It prints its errors itself.
func (h *historySession) find(id string) (history.Entry, error) {
	e, err := h.archive.Find(id)
	if errors.Is(err, history.ErrUnknown) {
		return e, h.failed("there is no change %s, or no longer (fsmcp history list names those there are)", fsys.Printable(id))
	}
	if err == nil {
		err = h.restorer().Admit(e)
	}
	if err != nil {
		return e, h.failed("%s", tools.Explain(e.Path, err))
	}
	return e, nil
}

func historyShow(s process, f *settings.Flags) *cobra.Command {
	var after, asJSON bool
	cmd := newHistoryCommand(s, f, &cobra.Command{
		Use:   "show ID",
		Short: "Print a file as it was before a change, byte for byte",
		Args:  takes(1, 1),

		ValidArgsFunction: completeChange(s, f),
	}, func(_ context.Context, h *historySession, args []string) error { return h.show(args[0], after, asJSON) })
	addJSONFlag(cmd, &asJSON, "one object; its content is base64 if it is not UTF-8, and null if there was no file")
	cmd.Flags().BoolVar(&after, "after", false, "as it was after the change")
	return cmd
}

func (h *historySession) show(id string, after, asJSON bool) error {
	e, err := h.find(id)
	if err != nil {
		return err
	}
	if text := report.NoBytes(e); text != "" {
		return h.described(e, text, "content", asJSON)
	}
	load, when := h.archive.Before, "before"
	if after {
		load, when = h.archive.After, "after"
	}
	b, err := load(e)
	switch {
	case errors.Is(err, history.ErrPlacesOnly):
		return h.failed("%v (%s); fsmcp history diff %s shows them", err, fsys.Printable(e.Path), id)
	case err != nil:
		return h.failed("%v", err)
	case asJSON:
		return h.printJSON(e, report.ContentJSON(b))
	case b == nil:
		return h.failed("there was no file %s %s that change", fsys.Printable(e.Path), when)
	}
	return h.paged(func(o report.Output) error { return o.Text(b) })
}

// described prints a change that has no bytes.
func (h *historySession) described(e history.Entry, text, key string, asJSON bool) error {
	if asJSON {
		return h.printJSON(e, map[string]any{key: nil, "change": text})
	}
	_, err := fmt.Fprintln(h.out, text+".")
	return err
}

// printJSON prints an object about a change.
func (h *historySession) printJSON(e history.Entry, more map[string]any) error {
	more["id"], more["path"] = e.ID, e.Path
	if !utf8.ValidString(e.Path) {
		more["pathBase64"] = []byte(e.Path)
	}
	return h.output().JSON(more)
}

func historyDiff(s process, f *settings.Flags) *cobra.Command {
	var asJSON bool
	cmd := newHistoryCommand(s, f, &cobra.Command{
		Use:   "diff ID",
		Short: "Print what a change did, as a unified diff",
		Args:  takes(1, 1),

		ValidArgsFunction: completeChange(s, f),
	}, func(_ context.Context, h *historySession, args []string) error { return h.diff(args[0], asJSON) })
	addJSONFlag(cmd, &asJSON, "one object; its diff is null if the file is not text in UTF-8")
	return cmd
}

func (h *historySession) diff(id string, asJSON bool) error {
	e, err := h.find(id)
	if err != nil {
		return err
	}
	if text := report.NoBytes(e); text != "" {
		return h.described(e, text, "diff", asJSON)
	}
	diff, err := report.Patch(h.archive, e)
	none := (*report.NoTextError)(nil)
	switch {
	case errors.As(err, &none) && asJSON:
		return h.printJSON(e, map[string]any{"diff": nil})
	case errors.As(err, &none):
		_, err := fmt.Fprintf(h.out, "%s: %v (fsmcp history show %s prints them)\n", fsys.Printable(e.Path), none, id)
		return err
	case err != nil:
		return h.failed("%v", err)
	case asJSON:
		return h.printJSON(e, map[string]any{"diff": diff})
	}
	return h.paged(func(o report.Output) error { return o.Diff(diff) })
}

func historyRestore(s process, f *settings.Flags) *cobra.Command {
	var asJSON bool
	var session, group string
	cmd := newHistoryCommand(s, f, &cobra.Command{
		Use:   "restore ID",
		Short: "Restore what one change replaced, and leave later changes",
		Long: `Restore what one change replaced, and leave what was changed later, by a
three-way merge as git merge-file makes it. Where the same place was changed
later, nothing is done, and the exit code is 1. A file that the change created
is removed if it is as it was made, with the empty folders that were made for
it. The restore is a change itself and can be restored.

A file that was moved is moved back if nothing is in the way, and one that was
deleted is made again with its mode, times and attributes.

--session restores all changes of one session, the newest first: that of the
change named, or the one that history list --json names; --group those of one
call. If one of them cannot be restored, nothing is done. An error of the disk,
or a file that is read-only or busy, can still end it half-way: it then names
what it did.`,
		Args: func(cmd *cobra.Command, words []string) error {
			if session != "" || group != "" {
				return takes(0, 0)(cmd, words)
			}
			return takes(1, 1)(cmd, words)
		},

		ValidArgsFunction: completeChange(s, f),
	}, func(ctx context.Context, h *historySession, args []string) error {
		switch {
		case group != "":
			files, err := h.restorer().Group(ctx, group)
			return h.restored("group", group, files, err, asJSON)
		case session != "":
			files, err := h.restorer().Session(ctx, session)
			return h.restored("session", session, files, err, asJSON)
		}
		return h.restore(ctx, args[0], asJSON)
	})
	cmd.Flags().StringVar(&session, "session", "", "restore all changes of the session that `ID` names, or of the change")
	cmd.Flags().StringVar(&group, "group", "", "restore all changes of the call that `ID` names")
	cmd.MarkFlagsMutuallyExclusive("session", "group")
	addJSONFlag(cmd, &asJSON, "one object")
	return cmd
}

func restoreLastCommand(s process) *cobra.Command {
	var f settings.Flags
	var asJSON bool
	cmd := newHistoryCommand(s, &f, &cobra.Command{
		Use:   "undo [PATH...]",
		Short: "Restore what the last change replaced",
		Long: `Restore what the last change below the working directory replaced, or the
last one of the files and folders named, with all that the same call changed.
What others changed later stays, as with fsmcp history restore. Once more, it
restores the change before that.`,
	}, func(ctx context.Context, h *historySession, paths []string) error {
		if len(paths) == 0 {
			paths = f.Dirs
		}
		if len(paths) == 0 {
			paths = []string{"."}
		}
		e, files, err := h.restorer().Last(ctx, h.below(paths))
		if errors.Is(err, restore.ErrNoSession) {
			return h.failed("there is no change to undo below %s (fsmcp history list --all lists the changes of every folder)", fsys.Printable(paths[0]))
		}
		return h.restored("change", e.ID, files, err, asJSON)
	})
	addRuleFlags(cmd, &f)
	addLogFlag(cmd, &f)
	addDirFlag(cmd, &f.Dirs)
	addDurabilityFlag(cmd, &f)
	addJSONFlag(cmd, &asJSON, "one object")
	return cmd
}

func (h *historySession) restorer() restore.Restorer {
	return restore.Restorer{Archive: h.archive, Service: h.Service, Open: h.OpenHistory}
}

func (h *historySession) restore(ctx context.Context, id string, asJSON bool) error {
	e, err := h.find(id)
	if err != nil {
		return err
	}
	result, err := h.restorer().Change(ctx, e)
	if err != nil {
		text, conflict := restore.Fault(e, err)
		if conflict != "" && asJSON {
			if err := h.printJSON(e, map[string]any{"changed": false, "conflict": conflict}); err != nil {
				return err
			}
		}
		return h.failed("%s", text)
	}
	if asJSON {
		return h.printJSON(e, map[string]any{"changed": result != nil})
	}
	text := fmt.Sprintf("%s holds nothing of the change %s any more; nothing was changed.", fsys.Printable(h.restorer().Now(e)), id)
	if result != nil {
		text = result.Blocks[0].Text
	}
	_, err = fmt.Fprintln(h.out, text)
	return err
}

// restored prints how the restore of a session or a group ended.
func (h *historySession) restored(what, id string, files []restore.RestoredFile, err error, asJSON bool) error {
	if errors.Is(err, restore.ErrNoSession) {
		return h.failed("there is no %s %s, and no change of that name (fsmcp history list names the changes)", what, fsys.Printable(id))
	}
	var printed error
	if asJSON {
		object := restore.JSON(files, err)
		object[what] = id
		printed = h.output().JSON(object)
	} else {
		printed = h.output().Lines(restore.Lines(files))
	}
	if err != nil {
		return h.failed("%s", restore.Stopped(files, err))
	}
	return printed
}
