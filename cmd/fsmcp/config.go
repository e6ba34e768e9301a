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

	"github.com/fsmcp/fsmcp/internal/app"
	"github.com/fsmcp/fsmcp/internal/clients"
	"github.com/fsmcp/fsmcp/internal/fsys"
	"github.com/fsmcp/fsmcp/internal/report"
	"github.com/fsmcp/fsmcp/internal/save"
	"github.com/fsmcp/fsmcp/internal/settings"
	"github.com/fsmcp/fsmcp/internal/usage"
)

func configCommand(s process) *cobra.Command {
	var o configOptions
	cmd := &cobra.Command{
		Use:   "config [CLIENT]",
		Short: "Print what a client's configuration needs, or enter it there",
		Long: `Print the text that the configuration of CLIENT needs to start fsmcp, with
absolute paths. Standard output is that text alone; standard error names the
file on this system and the client's own command. The workspace is --dir, else
the working directory; --all-projects leaves it to the client. With --read-only
fsmcp changes no file. Without CLIENT it lists the clients that it finds on this
machine.

--write enters the text into the file. An entry that is there already also keeps
its folders, unless --replace is given. Its flags, environment and other keys
are shown, and go unless --keep keeps them: those that can loosen only where
--keep names them. All else in the file stays as it is, comments too, and
FILE.fsmcp.bak keeps the old file. --remove takes the entry out again. A file
that is broken, or that is TOML or YAML, is left alone, and the exit code is 1.

CLIENT is one of:
  ` + strings.Join(clients.Names(), "\n  "),
		Example: `  fsmcp config claude-desktop --write --dir ~/project
  fsmcp config cursor --write --keep --keep=--trust-project
  fsmcp config codex --json`,
		Args: takes(0, 1),

		ValidArgsFunction: completeClient,
		RunE: func(cmd *cobra.Command, args []string) error {
			if !cmd.Flags().Changed("read-only") {
				o.readOnly = nil
			}
			if len(args) == 0 {
				return s.listClients(o)
			}
			return configure(cmd.Context(), s, args[0], o)
		},
	}
	addDirFlag(cmd, &o.dirs)
	flags := cmd.Flags()
	flags.BoolVar(&o.write, "write", false, "enter it into the client's file")
	flags.BoolVar(&o.replace, "replace", false, "serve these folders alone, not also those of the entry that is there")
	flags.BoolVar(&o.allProjects, "all-projects", false, "name no folder: the client's roots, CLAUDE_PROJECT_DIR or the working directory count")
	flags.StringArrayVar(&o.keep, "keep", nil, "keep what the entry holds and cannot loosen, or the `ITEM` named; may be repeated")
	flags.Lookup("keep").NoOptDefVal = clients.KeepHarmless
	o.readOnly = flags.Bool("read-only", false, "have it offer only tools that change nothing; =false takes that back")
	flags.BoolVar(&o.remove, "remove", false, "take the entry out of the client's file")
	addJSONFlag(cmd, &o.asJSON, "one object with the text, the file, the format and the command")
	return cmd
}

// configOptions are the flags of config.
type configOptions struct {
	dirs, keep                                  []string
	write, remove, replace, allProjects, asJSON bool
	readOnly                                    *bool // nil: as the entry that is there
}

// fault returns an error if flags contradict each other.
func (o configOptions) fault() error {
	switch {
	case o.allProjects && len(o.dirs) > 0:
		return errors.New("--all-projects names no folder: leave --dir out")
	case o.remove && (o.write || o.replace || o.allProjects || o.readOnly != nil || len(o.keep) > 0):
		return errors.New("--remove goes with --dir alone")
	case !o.write && (o.replace || len(o.keep) > 0):
		return errors.New("--replace and --keep go with --write")
	}
	return nil
}

// listClients prints which clients are found on this machine, and which of them have fsmcp.
func (s process) listClients(o configOptions) error {
	if o.write || o.remove || o.replace || o.allProjects || o.readOnly != nil || len(o.keep) > 0 {
		return errors.New("CLIENT is missing: fsmcp config CLIENT; fsmcp config alone lists the clients on this machine")
	}
	server, err := thisServer(s, o.dirs)
	if err != nil {
		return err
	}
	found := clients.FindInstalled(app.ClientSystem(s.system), server.Dirs, exec.LookPath)
	if o.asJSON {
		return s.output().JSON(map[string]any{"clients": append([]clients.Installed{}, found...)})
	}
	return s.output().Lines(clients.ListInstalled(found))
}

// configure prints the text for one client, and enters it or takes it out if the options say
// so.
func configure(ctx context.Context, s process, name string, o configOptions) error {
	client, ok := clients.Find(name)
	if !ok {
		return fmt.Errorf("there is no client %q%s; the clients are %s", name, usage.Nearest(name, clients.Names()), strings.Join(clients.Names(), ", "))
	}
	if err := o.fault(); err != nil {
		return err
	}
	server, err := thisServer(s, o.dirs)
	if err != nil {
		return err
	}
	e := clients.ReportedServer{Client: client, Server: server, System: app.ClientSystem(s.system), Project: server.Dirs[0], Keep: o.keep}
	e.Server.Replace, e.Server.ReadOnly = o.replace, o.readOnly
	if o.allProjects {
		e.Server.Dirs = nil
	}
	if o.remove {
		return s.change(ctx, e.Remove)
	}
	if o.asJSON {
		err = e.PrintJSON(s.out)
	} else {
		err = e.Print(s.out, s.err)
	}
	if err != nil || !o.write {
		return err
	}
	return s.change(ctx, e.Enter)
}

// thisServer returns this program and the workspace as a client is to start it.
func thisServer(s process, dirs []string) (clients.Launch, error) {
	if len(dirs) == 0 {
		dirs = []string{"."}
	}
	server := clients.Launch{Split: serveArguments}
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
	if dir == "" { // a shell variable without a value
		return "", errors.New("--dir is empty")
	}
	abs := filepath.Clean(dir)
	if tilde(s.system.OS, dir) {
		abs = s.system.Absolute(dir, s.system.WorkDir)
	} else if !filepath.IsAbs(dir) {
		if s.system.WorkDir == "" {
			return "", errors.New("the working directory is unknown: --dir names the workspace, with its absolute path")
		}
		abs = filepath.Join(s.system.WorkDir, dir)
	}
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

// serveArguments parts the arguments of serve.
func serveArguments(args []string) (clients.Arguments, error) {
	set := serveCommand(process{}).Flags()
	return clients.SplitArguments(args, func(name string) (valued, known bool) {
		flag := set.Lookup(name)
		return flag != nil && flag.NoOptDefVal == "", flag != nil
	})
}

// change changes the client's file, and prints what became of it.
func (s process) change(ctx context.Context, do func(context.Context, *save.Saver) ([]string, error)) error {
	saver := save.New(save.Options{StateDir: settings.StateDir(s.system)})
	defer saver.Close()
	lines, err := do(ctx, saver)
	if err != nil {
		return s.failed("%s", fsys.Printable(err.Error())) // it may quote the file
	}
	return report.Output{Writer: s.err}.Lines(lines)
}
