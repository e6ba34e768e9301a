package main

import (
	"context"
	"errors"
	"io"
	"os/exec"
	"time"

	"github.com/spf13/cobra"

	"github.com/fsmcp/fsmcp/internal/hooks"
	"github.com/fsmcp/fsmcp/internal/hooks/editor"
	"github.com/fsmcp/fsmcp/internal/save"
	"github.com/fsmcp/fsmcp/internal/settings"
)

func hookCommand(s process) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "hook",
		Short: "Commands for hooks in the settings",
		Args:  takes(0, 0),
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	diff := &cobra.Command{
		Use:   "diff [EDITOR...]",
		Short: "Show each change in your editor, the old text beside the new one",
		Long: `Show a change in your editor, the old text beside the file. It is a hook for the
settings, which fsmcp runs after each change, with the event on standard input:

  "hooks": {"afterFileEdited": [{"glob": "**", "command": ["fsmcp", "hook", "diff"]}]}

EDITOR is a program with its arguments; the names of the old text and of the
file follow. Without it the first of code, cursor, zed and idea in PATH is
taken, else nvim where fsmcp runs in tmux, zellij or screen. A known editor that
is named alone gets the argument that it needs, such as --diff. Nothing waits
for the editor. Changes of a file that follow each other within 30 seconds have
one window.`,
		RunE: func(cmd *cobra.Command, command []string) error { return s.showChange(cmd.Context(), command) },
	}
	diff.Flags().SetInterspersed(false) // the editor's flags are its own
	cmd.AddCommand(diff)
	return cmd
}

// showChange opens the change that standard input describes in an editor.
func (s process) showChange(ctx context.Context, command []string) error {
	if s.terminal {
		return s.failed("hook diff: it reads an event from standard input, and belongs in the settings: fsmcp hook diff --help")
	}
	event, err := hooks.ReadEvent(s.in)
	if errors.Is(err, io.EOF) {
		return s.failed("hook diff: standard input is empty, and should be the event of a hook")
	}
	if err != nil {
		return s.failed("hook diff: standard input is not the event of a hook: %v", err)
	}
	saver := save.New(save.Options{StateDir: settings.StateDir(s.system)})
	defer saver.Close()
	viewer := editor.New(editor.Options{Dir: saver.StateDir, Getenv: s.system.Getenv, LookPath: exec.LookPath, Now: time.Now})
	if err := viewer.Show(ctx, event, command); err != nil {
		return s.failed("hook diff: %v", err)
	}
	return nil
}
