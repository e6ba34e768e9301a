package app

import (
	"encoding/json"
	"fmt"
	"sync"
	"time"

	"github.com/rs/zerolog"

	"github.com/fsmcp/fsmcp/internal/audit"
	"github.com/fsmcp/fsmcp/internal/fsys"
	"github.com/fsmcp/fsmcp/internal/phrase"
	"github.com/fsmcp/fsmcp/internal/toolcall"
)

// auditLogger writes each event to the log and, if the settings name one, to the audit
// file.
type auditLogger struct {
	settings *currentSettings
	log      zerolog.Logger
	notify   func(...string)

	mu     sync.Mutex
	file   *audit.Log // nil until the first line
	failed bool       // the last line could not be written, and this was reported
}

// Begin implements the tools' event log.
func (t *auditLogger) Begin(e toolcall.Event) error {
	if cfg := t.settings.config(); !cfg.AuditRequired || cfg.AuditFile == "" {
		return nil
	}
	return t.write(e)
}

// Log implements the tools' event log.
func (t *auditLogger) Log(e toolcall.Event) {
	t.log.Info().Str("event", string(e.Kind)).Str("operation", e.Operation).Str("tool", e.Tool).Str("session", e.Session).Str("call", e.Call).
		Str("path", e.Path).Int64("bytes", e.Bytes).Float64("duration", e.Duration).Str("outcome", e.Outcome).Msg("call")
	err := t.write(e)
	t.mu.Lock()
	defer t.mu.Unlock()
	if err != nil && !t.failed {
		name, meanwhile := fsys.InSentence(t.file.Name()), "calls go on without their lines"
		if t.settings.config().AuditRequired {
			meanwhile = "until it can be, files are read without such lines, and not changed"
		}
		t.notify(fmt.Sprintf("(fsmcp's audit file %s cannot be written: %s. Tell the user; %s.)", name, phrase.Cause(err), meanwhile))
		t.log.Warn().Err(err).Msg("the audit file cannot be written")
	}
	t.failed = err != nil
}

// write appends a line to the audit file, if the settings name one.
func (t *auditLogger) write(e toolcall.Event) error {
	file := t.current()
	if file == nil {
		return nil
	}
	e.Time = time.Now().UTC()
	line, err := json.Marshal(e)
	if err != nil {
		return err
	}
	return file.Append(line)
}

// current returns the audit file that the settings name now, and nil if they name none.
func (t *auditLogger) current() *audit.Log {
	name := t.settings.config().AuditFile
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.file != nil && t.file.Name() != name {
		t.file.Close()
		t.file = nil
	}
	if t.file == nil && name != "" {
		t.file = audit.New(name, 0)
	}
	return t.file
}
