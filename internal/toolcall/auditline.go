package toolcall

import (
	"encoding/json"
	"time"
)

// AuditLine is one line of the audit file (see schemas/audit.schema.json).
type AuditLine struct {
	Time      time.Time `json:"time"`
	Event     EventKind `json:"event"`
	Operation string    `json:"operation"`
	Tool      string    `json:"tool"`
	Session   string    `json:"session"`
	Call      string    `json:"call"`
	Path      string    `json:"path"`
	Bytes     int64     `json:"bytes"`
	Duration  float64   `json:"duration"` // milliseconds
	Outcome   string    `json:"outcome"`
	Code      int       `json:"code,omitempty"`
	// Of a search: the bytes of its pattern, never the pattern, and what it found.
	Pattern *int `json:"pattern,omitempty"`
	Files   *int `json:"files,omitempty"`
	Matches *int `json:"matches,omitempty"`
}

// Line is an event as a line of the audit file, written at that time.
func (e Event) Line(now time.Time) ([]byte, error) {
	line := AuditLine{
		Time: now.UTC(), Event: e.Kind, Operation: e.Operation, Tool: e.Tool, Session: e.Session, Call: e.Call,
		Path: e.Path, Bytes: e.Bytes, Duration: float64(e.Took.Microseconds()) / 1000, Outcome: e.Outcome, Code: e.Code,
	}
	if s := e.Search; s != nil {
		line.Pattern, line.Files, line.Matches = &s.Pattern, &s.Files, &s.Matches
	}
	return json.Marshal(line)
}
