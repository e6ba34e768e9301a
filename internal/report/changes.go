package report

import (
	"fmt"
	"text/tabwriter"
	"time"
	"unicode/utf8"

	"github.com/fsmcp/fsmcp/internal/fsys"
	"github.com/fsmcp/fsmcp/internal/history"
)

// change is one change as JSON.
type change struct {
	ID      string       `json:"id"`
	Time    time.Time    `json:"time"`
	Session string       `json:"session"`
	Tool    string       `json:"tool"`
	Call    string       `json:"call"`
	Path    string       `json:"path"`
	Bytes   []byte       `json:"pathBase64,omitempty"`
	Before  *history.Sum `json:"before"`
	After   *history.Sum `json:"after"`
	Thinned bool         `json:"thinned,omitempty"`

	Operation history.Operation `json:"operation,omitempty"` // none is an edit
	To        string            `json:"to,omitempty"`
	ToBytes   []byte            `json:"toBase64,omitempty"`
	Group     string            `json:"group,omitempty"`
}

// ChangesJSON returns the object that history list --json prints.
func ChangesJSON(entries []history.Entry) any {
	list := make([]change, len(entries))
	for i, e := range entries {
		list[i] = change{e.ID, e.Time.UTC(), e.Session, e.Tool, e.Call, e.Path, bytesOf(e.Path), e.Before, e.After, e.Thinned, e.Operation, e.To, bytesOf(e.To), e.Group}
	}
	return map[string]any{"changes": list}
}

// Changes writes a line for each change.
func (o Output) Changes(entries []history.Entry) error {
	w := tabwriter.NewWriter(o, 0, 0, 2, ' ', 0)
	for _, e := range entries {
		what := What(e)
		if what != "" {
			what = " (" + what + ")"
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s%s\n", o.paint(yellow, e.ID), e.Time.Local().Format(time.DateTime), e.Tool, fsys.Printable(e.Path), what)
	}
	return w.Flush()
}

// What says what a change did, in a word or two: whether it created or removed its file, and
// whether its bytes are gone. It is "" for a change of bytes.
func What(e history.Entry) string {
	switch {
	case e.Operation == history.OpMove:
		return "moved to " + fsys.Printable(e.To)
	case e.Operation == history.OpCopy:
		return "copied to " + fsys.Printable(e.To)
	case e.Operation == history.OpDelete && !e.Thinned:
		return "deleted"
	case e.Thinned:
		return "no longer kept"
	case e.Partial():
		return ""
	case e.Before == nil:
		return "created"
	case e.After == nil && e.Tool != history.ToolOutside:
		return "removed"
	}
	return ""
}

// ContentJSON returns a file's bytes as history show --json prints them.
func ContentJSON(b []byte) map[string]any {
	switch {
	case b == nil:
		return map[string]any{"content": nil}
	case utf8.Valid(b):
		return map[string]any{"content": string(b), "encoding": "utf-8"}
	}
	return map[string]any{"content": b, "encoding": "base64"}
}

// NoBytes describes a change that has no bytes to show: a move, a copy, or the removal of a
// link, a folder or a large file. It is "" for others.
func NoBytes(e history.Entry) string {
	path := fsys.Printable(e.Path)
	switch {
	case e.Operation == history.OpMove:
		return fmt.Sprintf("%s was moved to %s", path, fsys.Printable(e.To))
	case e.Operation == history.OpCopy:
		return fmt.Sprintf("%s was copied to %s", path, fsys.Printable(e.To))
	case e.Operation != history.OpDelete:
		return ""
	case e.Meta.Kind == fsys.Directory:
		return fmt.Sprintf("%s, a folder, was deleted", path)
	case e.Meta.Kind == fsys.Link:
		return fmt.Sprintf("%s, a link to %s, was deleted", path, fsys.Printable(string(e.Meta.Link)))
	case e.Before == nil:
		return fmt.Sprintf("%s was deleted and is kept as a file; fsmcp history restore %s brings it back", path, e.ID)
	}
	return ""
}
