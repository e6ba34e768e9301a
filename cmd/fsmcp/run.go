package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/fsmcp/fsmcp/internal/app"
	"github.com/fsmcp/fsmcp/internal/historypage"
	"github.com/fsmcp/fsmcp/internal/report"
	"github.com/fsmcp/fsmcp/internal/settings"
	"github.com/fsmcp/fsmcp/internal/usage"
)

// process holds the parts of its process that a command may use.
type process struct {
	name        string // the first word of the command line: the program as it was started
	in          *os.File
	out         *os.File
	err         io.Writer
	terminal    bool // standard input is a terminal
	interactive bool // standard error is a terminal, too: the user can be asked
	system      settings.System

	app  app.Options         // what tests set of a session, and the factor on deadlines
	page historypage.Options // what tests set of history open
}

// currentProcess returns the real process.
func currentProcess() process {
	s := process{name: os.Args[0], in: os.Stdin, out: os.Stdout, err: os.Stderr, terminal: isTerminal(os.Stdin), app: app.Options{Slowdown: 1}}
	s.interactive = s.terminal && isTerminal(os.Stderr)
	s.system.Getenv = os.Getenv
	s.system.WorkDir, _ = os.Getwd()
	if home, _ := os.UserHomeDir(); filepath.IsAbs(home) { // else it would be in the workspace
		s.system.Home = home
	}
	s.system = app.WithDisk(s.system)
	return s
}

// output returns where a command's result goes: coloured on a terminal, unless the user asks
// for no colours (source: no-color.org) or the terminal has none. The old console of Windows
// shows the sequences as text; the newer terminals there set one of these variables.
func (s process) output() report.Output {
	env := s.system.Getenv
	terminal := isTerminal(s.out)
	coloured := terminal && env("NO_COLOR") == "" && env("TERM") != "dumb"
	if runtime.GOOS == "windows" {
		coloured = coloured && env("WT_SESSION")+env("TERM")+env("TERM_PROGRAM") != ""
	}
	return report.Output{Writer: s.out, Terminal: terminal, Coloured: coloured}
}

func isTerminal(f *os.File) bool {
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0 && info.Name() != os.DevNull && !isNull(info)
}

// isNull recognizes the null device, which is a character device but no terminal.
func isNull(info os.FileInfo) bool {
	null, err := os.Stat(os.DevNull)
	return err == nil && os.SameFile(null, info)
}

// exit is an error that was already printed and only sets the exit code.
type exit int

func (e exit) Error() string { return fmt.Sprintf("exit %d", int(e)) }

// Exit codes.
const (
	exitFailed exit = 1 // a tool error, or something broke
	exitUsage  exit = 2 // the command line cannot be understood
)

// run runs one command line and returns the exit code.
func run(ctx context.Context, args []string, s process) int {
	root := commands(s, neededFor(args, s.terminal))
	root.SetArgs(args)
	err := root.ExecuteContext(ctx)
	if code := exit(0); errors.As(err, &code) {
		return int(code)
	}
	if err == nil {
		return 0
	}
	if errors.Is(err, syscall.EPIPE) { // head, or a pager, has seen enough
		return int(exitFailed)
	}
	fmt.Fprintf(s.err, "fsmcp: %v\n", err)
	if e := (*fs.PathError)(nil); errors.As(err, &e) && e.Op == "write" {
		return int(exitFailed)
	}
	return int(exitUsage)
}

// subcommand makes a command that the command line calls by one of names.
type subcommand struct {
	names []string
	make  func(process) *cobra.Command
}

func subcommands() []subcommand {
	return []subcommand{
		{[]string{"serve", "stdio"}, serveCommand},
		{[]string{"media-worker"}, mediaCommand},
		{[]string{"config"}, configCommand},
		{[]string{"call"}, callCommand},
		{[]string{"explain"}, explainCommand},
		{[]string{"history"}, historyCommand},
		{[]string{"undo"}, restoreLastCommand},
		{[]string{"tools"}, toolsCommand},
		{[]string{"doctor"}, doctorCommand},
		{[]string{"hook"}, hookCommand},
		{[]string{"version"}, versionCommand},
	}
}

