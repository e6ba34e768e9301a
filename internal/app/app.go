// Package app wires a session of fsmcp. It compiles the settings, rules, hooks and language
// servers into one snapshot, swaps the snapshot when the settings or the client's folders
// change, makes the tools and the server, and closes all that was started.
//
// It knows no command line and reads no environment: cmd/fsmcp hands these in. It starts
// nothing before Serve, and reads the disk only to resolve the links of the workspace.
package app

import (
	"context"
	"crypto/rand"
	"io"
	"runtime"
	"slices"
	"time"

	"github.com/rs/zerolog"

	"github.com/fsmcp/fsmcp/internal/access"
	"github.com/fsmcp/fsmcp/internal/clipboard"
	"github.com/fsmcp/fsmcp/internal/documents"
	"github.com/fsmcp/fsmcp/internal/fsys"
	"github.com/fsmcp/fsmcp/internal/history"
	"github.com/fsmcp/fsmcp/internal/hooks"
	"github.com/fsmcp/fsmcp/internal/lsp"
	"github.com/fsmcp/fsmcp/internal/media"
	"github.com/fsmcp/fsmcp/internal/media/decoder"
	"github.com/fsmcp/fsmcp/internal/procgroup"
	"github.com/fsmcp/fsmcp/internal/records"
	"github.com/fsmcp/fsmcp/internal/reminders"
	"github.com/fsmcp/fsmcp/internal/save"
	"github.com/fsmcp/fsmcp/internal/save/sys"
	"github.com/fsmcp/fsmcp/internal/server"
	"github.com/fsmcp/fsmcp/internal/settings"
	"github.com/fsmcp/fsmcp/internal/span"
	"github.com/fsmcp/fsmcp/internal/stack"
	"github.com/fsmcp/fsmcp/internal/tokens"
	"github.com/fsmcp/fsmcp/internal/toolcall"
	"github.com/fsmcp/fsmcp/internal/tools"
	"github.com/fsmcp/fsmcp/internal/tools/find"
	"github.com/fsmcp/fsmcp/internal/watch"
	"github.com/fsmcp/fsmcp/internal/worker"
	"github.com/fsmcp/fsmcp/schemas"
)

// Options hold the settings of a session and what it takes from its process.
type Options struct {
	Settings settings.Config
	Log      zerolog.Logger
	Version  string
	Programs Programs
	// Slowdown is a factor on the deadlines of workers and of drawing. It is more than 1 in
	// tests only.
	Slowdown time.Duration
	// How soon an answer learns of changed files depends on the machine's load. A test
	// that must not depend on it wraps the watcher, and lets an answer wait longer.
	Watcher      func(reminders.TouchWatcher) reminders.TouchWatcher // nil: no wrapper
	ReminderWait time.Duration                                       // 0: the default
	// Sys are the system calls of saving; nil: those of this system. A test that must fail
	// without a part of the protocol replaces some.
	Sys sys.Sys
}

// App holds the parts of a session.
type App struct {
	Access    *access.Checker
	Hooks     *hooks.Runner
	Languages *lsp.Client
	Service   *tools.Service
	Server    *server.Server

	log      zerolog.Logger
	settings *currentSettings
	saver    *save.Saver
	history  *history.Store
	records  *records.Store // nil: none are kept
	decoders decoders
	idle     *idleTracker
}

