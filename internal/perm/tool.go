package perm

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/fsmcp/fsmcp/internal/perm/glob"
	"github.com/fsmcp/fsmcp/internal/similar"
)

const (
	serverWord = "mcp__fsmcp"
	toolPrefix = serverWord + "__"
	wildcards  = "*?["
)

const (
	readOp  opSet = 1 << Read
	allOps  opSet = 1<<opCount - 1
	editOps       = allOps &^ readOp
)

// Bits of an opSet behind those of the operations: the tools that search, as a whole.
const (
	globTool opSet = 1 << (opCount + iota)
	grepTool
)

var (
	// words are the tool names that a rule for files can be meant for.
	words = [...]string{
		"Read", "Edit", "Write", "NotebookEdit", "MultiEdit", "Move", "Delete", "Glob", "Grep",
		toolPrefix + "Read", toolPrefix + "Edit", toolPrefix + "Write", toolPrefix + "NotebookEdit",
		toolPrefix + "MultiEdit", toolPrefix + "Move", toolPrefix + "Delete", toolPrefix + "Glob", toolPrefix + "Grep",
	}

	// foreignTools are tools of other programs, which rules may well name: nothing
	// to warn of in their own files.
	foreignTools = [...]string{
		"Agent", "AskUserQuestion", "Bash", "BashOutput", "EnterPlanMode", "ExitPlanMode", "KillBash", "KillShell",
		"LS", "LSP", "ListMcpResourcesTool", "NotebookRead", "PowerShell", "ReadMcpResourceTool", "Skill", "SlashCommand",
		"Task", "TaskOutput", "TaskStop", "TodoRead", "TodoWrite", "ToolSearch", "WebFetch", "WebSearch",
	}
)

// applies returns the operations that a rule's tool word stands for; none when
// the rule has no effect. The kind says what is worth a warning.
func applies(tool string, hasBody bool, list List, claude bool) (set opSet, kind WarningKind, nearest string) {
	if strings.ContainsAny(tool, wildcards) {
		return appliesGlob(tool, hasBody, list, claude)
	}
	name, ours := strings.CutPrefix(tool, toolPrefix)
	switch {
	case tool == serverWord && list != Allow:
		return allOps, noWarning, ""
	case tool == serverWord:
		return 0, GlobInAllow, ""
	case hasBody:
		return specOps(name, list, tool, claude)
	case changesNames(name) && list == Allow:
		return 0, IgnoredInAllow, ""
	case claude && !ours && bareOps(name, list) != 0 && !changesNames(name):
		return 0, BuiltinTool, ""
	case searchTool(name) != 0 && list == Allow:
		return 0, otherwise(claude, SearchTool), ""
	case searchTool(name) != 0 && (ours || !claude):
		return searchTool(name), noWarning, ""
	}
	if set = bareOps(name, list); set != 0 {
		return set, noWarning, ""
	}
	kind, nearest = unknown(tool, claude)
	return 0, kind, nearest
}

// countsAs returns the word that a tool counts as in a rule with a pattern, "" if it is not a
// tool for files.
func countsAs(name string) string {
	switch name {
	case "Read", "Glob", "Grep":
		return "Read"
	case "Edit", "Write", "NotebookEdit", "MultiEdit":
		return "Edit"
	case "Move", "Delete":
		return name
	}
	return ""
}

// changesNames reports whether a word is of a tool that changes names of files. Its rules are
// for deny and ask: an Edit rule allows it. Claude Code has no tool of that name.
func changesNames(name string) bool { return name == "Move" || name == "Delete" }

// specOps returns the operations of "Tool(...)"; name is the tool without fsmcp's prefix.
// Only Read, Edit, Move and Delete name files. In deny and ask rules the other words count as
// one of the first two.
func specOps(name string, list List, tool string, claude bool) (opSet, WarningKind, string) {
	as := countsAs(name)
	set := bareOps(as, list)
	switch {
	case as == "":
		kind, nearest := unknown(tool, claude)
		return 0, kind, nearest
	case changesNames(as) && list == Allow:
		return 0, IgnoredInAllow, ""
	case as == tool || as == name && list != Allow:
		return set, noWarning, ""
	case list == Allow && searchTool(name) != 0:
		return 0, otherwise(claude, SearchTool), ""
	case list == Allow:
		return 0, IgnoredInAllow, ""
	case as == "Read":
		return set, CountsAsRead, ""
	}
	return set, CountsAsEdit, ""
}

