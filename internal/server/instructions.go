package server

import (
	"fmt"
	"slices"
	"strings"

	"github.com/fsmcp/fsmcp/internal/phrase"
	"github.com/fsmcp/fsmcp/internal/tools"
)

// maxInstructions bounds the server's instructions to a client.
const maxInstructions = 1499

// instructions returns the instructions: the workspace directories, as many as fit, the mode,
// and what holds for the tools that are published. With roots, the directories count if the
// client names none of its own.
func (o Options) instructions(roots bool) string {
	more := []string{modeLine(o.Mode, o.PlanFile), "", o.searchLine()}
	if o.Clipboard {
		more[1] = "Read of clipboard: shows the picture or text that the user has copied."
	}
	text := ""
	for _, line := range more {
		if line != "" {
			text += "\n" + line
		}
	}
	text += "\n"
	facts := o.facts()
	for _, r := range rules {
		if r.tools == "" || o.offers(strings.Fields(r.tools)...) {
			text += "\n" + described(r.text, facts)
		}
	}
	does := "fsmcp reads, writes and edits files"
	if !o.offers("Write", "Edit", "NotebookEdit") {
		does = "fsmcp reads files"
	}
	return o.workspaceLine(does, roots, maxInstructions-len(text)) + text
}

// offers reports whether any of the tools is published; without a list all are.
func (o Options) offers(names ...string) bool {
	published := func(t tools.Tool) bool { return slices.Contains(names, t.Name) }
	return len(o.Tools) == 0 || slices.ContainsFunc(o.Tools, published)
}

// searchLine describes the tools that search, "" if none is published.
func (o Options) searchLine() string {
	grep, line := o.offers("Grep"), ""
	switch {
	case len(o.Tools) == 0 || !grep && !o.offers("Glob"):
		return ""
	case !grep:
		return "Glob finds files by name."
	case o.offers("Glob"):
		line = "Glob finds files by name, Grep lines in them"
	default:
		line = "Grep finds lines in files"
	}
	if o.offers("Edit") {
		line += "; Edit may change a line that Grep showed whole"
	}
	return line + "."
}

// rules are the instructions that hold for all tools, or for the named ones.
var rules = []struct{ tools, text string }{
	{"Write Edit", "Read a file before changing it: Edit and Write replace only what Read has shown you, and refuse when the file has changed since."},
	{"Read", `Read answers with lines as "number, tab, text"; number and tab are not part of the file{change: and never belong in old_string, new_string or content}.`},
	{"Read", "Read whole files unless you know the part you need. When an answer says that more follows, it names the next call (offset, limit; column within one very long line; pages of a PDF). Images come as pictures, and region shows a part of a large one sharply."},
	{"", "Paths should be absolute; a relative path starts at the first workspace directory, and ~/ is your home directory."},
	{"", "An error says what to do next, and often shows what was missing: then the same call passes when repeated."},
	{"Write Edit NotebookEdit", `What a file was before each change is kept: the user can look at it and bring it back with "fsmcp history".`},
}

// maxPlanName bounds the plan file's name, so that the rest has room.
const maxPlanName = 200

// modeLine describes the effect of the permission mode on calls; "" for the default mode.
func modeLine(mode, plan string) string {
	switch mode {
	case "plan":
		name := phrase.QuoteAtMost(plan, maxPlanName)
		if plan == "" || len(plan) > maxPlanName {
			return "Plan mode: files are read and not changed."
		}
		return "Plan mode: files are read and not changed, except the plan file " + name + ": write the plan there."
	case "default":
		return "Mode default: the user is asked before each change."
	case "dontAsk":
		return "Mode dontAsk: what the user would be asked about is refused."
	case "bypassPermissions":
		return "Mode bypassPermissions: only deny and ask rules stop a call."
	}
	return ""
}

// unserved returns why a workspace directory is not served, in parentheses; "" if it is.
func (o Options) unserved(dir string) string {
	if o.DirFault == nil {
		return ""
	}
	why := o.DirFault(dir)
	if why == "" {
		return ""
	}
	return fmt.Sprintf(" (it %s: calls below it are refused; tell the user)", why)
}

// workspaceLine begins with does and names the workspace in at most room bytes.
func (o Options) workspaceLine(does string, roots bool, room int) string {
	const andMore = ", and 9999 more"
	dirs := o.Workspace
	if o.EmptyDir {
		dirs = append([]string{""}, dirs...)
	}
	var b strings.Builder
	b.WriteString(does)
	switch {
	case roots && len(dirs) == 0:
		return does + " in the workspace: the client's root directories."
	case len(dirs) == 0:
		return does + ". No workspace directory is set."
	case roots:
		b.WriteString(" in the workspace: the client's root directories, or where it names none, ")
	default:
		b.WriteString(" in the workspace: ")
	}
	for i, dir := range dirs {
		name := phrase.QuoteAtMost(dir, maxInstructions)
		if name == `"`+dir+`"` && dir != "" {
			name = dir
		}
		name += o.unserved(dir)
		if b.Len()+len(name)+len(andMore) > room {
			fmt.Fprintf(&b, ", and %d more", len(dirs)-i)
			break
		}
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(name)
	}
	b.WriteByte('.')
	return b.String()
}
