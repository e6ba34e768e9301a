package hooks

import (
	"bytes"
	"encoding/json"
	"path"
	"path/filepath"
	"strings"
	"time"

	"github.com/bmatcuk/doublestar/v4"
)

// Moment is when a command runs.
type Moment string

// The moments, by their names in settings and in events.
const (
	BeforeEdit Moment = "beforeFileEdited"
	AfterEdit  Moment = "afterFileEdited"
)

// Hook is one command of the user's.
type Hook struct {
	// Glob says for which files. One without a slash is compared with the last part
	// of a name, one with a slash with the whole name or its end; "**" stands for any
	// number of folders.
	Glob string
	// Command is a program, looked for in PATH, and its arguments.
	Command []string
	Timeout time.Duration
}

// Event is what a command is told.
type Event struct {
	Event Moment `json:"event"`
	Tool  string `json:"tool"`
	// Path is the file's resolved name.
	Path    string `json:"path"`
	Session string `json:"session"`
	// Before names a file with the old bytes, readable until the command ends; ""
	// where there is none.
	Before string `json:"before,omitempty"`
}

// line is an event as a command reads it.
func (e Event) line() ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false) // who looks for a name with & by simple means finds it
	err := enc.Encode(e)
	return b.Bytes(), err
}

// List are the commands of one moment, in the order in which they run.
type List []Hook

// For are those that concern a file by one of its names, which are absolute. fold
// says that the case of letters does not count. An empty List costs nothing.
func (l List) For(names []string, fold bool) (out List) {
	for _, h := range l {
		if h.concerns(names, fold) {
			out = append(out, h)
		}
	}
	return out
}

// Concern tells whether For would find any.
func (l List) Concern(names []string, fold bool) bool {
	for _, h := range l {
		if h.concerns(names, fold) {
			return true
		}
	}
	return false
}

func (h Hook) concerns(names []string, fold bool) bool {
	glob := h.Glob
	if fold {
		glob = strings.ToLower(glob)
	}
	for _, name := range names {
		if name = filepath.ToSlash(name); fold {
			name = strings.ToLower(name)
		}
		if matches(glob, name) {
			return true
		}
	}
	return false
}

func matches(glob, name string) bool {
	switch {
	case !strings.Contains(glob, "/"):
		return doublestar.MatchUnvalidated(glob, path.Base(name))
	case strings.HasPrefix(glob, "/"):
		return doublestar.MatchUnvalidated(glob, name)
	}
	return doublestar.MatchUnvalidated("**/"+glob, name)
}
