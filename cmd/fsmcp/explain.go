package main

import (
	"errors"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/fsmcp/fsmcp/internal/app"
	"github.com/fsmcp/fsmcp/internal/fsys"
	"github.com/fsmcp/fsmcp/internal/report"
	"github.com/fsmcp/fsmcp/internal/search"
	"github.com/fsmcp/fsmcp/internal/settings"
	"github.com/fsmcp/fsmcp/internal/tools"
)

func explainCommand(s process) *cobra.Command {
	var f settings.Flags
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "explain PATH...",
		Short: "Tell what the rules say of a file, and which one decides",
		Long: `Tell for each PATH and tool whether it is allowed, asked for or denied, which
rule decides and where that rule stands, every name of the file that was
considered, whether searches leave it out and why, and which hooks run when the
file is changed. The workspace is --dir, else the working directory. No PATH is
opened, and the exit code is 0 whatever the verdict.`,
		Example: "  fsmcp explain .env src/main.go",
		Args:    takes(1, math.MaxInt),
		RunE: func(cmd *cobra.Command, paths []string) error {
			f, err := s.inFolders(cmd, f)
			if err != nil {
				return err
			}
			return explain(s, f, paths, asJSON)
		},
	}
	addRuleFlags(cmd, &f)
	addDirFlag(cmd, &f.Dirs)
	addJSONFlag(cmd, &asJSON, "one object a line, for each PATH")
	return cmd
}

func explain(s process, f settings.Flags, paths []string, asJSON bool) error {
	if slices.Contains(paths, "") { // a shell variable without a value, and not the workspace
		return errors.New("a PATH is empty")
	}
	cfg, warnings, err := settings.New(f, s.system, tools.DefaultMaxTokens)
	if err != nil {
		return err
	}
	cfg.Log = ""
	return s.with(cfg, warnings, report.Warnings{Writer: s.err}, func(a *app.App) error {
		return s.explain(a, paths, asJSON)
	})
}

// explain prints the verdict on each path.
func (s process) explain(a *app.App, paths []string, asJSON bool) error {
	out, searcher := s.output(), search.New(search.Options{Checker: a.Access})
	for i, path := range paths {
		v, err := a.Access.Explain(fromWorkDir(s.system, path))
		if err != nil {
			return err
		}
		if asJSON {
			err = out.JSON(report.ExplanationJSON(v, searcher.Explain(v.Path)))
		} else {
			if i > 0 {
				fmt.Fprintln(s.out)
			}
			if err = out.Explanation(v, searcher.Explain(v.Path)); err == nil {
				err = printHooks(out, a.HooksOf(v.Names))
			}
		}
		if err != nil {
			return err
		}
	}
	if !asJSON {
		fmt.Fprintln(s.out, "\nThis is by the settings as they are now; a running fsmcp may still hold tighter rules of an earlier state, until it is restarted.")
	}
	return nil
}

// fromWorkDir resolves relative names in the user's working directory, unlike the tools,
// which use the workspace.
func fromWorkDir(s settings.System, path string) string {
	if filepath.IsAbs(path) || path == "~" || strings.HasPrefix(path, "~/") || tilde(s.OS, path) {
		return path
	}
	return filepath.Join(s.WorkDir, path)
}

// tilde reports whether a name starts from the home directory on a system (GOOS) whose
// shells leave that to programs.
func tilde(system, name string) bool {
	return system == "windows" && (name == "~" || strings.HasPrefix(name, "~/") || strings.HasPrefix(name, `~\`))
}

// printHooks adds the commands that run when the file is changed.
func printHooks(out io.Writer, all []app.HookOfFile) error {
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	for _, h := range all {
		fmt.Fprintf(table, "  hook %s a change\t%s\t%s:%d\n", h.When, fsys.Printable(h.Does), fsys.Printable(h.From), h.Line)
	}
	return table.Flush()
}
