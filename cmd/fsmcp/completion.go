package main

import (
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/fsmcp/fsmcp/internal/clients"
	"github.com/fsmcp/fsmcp/internal/fsys"
	"github.com/fsmcp/fsmcp/internal/settings"
)

// The shell asks for completions through cobra's hidden command __complete, by the scripts
// that fsmcp completion prints.

// completeFlag offers words, or none, as a flag's value.
func completeFlag(cmd *cobra.Command, flag string, words ...string) {
	_ = cmd.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(words, cobra.ShellCompDirectiveNoFileComp)) // its caller makes the flag
}

// completeClient offers the clients of fsmcp config.
func completeClient(_ *cobra.Command, args []string, _ string) (words []cobra.Completion, _ cobra.ShellCompDirective) {
	for _, c := range clients.All() {
		if len(args) == 0 {
			words = append(words, cobra.CompletionWithDesc(c.Name, c.Title))
		}
	}
	return words, cobra.ShellCompDirectiveNoFileComp
}

// completeTool offers the tools, and nothing for their arguments.
func completeTool(_ *cobra.Command, args []string, _ string) (words []cobra.Completion, _ cobra.ShellCompDirective) {
	if len(args)%2 == 0 {
		words = slices.Sorted(slices.Values(settings.ToolNames()))
	}
	return words, cobra.ShellCompDirectiveNoFileComp
}

// offeredChanges bounds the changes that are offered.
const offeredChanges = 100

// completeChange offers the ids of the newest changes that the rules let the user see.
func completeChange(s process, f *settings.Flags) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, _ string) (words []cobra.Completion, _ cobra.ShellCompDirective) {
		const directive = cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveKeepOrder
		if len(args) > 0 {
			return nil, directive
		}
		s.err = io.Discard // what cannot be read is not offered
		_ = withHistory(s, inWorkDir(cmd, *f), func(h *historySession) error {
			entries, _ := h.archive.Entries(nil)
			for _, e := range entries[:min(len(entries), offeredChanges)] {
				if h.Service.Admit(e.Path) == nil {
					about := fmt.Sprintf("%s %s %s", e.Time.Local().Format(time.DateTime), e.Tool, fsys.Printable(e.Path))
					words = append(words, cobra.CompletionWithDesc(e.ID, about))
				}
			}
			return nil
		})
		return words, directive
	}
}
