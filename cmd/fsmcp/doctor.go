package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"time"

	"github.com/spf13/cobra"

	"github.com/fsmcp/fsmcp/internal/app"
	"github.com/fsmcp/fsmcp/internal/doctor"
	"github.com/fsmcp/fsmcp/internal/owndir"
	"github.com/fsmcp/fsmcp/internal/settings"
	"github.com/fsmcp/fsmcp/internal/tools"
	"github.com/fsmcp/fsmcp/internal/worker"
)

func doctorCommand(s process) *cobra.Command {
	var f settings.Flags
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Check that fsmcp works here, and say what to do where it does not",
		Long: `Check the workspace, the settings files, the programs that decode pictures and
PDFs and what the kernel forbids to them, the language servers, fsmcp's own
folders and the clients' configurations.
Each entry that starts this program is started, and lists its tools. A server of
its own writes, reads and edits a file in a temporary folder; nothing else is
changed.
Each line is ok, warn, skip or fail, and the line below it says what to do. The
workspace is --dir, else the working directory. The exit code is 1 when a check
fails.`,
		Example: "  fsmcp doctor --dir ~/project",
		Args:    takes(0, 0),

		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, _ []string) error {
			checks, err := examine(cmd.Context(), s, inWorkDir(cmd, f))
			if err != nil {
				return err
			}
			r := doctor.NewReport(checks)
			if asJSON {
				err = s.output().JSON(r)
			} else {
				err = s.output().Checks(r)
			}
			if err == nil && !r.OK {
				err = exitFailed
			}
			return err
		},
	}
	addRuleFlags(cmd, &f)
	addDirFlag(cmd, &f.Dirs)
	addJSONFlag(cmd, &asJSON, "one object with all checks")
	return cmd
}

// Deadlines of the checks. A self-test takes about 30 ms.
const (
	checkDeadline    = 5 * time.Second
	selfTestDeadline = 10 * time.Second
	entriesDeadline  = 30 * time.Second // all entries of clients, with a server for each
)

// examine makes all checks.
func examine(ctx context.Context, s process, f settings.Flags) (checks []doctor.Check, err error) {
	cfg, warnings, err := settings.New(f, s.system, tools.DefaultMaxTokens)
	if err != nil {
		return nil, err
	}
	if cfg.EmptyDir() {
		return nil, errors.New("--dir is empty")
	}
	if len(cfg.Workspace) == 0 {
		return nil, errors.New("the working directory is unknown: name a folder by --dir")
	}
	policy, more := app.Policy(cfg)
	warnings = append(warnings, more...)
	within := func(name string, check func() []doctor.Check) {
		checks = append(checks, doctor.Within(checkDeadline, name, check)...)
	}
	version, commit := buildVersion()
	checks = append(checks, doctor.Version("fsmcp "+version, commit, runtime.GOOS+"/"+runtime.GOARCH, runtime.Version()))
	within(doctor.NameWorkspace, func() []doctor.Check { return doctor.Workspace(cfg.Workspace, cfg.Home) })
	checks = append(checks, doctor.Settings(cfg, policy.InForce(), warnings)...)
	found := foundEngines()
	checks = append(checks, doctor.Engines(found)...)
	checks = append(checks, doctor.Sandboxes(runtime.GOOS, decoders(found))...)
	checks = append(checks, doctor.LanguageServers(cfg, app.FindLanguageServer(cfg))...)
	keeps := cfg.History.Enabled && cfg.History.MaxSize > 0
	within(doctor.NameHistory, func() []doctor.Check { return []doctor.Check{doctor.History(cfg.StateDir, keeps)} })
	within(doctor.NamePDFCache, func() []doctor.Check { return []doctor.Check{doctor.PDFCache(owndir.Compiled())} })
	in := installation(s.system, cfg)
	in.Serve = entryServer(s.app.Slowdown)
	checks = append(checks, doctor.Within(s.app.Slowdown*entriesDeadline, doctor.NameClients, func() []doctor.Check { return doctor.Clients(in) })...)
	within(doctor.NameWatcher, func() []doctor.Check {
		return []doctor.Check{doctor.Watcher(cfg.Workspace[0], doctor.InotifyLimits)}
	})
	return append(checks, doctor.SelfTest(ctx, ownServer(s.app.Slowdown))...), nil
}

// foundEngines returns the programs beside this one, with what they say of themselves.
func foundEngines() []doctor.DecoderProgram {
	folder := filepath.Dir(ownFile())
	list := []doctor.DecoderProgram{
		{
			Name: "fsmcp-media", Path: findMedia(), Needed: true, Without: "no PDF can be read",
			Install: fmt.Sprintf("Put fsmcp-media in %s (make build makes it), or name it with FSMCP_MEDIA.", folder),
		},
		{
			Name: "fsmcp-vips", Path: findVips(), Without: "HEIC, AVIF and rare forms of TIFF and JPEG cannot be read",
			Install: fmt.Sprintf("Install libvips and put fsmcp-vips in %s (make build makes it), or name it with FSMCP_VIPS.", folder),
		},
	}
	for i := range list {
		if list[i].Path != "" {
			list[i].Version = engineVersion(list[i].Path)
		}
	}
	return list
}

// decoders returns the programs that start, with what they say of their sandbox.
func decoders(found []doctor.DecoderProgram) (list []doctor.Decoder) {
	for _, e := range found {
		if e.Version != "" {
			answer := worker.AskSandbox(e.Path, workerEnv(), app.Cage(), 2*time.Second)
			list = append(list, doctor.Decoder{Path: e.Path, Answer: answer})
		}
	}
	return list
}

func installation(s settings.System, cfg settings.Config) doctor.Installation {
	return doctor.Installation{System: app.ClientSystem(s), Dirs: cfg.Workspace, Program: ownProgram(), Split: serveArguments, Look: exec.LookPath}
}

// entryServer returns a function that starts this program as a client's entry does, with the
// user's variables and those of the entry.
func entryServer(slowdown time.Duration) func(dir string, args, env []string) error {
	server := doctor.TestedProgram{Path: ownProgram(), Deadline: slowdown * selfTestDeadline}
	return func(dir string, args, env []string) error {
		return server.Serves(dir, args, append(os.Environ(), env...))
	}
}

// ownServer returns this program as the self-test starts it: with none of the user's
// variables, and so without settings, history and cache of theirs.
func ownServer(slowdown time.Duration) doctor.TestedProgram {
	env := []string{"GORACE=atexit_sleep_ms=0"}
	if root, ok := os.LookupEnv("SYSTEMROOT"); ok { // Windows starts nothing without it
		env = append(env, "SYSTEMROOT="+root)
	}
	return doctor.TestedProgram{
		Path: ownProgram(), Args: []string{"fsmcp", "serve"}, Env: env,
		Home: func(dir string) (vars []string) {
			for _, name := range []string{"HOME", "USERPROFILE", "APPDATA", "LOCALAPPDATA", "TMPDIR", "TMP", "TEMP"} {
				vars = append(vars, name+"="+dir)
			}
			return vars
		},
		Temp: os.TempDir(), Deadline: slowdown * selfTestDeadline,
	}
}
