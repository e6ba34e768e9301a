package app

import (
	"sync"
	"time"

	"github.com/rs/zerolog"

	"github.com/fsmcp/fsmcp/internal/records"
	"github.com/fsmcp/fsmcp/internal/save"
)

// newRecords makes the store of what conversations were shown. nil: a server that changes
// nothing has no use for it.
func newRecords(current *currentSettings, saver *save.Saver, log zerolog.Logger) *records.Store {
	if current.config().ReadOnly {
		return nil
	}
	var once sync.Once // else a full disk fills the log
	return records.New(records.Options{
		MakeDir: saver.StateDir, FoundDir: saver.FoundStateDir,
		On:     func() bool { return current.config().Persist },
		Secret: current.secret,
		Now:    time.Now,
		Failed: func(err error) {
			once.Do(func() {
				log.Warn().Err(err).Msg("what was shown is not kept over a restart of the server")
			})
		},
	})
}
