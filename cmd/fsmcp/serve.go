package main

import (
	"context"
	"crypto/rand"
	"fmt"
	"io"
	"path/filepath"
	"runtime"
	"slices"
	"time"

	"github.com/rs/zerolog"
	"github.com/spf13/cobra"

	"github.com/fsmcp/fsmcp/internal/access"
	"github.com/fsmcp/fsmcp/internal/audit"
	"github.com/fsmcp/fsmcp/internal/clients"
	"github.com/fsmcp/fsmcp/internal/clipboard"
	"github.com/fsmcp/fsmcp/internal/fsys"
	"github.com/fsmcp/fsmcp/internal/history"
	"github.com/fsmcp/fsmcp/internal/hooks"
	"github.com/fsmcp/fsmcp/internal/logging"
	"github.com/fsmcp/fsmcp/internal/lsp"
	"github.com/fsmcp/fsmcp/internal/media"
	"github.com/fsmcp/fsmcp/internal/media/decoder"
	"github.com/fsmcp/fsmcp/internal/owndir"
	"github.com/fsmcp/fsmcp/internal/perm"
	"github.com/fsmcp/fsmcp/internal/perm/places"
	"github.com/fsmcp/fsmcp/internal/procgroup"
	"github.com/fsmcp/fsmcp/internal/reminders"
	"github.com/fsmcp/fsmcp/internal/report"
	"github.com/fsmcp/fsmcp/internal/save"
	"github.com/fsmcp/fsmcp/internal/server"
	"github.com/fsmcp/fsmcp/internal/settings"
	"github.com/fsmcp/fsmcp/internal/settings/disk"
	"github.com/fsmcp/fsmcp/internal/tokens"
	"github.com/fsmcp/fsmcp/internal/toolcall"
	"github.com/fsmcp/fsmcp/internal/tools"
	"github.com/fsmcp/fsmcp/internal/tools/find"
	"github.com/fsmcp/fsmcp/internal/watch"
	"github.com/fsmcp/fsmcp/internal/worker"
	"github.com/fsmcp/fsmcp/schemas"
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
		ValidArgsFunction: completeDirs,
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
	return s.withParts(cfg, warnings, cfg.Log, s.err, func(p *parts, log zerolog.Logger) error {
		if cfg.Log != "" { // the log has it, too
			logging.Say(s.err, access.FolderFaults(p.settings.folders()))
		}
		ctx, ended := context.WithCancel(ctx)
		defer ended()
		defer procgroup.OnFatalSignal(p.closePrograms)()
		go p.sweep(ctx, log)
		go p.settings.watchFiles(ctx)
		go p.compilePDFium(ctx, log)
		if err := p.server.Serve(ctx, s.in, out); err != nil {
			log.Error().Err(err).Msg("serving ended")
			return exitFailed
		}
		return nil
	})
}

// closePrograms ends the programs that run around changes.
func (p *parts) closePrograms() {
	p.languages.Close()
	p.hooks.Close()
}

// withParts assembles the parts of a session, runs f with them and closes them. log is the
// log file; "" for warnings to stderr.
func (s process) withParts(cfg settings.Config, warnings []string, log string, stderr io.Writer, f func(p *parts, log zerolog.Logger) error) error {
	logger, closeLog, err := logging.Open(log, stderr)
	if err != nil {
		return err
	}
	defer closeLog()
	for _, w := range warnings {
		logger.Warn().Msg(w)
	}
	p, err := assemble(s, cfg, logger)
	if err != nil {
		return err
	}
	defer p.close()
	return f(p, logger)
}

// withFlags is withParts for a command for people, with the settings that follow from flags:
// its warnings are sentences.
func (s process) withFlags(flags settings.Flags, f func(p *parts, log zerolog.Logger) error) error {
	cfg, warnings, err := settings.New(flags, s.system, tools.DefaultMaxTokens)
	if err != nil {
		return err
	}
	return s.withParts(cfg, warnings, cfg.Log, report.Warnings{Writer: s.err}, f)
}

