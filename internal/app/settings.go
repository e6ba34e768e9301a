package app

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/rs/zerolog"

	"github.com/fsmcp/fsmcp/internal/access"
	"github.com/fsmcp/fsmcp/internal/fsys"
	"github.com/fsmcp/fsmcp/internal/history"
	"github.com/fsmcp/fsmcp/internal/hooks"
	"github.com/fsmcp/fsmcp/internal/lsp"
	"github.com/fsmcp/fsmcp/internal/media"
	"github.com/fsmcp/fsmcp/internal/nameglob"
	"github.com/fsmcp/fsmcp/internal/perm"
	"github.com/fsmcp/fsmcp/internal/settings"
	"github.com/fsmcp/fsmcp/internal/settings/follow"
	"github.com/fsmcp/fsmcp/internal/tokens/remote"
	"github.com/fsmcp/fsmcp/internal/toolcall"
	"github.com/fsmcp/fsmcp/internal/tools"
)

// currentSettings holds the current snapshot of everything that follows from the settings
// and the workspace. A snapshot is compiled as a whole and never changed. A caller that
// asks twice may get parts of two snapshots, but no part is mixed.
type currentSettings struct {
	log zerolog.Logger

	snapshot atomic.Pointer[snapshot]
	changing sync.Mutex // held from loading a snapshot to storing the next one
	warned   map[string]bool
	watcher  atomic.Pointer[follow.Follower] // nil while the settings files are not watched
}

type snapshot struct {
	config settings.Config
	policy *perm.Policy
	lexer  fsys.Lexer

	preferences   tools.Preferences
	before, after hooks.List           // as they run; a broken one before a change refuses it
	lspServers    []lsp.LanguageServer // that may be started
	workspaceDirs []string             // workspace directories, by names without links
	namedFolders  []access.Folder      // the same as they were named, and an empty word
	tokenCounter  *remote.Counter      // nil: tokens are estimated locally
}

func newCurrentSettings(cfg settings.Config, log zerolog.Logger) *currentSettings {
	b := &currentSettings{log: log, warned: make(map[string]bool)}
	b.compile(cfg)
	return b
}

// policy returns the current rules, after a check of the settings files.
func (b *currentSettings) policy() *perm.Policy {
	if w := b.watcher.Load(); w != nil {
		w.Check()
	}
	return b.snapshot.Load().policy
}

// lexer returns the reader of relative names in the current workspace.
func (b *currentSettings) lexer() fsys.Lexer { return b.snapshot.Load().lexer }

// config returns the current settings.
func (b *currentSettings) config() settings.Config { return b.snapshot.Load().config }

// workspaceDirs returns the current workspace directories, by names without links.
func (b *currentSettings) workspaceDirs() []string { return b.snapshot.Load().workspaceDirs }

// folders returns the current workspace directories, those too that are not there.
func (b *currentSettings) folders() []access.Folder { return b.snapshot.Load().namedFolders }

// preferences returns the settings of the tools.
func (b *currentSettings) preferences() tools.Preferences { return b.snapshot.Load().preferences }

// compile stores the snapshot that follows from cfg.
func (b *currentSettings) compile(cfg settings.Config) {
	policy, warnings := Policy(cfg)
	for _, w := range warnings {
		b.warn(w)
	}
	e := &snapshot{tokenCounter: b.tokenCounter(cfg.TokensAPI), config: cfg, policy: policy, lexer: fsys.Lexer{OS: runtime.GOOS, Home: cfg.Home, Getenv: cfg.System().Getenv}, before: hooksOf(cfg.Hooks.Before, cfg.Home), after: hooksOf(cfg.Hooks.After, cfg.Home), lspServers: cfg.LSP.Allowed()}
	if cfg.EmptyDir() {
		e.namedFolders = []access.Folder{{}}
	}
	for _, dir := range cfg.Workspace {
		names, now := cfg.Folder(dir), currentNames(dir)
		top, leads := names[len(names)-1], now[len(now)-1]
		e.workspaceDirs = append(e.workspaceDirs, top)
		e.namedFolders = append(e.namedFolders, access.NewFolder(dir, top))
		if leads != top {
			b.warn(fmt.Sprintf("%s leads to %s now; until fsmcp is restarted the workspace is %s, where it led at the start", fsys.Printable(dir), fsys.Printable(leads), fsys.Printable(top)))
		}
	}
	for _, w := range access.FolderFaults(e.namedFolders) {
		b.warn(w)
	}
	e.preferences = preferences(cfg, e.workspaceDirs)
	if len(cfg.Workspace) > 0 {
		e.lexer.Base = cfg.Workspace[0]
	}
	b.snapshot.Store(e)
}