// bareOps returns the operations of a bare tool name.
func bareOps(name string, list List) opSet {
	switch {
	case name == "Read" && list == Deny, name == "Edit" && list == Allow:
		return allOps
	case name == "Read":
		return readOp
	case name == "Edit":
		return editOps
	case name == "Write":
		return 1 << Write
	case name == "NotebookEdit":
		return 1 << NotebookEdit
	case name == "MultiEdit":
		return 1 << MultiEdit
	case name == "Move":
		return 1<<Move | 1<<MoveAway
	case name == "Delete":
		return 1<<Delete | 1<<MoveAway
	}
	return 0
}

// appliesGlob returns the operations of a glob over tool names. In Claude Code's files the
// short names are its own tools, so a bare glob is compared with the long names.
func appliesGlob(tool string, hasBody bool, list List, claude bool) (set opSet, kind WarningKind, nearest string) {
	if list == Allow {
		return 0, GlobInAllow, ""
	}
	p, err := glob.Parse(tool)
	if err != nil || len(p.Segments) != 1 {
		return 0, MatchesNothing, ""
	}
	for _, w := range words {
		name, ours := strings.CutPrefix(w, toolPrefix)
		if claude && !hasBody && !ours || !matches(&p.Segments[0], w) {
			continue
		}
		if hasBody {
			more, _, _ := specOps(name, list, name, claude)
			set |= more
		} else {
			set |= bareOps(name, list) | searchTool(name)
		}
	}
	if set == 0 && !claude {
		return 0, OtherTool, ""
	}
	return set, noWarning, ""
}

// matches reports whether a segment alone matches a word, exactly.
func matches(s *glob.Segment, word string) bool {
	switch s.Kind {
	case glob.Exact:
		return s.Text == word
	case glob.Wildcard:
		return glob.Match(s.Tokens, word)
	}
	return true
}

// searchTool returns the bit of a tool that searches, 0 for other tools.
func searchTool(name string) opSet {
	switch name {
	case "Glob":
		return globTool
	case "Grep":
		return grepTool
	}
	return 0
}

// SearchDenied returns the rule by which a tool that searches is not to be used at all. A
// bare ask rule counts as a deny rule: a consent is bound to a path, and there may be none.
func (p *Policy) SearchDenied(tool string) (r RuleText, denied bool) {
	i, denied := p.searches[searchTool(tool)]
	if denied {
		r = p.config.Rules[i]
	}
	return r, denied
}

// unknown judges a word that stands for no tool of ours.
func unknown(tool string, claude bool) (WarningKind, string) {
	if searchTool(tool) != 0 {
		return noWarning, "" // in Claude Code's own file they are its own tools
	}
	if isForeignTool(tool) {
		return otherwise(claude, OtherTool), ""
	}
	nearest := nearestWord(tool, utf8.RuneCountInString(tool)/2)
	if claude && nearest == "" {
		return noWarning, "" // a tool of a later version of Claude Code
	}
	return UnknownTool, nearest
}

// isForeignTool reports whether a tool is known to be another program's.
func isForeignTool(tool string) bool {
	other := strings.HasPrefix(tool, "mcp__") && tool != serverWord && !strings.HasPrefix(tool, toolPrefix)
	return slices.Contains(foreignTools[:], tool) || other && !strings.ContainsAny(tool, wildcards)
}

// otherwise is a warning on rules that mean something to Claude Code, for other files.
func otherwise(claude bool, kind WarningKind) WarningKind {
	if claude {
		return noWarning
	}
	return kind
}

// nearestWord returns the known tool name that a misspelt one was most likely meant to be,
// "" if none is within that many slips.
func nearestWord(tool string, slips int) string {
	return similar.Nearest(words[:], func(w string) (int, bool) { return similar.Within(w, tool, slips) })
}
