package app

import (
	"context"
	"io"
	"slices"

	"github.com/fsmcp/fsmcp/internal/history"
	"github.com/fsmcp/fsmcp/internal/nameglob"
	"github.com/fsmcp/fsmcp/internal/perm"
	"github.com/fsmcp/fsmcp/internal/save"
)

// newHistory makes the saver and the history. They need each other: the saver names the
// state folder, and the history stores text that the saver rescues.
func newHistory(rules *currentSettings, o save.Options) (*save.Saver, *history.Store) {
	var store *history.Store
	o.Rescue = func(path string, content io.ReaderAt, size int64) (string, error) {
		return store.Rescue(context.Background(), path, content, size)
	}
	saver := save.New(o)
	store = history.New(history.Options{Dir: saver.StateDir, Settings: rules.historySettings, Secret: rules.secret})
	return saver, store
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
