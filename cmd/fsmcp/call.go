package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/rs/zerolog"
	"github.com/spf13/cobra"

	"github.com/fsmcp/fsmcp/internal/app"
	"github.com/fsmcp/fsmcp/internal/fsys"
	"github.com/fsmcp/fsmcp/internal/procgroup"
	"github.com/fsmcp/fsmcp/internal/report"
	"github.com/fsmcp/fsmcp/internal/server"
	"github.com/fsmcp/fsmcp/internal/server/arguments"
	"github.com/fsmcp/fsmcp/internal/settings"
	"github.com/fsmcp/fsmcp/internal/toolcall"
	"github.com/fsmcp/fsmcp/internal/tools"
)

func callCommand(s process) *cobra.Command {
	var f settings.Flags
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "call TOOL ARGUMENTS [TOOL ARGUMENTS...]",
		Short: "Make calls by hand, in one session",
		Long: `Make calls by hand, in one session, and print the answers that a client would
get. ARGUMENTS are one JSON object, or words NAME=VALUE. Every tool is there,
also Glob and Grep. The workspace is --dir, else the working directory. fsmcp
asks for consent on a terminal; elsewhere a call that needs consent is refused.
The exit code is 1 when a call failed.`,
		Example: `  fsmcp call Read '{"file_path": "a.txt"}' Edit '{"file_path": "a.txt", "old_string": "x", "new_string": "y"}'
  fsmcp call Grep pattern='func main' type=go output_mode=content`,
		Args: func(_ *cobra.Command, args []string) error {
			_, err := arguments.Lines(args)
			return err
		},
		ValidArgsFunction: completeTool,
		RunE: func(cmd *cobra.Command, args []string) error {
			f.EveryTool = true
			f, err := s.inFolders(cmd, f)
			if err != nil {
				return err
			}
			return s.withFlags(f, func(a *app.App) error {
				a.Sweep(cmd.Context())
				return callAll(cmd, s, a, args, asJSON)
			})
		},
	}
	addFlags(cmd, &f)
	addDirFlag(cmd, &f.Dirs)
	addJSONFlag(cmd, &asJSON, "the raw results, one a line")
	return cmd
}

// callAll makes the calls one after the other; a failed one does not stop the rest.
func callAll(cmd *cobra.Command, s process, a *app.App, args []string, asJSON bool) error {
	a.Languages.Close() // it would end before a server had anything to report
	defer procgroup.OnFatalSignal(a.Hooks.Close)()
	defer context.AfterFunc(cmd.Context(), a.Hooks.Close)() // an interrupted command does not wait for its hooks
	session := a.Service.NewSession("")
	var ask func(message string) server.ConsentAnswer
	if s.interactive {
		ask = prompt(cmd.Context(), s.in, s.err)
	}
	failed := false
	calls, _ := arguments.Lines(args) // they were checked
	for i, c := range calls {
		result, err := a.Server.Call(cmd.Context(), toolcall.Call{Session: session, ID: strconv.Itoa(i + 1)}, c.Tool, c.Arguments, ask)
		if err != nil {
			return err
		}
		failed = failed || result.IsError
		if err := show(s.output(), result, asJSON); err != nil {
			return err
		}
	}
	if failed {
		return exitFailed
	}
	return nil
}

// prompt asks a person: o or y for this call, s for this file from now on, anything else
// for no.
func prompt(ctx context.Context, in io.Reader, out io.Writer) func(message string) server.ConsentAnswer {
	words := make(chan string)
	lines := bufio.NewScanner(in)
	return func(message string) server.ConsentAnswer {
		if ctx.Err() != nil {
			return server.No
		}
		for line := range strings.Lines(message) {
			fmt.Fprintln(out, fsys.Printable(strings.TrimSuffix(line, "\n")))
		}
		fmt.Fprint(out, "Allow it? [o]nce, for this [s]ession, [n]o: ")
		go func() { // a blocked read cannot be interrupted
			lines.Scan()
			words <- strings.ToLower(strings.TrimSpace(lines.Text()))
		}()
		select {
		case word := <-words:
			switch word {
			case "o", "once", "y", "yes":
				return server.Once
			case "s", "session":
				return server.Session
			}
		case <-ctx.Done():
			fmt.Fprintln(out)
		}
		return server.No
	}
}

// show prints the answer to a call.
func show(out report.Output, r *toolcall.Result, asJSON bool) error {
	if asJSON {
		_, err := fmt.Fprintf(out, "%s\n", server.EncodeResult(r))
		return err
	}
	for _, b := range r.Blocks {
		text := b.Text
		if b.MIME != "" {
			text = fmt.Sprintf("[%s, %d bytes]", b.MIME, len(b.Data))
		}
		if err := out.Answer(text, r.IsError); err != nil {
			return err
		}
	}
	return nil
}

func toolsCommand(s process) *cobra.Command {
	var f settings.Flags
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "tools",
		Short: "List the published tools",
		Args:  takes(0, 0),

		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, _ []string) error {
			cfg, _, err := settings.New(explicitFlags(cmd, f), s.system, tools.DefaultMaxTokens)
			if err != nil {
				return err
			}
			a, err := s.newApp(cfg, zerolog.Nop())
			if err != nil {
				return err
			}
			list := a.Server.List()
			if asJSON {
				_, err = fmt.Fprintf(s.out, "%s\n", list)
				return err
			}
			return s.output().Tools(list)
		},
	}
	addToolsFlag(cmd, &f)
	addJSONFlag(cmd, &asJSON, "the tools/list result")
	return cmd
}

func versionCommand(s process) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "version",
		Short: "Print the version and the engines found",
		Args:  takes(0, 0),

		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(*cobra.Command, []string) error {
			if !asJSON {
				return s.printVersion()
			}
			version, commit := buildVersion()
			return s.output().JSON(map[string]any{"version": version, "commit": commit, "engines": engines()})
		},
	}
	addJSONFlag(cmd, &asJSON, "one object")
	return cmd
}

func (s process) printVersion() error {
	version, commit := buildVersion()
	_, err := fmt.Fprintf(s.out, "fsmcp %s (%s), engines: %s\n", version, commit, strings.Join(engines(), ", "))
	return err
}
