package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/fsmcp/fsmcp/internal/clients"
	"github.com/fsmcp/fsmcp/internal/fsys"
	"github.com/fsmcp/fsmcp/internal/save"
	"github.com/fsmcp/fsmcp/internal/settings"
	"github.com/fsmcp/fsmcp/internal/tools"
)

func configCommand(s process) *cobra.Command {
	var dirs []string
	var write, asJSON bool
	cmd := &cobra.Command{
		Use:   "config CLIENT",
		Short: "Print what a client's configuration needs, or enter it there",
		Long: `Print the text that the configuration of CLIENT needs to start fsmcp, with
absolute paths. Standard output is that text alone; standard error names the
file on this system and the client's own command. The workspace is --dir, else
the working directory.

--write enters the text into the file. All else in the file stays as it is,
comments too, and FILE.bak keeps the old file. A file that is broken, or that is
TOML or YAML, is left alone, and the exit code is 1.

CLIENT is one of:
  ` + strings.Join(clients.Names(), "\n  "),
		Example: `  fsmcp config claude-desktop --write --dir ~/project
  fsmcp config codex --json`,
		Args: cobra.ExactArgs(1),

		ValidArgsFunction: completeClient,
		RunE: func(cmd *cobra.Command, args []string) error {
			return configure(cmd.Context(), s, args[0], dirs, write, asJSON)
		},
	}
	addDirFlag(cmd, &dirs)
	cmd.Flags().BoolVar(&write, "write", false, "enter it into the client's file")
	addJSONFlag(cmd, &asJSON, "one object with the text, the file, the format and the command")
	return cmd
}

// configure prints the text for one client, and enters it if write says so.
func configure(ctx context.Context, s process, name string, dirs []string, write, asJSON bool) error {
	client, ok := clients.Find(name)
	if !ok {
		return fmt.Errorf("there is no client %q; the clients are %s", name, strings.Join(clients.Names(), ", "))
	}
	server, err := thisServer(s, dirs)
	if err != nil {
		return err
	}
	e := clients.Entry{Client: client, Server: server, System: clientSystem(s.system)}
	if asJSON {
		err = e.PrintJSON(s.out)
	} else {
		err = e.Print(s.out, s.err)
	}
	if err != nil || !write {
		return err
	}
	return s.enter(ctx, e)
}

// clientSystem collects what the places of the clients' files depend on.
func clientSystem(s settings.System) clients.System {
	folder := func(name string) string {
		if v := s.Getenv(name); filepath.IsAbs(v) {
			return v
		}
		return ""
	}
	return clients.System{
		OS: s.OS, Home: s.Home, ConfigHome: folder("XDG_CONFIG_HOME"), AppData: folder("APPDATA"),
		CodexHome: folder("CODEX_HOME"), GeminiHome: folder("GEMINI_CLI_HOME"),
		ClaudeHome: folder("CLAUDE_CONFIG_DIR"),
		Exists:     func(name string) bool { _, err := os.Stat(name); return err == nil },
	}
}

// thisServer returns this program and the workspace as a client is to start it.
func thisServer(s process, dirs []string) (clients.Server, error) {
	if len(dirs) == 0 {
		dirs = []string{"."}
	}
	server := clients.Server{Flags: serveFlags}
	for _, dir := range dirs {
		abs, err := s.folder(dir)
		if err != nil {
			return server, err
		}
		server.Dirs = append(server.Dirs, abs)
	}
	var err error
	if server.Program, err = programPath(s.name, s.system.WorkDir); err != nil {
		return server, fmt.Errorf("the path of this program is unknown: %w", err)
	}
	for _, path := range append([]string{server.Program}, server.Dirs...) {
		if !utf8.ValidString(path) {
			return server, fmt.Errorf("%q is not UTF-8, and no configuration can hold it", path)
		}
	}
	return server, nil
}

// folder returns the absolute path of the directory that --dir names.
func (s process) folder(dir string) (string, error) {
	abs := dir
	if !filepath.IsAbs(dir) {
		if s.system.WorkDir == "" {
			return "", errors.New("the working directory is unknown: --dir names the workspace, with its absolute path")
		}
		abs = filepath.Join(s.system.WorkDir, dir)
	}
	abs = filepath.Clean(abs)
	if info, err := os.Stat(abs); err != nil || !info.IsDir() {
		return "", fmt.Errorf("--dir %s is not a directory", fsys.Printable(dir))
	}
	return abs, nil
}

// programPath returns the absolute path of this program, which was started by name. The
// system's own answer has links resolved, so it would name one version's folder where a
// package manager keeps a link; it counts if the name leads elsewhere by now.
func programPath(name, workDir string) (string, error) {
	self, err := os.Executable()
	if err != nil {
		return "", err
	}
	name, err = exec.LookPath(name)
	if err != nil && !errors.Is(err, exec.ErrDot) {
		return self, nil
	}
	if !filepath.IsAbs(name) {
		name = filepath.Join(workDir, name)
	}
	if a, err := os.Stat(name); err == nil {
		if b, err := os.Stat(self); err == nil && os.SameFile(a, b) {
			return filepath.Clean(name), nil
		}
	}
	return self, nil
}

// serveFlags returns the flags among the arguments of serve, as they are spelt. A flag
// that this program does not know is an error, since the word behind it may be its value.
func serveFlags(args []string) (flags []string, err error) {
	set := serveCommand(process{}).Flags()
	for i := 0; i < len(args) && args[i] != "--"; i++ {
		name, isFlag := strings.CutPrefix(args[i], "--")
		if !isFlag {
			continue // a folder: serve has no short flags
		}
		name, _, valued := strings.Cut(name, "=")
		flag := set.Lookup(name)
		if flag == nil {
			return nil, fmt.Errorf("serve has no flag --%s", name)
		}
		flags = append(flags, args[i])
		if !valued && flag.NoOptDefVal == "" && i+1 < len(args) {
			i++
			flags = append(flags, args[i])
		}
	}
	return flags, nil
}

// enter merges the server into the client's file.
func (s process) enter(ctx context.Context, e clients.Entry) error {
	cfg, _, err := settings.New(settings.Flags{}, s.system, tools.DefaultMaxTokens)
	if err != nil {
		return err
	}
	saver := save.New(save.Options{StateDir: cfg.StateDir})
	defer saver.Close()
	done, err := e.Enter(ctx, saver)
	if err != nil {
		return s.failed("%s", fsys.Printable(err.Error())) // it may quote the file
	}
	_, err = fmt.Fprintln(s.err, fsys.Printable(done))
	return err
}
