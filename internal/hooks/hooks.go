package hooks

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"path"
	"path/filepath"
	"strings"
	"time"
	"unicode/utf8"

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
	// Command is a program and its arguments. One without a slash is looked for in
	// PATH and then in Folder, a relative one in Folder.
	Command []string
	// Folder is where the settings lie that name it; "": nowhere.
	Folder  string
	Timeout time.Duration
}

// Event is what a command is told.
type Event struct {
	Event Moment `json:"event"`
	Tool  string `json:"tool"`
	// Path is the file's resolved name.
	Path    string `json:"path"`
	Session string `json:"session"`
	// Call is the client's id of the call.
	Call string `json:"call"`
	// Before names a file with the old bytes, readable until the command ends; ""
	// where there is none.
	Before string `json:"before,omitempty"`
	// PathBase64 and BeforeBase64 are set by line where those names are not UTF-8.
	PathBase64   string `json:"pathBase64,omitempty"`
	BeforeBase64 string `json:"beforeBase64,omitempty"`
}

// line returns the event as a command reads it. JSON holds text alone, so each byte of
// a name that is not UTF-8 is written as \xNN, and the name itself is added in base64.
func (e Event) line() ([]byte, error) {
	e.Path, e.PathBase64 = asText(e.Path)
	e.Before, e.BeforeBase64 = asText(e.Before)
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false) // who looks for a name with & by simple means finds it
	err := enc.Encode(e)
	return b.Bytes(), err
}

// asText returns a name as text, and in base64 where it is none.
func asText(name string) (text, base64Name string) {
	if utf8.ValidString(name) {
		return name, ""
	}
	var b strings.Builder
	for rest := name; rest != ""; {
		r, size := utf8.DecodeRuneInString(rest)
		if r == utf8.RuneError && size == 1 {
			fmt.Fprintf(&b, `\x%02x`, rest[0])
		} else {
			b.WriteString(rest[:size])
		}
		rest = rest[size:]
	}
	return b.String(), base64.StdEncoding.EncodeToString([]byte(name))
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