// tokenCounter returns the provider's counter for api. It reuses the previous snapshot's
// counter, which remembers failures.
func (b *currentSettings) tokenCounter(api *settings.TokensAPI) *remote.Counter {
	if api == nil {
		return nil
	}
	if old := b.snapshot.Load(); old != nil && old.config.TokensAPI != nil && *old.config.TokensAPI == *api {
		return old.tokenCounter
	}
	return remote.New(api.URL, api.Key, api.Model)
}

// countExactly asks the model's provider for a count, if the user's settings name one.
func (b *currentSettings) countExactly(ctx context.Context, text []byte) (n int, ok bool) {
	api := b.snapshot.Load().tokenCounter
	if api == nil {
		return 0, false
	}
	n, err := api.Count(ctx, text)
	if err != nil && !errors.Is(err, remote.ErrResting) {
		b.log.Warn().Err(err).Msg("tokens are counted here instead")
	}
	return n, err == nil
}

func preferences(cfg settings.Config, tops []string) tools.Preferences {
	var hints []string
	if cfg.Hints {
		hints = tops
	}
	pagePictures := map[string]tools.PagePictures{"auto": tools.PicturesAuto, "always": tools.PicturesAlways, "never": tools.PicturesNever}
	return tools.Preferences{
		Dedup:         cfg.Dedup,
		GateFull:      cfg.Gate == "full",
		RefuseChanged: cfg.WhenChanged == "refuse",
		KeepTrailing:  !cfg.StripTrailingSpace,
		RefuseLong:    cfg.Overlong == "refuse",
		HintsBelow:    hints,
		Clipboard:     cfg.Clipboard,
		SettingsFile:  cfg.OwnFile(),
		ImageTokens:   cfg.Images.Tokens,
		SentSide:      cfg.Images.SentSide,
		Bounds:        media.Bounds{Pixels: cfg.Images.Megapixels * 1_000_000, Side: cfg.Images.Side, Bytes: cfg.Images.Decoded},
		PDF: func(client toolcall.ClientLimits) tools.PDFStyle {
			known := settings.PDF{}
			if client.PagesOnly {
				known.Mode = "pages"
			}
			p := cfg.PDFFor(client.Name, known)
			return tools.PDFStyle{Document: p.Mode == "document", Pictures: pagePictures[p.Images]}
		},
	}
}

// warn logs each text once, although every snapshot warns again.
func (b *currentSettings) warn(text string) {
	if !b.warned[text] {
		b.warned[text] = true
		b.log.Warn().Msg(text)
	}
}

// setRoots makes the client's roots the workspace. If none of them can be, it acts as if
// the client had named none.
func (b *currentSettings) setRoots(roots, unusable []string) {
	b.changing.Lock()
	defer b.changing.Unlock()
	old := b.config()
	next, warnings := old.WithRoots(roots, unusable...)
	if len(next.Workspace) == 0 && len(roots) > 0 {
		b.log.Warn().Msg("none of the client's roots can be the workspace: / and the home directory count only when the command line names them")
		next, warnings = old.WithRoots(nil, unusable...)
	}
	b.apply(next, warnings)
	b.log.Info().Strs("workspace", next.Workspace).Msg("the client has named its roots")
}

// reload reads the named settings files again, and all of them if names is nil.
func (b *currentSettings) reload(names []string) {
	b.changing.Lock()
	defer b.changing.Unlock()
	b.apply(b.config().Reload(names))
	b.log.Info().Strs("changed", names).Msg("settings were read again")
}

// apply stores the next snapshot. A file that only this snapshot names may have changed
// before it was watched, so apply reads the files once more.
func (b *currentSettings) apply(next settings.Config, warnings []string) {
	const looks = 3
	for again := 0; ; again++ {
		for _, w := range warnings {
			b.warn(w)
		}
		b.compile(next)
		if w := b.watcher.Load(); w == nil || !w.Watch(next.Watched()) || again == looks {
			return
		}
		next, warnings = next.Reload(nil)
	}
}

// watchFiles reloads the settings when their files change, until ctx ends.
func (b *currentSettings) watchFiles(ctx context.Context) {
	w := follow.New(func() ([]string, bool) { return b.config().Stale() }, b.reload, b.log)
	defer w.Close()
	b.watcher.Store(w)
	w.Watch(b.config().Watched())
	b.reload(nil) // files may have changed before they were watched
	<-ctx.Done()
}

// historySettings returns the current settings of the history.
func (b *currentSettings) historySettings() history.Settings {
	h := b.config().History
	return history.Settings{Off: !h.Enabled, Required: h.Required, MaxSize: h.MaxSize, MaxAge: h.MaxAge}
}

// secret reports whether the history must not store a file's text: the settings exclude
// its name, or a rule asks before it is read.
func (b *currentSettings) secret(names []string) bool {
	e := b.snapshot.Load()
	excluded := func(glob string) bool { return nameglob.Match(glob, names, true) } // a secret is one under any spelling
	return slices.ContainsFunc(e.config.History.Exclude, excluded) || e.policy.Asks(perm.Read, names)
}
