package hooks

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/fsmcp/fsmcp/internal/nameglob"
)

// Moment says when a command runs.
type Moment string

// The moments, as settings and events name them.
const (
	BeforeEdit Moment = "beforeFileEdited"
	AfterEdit  Moment = "afterFileEdited"
)

// Hook is one command of the user's.
type Hook struct {
	Glob string // selects files, as it is written
	// Names is Glob in the form of package nameglob, each of its meanings; nil: Glob has it.
	Names []string
	// Command is a program and its arguments. One without a slash is looked for in
	// PATH and then in the folder of From, a relative one in that folder. Neither is looked
	// for in the working directory.
	Command []string
	Timeout time.Duration
	// From is the settings file that names the hook, Line the line there; "": none.
	From string
	Line int
	// Broken is the reason why the entry cannot be run, as the rest of a sentence; "" if it
	// can be. A broken hook before a change might have refused it: changes of files that Glob
	// names are refused.
	Broken string
}

// String describes a hook independent of its place in the file.
func (h Hook) String() string {
	if h.Broken != "" {
		return fmt.Sprintf("%q %s", h.Glob, h.Broken)
	}
	return fmt.Sprintf("%q %q %v", h.Glob, h.Command, h.Timeout)
}

// folder returns the folder in which a command that is not in PATH is looked for.
func (h Hook) folder() string {
	if h.From == "" {
		return ""
	}
	return filepath.Dir(h.From)
}

// HookInput describes a change to a command.
type HookInput struct {
	Event Moment `json:"event"`
	Tool  string `json:"tool"`
	// Operation is edit, move, copy or delete.
	Operation string `json:"operation,omitempty"`
	// Path is the file's resolved name, To the new one of a file that is moved or copied.
	Path    string `json:"path"`
	To      string `json:"to,omitempty"`
	Session string `json:"session"`
	// Call is the client's id of the call.
	Call string `json:"call"`
	// Before names a copy of the old bytes, readable until the command ends; "" if there
	// is none.
	Before string `json:"before,omitempty"`
	// PathBase64 and BeforeBase64 are set by line if those names are not UTF-8.
	PathBase64   string `json:"pathBase64,omitempty"`
	ToBase64     string `json:"toBase64,omitempty"`
	BeforeBase64 string `json:"beforeBase64,omitempty"`
}

// line encodes the event for the command's standard input. JSON holds text only: a byte of
// a name that is not UTF-8 becomes \xNN, and base64 of the name is added.
func (e HookInput) line() ([]byte, error) {
	e.Path, e.PathBase64 = asText(e.Path)
	e.Before, e.BeforeBase64 = asText(e.Before)
	e.To, e.ToBase64 = asText(e.To)
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false) // a script that searches the line for a name with & finds it
	err := enc.Encode(e)
	return b.Bytes(), err
}

// maxEvent bounds the line of an event, in bytes.
const maxEvent = 1 << 20

// ReadEvent reads an event as a command gets it, with the names themselves in Path and
// Before.
func ReadEvent(r io.Reader) (e HookInput, err error) {
	if err = json.NewDecoder(io.LimitReader(r, maxEvent)).Decode(&e); err != nil {
		return e, err
	}
	for _, name := range []struct{ text, base64Name *string }{{&e.Path, &e.PathBase64}, {&e.Before, &e.BeforeBase64}, {&e.To, &e.ToBase64}} {
		if *name.base64Name == "" {
			continue
		}
		raw, err := base64.StdEncoding.DecodeString(*name.base64Name)
		if err != nil {
			return e, err
		}
		*name.text, *name.base64Name = string(raw), ""
	}
	return e, nil
}

// asText returns a name as text, and also in base64 if it is not UTF-8.
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

// List holds the commands of one moment, in their order.
type List []Hook

// For returns the commands for a file, by its absolute names. fold ignores case. An empty
// List costs nothing.
func (l List) For(names []string, fold bool) (out List) {
	for _, h := range l {
		globs := h.Names
		if globs == nil {
			globs = []string{h.Glob}
		}
		if slices.ContainsFunc(globs, func(g string) bool { return nameglob.Match(g, names, fold) }) {
			out = append(out, h)
		}
	}
	return out
}

// Concern reports whether For would return any.
func (l List) Concern(names []string, fold bool) bool { return len(l.For(names, fold)) > 0 }
