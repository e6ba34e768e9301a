package main

import (
	"context"
	"fmt"
	"io"

	"github.com/rs/zerolog"
	"github.com/spf13/cobra"

	"github.com/fsmcp/fsmcp/internal/app"
	"github.com/fsmcp/fsmcp/internal/logging"
	"github.com/fsmcp/fsmcp/internal/report"
	"github.com/fsmcp/fsmcp/internal/settings"
	"github.com/fsmcp/fsmcp/internal/tools"
	"github.com/fsmcp/fsmcp/internal/worker"
)

func serveCommand(s process) *cobra.Command {
	var f settings.Flags
	cmd := &cobra.Command{
		Use:     "serve [DIR...]",
		Aliases: []string{"stdio"},
		Short:   "Serve a client on standard input and output",
		Long: `Serve a client on standard input and output, over the Model Context Protocol.

Each DIR is a workspace directory: files in it are read and written without a
question. Without DIR it is CLAUDE_PROJECT_DIR, else what the client names as
its roots, else the working directory; the home directory and / count only when
they are named.

FSMCP_MAX_OUTPUT_TOKENS bounds the text of one Read (default 25000),
FSMCP_MAX_FILE_BYTES the file that it reads as a whole (default 256KB),
FSMCP_MAX_IMAGE_TOKENS one image (default 83334), and FSMCP_PDF_MODE=document
hands PDFs on as documents; each beats the settings. FSMCP_MEDIA and FSMCP_VIPS
name the programs that decode where they do not lie beside fsmcp.`,
		ValidArgsFunction: cobra.FixedCompletions(nil, cobra.ShellCompDirectiveFilterDirs),
		RunE: func(cmd *cobra.Command, dirs []string) error {
			f.Dirs = dirs
			return serve(cmd.Context(), s, explicitFlags(cmd, f))
		},
	}
	addFlags(cmd, &f)
	return cmd
}

// serve runs one session on standard input and output. Every clean end (end of input, a
// signal, a client that left) is exit code 0.
func serve(ctx context.Context, s process, f settings.Flags) error {
	cfg, warnings, err := settings.New(f, s.system, tools.DefaultMaxTokens)
	if err != nil {
		return err
	}
	out, err := worker.KeepOutput(s.out, "protocol")
	if err != nil {
		return fmt.Errorf("standard output cannot be kept for the protocol: %w", err)
	}
	var stderr io.Writer = s.err
	if s.interactive { // a person has started it
		stderr = report.Warnings{Writer: s.err}
	}
	return s.with(cfg, warnings, stderr, func(a *app.App) error {
		if cfg.Log != "" { // the log has it, too
			logging.Say(s.err, a.FolderFaults())
		}
		if a.Serve(ctx, s.in, out) != nil {
			return exitFailed
		}
		return nil
	})
}

// with makes the parts of a session, runs f with them and closes them. Without a log file,
// warnings go to stderr.
func (s process) with(cfg settings.Config, warnings []string, stderr io.Writer, f func(*app.App) error) error {
	logger, closeLog, err := logging.Open(cfg.Log, stderr)
	if err != nil {
		return err
	}
	defer closeLog()
	for _, w := range warnings {
		logger.Warn().Msg(w)
	}
	a, err := s.newApp(cfg, logger)
	if err != nil {
		return err
	}
	defer a.Close()
	return f(a)
}

func (s process) newApp(cfg settings.Config, log zerolog.Logger) (*app.App, error) {
	o := s.app
	o.Settings, o.Log, o.Programs = cfg, log, programs()
	o.Version, _ = buildVersion()
	return app.New(o)
}

// withFlags is with for a command for people, with the settings that follow from flags: its
// warnings are sentences.
func (s process) withFlags(flags settings.Flags, f func(*app.App) error) error {
	cfg, warnings, err := settings.New(flags, s.system, tools.DefaultMaxTokens)
	if err != nil {
		return err
	}
	return s.with(cfg, warnings, report.Warnings{Writer: s.err}, f)
}

// inWorkDir returns the flags of a command that takes the working directory for the
// workspace if no other is named.
func inWorkDir(cmd *cobra.Command, f settings.Flags) settings.Flags {
	if len(f.Dirs) == 0 {
		f.Dirs = []string{"."}
	}
	return explicitFlags(cmd, f)
}

// inFolders is inWorkDir for a command that needs its folders now, unlike serve, where they
// may come later: a --dir that is no directory is an error.
func (s process) inFolders(cmd *cobra.Command, f settings.Flags) (settings.Flags, error) {
	for _, dir := range f.Dirs {
		if _, err := s.folder(dir); err != nil {
			return f, err
		}
	}
	return inWorkDir(cmd, f), nil
}