// New makes every part by hand.
func New(o Options) (*App, error) {
	cfg, current := o.Settings, newCurrentSettings(o.Settings, o.Log)
	a := &App{log: o.Log, settings: current, decoders: newDecoders(o)}
	a.saver, a.history = newHistory(current, save.Options{
		StateDir:      cfg.StateDir,
		Lost:          func(e *save.StateError) { o.Log.Warn().Msg(e.Error()) },
		Late:          func(l save.LateWrite) { a.Service.Notify(lateNotice(l)) },
		Durability:    map[string]save.Durability{"data": save.Data, "none": save.None}[cfg.Durability], // else save.Full
		KeepHardLinks: cfg.KeepHardLinks,
		Sys:           o.Sys,
		Now:           time.Now,
		Rand:          rand.Reader,
	})
	a.records = newRecords(current, a.saver, o.Log)
	var marks reminders.TouchWatcher = &watch.Marks{Below: current.workspaceDirs}
	if o.Watcher != nil {
		marks = o.Watcher(marks)
	}
	audit := &auditLogger{settings: current, log: o.Log}
	a.Hooks = hooks.New(hooks.Options{Dir: a.saver.StateDir})
	a.Access = &access.Checker{Lexer: current.lexer, Resolver: fsys.NewResolver(), Policy: current.policy, Now: time.Now, Folders: current.folders}
	a.Languages = current.newLanguageClient(a.Access, a.Hooks)
	parts := tools.Options{
		Access:       a.Access,
		Saver:        a.saver,
		Counter:      tokens.Local{},
		Exact:        current.countExactly,
		MaxTokens:    cfg.MaxTokens,
		MaxFileBytes: cfg.MaxFileBytes,
		Grep:         slices.Contains(cfg.Tools, find.NameGrep),
		Now:          time.Now,
		History:      a.history,
		Audit:        audit,
		Hooks:        &hookRunner{settings: current, runner: a.Hooks, logger: o.Log},
		Servers:      a.Languages,
		Watcher:      marks,
		LookFor:      o.ReminderWait,
		Preferences:  current.preferences,
		Pictures:     decoder.New(a.decoders.pictures),
		Pages:        decoder.New(a.decoders.pdfs),
		PDFs:         o.Programs.ReadPDFs,
		Documents: documents.New(documents.Options{
			Office: decoder.New(a.decoders.office), PDFs: decoder.New(a.decoders.pdfs), Now: time.Now, Slowdown: o.Slowdown,
		}),
		DrawFor:   o.Slowdown * media.DrawFor,
		Clipboard: clipboard.New(clipboard.Of(runtime.GOOS, cfg.System().Getenv("WAYLAND_DISPLAY") != ""), current.programs(a.Hooks)),
	}
	if a.records != nil {
		parts.Records = a.records
	}
	a.Service = tools.New(parts)
	a.Service.Notify(cfg.Distrusted()...)
	audit.notify, a.decoders.cache.notify, a.Languages.Notify = a.Service.Notify, a.Service.Notify, a.Service.Notify
	a.idle = &idleTracker{workers: []*worker.Pool{a.decoders.pictures, a.decoders.pdfs, a.decoders.office, a.decoders.compiler}}
	var err error
	a.Server, err = server.New(server.Options{
		Version:    o.Version,
		Tools:      a.idle.wrap(a.Service.Tools(cfg.Tools...)),
		Unoffered:  slices.DeleteFunc(settings.ToolNames(), func(name string) bool { return slices.Contains(cfg.Tools, name) }),
		ReadOnly:   cfg.ReadOnly,
		NewSession: a.Service.NewSession,
		Getenv:     cfg.System().Getenv,
		Schemas:    schemas.Files,
		Facts:      a.Service.Facts(),
		Workspace:  cfg.Workspace,
		EmptyDir:   cfg.EmptyDir(),
		DirFault:   fsys.FolderFault,
		Mode:       current.policy().Mode().String(),
		PlanFile:   cfg.PlanFile,
		Clipboard:  cfg.Clipboard,
		ParseFile:  a.Service.ParseFile,
		AskTimeout: cfg.AskTimeout,
		WantRoots:  cfg.RootsWanted,
		Roots:      current.setRoots,
		Limits: func(client string, known toolcall.ClientLimits) toolcall.ClientLimits {
			return clientLimits(cfg, client, known)
		},
		Refused: a.Service.Refused,
		Sent:    a.Service.Sent,
		Log:     o.Log,
	})
	return a, err
}

// newHistory makes the saver and the history. They need each other: the saver names the
// state folder, and the history stores text that the saver rescues.
func newHistory(rules *currentSettings, o save.Options) (*save.Saver, *history.Store) {
	var store *history.Store
	o.Rescue = func(path string, content io.ReaderAt, size int64) (string, error) {
		return store.Rescue(context.Background(), path, content, size)
	}
	o.Merge = func(base, ours, theirs []byte) ([]span.Splice, bool) {
		c, conflicts := history.Merge(base, ours, theirs)
		return c, conflicts == nil
	}
	saver := save.New(o)
	store = history.New(history.Options{Dir: saver.StateDir, Settings: rules.historySettings, Secret: rules.secret})
	return saver, store
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

// Serve serves a client on in and out, until the input ends, the client is gone or ctx ends.
// Beside that it cleans up after dead processes, follows the settings files and compiles
// PDFium.
func (a *App) Serve(ctx context.Context, in io.Reader, out io.Writer) error {
	ctx, ended := context.WithCancel(ctx)
	defer ended()
	defer procgroup.OnFatalSignal(a.closePrograms)()
	stack.Go(func() { a.Sweep(ctx) })
	stack.Go(func() { a.settings.watchFiles(ctx) })
	go a.compilePDFium(ctx)
	err := a.Server.Serve(ctx, in, out)
	if a.records != nil {
		a.records.Close() // at once: some clients kill a server soon after they have closed its input
	}
	if err != nil {
		a.log.Error().Err(err).Msg("serving ended")
	}
	return err
}

// FolderFaults returns a warning for each workspace directory that cannot be served.
func (a *App) FolderFaults() []string { return access.FolderFaults(a.settings.folders()) }

// OpenHistory opens the history in the state folder. From then on the App evicts nothing
// from it before Close.
func (a *App) OpenHistory() (*history.Archive, error) {
	a.history.EvictAtClose()
	dir, err := a.saver.FoundStateDir()
	if err != nil {
		return nil, err
	}
	return history.Open(dir)
}

// closePrograms ends the programs that run around changes.
func (a *App) closePrograms() {
	a.Languages.Close()
	a.Hooks.Close()
}

// Close ends all that was started.
func (a *App) Close() {
	a.closePrograms()
	a.saver.Close() // it may still put text into the history
	a.history.Close()
	a.decoders.close()
}
