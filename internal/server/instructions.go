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

// instructions returns the instructions; roots says that the client may have root
// directories.
func (o Options) instructions(roots bool) string {
	more := modeLine(o.Mode, o.PlanFile)
	if o.Clipboard {
		more = strings.TrimPrefix(more+"\nRead of clipboard: shows the picture or text that the user has copied.", "\n")
	}
	if line := o.searchLine(); line != "" {
		more = strings.TrimPrefix(more+"\n"+line, "\n")
	}
	return o.compose(o.Workspace, roots, more)
}

// offers reports whether any of the tools is published; without a list all are.
func (o Options) offers(names ...string) bool {
	published := func(t tools.Tool) bool { return slices.Contains(names, t.Name) }
	return len(o.Tools) == 0 || slices.ContainsFunc(o.Tools, published)
}

// searchLine describes the tools that search, "" where none is published.
func (o Options) searchLine() string {
	glob, grep := len(o.Tools) > 0 && o.offers("Glob"), len(o.Tools) > 0 && o.offers("Grep")
	line := ""
	switch {
	case glob && grep:
		line = "Glob finds files by name, Grep lines in them"
	case glob:
		line = "Glob finds files by name"
	case grep:
		line = "Grep finds lines in files"
	default:
		return ""
	}
	if grep && o.offers("Edit") {
		line += "; Edit may change a line that Grep showed whole"
	}
	return line + "."
}

// rules are the instructions that hold for all tools, or for the named ones.
var rules = []struct{ tools, text string }{
	{"Write Edit", "Read a file before changing it: Edit and Write replace only what Read has shown you, and refuse when the file has changed since."},
	{"Read", `Read answers with lines as "number, tab, text"; number and tab are not part of the file and never belong in old_string, new_string or content.`},
	{"Read", "Read whole files unless you know the part you need. When an answer says that more follows, it names the next call (offset, limit; column within one very long line; pages of a PDF). Images come as pictures, and region shows a part of a large one sharply."},
	{"", "Paths should be absolute; a relative path starts at the first workspace directory, and ~/ is your home directory."},
	{"", "An error says what to do next, and often shows what was missing: then the same call passes when repeated."},
	{"Write Edit NotebookEdit", `What a file was before each change is kept: the user can look at it and bring it back with "fsmcp history".`},
}

// compose returns what holds for the tools that are published, the mode, and as many
// workspace directories as fit. With roots, the directories count if the client names none of
// its own.
func (o Options) compose(workspace []string, roots bool, mode string) string {
	const does = "fsmcp reads, writes and edits files"
	text := "\n"
	for _, r := range rules {
		if r.tools == "" || o.offers(strings.Fields(r.tools)...) {
			text += "\n" + r.text
		}
	}
	if mode != "" {
		mode = "\n" + mode
	}
	first := workspaceLine(workspace, roots, maxInstructions-len(text)-len(mode))
	if rest, ok := strings.CutPrefix(first, does); ok && !o.offers("Write", "Edit", "NotebookEdit") {
		first = "fsmcp reads files" + rest
	}
	return first + mode + text
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

func workspaceLine(dirs []string, roots bool, room int) string {
	const andMore = ", and 9999 more"
	var b strings.Builder
	switch {
	case roots && len(dirs) == 0:
		return "fsmcp reads, writes and edits files in the workspace: the client's root directories."
	case len(dirs) == 0:
		return "fsmcp reads, writes and edits files. No workspace directory is set."
	case roots:
		b.WriteString("fsmcp reads, writes and edits files in the workspace: the client's root directories, or where it names none, ")
	default:
		b.WriteString("fsmcp reads, writes and edits files in the workspace: ")
	}
	for i, dir := range dirs {
		name := phrase.QuoteAtMost(dir, maxInstructions)
		if name == `"`+dir+`"` {
			name = dir
		}
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