// neededFor returns the commands that a command line may need: the one that it begins with,
// none if there is only a server to start, else all. All of them have more than a hundred
// flags, which take 0.4 ms to make.
func neededFor(args []string, terminal bool) []subcommand {
	all := subcommands()
	if len(args) == 0 && !terminal {
		return nil
	}
	for i, c := range all {
		if len(args) > 0 && slices.Contains(c.names, args[0]) {
			return all[i : i+1]
		}
	}
	return all
}

// commands returns the tree of commands.
func commands(s process, needed []subcommand) *cobra.Command {
	var version bool
	root := &cobra.Command{
		Use:   "fsmcp",
		Short: "Serve files to AI agents: Read, Write, Edit and NotebookEdit over MCP",
		Long: `fsmcp gives an AI agent the tools Read, Write, Edit and NotebookEdit
over the Model Context Protocol.
The agent's client starts it; these commands are for people:

  fsmcp config CLIENT --write    enter it into the client's configuration
  fsmcp doctor                   check that it works here
  fsmcp explain .env             show which rule decides of a file
  fsmcp history list             list the changes that were made
  fsmcp undo                     restore what the last one replaced
  fsmcp call Read '{"file_path": "/your/project/README.md"}'

A client's configuration runs fsmcp serve /your/project, for example after:
  claude mcp add fsmcp -- fsmcp serve /your/project

The exit code is 0, 1 when something failed, and 2 when the command line cannot
be understood.`,
		Args:          takes(0, 0),
		SilenceErrors: true,
		SilenceUsage:  true,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if version {
				return s.printVersion()
			}
			if s.terminal {
				return cmd.Help()
			}
			return serve(cmd.Context(), s, settings.Flags{})
		},
	}
	root.Flags().BoolVar(&version, "version", false, "print the version and the engines found")
	root.SetOut(s.out)
	root.SetErr(s.err)
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error { return usage.Flag(cmd.CommandPath(), cmd.Flags(), err) })
	for _, c := range needed {
		root.AddCommand(c.make(s))
	}
	root.InitDefaultHelpCmd()
	if c, _, err := root.Find([]string{"help"}); err == nil && c != root {
		c.Args = func(_ *cobra.Command, words []string) error { // cobra prints the help of fsmcp for any word
			about, rest, _ := root.Find(words)
			return takes(0, 0)(about, rest)
		}
	}
	root.CompletionOptions.DisableDefaultCmd = len(needed) < len(subcommands())
	root.InitDefaultCompletionCmd()
	if c, _, err := root.Find([]string{"completion"}); err == nil && c != root {
		// Without a RunE cobra takes a shell that it does not know for a call for help.
		c.RunE = func(cmd *cobra.Command, _ []string) error { return cmd.Help() }
		for _, shell := range append(c.Commands(), c) {
			shell.Args = takes(0, 0)
		}
	}
	return root
}

// takes returns a check of the number of a command's words.
func takes(least, most int) cobra.PositionalArgs {
	return func(cmd *cobra.Command, words []string) error {
		_, form, _ := strings.Cut(cmd.Use, " ")
		c := usage.Command{Path: cmd.CommandPath(), Form: form}
		for _, sub := range cmd.Commands() {
			if sub.IsAvailableCommand() {
				c.Commands = append(c.Commands, sub.Name())
			}
		}
		return c.Words(words, least, most)
	}
}

// addFlags adds the flags that decide what a session may do.
func addFlags(cmd *cobra.Command, f *settings.Flags) {
	addRuleFlags(cmd, f)
	addLogFlag(cmd, f)
	addDurabilityFlag(cmd, f)
	addToolsFlag(cmd, f)
	f.Dedup = cmd.Flags().Bool("dedup", true, "answer an unchanged re-read by one line (FSMCP_DEDUP)")
}

func addToolsFlag(cmd *cobra.Command, f *settings.Flags) {
	cmd.Flags().StringVar(&f.Tools, "tools", "", "the tools to offer, a `LIST` of names and sets: "+strings.Join(settings.ToolSets(), ", ")+" (FSMCP_TOOLS; default core)")
	f.ReadOnly = cmd.Flags().Bool("read-only", false, "of these offer only tools that change nothing (FSMCP_READ_ONLY)")
	completeFlag(cmd, "tools", append(settings.ToolNames(), settings.ToolSets()...)...)
}