// close ends all that the parts started.
func (p *parts) close() {
	p.closePrograms()
	p.history.Close()
	p.pdfWorkers.Close()
	p.workers.Close()
	p.saver.Close()
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

// parts holds the components of a session.
type parts struct {
	history *history.Store
	hooks   *hooks.Runner

	languages *lsp.Client

	access   *access.Checker
	service  *tools.Service
	saver    *save.Saver
	server   *server.Server
	settings *currentSettings

	workers, pdfWorkers *worker.Pool
	compiler            *worker.Pool // compiles PDFium in the background
	idle                *idleTracker
}

// assemble builds every part by hand. It reads the disk only to resolve the links of the
// workspace.
func assemble(s process, cfg settings.Config, log zerolog.Logger) (*parts, error) {
	current := newCurrentSettings(cfg, log)
	saver, store := newHistory(current, save.Options{
		StateDir:      cfg.StateDir,
		Lost:          func(e *save.StateError) { log.Warn().Msg(e.Error()) },
		Durability:    map[string]save.Durability{"data": save.Data, "none": save.None}[cfg.Durability], // else save.Full
		KeepHardLinks: cfg.KeepHardLinks,
		Now:           time.Now,
		Rand:          rand.Reader,
	})
	cache := &cacheCheck{log: log}
	workers, readers, compiling := s.newWorkers(log), s.newPDFWorkers(log, cache), s.newCompiler(log, cache)
	var marks reminders.Watcher = &watch.Marks{Below: current.workspaceDirs}
	if s.watcher != nil {
		marks = s.watcher(marks)
	}
	audit := &auditLogger{settings: current, log: log}
	runner := hooks.New(hooks.Options{Dir: saver.StateDir})
	checker := &access.Checker{Lexer: current.lexer, Resolver: fsys.NewResolver(nil), Policy: current.policy, Now: time.Now, Folders: current.folders}
	languages := current.newLanguageClient(checker, runner)
	service := tools.New(tools.Options{
		Access:    checker,
		Saver:     saver,
		Counter:   tokens.Local{},
		Exact:     current.countExactly,
		MaxTokens: cfg.MaxTokens,

		MaxFileBytes: cfg.MaxFileBytes,
		Grep:         slices.Contains(cfg.Tools, find.NameGrep),
		Now:          time.Now,
		History:      store,
		Audit:        audit,
		Hooks:        &hookRunner{settings: current, runner: runner, logger: log},
		Servers:      languages,
		Watcher:      marks,
		LookFor:      s.reminderWait,

		Preferences: current.preferences,

		Pictures: decoder.New(workers),
		Pages:    decoder.New(readers),
		PDFs:     isFile(findMedia()),
		DrawFor:  s.slowdown * media.DrawFor,

		Clipboard: clipboard.New(clipboard.Of(runtime.GOOS, s.system.Getenv("WAYLAND_DISPLAY") != ""), current.programs(runner)),
	})
	service.Notify(cfg.Distrusted()...)
	audit.notify, cache.notify, languages.Notify = service.Notify, service.Notify, service.Notify
	idle := &idleTracker{workers: []*worker.Pool{workers, readers, compiling}}
	programVersion, _ := buildVersion()
	srv, err := server.New(server.Options{
		Version:    programVersion,
		Tools:      idle.wrap(service.Tools(cfg.Tools...)),
		NewSession: service.NewSession,
		Schemas:    schemas.Files,
		Facts:      service.Facts(),
		Workspace:  cfg.Workspace,
		EmptyDir:   cfg.EmptyDir(),
		DirFault:   fsys.FolderFault,
		Mode:       current.policy().Mode().String(),
		PlanFile:   cfg.PlanFile,
		Clipboard:  cfg.Clipboard,
		ParseFile:  service.ParseFile,
		AskTimeout: cfg.AskTimeout,
		WantRoots:  cfg.RootsWanted,
		Roots:      current.setRoots,
		Limits: func(client string, known toolcall.ClientLimits) toolcall.ClientLimits {
			return clientLimits(cfg, client, known)
		},
		Refused: service.Refused,
		Sent:    service.Sent,
		Log:     log,
	})
	if err != nil {
		return nil, err
	}
	return &parts{access: checker, service: service, saver: saver, history: store, hooks: runner, languages: languages, server: srv, settings: current, workers: workers, pdfWorkers: readers, compiler: compiling, idle: idle}, nil
}

// clientLimits returns what a client passes on to its model, corrected by the settings.
// The settings' characters count the whole answer, pictures included.
func clientLimits(cfg settings.Config, client string, known toolcall.ClientLimits) toolcall.ClientLimits {
	l := cfg.ClientLimit(client, settings.ClientLimit{Tokens: known.Tokens, Chars: known.Chars, Lines: known.Lines, Pictures: known.Pictures})
	if l.Chars != known.Chars {
		known.Answer = l.Chars
	}
	known.Tokens, known.Chars, known.Lines, known.Pictures = l.Tokens, l.Chars, l.Lines, l.Pictures
	return known
}

// policyConfig returns the input of perm.Compile.
func policyConfig(cfg settings.Config) perm.Config {
	mode, _ := perm.ParseMode(cfg.Mode) // settings.New warned about unknown modes
	c := perm.Config{
		Home:             cfg.Home,
		Own:              ownFolders(cfg),
		PlanFile:         cfg.PlanFile,
		Mode:             mode,
		ModeUntilRestart: cfg.ModeUntilRestart,
		TrustProject:     cfg.TrustProject,
		Broken:           cfg.Broken,
		CaseSensitive:    runtime.GOOS != "darwin" && runtime.GOOS != "windows",
		Windows:          runtime.GOOS == "windows",
		Guarded:          cfg.Guarded(),
		Rules:            cfg.Rules,
	}
	c.Places = func() []string {
		s := clientSystem(cfg.System())
		return disk.Linked(append(places.HomePlaces(s.Home, s.ConfigHome), clients.Protected(s, cfg.Workspace)...))
	}
	if cfg.AuditFile != "" {
		c.Guarded = append(c.Guarded, audit.Names(cfg.AuditFile)...)
	}
	for _, dir := range cfg.Workspace {
		names := cfg.Folder(dir)
		c.Workspace = append(c.Workspace, perm.Dir{Name: dir, Real: names[len(names)-1]})
	}
	for _, dir := range slices.Concat(cfg.Workspace, perm.Anchors(c)) {
		names := cfg.Folder(dir)
		c.Aliases = append(c.Aliases, aliases(names)...)
		if now := currentNames(dir); !slices.Equal(now, names) {
			c.Moved = append(c.Moved, aliases(now)...)
		}
	}
	return c
}

// ownFolders returns fsmcp's own folders, in use or not: the state folder, its substitute
// in the temporary folder, the cache, and those that a server with another environment
// would use.
func ownFolders(cfg settings.Config) []string {
	all := []string{cfg.StateDir, owndir.InTemp(""), owndir.InTemp("/tmp"), owndir.Cache()}
	if cfg.Home != "" {
		all = append(all, filepath.Join(cfg.Home, ".local", "state", "fsmcp"), filepath.Join(cfg.Home, ".cache", "fsmcp"))
	}
	return slices.DeleteFunc(all, func(dir string) bool { return dir == "" })
}

// aliases returns the other names of a directory that links lead to.
func aliases(names []string) (out []perm.Dir) {
	for _, other := range names[1:] {
		out = append(out, perm.Dir{Name: names[0], Real: other})
	}
	return out
}

// sweep cleans up after dead processes, and reports rescued text in the next answer.
func (p *parts) sweep(ctx context.Context, log zerolog.Logger) {
	if dir, err := p.saver.FoundStateDir(); err == nil && dir != "" {
		hooks.Sweep(dir)
	}
	swept, err := p.saver.Sweep(ctx)
	p.service.Notify(sweepNotices(swept)...)
	if err != nil {
		log.Warn().Err(err).Msg("clearing up after an earlier process failed")
	}
	for _, e := range swept.Untrusted {
		log.Warn().Msg(untrusted(e))
	}
	if swept.Removed > 0 {
		log.Info().Int("files", swept.Removed).Msg("temporary files of dead processes were removed")
	}
}

// untrusted returns the warning that a file of fsmcp's own is not used.
func untrusted(err error) string {
	return fmt.Sprintf("fsmcp does not use what another user may have written: %s.", fsys.InSentence(err.Error()))
}

// untrustedRemedy does not name chown: that would make a planted file count.
const untrustedRemedy = " Tell the user to remove it, or to run chmod go-w on it if everything in it is theirs."

func sweepNotices(r save.SweepReport) []string {
	var out []string
	for _, e := range r.Untrusted {
		out = append(out, untrusted(e)+untrustedRemedy)
	}
	for _, found := range []struct {
		names []string
		is    string // a sentence about one of them
	}{
		{r.Replayed, "An earlier write in place of %s was cut short by a crash; it is finished now."},
		{r.Torn, "An earlier write in place of %s was cut short by a crash, and the file was changed since; it was left alone."},
		{r.Rescued, "Text that was found after a crash and is known nowhere else was kept in fsmcp's history; the user gets it back by: fsmcp history show %s"},
		{r.Saved, "Text that was found after a crash and is known nowhere else was kept as %s."},
	} {
		for _, name := range found.names {
			out = append(out, fmt.Sprintf(found.is, fsys.InSentence(name)))
		}
	}
	return out
}
