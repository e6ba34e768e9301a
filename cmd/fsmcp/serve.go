package main

import (
	"context"
	"crypto/rand"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"github.com/rs/zerolog"
	"github.com/spf13/cobra"

	"github.com/fsmcp/fsmcp/internal/config"
	"github.com/fsmcp/fsmcp/internal/darkroom"
	"github.com/fsmcp/fsmcp/internal/fsys"
	"github.com/fsmcp/fsmcp/internal/history"
	"github.com/fsmcp/fsmcp/internal/hooks"
	"github.com/fsmcp/fsmcp/internal/perm"
	"github.com/fsmcp/fsmcp/internal/save"
	"github.com/fsmcp/fsmcp/internal/server"
	"github.com/fsmcp/fsmcp/internal/tokens"
	"github.com/fsmcp/fsmcp/internal/tools"
	"github.com/fsmcp/fsmcp/internal/watch"
	"github.com/fsmcp/fsmcp/internal/worker"
	"github.com/fsmcp/fsmcp/schemas"
)

func serveCommand(s surroundings) *cobra.Command {
	var f config.Flags
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
FSMCP_MAX_IMAGE_TOKENS one image (default 83334), and FSMCP_PDF_MODE=document
hands PDFs on as documents; each beats the settings. FSMCP_MEDIA and FSMCP_VIPS
name the programs that decode where they do not lie beside fsmcp.`,
		RunE: func(cmd *cobra.Command, dirs []string) error {
			f.Dirs = dirs
			return serve(cmd.Context(), s, given(cmd, f))
		},
	}
	addFlags(cmd, &f)
	return cmd
}

// serve runs one session on standard input and output. Every clean end (end of
// input, a signal, a client that is gone) is exit code 0.
func serve(ctx context.Context, s surroundings, f config.Flags) error {
	cfg, warnings, err := config.New(f, s.config, tools.DefaultMaxTokens)
	if err != nil {
		return err
	}
	out, err := protocolOutput(s.out)
	if err != nil {
		return fmt.Errorf("standard output cannot be kept for the protocol: %w", err)
	}
	log, closeLog, err := openLog(cfg.Log, s.err)
	if err != nil {
		return err
	}
	defer closeLog()
	for _, w := range warnings {
		log.Warn().Msg(w)
	}
	p, err := assemble(s, cfg, log)
	if err != nil {
		return err
	}
	defer p.saver.Close()
	defer p.workers.Close()
	defer p.readers.Close()
	ctx, ended := context.WithCancel(ctx)
	defer ended()
	defer p.history.Close()
	defer p.hooks.Close()
	go p.sweep(ctx, log)
	go p.rules.keepUp(ctx)
	go p.warm(ctx, log)
	if err := p.server.Serve(ctx, s.in, out); err != nil {
		log.Error().Err(err).Msg("serving ended")
		return exitFailed
	}
	return nil
}

// parts are what a session is built of.
type parts struct {
	history *history.Store
	hooks   *hooks.Runner

	house  *tools.House
	saver  *save.Saver
	server *server.Server
	rules  *rulebook

	workers, readers *worker.Pool
	compiling        *worker.Pool // in the background
	lull             *lull
}

// assemble builds every part by hand. It touches no file but to find out where
// the links of the workspace lead.
func assemble(s surroundings, cfg config.Config, log zerolog.Logger) (*parts, error) {
	rules := newRulebook(cfg, log)
	saver, store := keeping(rules, save.Options{
		StateDir:      cfg.StateDir,
		Durability:    durability(cfg.Durability),
		KeepHardLinks: cfg.KeepHardLinks,
		Now:           time.Now,
		Rand:          rand.Reader,
	})
	workers, readers, compiling := newWorkers(log), newReaders(log), newCompiler(log)
	var marks tools.Watcher = &watch.Marks{Below: rules.tops}
	if s.watcher != nil {
		marks = s.watcher(marks)
	}
	telling := &teller{rules: rules, log: log}
	runner := hooks.New(hooks.Options{Dir: saver.StateDir})
	house := tools.New(tools.Options{
		Lexer:     rules.lexer,
		Resolver:  fsys.NewResolver(nil),
		Policy:    rules.policy,
		Saver:     saver,
		Counter:   tokens.Local{},
		Exact:     rules.exact,
		MaxTokens: cfg.MaxTokens,
		Now:       time.Now,
		Keeper:    store,
		Teller:    telling,
		Hooks:     &hooking{rules: rules, runner: runner, log: log},
		Watcher:   marks,
		LookFor:   s.lookFor,

		Preferences: rules.preferences,

		Pictures: darkroom.New(workers),
		Pages:    darkroom.New(readers),
	})
	telling.announce = house.Announce
	idle := &lull{workers: []*worker.Pool{workers, readers, compiling}}
	srv, err := server.New(server.Options{
		Version:    version,
		Tools:      idle.watched(house.Tools()),
		NewSession: house.NewSession,
		Schemas:    schemas.Files,
		Workspace:  cfg.Workspace,
		FileKey:    house.Key,
		AskTimeout: cfg.AskTimeout,
		WantRoots:  cfg.RootsWanted,
		Roots:      rules.follow,
		Limits:     func(client string, known tools.ClientLimits) tools.ClientLimits { return corrected(cfg, client, known) },
		Refused:    house.Refused,
		Log:        log,
	})
	if err != nil {
		return nil, err
	}
	return &parts{house: house, saver: saver, history: store, hooks: runner, server: srv, rules: rules, workers: workers, readers: readers, compiling: compiling, lull: idle}, nil
}

// corrected is what a client passes on, as the settings have it: characters that
// they name are those of the whole answer, pictures as they are sent.
func corrected(cfg config.Config, client string, known tools.ClientLimits) tools.ClientLimits {
	l := cfg.ClientLimit(client, config.ClientLimit{Tokens: known.Tokens, Chars: known.Chars})
	if l.Chars != known.Chars {
		known.Answer = l.Chars
	}
	known.Tokens, known.Chars = l.Tokens, l.Chars
	return known
}

// permissions is what the policy is compiled from.
func permissions(cfg config.Config) perm.Config {
	mode, _ := perm.ParseMode(cfg.Mode) // what is not known was warned of
	c := perm.Config{
		Home:          cfg.Home,
		StateDir:      cfg.StateDir,
		CacheDir:      cacheDir(),
		PlanFile:      cfg.PlanFile,
		Mode:          mode,
		TrustProject:  cfg.TrustProject,
		CaseSensitive: runtime.GOOS != "darwin" && runtime.GOOS != "windows",
		Windows:       runtime.GOOS == "windows",
	}
	for _, names := range fsys.NewResolver(cfg.Workspace).RootNames() {
		c.Workspace = append(c.Workspace, perm.Dir{Name: names[0], Real: names[len(names)-1]})
		c.Aliases = append(c.Aliases, aliases(names)...)
	}
	for _, b := range cfg.Broken {
		c.Broken = append(c.Broken, perm.BrokenFile(b))
	}
	add := func(list perm.List, rules []config.Rule) {
		for _, r := range rules {
			c.Rules = append(c.Rules, perm.RuleText{Text: r.Text, List: list, Source: perm.Source{
				Name: r.From, Line: r.Line, Level: perm.Level(r.Level), Anchor: r.Anchor, Claude: r.Claude,
			}})
		}
	}
	add(perm.Deny, cfg.Deny)
	add(perm.Ask, cfg.Ask)
	add(perm.Allow, cfg.Allow)
	anchors := perm.Anchors(c)
	for _, names := range fsys.NewResolver(anchors).RootNames() {
		c.Aliases = append(c.Aliases, aliases(names)...)
	}
	return c
}

// cacheDir is where programs of fsmcp keep what they compile.
func cacheDir() string {
	dir, err := os.UserCacheDir()
	if err != nil {
		return ""
	}
	return filepath.Join(dir, "fsmcp")
}

// aliases are the other names of a directory that is reached by links.
func aliases(names []string) (out []perm.Dir) {
	for _, other := range names[1:] {
		out = append(out, perm.Dir{Name: names[0], Real: other})
	}
	return out
}

func durability(word string) save.Durability {
	switch word {
	case "data":
		return save.Data
	case "none":
		return save.None
	}
	return save.Full
}

// sweep clears up after processes that died, and has the next answer tell what
// was kept of theirs.
func (p *parts) sweep(ctx context.Context, log zerolog.Logger) {
	hooks.Sweep(p.saver.StateDirs()...)
	report, err := p.saver.Sweep(ctx)
	if err != nil {
		log.Warn().Err(err).Msg("clearing up after an earlier process failed")
	}
	if report.Removed > 0 {
		log.Info().Int("files", report.Removed).Msg("temporary files of dead processes were removed")
	}
	p.house.Announce(sweepNotices(report)...)
}

func sweepNotices(r save.SweepReport) []string {
	var out []string
	for _, name := range r.Replayed {
		out = append(out, fmt.Sprintf("An earlier write in place of %s was cut short by a crash; it is finished now.", fsys.Printable(name)))
	}
	for _, name := range r.Torn {
		out = append(out, fmt.Sprintf("An earlier write in place of %s was cut short by a crash, and the file was changed since; it was left alone.", fsys.Printable(name)))
	}
	for _, id := range r.Rescued {
		out = append(out, fmt.Sprintf("Text that was found after a crash and is known nowhere else was kept in fsmcp's history; the user gets it back by: fsmcp history show %s", id))
	}
	for _, name := range r.Saved {
		out = append(out, fmt.Sprintf("Text that was found after a crash and is known nowhere else was kept as %s.", fsys.Printable(name)))
	}
	return out
}
