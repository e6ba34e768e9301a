package main

import (
	"context"
	"io"

	"github.com/fsmcp/fsmcp/internal/history"
	"github.com/fsmcp/fsmcp/internal/perm"
	"github.com/fsmcp/fsmcp/internal/save"
)

// newHistory makes the saver and the history, each of which needs the other: one
// names the state folder, the other takes in what would otherwise lie about.
func newHistory(rules *currentSettings, o save.Options) (*save.Saver, *history.Store) {
	var store *history.Store
	o.Rescue = func(path string, content io.ReaderAt, size int64) (string, error) {
		return store.Rescue(context.Background(), path, content, size)
	}
	saver := save.New(o)
	store = history.New(history.Options{Dir: saver.StateDir, Settings: rules.historySettings, Secret: rules.secret})
	return saver, store
}

// historySettings are what the settings say about the history as they are now.
func (b *currentSettings) historySettings() history.Settings {
	h := b.config().History
	return history.Settings{Off: !h.Enabled, Required: h.Required, MaxSize: h.MaxSize, MaxAge: h.MaxAge}
}

// secret tells whether the text of a file must not be kept: by the names that the
// settings exclude, or by a rule that asks before the file is read.
func (b *currentSettings) secret(names []string) bool {
	e := b.snapshot.Load()
	return history.Globs(e.config.History.Exclude).Match(names) || e.policy.Asks(perm.Read, names)
}