func addDurabilityFlag(cmd *cobra.Command, f *settings.Flags) {
	cmd.Flags().StringVar(&f.Durability, "durability", "", "how far a write is pushed to the disk, a `WORD`: full, data or none (FSMCP_DURABILITY; default full)")
	completeFlag(cmd, "durability", "full", "data", "none")
}

func addLogFlag(cmd *cobra.Command, f *settings.Flags) {
	cmd.Flags().StringVar(&f.Log, "log", "", "write the log to `FILE` instead of warnings to standard error (FSMCP_LOG)")
}

func addDirFlag(cmd *cobra.Command, dirs *[]string) {
	cmd.Flags().StringArrayVar(dirs, "dir", nil, "workspace `DIR`; may be repeated")
	_ = cmd.MarkFlagDirname("dir") // the flag is there
}

func addJSONFlag(cmd *cobra.Command, asJSON *bool, content string) {
	cmd.Flags().BoolVar(asJSON, "json", false, "print JSON: "+content)
}

// addRuleFlags adds the flags that the rules follow from.
func addRuleFlags(cmd *cobra.Command, f *settings.Flags) {
	flags, outside, quote := cmd.Flags(), "Read(//etc/hosts)", "'"
	if runtime.GOOS == "windows" {
		outside, quote = `Read(C:\ProgramData\**)`, `"` // cmd knows no single quotes
	}
	quoted := func(rule string) string { return quote + rule + quote }
	flags.StringArrayVar(&f.Deny, "deny", nil, "deny `RULE`, such as "+quoted("Read(.env)")+"; may be repeated (FSMCP_DENY, with commas)")
	flags.StringArrayVar(&f.Ask, "ask", nil, "ask before `RULE`, such as "+quoted("Edit(migrations/**)")+" (FSMCP_ASK)")
	flags.StringArrayVar(&f.Allow, "allow", nil, "allow `RULE` outside the workspace, such as "+quoted(outside)+" (FSMCP_ALLOW)")
	flags.StringArrayVar(&f.AddDirs, "add-dir", nil, "one more workspace `DIR`; may be repeated (FSMCP_ADD_DIR, one a line)")
	flags.StringVar(&f.PermissionMode, "permission-mode", "", "what happens where no rule decides, a `MODE`: default, acceptEdits, plan, dontAsk or bypassPermissions (FSMCP_PERMISSION_MODE; default acceptEdits)")
	flags.StringVar(&f.PlanFile, "plan-file", "", "the one `FILE` that may be written in plan mode (FSMCP_PLAN_FILE)")
	flags.IntSliceVar(&f.TrustOwners, "trust-owner", nil, "let settings files of the user with this `UID` count like yours; may be repeated")
	flags.StringVar(&f.Settings, "settings", "", "one more settings `FILE`, at the user's level (FSMCP_SETTINGS)")
	for _, rules := range []string{"deny", "ask", "allow"} {
		completeFlag(cmd, rules)
	}
	completeFlag(cmd, "permission-mode", "default", "acceptEdits", "plan", "dontAsk", "bypassPermissions")
	_ = cmd.MarkFlagDirname("add-dir") // the flag is there
	f.TrustProject = flags.Bool("trust-project", false, "let the project's own settings files allow, too (FSMCP_TRUST_PROJECT)")
	f.NoClaudeSettings = flags.Bool("no-claude-settings", false, "leave out Claude Code's settings files (FSMCP_NO_CLAUDE_SETTINGS)")
}

// explicitFlags keeps only the flags that were on the command line. The environment and
// the files decide the others.
func explicitFlags(cmd *cobra.Command, f settings.Flags) settings.Flags {
	for name, flag := range map[string]**bool{"dedup": &f.Dedup, "read-only": &f.ReadOnly, "trust-project": &f.TrustProject, "no-claude-settings": &f.NoClaudeSettings} {
		if !cmd.Flags().Changed(name) {
			*flag = nil
		}
	}
	return f
}
